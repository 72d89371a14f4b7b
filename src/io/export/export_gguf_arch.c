/* io/export/export_gguf_arch.c: the architectures of llama.cpp. Names and keys come from gguf's constants.py; an architecture
 * computes what its file in llama.cpp's src/models says (the version in llama-cpp-python 0.3.36). */
#include "io/export/export_gguf_arch.h"

#include "io/gguf/gguf_folder.h"
#include "nn/block.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what a model computes ------------------------------------------------------------------------------------ */

/* Settings of a model, one bit each, besides the settings that every architecture has. */
#define GGUF_SETTINGS(X)                                                                    \
    X(RMS_NORM, "\"norm_kind\": \"rms\"")                                                   \
    X(POST_NORM, "\"norm_place\": \"post\"")                                                \
    X(OUTPUT_NORM, "norms of results in place of inputs")                                   \
    X(SANDWICH_NORM, "norms of inputs and results")                                         \
    X(ROTARY, "\"positions\": \"rotary\"")                                                  \
    X(PART_ROTARY, "heads of which a part is rotated")                                      \
    X(LINEAR_ROPE, "linearly scaled rotary positions")                                      \
    X(LLAMA3_ROPE, "rotary positions that are scaled as Llama 3's")                         \
    X(OTHER_ROPE, "rotary positions that are scaled by numbers in the file")                 \
    X(UNROTATED, "other layers without positions")                                          \
    X(RELU_OR_SILU, "\"ffn_kind\": \"relu\" or \"silu\"")                                   \
    X(GELU, "\"ffn_kind\": \"gelu\"")                                                       \
    X(GELU_TANH, "\"ffn_kind\": \"gelu_tanh\"")                                             \
    X(SWIGLU, "\"ffn_kind\": \"swiglu\"")                                                   \
    X(GEGLU, "a feed-forward network of GEGLU")                                             \
    X(KV_HEADS, "fewer \"kv_heads\" than \"heads\"")                                        \
    X(HEAD_DIM, "heads whose features are not \"d_model\" together")                        \
    X(QKV_BIAS, "biases of queries, keys and values")                                       \
    X(O_BIAS, "a bias of attention's output")                                               \
    X(FFN_BIAS, "biases of the feed-forward network")                                       \
    X(QK_NORM_HEAD, "norms of each head's queries and keys")                                \
    X(QK_NORM_ALL, "norms of all queries and keys")                                         \
    X(WINDOW, "a sliding window that is shorter than the context")                          \
    X(PARALLEL, "parallel residual connections")                                            \
    X(SCALED_EMBEDDING, "\"scale_embedding\": true")                                        \
    X(FACTORS, "multipliers of embeddings, residual connections or logits")                 \
    X(SCORES_SCALE, "a factor of attention scores of its own")                              \
    X(CAPS, "capped attention scores or logits")                                            \
    X(OUTPUT_BIAS, "\"output_bias\": true")                                                 \
    X(UNTIED, "\"tied\": false")

enum {
#define GGUF_SETTING_NUMBER(name, text) NUMBER_##name,
    GGUF_SETTINGS(GGUF_SETTING_NUMBER)
#undef GGUF_SETTING_NUMBER
    SETTINGS
};
enum {
#define GGUF_SETTING_BIT(name, text) name = 1 << NUMBER_##name,
    GGUF_SETTINGS(GGUF_SETTING_BIT)
#undef GGUF_SETTING_BIT
    ALL_BIASES = QKV_BIAS | O_BIAS | FFN_BIAS
};

static const char *const SETTING_TEXTS[SETTINGS] = {
#define GGUF_SETTING_TEXT(name, text) text,
    GGUF_SETTINGS(GGUF_SETTING_TEXT)
#undef GGUF_SETTING_TEXT
};

struct export_gguf_arch {
    const char *name;
    const char *families[2]; /* types of Hugging Face that are written as it, besides its own name */
    const export_name *names;
    unsigned needs, may;   /* settings that it always has, and those that it may have */
    size_t unrotated_step; /* every N-th layer has no positions; 0: all have */
    size_t wide_layers;    /* a model of N layers divides scores by sqrt(d_model / heads), not sqrt(head_dim) */
};

