/* io/hub/hub_gemma.c: Gemma of Hugging Face transformers, its first three versions: their keys, their defaults and their
 * tensors. Norms multiply by 1 + weight, which is computed when weights are read. */
#include "io/hub/hub_decoder.h"

#include <math.h>

static const hub_decoder_class GEMMA = {.context = 8192, .kv_heads = 16, .head_dim = 256, .eps = 1e-6, .gelu = true,
                                        .rope = {.theta = 10000}, .tied = true},
                               GEMMA2 = {.context = 8192, .kv_heads = 4, .head_dim = 256, .eps = 1e-6, .gelu = true,
                                         .rope = {.theta = 10000}, .tied = true},
                               GEMMA3 = {.context = 131072, .kv_heads = 4, .head_dim = 256, .eps = 1e-6, .gelu = true,
                                         .rope = {.theta = 1e6}, .local_theta = 10000, .tied = true};

static void read_gemma_kin(hub_config *c, rapt_lm_config *k, const hub_decoder_class *of)
{
    hub_decoder_read(c, k, of);
    k->scale_embedding = true;
    k->block.bias = hub_flag(c, "attention_bias", false);
    hub_flag_is(c, "use_bidirectional_attention", false, false);
    hub_ignore(c, (const char *const[]){"cache_implementation", NULL});
}

static void read_gemma(hub_config *c, rapt_lm_config *k)
{
    read_gemma_kin(c, k, &GEMMA);
}

/* Keys of the second version, which the third also has. */
static void read_gemma_scores(hub_config *c, rapt_lm_config *k)
{
    k->block.norm_place = RAPT_NORM_PLACE_SANDWICH;
    k->block.scores.scale = 1 / sqrt(hub_within(c, "query_pre_attn_scalar", 256, 1e-3, 1e6));
}

static double gemma_cap(hub_config *c, const char *key, double otherwise)
{
    const bool none = json_object_get(c->root, key) && !hub_value(c, key);
    return none ? 0 : hub_within(c, key, otherwise, 1e-3, 1e6);
}

static void read_gemma2(hub_config *c, rapt_lm_config *k)
{
    read_gemma_kin(c, k, &GEMMA2);
    read_gemma_scores(c, k);
    k->block.scores.cap = gemma_cap(c, "attn_logit_softcapping", 50);
    k->logits_cap = gemma_cap(c, "final_logit_softcapping", 30);
    hub_decoder_windows(c, k, hub_size(c, "sliding_window", 4096), 0, 2);
}

static void read_gemma3(hub_config *c, rapt_lm_config *k)
{
    read_gemma_kin(c, k, &GEMMA3);
    read_gemma_scores(c, k);
    k->block.qk_norm = RAPT_QK_NORM_HEAD;
    const size_t pattern = hub_size(c, "sliding_window_pattern", 6); /* transformers writes "_sliding...", but does not read it */
    hub_decoder_windows(c, k, hub_size(c, "sliding_window", 4096), 0, pattern);
    if (hub_value(c, "final_logit_softcapping"))
        hub_refuse(c, "final_logit_softcapping", "of such models rapt computes logits without");
    if (hub_value(c, "attn_logit_softcapping"))
        hub_refuse(c, "attn_logit_softcapping", "of such models rapt computes scores without");
}

#define GEMMA_ROWS \
    {"embedding.weight", "embed_tokens.weight"}, \
    {"blocks.#.attention.q.@", "layers.#.self_attn.q_proj.@"}, \
    {"blocks.#.attention.k.@", "layers.#.self_attn.k_proj.@"}, \
    {"blocks.#.attention.v.@", "layers.#.self_attn.v_proj.@"}, \
    {"blocks.#.attention.o.@", "layers.#.self_attn.o_proj.@"}, \
    {"blocks.#.ffn.gate.@", "layers.#.mlp.gate_proj.@"}, \
    {"blocks.#.ffn.up.@", "layers.#.mlp.up_proj.@"}, \
    {"blocks.#.ffn.down.@", "layers.#.mlp.down_proj.@"}, \
    {"blocks.#.norm1.weight", "layers.#.input_layernorm.weight", HUB_WHOLE, HUB_PLUS_ONE}, \
    {"norm.weight", "norm.weight", HUB_WHOLE, HUB_PLUS_ONE}, \
    {"output.weight", "lm_head.weight"}, \
    {"embedding.weight", "lm_head.weight"}

static const hub_name GEMMA_NAMES[] = {
    GEMMA_ROWS,
    {"blocks.#.norm2.weight", "layers.#.post_attention_layernorm.weight", HUB_WHOLE, HUB_PLUS_ONE},
    {0}};
static const hub_name GEMMA3_NAMES[] = {
    GEMMA_ROWS,
    {"blocks.#.norm1.output.weight", "layers.#.post_attention_layernorm.weight", HUB_WHOLE, HUB_PLUS_ONE},
    {"blocks.#.norm2.weight", "layers.#.pre_feedforward_layernorm.weight", HUB_WHOLE, HUB_PLUS_ONE},
    {"blocks.#.norm2.output.weight", "layers.#.post_feedforward_layernorm.weight", HUB_WHOLE, HUB_PLUS_ONE},
    {"blocks.#.attention.q_norm.weight", "layers.#.self_attn.q_norm.weight", HUB_WHOLE, HUB_PLUS_ONE},
    {"blocks.#.attention.k_norm.weight", "layers.#.self_attn.k_norm.weight", HUB_WHOLE, HUB_PLUS_ONE},
    {0}};
static const char *const GEMMA_UNUSED[] = {"layers.#.self_attn.rotary_emb.inv_freq", NULL};

const hub_family HUB_GEMMA = {"gemma", "GemmaForCausalLM", "model.", GEMMA_NAMES, GEMMA_UNUSED, 1, read_gemma, NULL};
const hub_family HUB_GEMMA2 = {"gemma2", "Gemma2ForCausalLM", "model.", GEMMA3_NAMES, GEMMA_UNUSED, 1, read_gemma2, NULL};
const hub_family HUB_GEMMA3 = {"gemma3_text", "Gemma3ForCausalLM", "model.", GEMMA3_NAMES, GEMMA_UNUSED, 1, read_gemma3, NULL};
