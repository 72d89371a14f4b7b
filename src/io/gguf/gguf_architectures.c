/* io/gguf/gguf_architectures.c: the architectures of GGUF files, and the config.json of each; one computes what its file in
 * llama.cpp's src/models says (the version in llama-cpp-python 0.3.36). Members are left out if such models have the
 * default of their class. */
#include "io/gguf/gguf_folder.h"

#include <stdio.h>
#include <string.h>

/* Features of a head: from the keys of the file, or else features divided by heads. */
static size_t head_features(gguf_config *c)
{
    const size_t key = gguf_config_size(c, "attention.key_length", false);
    const size_t value = gguf_config_size(c, "attention.value_length", false);
    const size_t features = gguf_config_size(c, "embedding_length", true);
    const size_t heads = gguf_config_size(c, "attention.head_count", true);
    if (value && value != key)
        gguf_config_refuse(c, "values have another length than keys, which rapt does not compute");
    if (!c->code && !key && features % heads)
        gguf_config_refuse(c, "heads do not divide the features");
    return c->code ? 0 : key ? key : features / heads;
}

static void put_flag(gguf_config *c, const char *member, bool flag)
{
    gguf_config_put(c, member, json_boolean(flag));
}

/* Members of Llama and similar architectures, except positions. */
static size_t put_decoder(gguf_config *c)
{
    const size_t head = head_features(c), kv = gguf_config_size(c, "attention.head_count_kv", false);
    gguf_config_put_size(c, "hidden_size", "embedding_length");
    gguf_config_put_size(c, "num_hidden_layers", "block_count");
    gguf_config_put_size(c, "num_attention_heads", "attention.head_count");
    gguf_config_put(c, "num_key_value_heads",
                    json_integer((json_int_t)(kv ? kv : gguf_config_size(c, "attention.head_count", true))));
    gguf_config_put(c, "head_dim", json_integer((json_int_t)head));
    gguf_config_put_size(c, "intermediate_size", "feed_forward_length");
    gguf_config_put_size(c, "max_position_embeddings", "context_length");
    gguf_config_put_real(c, "rms_norm_eps", "attention.layer_norm_rms_epsilon");
    put_flag(c, "tie_word_embeddings", !gguf_config_has(c, "output.weight"));
    return head;
}

/* Refuses grouped heads in an architecture whose heads have their own keys and values. */
static void refuse_groups(gguf_config *c)
{
    const size_t kv = gguf_config_size(c, "attention.head_count_kv", false);
    if (!c->code && kv && kv != gguf_config_size(c, "attention.head_count", true))
        gguf_config_refuse(c, "\"attention.head_count_kv\" is not \"attention.head_count\": of such models rapt knows no groups");
}

static void refuse_window(gguf_config *c)
{
    if (gguf_config_size(c, "attention.sliding_window", false))
        gguf_config_refuse(c, "\"attention.sliding_window\" is not 0: of such models rapt knows no window");
}

static void gguf_read_llama(gguf_config *c)
{
    gguf_config_put_rope(c, put_decoder(c));
    put_flag(c, "attention_bias", gguf_config_has(c, "blk.0.attn_q.bias"));
    put_flag(c, "mlp_bias", gguf_config_has(c, "blk.0.ffn_up.bias"));
    refuse_window(c);
}

static void gguf_read_qwen(gguf_config *c)
{
    gguf_config_put_rope(c, put_decoder(c));
    refuse_window(c);
}

static void gguf_read_granite(gguf_config *c)
{
    gguf_read_llama(c);
    gguf_config_put_real(c, "attention_multiplier", "attention.scale");
    gguf_config_put_real(c, "embedding_multiplier", "embedding_scale");
    gguf_config_put_real(c, "residual_multiplier", "residual_scale");
    gguf_config_put_real(c, "logits_scaling", "logit_scale");
}

/* Files of OLMo 3 have the same name, and a window. */
static void gguf_read_olmo2(gguf_config *c)
{
    gguf_config_put_rope(c, put_decoder(c));
    put_flag(c, "attention_bias", gguf_config_has(c, "blk.0.attn_q.bias"));
    refuse_window(c);
}

static void gguf_read_phi3(gguf_config *c)
{
    const size_t window = gguf_config_size(c, "attention.sliding_window", false);
    gguf_config_put_rope(c, put_decoder(c));
    if (window)
        gguf_config_put(c, "sliding_window", json_integer((json_int_t)window));
}

