/* io/hub/hub_family.c: see hub_family.h. Keys and their defaults are those of the classes' configurations in Hugging Face
 * transformers, tensor names those of their modules. */
#include "io/hub/hub_family.h"

#include "io/hub/hub_rope.h"

#include <stdio.h>
#include <string.h>

/* ---- what they share ------------------------------------------------------------------------------------------ */

static rapt_ffn_kind gelu_or_relu(hub_config *c, const char *key, const char *otherwise)
{
    static const struct {
        const char *name;
        rapt_ffn_kind kind;
    } kinds[] = {{"gelu_new", RAPT_FFN_GELU_TANH}, {"gelu_pytorch_tanh", RAPT_FFN_GELU_TANH}, {"gelu", RAPT_FFN_GELU},
                 {"relu", RAPT_FFN_RELU}};
    const char *name = hub_word(c, key, otherwise);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    hub_refuse(c, key, "of such models rapt computes gelu_new, gelu_pytorch_tanh, gelu and relu");
    return RAPT_FFN_RELU;
}

static void read_heads(hub_config *c, rapt_lm_config *k)
{
    const bool divides = k->block.d_model % k->block.heads == 0;
    k->block.head_dim = hub_size(c, "head_dim", divides ? k->block.d_model / k->block.heads : 1);
    if (!c->code && !divides && !json_object_get(c->root, "head_dim"))
        hub_refuse(c, "num_attention_heads", "heads do not divide the features");
    if (!c->code && k->block.heads % k->block.kv_heads)
        hub_refuse(c, "num_key_value_heads", "they do not divide the heads");
}

/* ---- GPT-2 ---------------------------------------------------------------------------------------------------- */

static void read_gpt2(hub_config *c, rapt_lm_config *k)
{
    *k = (rapt_lm_config){.vocab = hub_size(c, "vocab_size", 0), .layers = hub_size(c, "n_layer", 0),
                          .context = hub_size(c, "n_positions", 1024), .positions = RAPT_POSITIONS_LEARNED};
    k->block = (rapt_block_config){.d_model = hub_size(c, "n_embd", 0), .heads = hub_size(c, "n_head", 0), .bias = true,
                                   .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_LAYER,
                                   .norm_eps = hub_within(c, "layer_norm_epsilon", 1e-5, 1e-12, 0.1),
                                   .ffn_kind = gelu_or_relu(c, "activation_function", "gelu_new")};
    k->block.ffn = hub_size(c, "n_inner", 4 * k->block.d_model);
    k->block.kv_heads = k->block.heads;
    k->tied = hub_flag(c, "tie_word_embeddings", true);
    hub_flag_is(c, "scale_attn_weights", true, true);
    hub_flag_is(c, "scale_attn_by_inverse_layer_idx", false, false);
    hub_flag_is(c, "add_cross_attention", false, false);
    hub_ignore(c, (const char *const[]){"n_ctx", "resid_pdrop", "embd_pdrop", "attn_pdrop", "reorder_and_upcast_attn",
                                        "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
                                        "summary_first_dropout", "n_special", "predict_special_tokens", "output_past", NULL});
}

static const hub_name GPT2_NAMES[] = {
    {"embedding.weight", "wte.weight", HUB_WHOLE, false},
    {"positions.weight", "wpe.weight", HUB_WHOLE, false},
    {"blocks.#.norm1.@", "h.#.ln_1.@", HUB_WHOLE, false},
    {"blocks.#.attention.q.@", "h.#.attn.c_attn.@", HUB_QUERY, true},
    {"blocks.#.attention.k.@", "h.#.attn.c_attn.@", HUB_KEY, true},
    {"blocks.#.attention.v.@", "h.#.attn.c_attn.@", HUB_VALUE, true},
    {"blocks.#.attention.o.@", "h.#.attn.c_proj.@", HUB_WHOLE, true},
    {"blocks.#.norm2.@", "h.#.ln_2.@", HUB_WHOLE, false},
    {"blocks.#.ffn.dense1.@", "h.#.mlp.c_fc.@", HUB_WHOLE, true},
    {"blocks.#.ffn.dense2.@", "h.#.mlp.c_proj.@", HUB_WHOLE, true},
    {"norm.@", "ln_f.@", HUB_WHOLE, false},
    {"output.weight", "lm_head.weight", HUB_WHOLE, false},
    {"embedding.weight", "lm_head.weight", HUB_WHOLE, false},
    {0}};
static const char *const GPT2_UNUSED[] = {"h.#.attn.bias", "h.#.attn.masked_bias", NULL};

/* ---- Llama and its kin ---------------------------------------------------------------------------------------- */

