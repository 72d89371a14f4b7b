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

static const place_row GEMMA_ROWS[] = {
    HUB_DECODER_EMBEDDING,
    HUB_DECODER_INPUT_NORM(PLACE_PLUS_ONE),
    HUB_DECODER_QKV,
    HUB_DECODER_O,
    HUB_DECODER_SECOND_NORM("blocks.#.norm2.weight", PLACE_PLUS_ONE),
    HUB_DECODER_GATE_AND_UP,
    HUB_DECODER_DOWN,
    HUB_DECODER_END(PLACE_PLUS_ONE),
    {0}};
static const place_row GEMMA3_ROWS[] = {
    HUB_DECODER_EMBEDDING,
    HUB_DECODER_INPUT_NORM(PLACE_PLUS_ONE),
    HUB_DECODER_QKV,
    HUB_DECODER_QK_NORMS(PLACE_PLUS_ONE),
    HUB_DECODER_O,
    HUB_DECODER_SECOND_NORM("blocks.#.norm1.output.weight", PLACE_PLUS_ONE),
    {"blocks.#.norm2.weight", "layers.#.pre_feedforward_layernorm.weight", PLACE_PLUS_ONE},
    HUB_DECODER_GATE_AND_UP,
    HUB_DECODER_DOWN,
    HUB_DECODER_LAST_NORM("blocks.#.norm2.output.weight", PLACE_PLUS_ONE),
    HUB_DECODER_END(PLACE_PLUS_ONE),
    {0}};
static const char *const GEMMA_UNUSED[] = {HUB_DECODER_UNUSED, NULL};
static const place_table GEMMA_PLACES = {GEMMA_ROWS, GEMMA_UNUSED, "model."};
static const place_table GEMMA3_PLACES = {GEMMA3_ROWS, GEMMA_UNUSED, "model."};

const hub_family HUB_GEMMA = {"gemma", "GemmaForCausalLM", &GEMMA_PLACES, true, 1, read_gemma};
const hub_family HUB_GEMMA2 = {"gemma2", "Gemma2ForCausalLM", &GEMMA3_PLACES, true, 1, read_gemma2};
const hub_family HUB_GEMMA3 = {"gemma3_text", "Gemma3ForCausalLM", &GEMMA3_PLACES, true, 1, read_gemma3};