static void gguf_read_gemma(gguf_config *c)
{
    gguf_config_put_rope(c, put_decoder(c));
}

/* Scores are divided by the root of a number that files do not have: the features of a head, except in the largest model of each
 * version, which is recognized by its number of layers, as in llama.cpp. */
static void put_query_scalar(gguf_config *c, size_t head)
{
    const size_t features = gguf_config_size(c, "embedding_length", true);
    const size_t heads = gguf_config_size(c, "attention.head_count", true);
    const bool largest = gguf_config_size(c, "block_count", true) == c->of->wide_layers;
    gguf_config_put(c, "query_pre_attn_scalar", json_integer((json_int_t)(largest && heads ? features / heads : head)));
}

/* Writes which layers have a window: the file has a flag for each layer, or the step of layers without one, or nothing. */
static bool put_layer_types(gguf_config *c)
{
    const gguf_value *flags = gguf_config_value(c, "attention.sliding_window_pattern");
    if (!flags || !flags->is_array || flags->type != GGUF_BOOL)
        return false;
    json_t *types = json_array();
    int64_t slides = 0;
    for (size_t i = 0; types && i < flags->count && gguf_whole(flags, i, &slides); i++)
        json_array_append_new(types, json_string(slides ? "sliding_attention" : "full_attention"));
    gguf_config_put(c, "layer_types", types);
    return true;
}

/* Every other layer has a window, unless a key says otherwise; all have the same positions. */
static void gguf_read_gemma2(gguf_config *c)
{
    const size_t head = put_decoder(c);
    gguf_config_put_rope(c, head);
    put_query_scalar(c, head);
    gguf_config_put_real(c, "attn_logit_softcapping", "attn_logit_softcapping");
    gguf_config_put_real(c, "final_logit_softcapping", "final_logit_softcapping");
    gguf_config_put_size(c, "sliding_window", "attention.sliding_window");
    put_layer_types(c);
    const double base = gguf_config_real(c, "rope.freq_base", 10000);
    if (gguf_config_real(c, "rope.freq_base_swa", base) != base)
        gguf_config_refuse(c, "\"rope.freq_base_swa\" is not \"rope.freq_base\", which rapt does not compute");
}

/* Five of six layers have a window and their own positions, unless a key says otherwise. */
static void gguf_read_gemma3(gguf_config *c)
{
    const size_t head = put_decoder(c);
    gguf_config_put_rope(c, head);
    put_query_scalar(c, head);
    gguf_config_put_size(c, "sliding_window", "attention.sliding_window");
    gguf_config_put_real(c, "final_logit_softcapping", "final_logit_softcapping");
    const size_t pattern = put_layer_types(c) ? 0 : gguf_config_size(c, "attention.sliding_window_pattern", false);
    json_t *rope = json_incref(json_object_get(c->root, "rope_parameters"));
    gguf_config_put(c, "sliding_window_pattern", json_integer(pattern ? (json_int_t)pattern : 6));
    gguf_config_put(c, "rope_parameters",
                    json_pack("{s:o, s:{s:s, s:f}}", "full_attention", rope, "sliding_attention", "rope_type", "default",
                              "rope_theta", gguf_config_real(c, "rope.freq_base_swa", 10000)));
}

/* The activation is GPT-2's; no key says so. */
static void gguf_read_gpt2(gguf_config *c)
{
    const size_t head = head_features(c);
    if (!c->code && head * gguf_config_size(c, "attention.head_count", true) != gguf_config_size(c, "embedding_length", true))
        gguf_config_refuse(c, "heads of such models divide the features");
    refuse_groups(c);
    gguf_config_put_size(c, "n_embd", "embedding_length");
    gguf_config_put_size(c, "n_layer", "block_count");
    gguf_config_put_size(c, "n_head", "attention.head_count");
    gguf_config_put_size(c, "n_positions", "context_length");
    gguf_config_put_size(c, "n_inner", "feed_forward_length");
    gguf_config_put_real(c, "layer_norm_epsilon", "attention.layer_norm_epsilon");
    put_flag(c, "tie_word_embeddings", !gguf_config_has(c, "output.weight"));
}