/* `kv_heads`: of the class, 0: as many as heads. */
static void read_decoder(hub_config *c, rapt_lm_config *k, size_t context, size_t kv_heads)
{
    *k = (rapt_lm_config){.vocab = hub_size(c, "vocab_size", 0), .layers = hub_size(c, "num_hidden_layers", 0),
                          .context = hub_size(c, "max_position_embeddings", context), .positions = RAPT_POSITIONS_ROTARY};
    k->block = (rapt_block_config){.d_model = hub_size(c, "hidden_size", 0), .heads = hub_size(c, "num_attention_heads", 0),
                                   .ffn = hub_size(c, "intermediate_size", 0), .norm_place = RAPT_NORM_PLACE_PRE,
                                   .norm_kind = RAPT_NORM_KIND_RMS, .norm_eps = hub_within(c, "rms_norm_eps", 1e-6, 1e-12, 0.1),
                                   .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true, .no_norm_bias = true};
    k->block.kv_heads = hub_size(c, "num_key_value_heads", kv_heads ? kv_heads : k->block.heads);
    k->tied = hub_flag(c, "tie_word_embeddings", false);
    if (strcmp(hub_word(c, "hidden_act", "silu"), "silu") != 0)
        hub_refuse(c, "hidden_act", "of such models rapt computes silu");
    hub_rope(c, 10000, &k->rotary_base, &k->rotary_scaling);
    read_heads(c, k);
    hub_ignore(c, (const char *const[]){"attention_dropout", NULL});
}

static void read_llama(hub_config *c, rapt_lm_config *k)
{
    read_decoder(c, k, 2048, 0);
    k->block.bias = hub_flag(c, "attention_bias", false);
    k->block.no_ffn_bias = !hub_flag(c, "mlp_bias", false);
    hub_flag_is(c, "rope_interleaved", false, false);
    hub_ignore(c, (const char *const[]){"pretraining_tp", "is_llama_config", NULL}); /* the first: how products are split */
}

/* A window as long as the context hides nothing. */
static void read_mistral(hub_config *c, rapt_lm_config *k)
{
    read_decoder(c, k, 4096 * 32, json_object_get(c->root, "num_key_value_heads") ? 0 : 8);
    bool given = json_object_get(c->root, "sliding_window") != NULL;
    if (hub_value(c, "sliding_window") ? hub_size(c, "sliding_window", 0) < k->context : !given && k->context > 4096)
        hub_refuse(c, "sliding_window", "rapt attends to the whole context");
}

static void read_qwen2(hub_config *c, rapt_lm_config *k)
{
    read_decoder(c, k, 32768, json_object_get(c->root, "num_key_value_heads") ? 0 : 32);
    k->block.bias = true;
    k->block.no_o_bias = true;
    hub_flag_is(c, "use_sliding_window", false, false);
    hub_flag_is(c, "use_mrope", false, false);
    const json_t *types = hub_value(c, "layer_types");
    if (types && json_array_size(types) != k->layers)
        hub_refuse(c, "layer_types", "it must be a list of as many types as there are layers");
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *type = json_string_value(json_array_get(types, i));
        if (!type || strcmp(type, "full_attention") != 0)
            hub_refuse(c, "layer_types", "rapt computes full_attention in all layers");
    }
    hub_ignore(c, (const char *const[]){"sliding_window", "max_window_layers", NULL}); /* of no use without the flag */
}

static const hub_name LLAMA_NAMES[] = {
    {"embedding.weight", "embed_tokens.weight", HUB_WHOLE, false},
    {"blocks.#.norm1.weight", "layers.#.input_layernorm.weight", HUB_WHOLE, false},
    {"blocks.#.attention.q.@", "layers.#.self_attn.q_proj.@", HUB_WHOLE, false},
    {"blocks.#.attention.k.@", "layers.#.self_attn.k_proj.@", HUB_WHOLE, false},
    {"blocks.#.attention.v.@", "layers.#.self_attn.v_proj.@", HUB_WHOLE, false},
    {"blocks.#.attention.o.@", "layers.#.self_attn.o_proj.@", HUB_WHOLE, false},
    {"blocks.#.norm2.weight", "layers.#.post_attention_layernorm.weight", HUB_WHOLE, false},
    {"blocks.#.ffn.gate.@", "layers.#.mlp.gate_proj.@", HUB_WHOLE, false},
    {"blocks.#.ffn.up.@", "layers.#.mlp.up_proj.@", HUB_WHOLE, false},
    {"blocks.#.ffn.down.@", "layers.#.mlp.down_proj.@", HUB_WHOLE, false},
    {"norm.weight", "norm.weight", HUB_WHOLE, false},
    {"output.weight", "lm_head.weight", HUB_WHOLE, false},
    {"embedding.weight", "lm_head.weight", HUB_WHOLE, false},
    {0}};
static const char *const LLAMA_UNUSED[] = {"layers.#.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq", NULL};

/* ---- all ------------------------------------------------------------------------------------------------------ */

static const hub_family FAMILIES[] = {
    {"gpt2", "GPT2LMHeadModel", "transformer.", GPT2_NAMES, GPT2_UNUSED, 50256, read_gpt2},
    {"llama", "LlamaForCausalLM", "model.", LLAMA_NAMES, LLAMA_UNUSED, 2, read_llama},
    {"mistral", "MistralForCausalLM", "model.", LLAMA_NAMES, LLAMA_UNUSED, 2, read_mistral},
    {"qwen2", "Qwen2ForCausalLM", "model.", LLAMA_NAMES, LLAMA_UNUSED, -1, read_qwen2},
};
enum { FAMILY_COUNT = sizeof FAMILIES / sizeof *FAMILIES };

const hub_family *hub_family_of(const char *type)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(FAMILIES[i].type, type) == 0)
            return &FAMILIES[i];
    return NULL;
}

void hub_family_list(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < FAMILY_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", FAMILIES[i].type);
}