static unsigned gguf_norm_settings(const rapt_block_config *b)
{
    return (b->norm_kind == RAPT_NORM_KIND_RMS ? RMS_NORM : 0) | (b->norm_place == RAPT_NORM_PLACE_POST ? POST_NORM : 0) |
           (b->norm_place == RAPT_NORM_PLACE_OUTPUT ? OUTPUT_NORM : 0) |
           (b->norm_place == RAPT_NORM_PLACE_SANDWICH ? SANDWICH_NORM : 0) |
           (b->qk_norm == RAPT_QK_NORM_HEAD ? QK_NORM_HEAD : 0) | (b->qk_norm == RAPT_QK_NORM_ALL ? QK_NORM_ALL : 0);
}

static unsigned gguf_ffn_setting(rapt_ffn_kind kind)
{
    switch (kind) {
    case RAPT_FFN_GELU: return GELU;
    case RAPT_FFN_GELU_TANH: return GELU_TANH;
    case RAPT_FFN_SWIGLU: return SWIGLU;
    case RAPT_FFN_GEGLU_TANH: return GEGLU;
    case RAPT_FFN_RELU:
    case RAPT_FFN_SILU: break;
    }
    return RELU_OR_SILU;
}

static unsigned gguf_rope_settings(const rapt_lm_config *c)
{
    const rapt_rotary_scaling *s = &c->rotary_scaling;
    const size_t turned = c->block.rotary_dim;
    unsigned found = turned && turned != block_head_features(&c->block) ? PART_ROTARY : 0;
    if (c->positions != RAPT_POSITIONS_ROTARY)
        return 0;
    switch (s->kind) {
    case RAPT_ROTARY_PLAIN: break;
    case RAPT_ROTARY_LINEAR: found |= LINEAR_ROPE; break;
    case RAPT_ROTARY_LLAMA3: found |= LLAMA3_ROPE; break;
    case RAPT_ROTARY_YARN:
    case RAPT_ROTARY_LONG: found |= OTHER_ROPE; break;
    }
    return found | ROTARY | (s->magnitude != 0 && s->magnitude != 1 ? OTHER_ROPE : 0);
}

static unsigned gguf_attention_settings(const rapt_block_config *b)
{
    return (b->kv_heads != b->heads ? KV_HEADS : 0) | (block_head_features(b) * b->heads != b->d_model ? HEAD_DIM : 0) |
           (b->bias ? QKV_BIAS : 0) | (b->bias && !b->no_o_bias ? O_BIAS : 0) | (b->no_ffn_bias ? 0 : FFN_BIAS) |
           (b->scores.cap != 0 ? CAPS : 0);
}

static bool gguf_has_layer(const rapt_layer_set *set, size_t layer)
{
    return layer < RAPT_LAYER_SET_MAX && set->bits[layer / 64] >> layer % 64 & 1;
}

/* Settings that differ from the architecture's own: layers without positions, and the factor of scores. */
static unsigned gguf_own_settings(const export_gguf_arch *of, const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    const size_t features = c->layers == of->wide_layers ? b->d_model / b->heads : block_head_features(b);
    const double scale = 1 / sqrt((double)features);
    unsigned found = b->scores.scale != 0 && fabs(b->scores.scale - scale) > 1e-7 * scale ? SCORES_SCALE : 0;
    for (size_t i = 0; i < c->layers; i++)
        if (gguf_has_layer(&c->unrotated, i) != (of->unrotated_step && (i + 1) % of->unrotated_step == 0))
            found |= UNROTATED;
    return found;
}