/* The activation is the exact GELU, the default of the class; no key says so. Only rapt writes a key if it is another. */
static void gguf_read_neox(gguf_config *c)
{
    const size_t head = head_features(c);
    if (gguf_find(c->file, GGUF_KEY_GELU_TANH))
        gguf_config_put(c, "hidden_act", json_string("gelu_new"));
    refuse_groups(c);
    gguf_config_put_size(c, "hidden_size", "embedding_length");
    gguf_config_put_size(c, "num_hidden_layers", "block_count");
    gguf_config_put_size(c, "num_attention_heads", "attention.head_count");
    gguf_config_put_size(c, "intermediate_size", "feed_forward_length");
    gguf_config_put_size(c, "max_position_embeddings", "context_length");
    gguf_config_put_real(c, "layer_norm_eps", "attention.layer_norm_epsilon");
    put_flag(c, "use_parallel_residual", gguf_config_flag(c, "use_parallel_residual", true));
    put_flag(c, "tie_word_embeddings", !gguf_config_has(c, "output.weight"));
    gguf_config_put_rope(c, head);
    const size_t turned = gguf_config_size(c, "rope.dimension_count", false);
    gguf_config_put(c, "rotary_pct", json_real(turned && head ? (double)turned / (double)head : 1));
    json_object_del(json_object_get(c->root, "rope_parameters"), "partial_rotary_factor"); /* rotary_pct replaces it */
}

/* The activation is GELU with tanh, the default of the class; no key says so. llama.cpp computes such models without a window,
 * and its converter does not write the one that they have. */
static void gguf_read_starcoder2(gguf_config *c)
{
    gguf_config_put_rope(c, put_decoder(c));
    gguf_config_put_real(c, "norm_epsilon", "attention.layer_norm_epsilon");
    put_flag(c, "use_bias", gguf_config_has(c, "blk.0.attn_output.bias"));
    refuse_window(c);
}

/* In the first T5 the output is the embedding, and its input is divided. The decoder has as many layers as the encoder unless a
 * key says otherwise. No key has the distances, which are the same in all such models. */
static void gguf_read_t5(gguf_config *c)
{
    const bool own = gguf_config_has(c, "output.weight"), gated = gguf_config_has(c, "enc.blk.0.ffn_gate.weight");
    const size_t layers = gguf_config_size(c, "block_count", true), decoder = gguf_config_size(c, "decoder_block_count", false);
    gguf_config_put_size(c, "d_model", "embedding_length");
    gguf_config_put(c, "num_layers", json_integer((json_int_t)layers));
    gguf_config_put(c, "num_decoder_layers", json_integer((json_int_t)(decoder ? decoder : layers)));
    gguf_config_put_size(c, "num_heads", "attention.head_count");
    gguf_config_put(c, "d_kv", json_integer((json_int_t)head_features(c)));
    gguf_config_put_size(c, "d_ff", "feed_forward_length");
    gguf_config_put_size(c, "relative_attention_num_buckets", "attention.relative_buckets_count");
    gguf_config_real(c, "attention.layer_norm_epsilon", 0); /* the same key is also the next member */
    gguf_config_put_real(c, "layer_norm_epsilon", "attention.layer_norm_rms_epsilon");
    gguf_config_put_size(c, "n_positions", "context_length");
    gguf_config_put(c, "feed_forward_proj", json_string(gated ? "gated-gelu" : "relu"));
    put_flag(c, "is_encoder_decoder", true);
    put_flag(c, "tie_word_embeddings", !own);
    const size_t start = gguf_config_size(c, "decoder_start_token_id", false);
    gguf_config_put(c, "decoder_start_token_id", json_integer((json_int_t)start));
    gguf_config_size(c, "attention.head_count_kv", false);
}

/* Architectures like Llama in llama.cpp: biases are added if a file has them. */
enum {
    LLAMA_NEEDS = GGUF_RMS_NORM | GGUF_ROTARY | GGUF_SWIGLU,
    LLAMA_MAY = GGUF_KV_HEADS | GGUF_UNTIED | GGUF_LINEAR_ROPE,
    LLAMA_MAY_TOO = GGUF_HEAD_DIM | GGUF_LLAMA3_ROPE | GGUF_ALL_BIASES,
    GEMMA_NEEDS = GGUF_RMS_NORM | GGUF_ROTARY | GGUF_GEGLU | GGUF_SCALED_EMBEDDING,
    GEMMA_MAY = GGUF_KV_HEADS | GGUF_HEAD_DIM | GGUF_LINEAR_ROPE,
    NEOX_MAY = GGUF_GELU | GGUF_GELU_TANH | GGUF_PARALLEL | GGUF_PART_ROTARY | GGUF_LINEAR_ROPE | GGUF_ALL_BIASES | GGUF_UNTIED
};

