/* io/hub/hub_llama.c: Llama and its kin in Hugging Face transformers: pre-norm decoders with RMS norms and SwiGLU. */
#include "io/hub/hub_decoder.h"

#define THETA {.theta = 10000}
static const hub_decoder_class LLAMA = {.context = 2048, .eps = 1e-6, .rope = THETA},
                               MISTRAL = {.context = 4096 * 32, .kv_heads = 8, .eps = 1e-6, .rope = THETA},
                               QWEN2 = {.context = 32768, .kv_heads = 32, .eps = 1e-6, .rope = THETA},
                               QWEN3 = {.context = 32768, .kv_heads = 32, .head_dim = 128, .eps = 1e-6, .rope = THETA},
                               SMOLLM3 = {.context = 32768, .kv_heads = 4, .eps = 1e-6, .rope = {.theta = 2e6}, .tied = true},
                               OLMO2 = {.context = 2048, .eps = 1e-5, .rope = THETA};

/* Biases as Llama has them. */
static void read_llama_biases(hub_config *c, rapt_lm_config *k)
{
    k->block.bias = hub_flag(c, "attention_bias", false);
    k->block.no_ffn_bias = !hub_flag(c, "mlp_bias", false);
}

static void read_llama(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &LLAMA);
    read_llama_biases(c, k);
    hub_flag_is(c, "rope_interleaved", false, false);
    hub_ignore(c, (const char *const[]){"pretraining_tp", "is_llama_config", NULL}); /* the first: how products are split */
}

/* All layers have the window; 4096 if the key is missing. */
static void read_mistral(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &MISTRAL);
    const bool missing = !json_object_get(c->root, "sliding_window"), none = !missing && !hub_value(c, "sliding_window");
    hub_decoder_window_of_all(c, k, none ? 0 : hub_size(c, "sliding_window", 4096));
}

/* Qwen: a window in the layers after the first ones, if at all. */
static void read_qwen_windows(hub_config *c, rapt_lm_config *k)
{
    const bool slides = hub_flag(c, "use_sliding_window", false);
    const size_t from = (size_t)hub_within(c, "max_window_layers", 28, 0, 1e6);
    const json_t *window = hub_value(c, "sliding_window"); /* null in files whose flag is false */
    const bool none = !window && json_object_get(c->root, "sliding_window");
    hub_decoder_windows(c, k, slides && !none ? hub_size(c, "sliding_window", 4096) : 0, from, 0);
}

static void read_qwen2(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &QWEN2);
    k->block.bias = true;
    k->block.no_o_bias = true;
    hub_flag_is(c, "use_mrope", false, false);
    read_qwen_windows(c, k);
}

static void read_qwen3(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &QWEN3);
    k->block.bias = hub_flag(c, "attention_bias", false);
    k->block.qk_norm = RAPT_QK_NORM_HEAD;
    read_qwen_windows(c, k);
}

/* Layers without positions: those that have 0 in a list, or else each `interval`-th. */
static void read_smollm3(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &SMOLLM3);
    read_llama_biases(c, k);
    const size_t interval = hub_size(c, "no_rope_layer_interval", 4);
    const json_t *rotated = hub_value(c, "no_rope_layers");
    if (rotated && json_array_size(rotated) != k->layers)
        hub_refuse(c, "no_rope_layers", "it must be a list of as many numbers as there are layers");
    for (size_t i = 0; i < k->layers && !c->code; i++) {
        const json_t *flag = json_array_get(rotated, i);
        if (flag && (!json_is_integer(flag) || json_integer_value(flag) < 0 || json_integer_value(flag) > 1))
            hub_refuse(c, "no_rope_layers", "its numbers must be 0 or 1");
        if (flag ? json_integer_value(flag) == 0 : (i + 1) % interval == 0)
            hub_decoder_add_layer(c, &k->unrotated, i, flag ? "no_rope_layers" : "no_rope_layer_interval");
    }
    hub_flag_is(c, "use_sliding_window", false, false);
    hub_decoder_windows(c, k, 0, 0, 0);
    hub_ignore(c, (const char *const[]){"sliding_window", "max_window_layers", "pretraining_tp", NULL}); /* without the flag */
}

static void read_granite(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &LLAMA);
    read_llama_biases(c, k);
    k->block.scores.scale = hub_within(c, "attention_multiplier", 1, 1e-6, 1e6);
    k->block.residual_scale = hub_within(c, "residual_multiplier", 1, 1e-6, 1e6);
    k->embedding_multiplier = hub_within(c, "embedding_multiplier", 1, 1e-6, 1e6);
    k->logits_divisor = hub_within(c, "logits_scaling", 1, 1e-6, 1e6);
}

/* Norms apply to results instead of inputs; queries and keys are normalized over all heads. */
static void read_olmo2(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &OLMO2);
    k->block.bias = hub_flag(c, "attention_bias", false);
    k->block.norm_place = RAPT_NORM_PLACE_OUTPUT;
    k->block.qk_norm = RAPT_QK_NORM_ALL;
}

/* In the order in which export_lm.c writes a model of rapt. */
static const place_row LLAMA_ROWS[] = {
    HUB_DECODER_EMBEDDING,
    HUB_DECODER_INPUT_NORM(0),
    HUB_DECODER_QKV,
    HUB_DECODER_QK_NORMS(0),
    HUB_DECODER_O,
    HUB_DECODER_SECOND_NORM("blocks.#.norm2.weight", 0),
    HUB_DECODER_GATE_AND_UP,
    HUB_DECODER_DOWN,
    HUB_DECODER_END(0),
    {0}};
static const place_row OLMO2_ROWS[] = {
    HUB_DECODER_EMBEDDING,
    HUB_DECODER_QKV,
    HUB_DECODER_QK_NORMS(0),
    HUB_DECODER_O,
    HUB_DECODER_SECOND_NORM("blocks.#.norm1.weight", 0),
    HUB_DECODER_GATE_AND_UP,
    HUB_DECODER_DOWN,
    HUB_DECODER_LAST_NORM("blocks.#.norm2.weight", 0),
    HUB_DECODER_END(0),
    {0}};
static const char *const LLAMA_UNUSED[] = {HUB_DECODER_UNUSED, "rotary_emb.inv_freq", NULL};
static const place_table LLAMA_PLACES = {LLAMA_ROWS, LLAMA_UNUSED, "model."}, OLMO2_PLACES = {OLMO2_ROWS, LLAMA_UNUSED, "model."};

const hub_family HUB_LLAMA = {"llama", "LlamaForCausalLM", &LLAMA_PLACES, true, 2, read_llama};
const hub_family HUB_MISTRAL = {"mistral", "MistralForCausalLM", &LLAMA_PLACES, true, 2, read_mistral};
const hub_family HUB_QWEN2 = {"qwen2", "Qwen2ForCausalLM", &LLAMA_PLACES, true, -1, read_qwen2};
const hub_family HUB_QWEN3 = {"qwen3", "Qwen3ForCausalLM", &LLAMA_PLACES, true, -1, read_qwen3};
const hub_family HUB_SMOLLM3 = {"smollm3", "SmolLM3ForCausalLM", &LLAMA_PLACES, true, 128001, read_smollm3};
const hub_family HUB_GRANITE = {"granite", "GraniteForCausalLM", &LLAMA_PLACES, true, 2, read_granite};
const hub_family HUB_OLMO2 = {"olmo2", "Olmo2ForCausalLM", &OLMO2_PLACES, true, 50279, read_olmo2};