static unsigned gguf_settings_of(const export_gguf_arch *of, const rapt_lm_config *c)
{
    const bool factors = c->embedding_multiplier != 0 || (c->block.residual_scale != 0 && c->block.residual_scale != 1) ||
                         (c->logits_divisor != 0 && c->logits_divisor != 1);
    return gguf_norm_settings(&c->block) | gguf_ffn_setting(c->block.ffn_kind) | gguf_rope_settings(c) |
           gguf_attention_settings(&c->block) | gguf_own_settings(of, c) | (c->window && c->window < c->context ? WINDOW : 0) |
           (c->parallel ? PARALLEL : 0) | (c->scale_embedding ? SCALED_EMBEDDING : 0) | (factors ? FACTORS : 0) |
           (c->logits_cap != 0 ? CAPS : 0) | (c->output_bias ? OUTPUT_BIAS : 0) | (c->tied ? 0 : UNTIED);
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

#define ATTENTION_NAMES(rotation)                                                   \
    {"blk.#.attn_q.@", {"blocks.#.attention.q.@"}, rotation},                       \
    {"blk.#.attn_k.@", {"blocks.#.attention.k.@"}, rotation},                       \
    {"blk.#.attn_v.@", {"blocks.#.attention.v.@"}, 0},                              \
    {"blk.#.attn_output.@", {"blocks.#.attention.o.@"}, 0},                         \
    {"blk.#.attn_q_norm.weight", {"blocks.#.attention.q_norm.weight"}, 0},          \
    {"blk.#.attn_k_norm.weight", {"blocks.#.attention.k_norm.weight"}, 0}
#define GATED_NAMES                                                                 \
    {"blk.#.ffn_gate.@", {"blocks.#.ffn.gate.@"}, 0},                               \
    {"blk.#.ffn_up.@", {"blocks.#.ffn.up.@"}, 0},                                   \
    {"blk.#.ffn_down.@", {"blocks.#.ffn.down.@"}, 0}
#define NORM_NAMES                                                                  \
    {"blk.#.attn_norm.weight", {"blocks.#.norm1.weight"}, 0},                       \
    {"blk.#.ffn_norm.weight", {"blocks.#.norm2.weight"}, 0}
#define END_NAMES(how)                                                              \
    {"output_norm.weight", {"norm.weight"}, 0},                                     \
    {"output.weight", {"output.weight"}, how}
#define QKV_PARTS {"blocks.#.attention.q.@", "blocks.#.attention.k.@", "blocks.#.attention.v.@"}

static const export_name LLAMA_NAMES[] = {
    {"token_embd.weight", {"embedding.weight"}, 0}, NORM_NAMES, ATTENTION_NAMES(EXPORT_PAIRS), GATED_NAMES, END_NAMES(0), {0}};

static const export_name QWEN_NAMES[] = {
    {"token_embd.weight", {"embedding.weight"}, 0}, NORM_NAMES, ATTENTION_NAMES(0), GATED_NAMES, END_NAMES(0), {0}};

static const export_name OLMO2_NAMES[] = {
    {"token_embd.weight", {"embedding.weight"}, 0},
    {"blk.#.post_attention_norm.weight", {"blocks.#.norm1.weight"}, 0},
    {"blk.#.post_ffw_norm.weight", {"blocks.#.norm2.weight"}, 0},
    ATTENTION_NAMES(0), GATED_NAMES, END_NAMES(EXPORT_SHARED), {0}};

static const export_name GEMMA_NAMES[] = {
    {"token_embd.weight", {"embedding.weight"}, 0}, NORM_NAMES,
    {"blk.#.post_attention_norm.weight", {"blocks.#.norm1.output.weight"}, 0},
    {"blk.#.post_ffw_norm.weight", {"blocks.#.norm2.output.weight"}, 0},
    ATTENTION_NAMES(0), GATED_NAMES, END_NAMES(0), {0}};

static const export_name PHI3_NAMES[] = {
    {"token_embd.weight", {"embedding.weight"}, 0}, NORM_NAMES,
    {"blk.#.attn_qkv.@", QKV_PARTS, EXPORT_TURNED},
    {"blk.#.attn_output.@", {"blocks.#.attention.o.@"}, 0},
    {"blk.#.ffn_up.@", {"blocks.#.ffn.gate.@", "blocks.#.ffn.up.@"}, 0},
    {"blk.#.ffn_down.@", {"blocks.#.ffn.down.@"}, 0},
    END_NAMES(0), {0}};

#define GPT_BLOCK_NAMES                                                             \
    {"blk.#.attn_norm.@", {"blocks.#.norm1.@"}, EXPORT_BIAS},                       \
    {"blk.#.attn_qkv.@", QKV_PARTS, EXPORT_BIAS | EXPORT_TURNED},                   \
    {"blk.#.attn_output.@", {"blocks.#.attention.o.@"}, EXPORT_BIAS},               \
    {"blk.#.ffn_norm.@", {"blocks.#.norm2.@"}, EXPORT_BIAS},                        \
    {"blk.#.ffn_up.@", {"blocks.#.ffn.dense1.@"}, EXPORT_BIAS},                     \
    {"blk.#.ffn_down.@", {"blocks.#.ffn.dense2.@"}, EXPORT_BIAS},                   \
    {"output_norm.@", {"norm.@"}, EXPORT_BIAS}

static const export_name GPT2_NAMES[] = {
    {"token_embd.weight", {"embedding.weight"}, 0},
    {"position_embd.weight", {"positions.weight"}, 0},
    {"position_embd.weight", {"positions.table"}, 0},
    GPT_BLOCK_NAMES,
    {"output.weight", {"output.weight"}, 0},
    {0}};

static const export_name NEOX_NAMES[] = {
    {"token_embd.weight", {"embedding.weight"}, 0}, GPT_BLOCK_NAMES, {"output.weight", {"output.weight"}, EXPORT_SHARED}, {0}};

/* ---- architectures -------------------------------------------------------------------------------------------- */

/* Architectures like Llama in llama.cpp: biases are added if a file has them. */
enum {
    LLAMA_NEEDS = RMS_NORM | ROTARY | SWIGLU,
    LLAMA_MAY = KV_HEADS | UNTIED | LINEAR_ROPE,
    GEMMA_NEEDS = RMS_NORM | ROTARY | GEGLU | SCALED_EMBEDDING,
    GEMMA_MAY = KV_HEADS | HEAD_DIM | LINEAR_ROPE
};

/* In llama.cpp GELU always has the form with tanh, even for GPT-NeoX, whose files are run with it. */
static const export_gguf_arch ARCHS[] = {
    {"llama", {"mistral"}, LLAMA_NAMES, LLAMA_NEEDS, LLAMA_MAY | HEAD_DIM | LLAMA3_ROPE | ALL_BIASES},
    {"gpt2", {NULL}, GPT2_NAMES, GELU_TANH, ALL_BIASES | UNTIED},
    {"gptneox", {"gpt_neox"}, NEOX_NAMES, ROTARY, GELU | GELU_TANH | PARALLEL | PART_ROTARY | LINEAR_ROPE | ALL_BIASES | UNTIED},
    {"granite", {NULL}, LLAMA_NAMES, LLAMA_NEEDS,
     LLAMA_MAY | HEAD_DIM | LLAMA3_ROPE | ALL_BIASES | SCALED_EMBEDDING | FACTORS | SCORES_SCALE},
    {"qwen2", {NULL}, QWEN_NAMES, LLAMA_NEEDS, LLAMA_MAY | QKV_BIAS},
    {"qwen3", {NULL}, QWEN_NAMES, LLAMA_NEEDS | QK_NORM_HEAD, LLAMA_MAY | HEAD_DIM},
    {"olmo2", {NULL}, OLMO2_NAMES, LLAMA_NEEDS | OUTPUT_NORM | QK_NORM_ALL, LLAMA_MAY},
    {"smollm3", {NULL}, LLAMA_NAMES, LLAMA_NEEDS, LLAMA_MAY, .unrotated_step = 4},
    {"gemma", {NULL}, GEMMA_NAMES, GEMMA_NEEDS, GEMMA_MAY},
    {"gemma2", {NULL}, GEMMA_NAMES, GEMMA_NEEDS | SANDWICH_NORM, GEMMA_MAY | WINDOW | CAPS, .wide_layers = 46},
    {"gemma3", {"gemma3_text"}, GEMMA_NAMES, GEMMA_NEEDS | SANDWICH_NORM | QK_NORM_HEAD, GEMMA_MAY | WINDOW, .wide_layers = 62},
    {"phi3", {NULL}, PHI3_NAMES, LLAMA_NEEDS, LLAMA_MAY | PART_ROTARY},
};

static const export_gguf_arch *gguf_arch_named(const char *name)
{
    for (size_t i = 0; i < sizeof ARCHS / sizeof *ARCHS; i++)
        if (strcmp(ARCHS[i].name, name) == 0 || (ARCHS[i].families[0] && strcmp(ARCHS[i].families[0], name) == 0))
            return &ARCHS[i];
    return NULL;
}

/* For a model of rapt, the architecture that has its norms and positions. */
static const char *gguf_nearest(const rapt_lm_config *c)
{
    if (c->positions != RAPT_POSITIONS_ROTARY)
        return "gpt2";
    return c->block.norm_kind != RAPT_NORM_KIND_RMS ? "gptneox" : c->scale_embedding ? "granite" : "llama";
}

/* The first of some settings. */
static const char *gguf_setting_text(unsigned settings)
{
    return SETTING_TEXTS[__builtin_ctz(settings)];
}

const export_gguf_arch *export_gguf_arch_of(const rapt_model *m, const char *path, rapt_error *err)
{
    const rapt_lm_config *c = &m->language.net->config;
    const export_gguf_arch *of = gguf_arch_named(m->family ? m->family : gguf_nearest(c));
    const unsigned settings = of ? gguf_settings_of(of, c) : 0, too_much = of ? settings & ~(of->needs | of->may) : 0;
    const unsigned lacking = of ? of->needs & ~settings : 0;
    if (!of)
        rapt_fail(err, RAPT_ERR_VALUE, "%s: rapt writes no GGUF file of a model of type \"%s\"", path, m->family);
    else if (too_much)
        rapt_fail(err, RAPT_ERR_VALUE, "%s: the model has %s, which %s, the nearest architecture of GGUF, has not", path,
                  gguf_setting_text(too_much), of->name);
    else if (lacking)
        rapt_fail(err, RAPT_ERR_VALUE, "%s: the model lacks %s, which %s, the nearest architecture of GGUF, has", path,
                  gguf_setting_text(lacking), of->name);
    return too_much || lacking ? NULL : of;
}

const export_name *export_gguf_names(const export_gguf_arch *of)
{
    return of->names;
}

/* ---- keys ----------------------------------------------------------------------------------------------------- */

enum { KEY = 96 };

typedef struct gguf_arch_keys {
    gguf_keys *keys;
    const export_gguf_arch *of;
    char text[KEY];
} gguf_arch_keys;

/* "llama.block_count" */
static const char *gguf_key(gguf_arch_keys *k, const char *name)
{
    snprintf(k->text, sizeof k->text, "%s.%s", k->of->name, name);
    return k->text;
}

static void gguf_put_size(gguf_arch_keys *k, const char *name, size_t value)
{
    gguf_keys_u32(k->keys, gguf_key(k, name), (uint32_t)value);
}

static void gguf_put_real(gguf_arch_keys *k, const char *name, double value)
{
    gguf_keys_f32(k->keys, gguf_key(k, name), (float)value);
}

static void gguf_put_sizes(gguf_arch_keys *k, const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    gguf_put_size(k, "vocab_size", c->vocab);
    gguf_put_size(k, "context_length", c->context);
    gguf_put_size(k, "embedding_length", b->d_model);
    gguf_put_size(k, "block_count", c->layers);
    gguf_put_size(k, "feed_forward_length", b->ffn);
    gguf_put_size(k, "attention.head_count", b->heads);
    gguf_put_size(k, "attention.head_count_kv", b->kv_heads);
    gguf_put_size(k, "attention.key_length", block_head_features(b));
    gguf_put_size(k, "attention.value_length", block_head_features(b));
    const bool rms = b->norm_kind == RAPT_NORM_KIND_RMS;
    gguf_put_real(k, rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", b->norm_eps);
}

static size_t gguf_rotary_dim(const rapt_block_config *b)
{
    return b->rotary_dim ? b->rotary_dim : block_head_features(b);
}

static void gguf_put_rope(gguf_arch_keys *k, const rapt_lm_config *c)
{
    const double base = c->rotary_base != 0 ? c->rotary_base : 10000;
    gguf_put_size(k, "rope.dimension_count", gguf_rotary_dim(&c->block));
    gguf_put_real(k, "rope.freq_base", base);
    if (c->rotary_scaling.kind == RAPT_ROTARY_LINEAR) {
        gguf_keys_text(k->keys, gguf_key(k, "rope.scaling.type"), "linear");
        gguf_put_real(k, "rope.scaling.factor", c->rotary_scaling.factor);
    }
    if (k->of->may & WINDOW)
        gguf_put_real(k, "rope.freq_base_swa", c->local_rotary_base != 0 ? c->local_rotary_base : base);
}

static void gguf_put_windows(gguf_arch_keys *k, const rapt_lm_config *c)
{
    gguf_put_size(k, "attention.sliding_window", c->window);
    gguf_keys_begin_bools(k->keys, gguf_key(k, "attention.sliding_window_pattern"), c->layers);
    for (size_t i = 0; i < c->layers; i++)
        gguf_keys_add_bool(k->keys, gguf_has_layer(&c->windowed, i));
}

static void gguf_put_factors(gguf_arch_keys *k, const rapt_lm_config *c)
{
    const double scale = c->block.scores.scale, embedding = c->embedding_multiplier;
    gguf_put_real(k, "embedding_scale", embedding != 0 ? embedding : c->scale_embedding ? sqrt((double)c->block.d_model) : 1);
    gguf_put_real(k, "residual_scale", c->block.residual_scale != 0 ? c->block.residual_scale : 1);
    gguf_put_real(k, "logit_scale", c->logits_divisor != 0 ? c->logits_divisor : 1);
    gguf_put_real(k, "attention.scale", scale != 0 ? scale : 1 / sqrt((double)block_head_features(&c->block)));
}

void export_gguf_put_keys(gguf_keys *keys, const export_gguf_arch *of, const rapt_lm_config *c)
{
    gguf_arch_keys k = {.keys = keys, .of = of};
    gguf_keys_text(keys, "general.architecture", of->name);
    gguf_put_sizes(&k, c);
    if (c->positions == RAPT_POSITIONS_ROTARY)
        gguf_put_rope(&k, c);
    if (of->may & WINDOW && c->window)
        gguf_put_windows(&k, c);
    if (of->may & FACTORS)
        gguf_put_factors(&k, c);
    if (of->may & PARALLEL)
        gguf_keys_bool(keys, gguf_key(&k, "use_parallel_residual"), c->parallel);
    if (of->may & GELU && c->block.ffn_kind == RAPT_FFN_GELU_TANH)
        gguf_keys_bool(keys, GGUF_KEY_GELU_TANH, true);
    if (of->may & CAPS) {
        gguf_put_real(&k, "attn_logit_softcapping", c->block.scores.cap);
        gguf_put_real(&k, "final_logit_softcapping", c->logits_cap);
    }
}

/* ---- frequencies ---------------------------------------------------------------------------------------------- */

/* In fp32, as transformers scales them. */
static float gguf_llama3_factor(const rapt_rotary_scaling *s, float frequency)
{
    const float length = 6.28318530718f / frequency, original = (float)s->original;
    const float low = (float)s->low_factor, high = (float)s->high_factor, smooth = (original / length - low) / (high - low);
    if (length < original / high)
        return 1;
    return length > original / low ? (float)s->factor : 1 / ((1 - smooth) / (float)s->factor + smooth);
}

size_t export_gguf_rope_factors(const rapt_lm_config *c, float *factors)
{
    const size_t n = gguf_rotary_dim(&c->block) / 2;
    if (c->positions != RAPT_POSITIONS_ROTARY || c->rotary_scaling.kind != RAPT_ROTARY_LLAMA3)
        return 0;
    for (size_t j = 0; j < n && j < RAPT_ROTARY_FACTORS_MAX; j++) {
        const double frequency = pow(c->rotary_base != 0 ? c->rotary_base : 10000, -(double)j / (double)n);
        factors[j] = gguf_llama3_factor(&c->rotary_scaling, (float)frequency);
    }
    return n;
}