/* In llama.cpp GELU always has the form with tanh, even for GPT-NeoX, whose files are run with it. */
static const gguf_architecture ARCHITECTURES[] = {
    {"llama", &HUB_LLAMA, &HUB_MISTRAL, &GGUF_LLAMA_PLACES, gguf_read_llama, LLAMA_NEEDS, LLAMA_MAY | LLAMA_MAY_TOO},
    {"qwen2", &HUB_QWEN2, NULL, &GGUF_PLAIN_PLACES, gguf_read_qwen, LLAMA_NEEDS, LLAMA_MAY | GGUF_QKV_BIAS},
    {"qwen3", &HUB_QWEN3, NULL, &GGUF_PLAIN_PLACES, gguf_read_qwen, LLAMA_NEEDS | GGUF_QK_NORM_HEAD, LLAMA_MAY | GGUF_HEAD_DIM},
    {"gpt2", &HUB_GPT2, NULL, &GGUF_GPT2_PLACES, gguf_read_gpt2, GGUF_GELU_TANH, GGUF_ALL_BIASES | GGUF_UNTIED},
    {"gptneox", &HUB_NEOX, NULL, &GGUF_NEOX_PLACES, gguf_read_neox, GGUF_ROTARY, NEOX_MAY},
    {"gemma", &HUB_GEMMA, NULL, &GGUF_PLAIN_PLACES, gguf_read_gemma, GEMMA_NEEDS, GEMMA_MAY},
    {"gemma2", &HUB_GEMMA2, NULL, &GGUF_PLAIN_PLACES, gguf_read_gemma2, GEMMA_NEEDS | GGUF_SANDWICH_NORM,
     GEMMA_MAY | GGUF_WINDOW | GGUF_CAPS, .wide_layers = 46},
    {"gemma3", &HUB_GEMMA3, NULL, &GGUF_PLAIN_PLACES, gguf_read_gemma3,
     GEMMA_NEEDS | GGUF_SANDWICH_NORM | GGUF_QK_NORM_HEAD, GEMMA_MAY | GGUF_WINDOW, .wide_layers = 62},
    {"phi3", &HUB_PHI3, NULL, &GGUF_PHI3_PLACES, gguf_read_phi3, LLAMA_NEEDS, LLAMA_MAY | GGUF_PART_ROTARY},
    {"granite", &HUB_GRANITE, NULL, &GGUF_LLAMA_PLACES, gguf_read_granite, LLAMA_NEEDS,
     LLAMA_MAY | LLAMA_MAY_TOO | GGUF_SCALED_EMBEDDING | GGUF_FACTORS | GGUF_SCORES_SCALE},
    {"olmo2", &HUB_OLMO2, NULL, &GGUF_OLMO2_PLACES, gguf_read_olmo2,
     LLAMA_NEEDS | GGUF_OUTPUT_NORM | GGUF_QK_NORM_ALL, LLAMA_MAY},
    {"smollm3", &HUB_SMOLLM3, NULL, &GGUF_LLAMA_PLACES, gguf_read_llama, LLAMA_NEEDS, LLAMA_MAY, .unrotated_step = 4},
    {"starcoder2", &HUB_STARCODER2, NULL, &GGUF_STARCODER2_PLACES, gguf_read_starcoder2, GGUF_ROTARY | GGUF_GELU_TANH,
     LLAMA_MAY | GGUF_ALL_BIASES},
    {"t5", &HUB_T5, NULL, &GGUF_T5_PLACES, gguf_read_t5}};
enum { ARCHITECTURE_COUNT = sizeof ARCHITECTURES / sizeof *ARCHITECTURES };

const gguf_architecture *gguf_architecture_of(const char *name)
{
    for (size_t i = 0; i < ARCHITECTURE_COUNT; i++)
        if (strcmp(ARCHITECTURES[i].name, name) == 0)
            return &ARCHITECTURES[i];
    return NULL;
}

const gguf_architecture *gguf_architecture_for(const char *type)
{
    for (const gguf_architecture *a = ARCHITECTURES; a < ARCHITECTURES + ARCHITECTURE_COUNT; a++)
        if (strcmp(a->family->type, type) == 0 || (a->other && strcmp(a->other->type, type) == 0))
            return a;
    return NULL;
}

void gguf_architecture_list(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < ARCHITECTURE_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", ARCHITECTURES[i].name);
}
