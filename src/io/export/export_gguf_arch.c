/* io/export/export_gguf_arch.c: the architectures of llama.cpp. Names and keys come from gguf's constants.py; an architecture
 * computes what its file in llama.cpp's src/models says (the version in llama-cpp-python 0.3.36). */
#include "io/export/export_gguf_parts.h"

#include "io/gguf/gguf_folder.h"
#include "io/model_core.h"
#include "nn/block.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what a model computes ------------------------------------------------------------------------------------ */

static const char *const SETTING_TEXTS[GGUF_SETTING_COUNT] = {
#define GGUF_SETTING_TEXT(name, text) text,
    GGUF_SETTINGS(GGUF_SETTING_TEXT)
#undef GGUF_SETTING_TEXT
};

static unsigned gguf_norm_settings(const rapt_block_config *b)
{
    return (b->norm_kind == RAPT_NORM_KIND_RMS ? GGUF_RMS_NORM : 0) |
           (b->norm_place == RAPT_NORM_PLACE_POST ? GGUF_POST_NORM : 0) |
           (b->norm_place == RAPT_NORM_PLACE_OUTPUT ? GGUF_OUTPUT_NORM : 0) |
           (b->norm_place == RAPT_NORM_PLACE_SANDWICH ? GGUF_SANDWICH_NORM : 0) |
           (b->qk_norm == RAPT_QK_NORM_HEAD ? GGUF_QK_NORM_HEAD : 0) | (b->qk_norm == RAPT_QK_NORM_ALL ? GGUF_QK_NORM_ALL : 0);
}

static unsigned gguf_ffn_setting(rapt_ffn_kind kind)
{
    switch (kind) {
    case RAPT_FFN_GELU: return GGUF_GELU;
    case RAPT_FFN_GELU_TANH: return GGUF_GELU_TANH;
    case RAPT_FFN_SWIGLU: return GGUF_SWIGLU;
    case RAPT_FFN_GEGLU_TANH: return GGUF_GEGLU;
    case RAPT_FFN_RELU:
    case RAPT_FFN_SILU: break;
    }
    return GGUF_RELU_OR_SILU;
}

static unsigned gguf_rope_settings(const rapt_lm_config *c)
{
    const rapt_rotary_scaling *s = &c->rotary_scaling;
    const size_t turned = c->block.rotary_dim;
    unsigned found = turned && turned != block_head_features(&c->block) ? GGUF_PART_ROTARY : 0;
    if (c->positions != RAPT_POSITIONS_ROTARY)
        return 0;
    switch (s->kind) {
    case RAPT_ROTARY_PLAIN: break;
    case RAPT_ROTARY_LINEAR: found |= GGUF_LINEAR_ROPE; break;
    case RAPT_ROTARY_LLAMA3: found |= GGUF_LLAMA3_ROPE; break;
    case RAPT_ROTARY_YARN:
    case RAPT_ROTARY_LONG: found |= GGUF_OTHER_ROPE; break;
    }
    return found | GGUF_ROTARY | (s->magnitude != 0 && s->magnitude != 1 ? GGUF_OTHER_ROPE : 0);
}

static unsigned gguf_attention_settings(const rapt_block_config *b)
{
    return (b->kv_heads != b->heads ? GGUF_KV_HEADS : 0) | (block_head_features(b) * b->heads != b->d_model ? GGUF_HEAD_DIM : 0) |
           (b->bias ? GGUF_QKV_BIAS : 0) | (b->bias && !b->no_o_bias ? GGUF_O_BIAS : 0) | (b->no_ffn_bias ? 0 : GGUF_FFN_BIAS) |
           (b->scores.cap != 0 ? GGUF_CAPS : 0);
}

static bool gguf_has_layer(const rapt_layer_set *set, size_t layer)
{
    return layer < RAPT_LAYER_SET_MAX && set->bits[layer / 64] >> layer % 64 & 1;
}

/* Settings that differ from the architecture's own: layers without positions, and the factor of scores. */
static unsigned gguf_own_settings(const gguf_architecture *of, const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    const size_t features = c->layers == of->wide_layers ? b->d_model / b->heads : block_head_features(b);
    const double scale = 1 / sqrt((double)features);
    unsigned found = b->scores.scale != 0 && fabs(b->scores.scale - scale) > 1e-7 * scale ? GGUF_SCORES_SCALE : 0;
    for (size_t i = 0; i < c->layers; i++)
        if (gguf_has_layer(&c->unrotated, i) != (of->unrotated_step && (i + 1) % of->unrotated_step == 0))
            found |= GGUF_UNROTATED;
    return found;
}

static unsigned gguf_settings_of(const gguf_architecture *of, const rapt_lm_config *c)
{
    const bool factors = c->embedding_multiplier != 0 || (c->block.residual_scale != 0 && c->block.residual_scale != 1) ||
                         (c->logits_divisor != 0 && c->logits_divisor != 1);
    return gguf_norm_settings(&c->block) | gguf_ffn_setting(c->block.ffn_kind) | gguf_rope_settings(c) |
           gguf_attention_settings(&c->block) | gguf_own_settings(of, c) |
           (c->window && c->window < c->context ? GGUF_WINDOW : 0) |
           (c->parallel ? GGUF_PARALLEL : 0) | (c->scale_embedding ? GGUF_SCALED_EMBEDDING : 0) | (factors ? GGUF_FACTORS : 0) |
           (c->logits_cap != 0 ? GGUF_CAPS : 0) | (c->output_bias ? GGUF_OUTPUT_BIAS : 0) | (c->tied ? 0 : GGUF_UNTIED);
}

/* ---- which ---------------------------------------------------------------------------------------------------- */

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

const gguf_architecture *export_gguf_arch_of(const rapt_model *m, const char *path, rapt_error *err)
{
    const rapt_lm_config *c = &m->language.net->config;
    const gguf_architecture *found = m->family ? gguf_architecture_for(m->family) : gguf_architecture_of(gguf_nearest(c));
    const gguf_architecture *of = found && found->needs ? found : NULL;
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

/* ---- keys ----------------------------------------------------------------------------------------------------- */

enum { KEY = 96 };

typedef struct gguf_arch_keys {
    gguf_keys *keys;
    const gguf_architecture *of;
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
    if (k->of->may & GGUF_WINDOW)
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

void export_gguf_put_keys(gguf_keys *keys, const gguf_architecture *of, const rapt_lm_config *c)
{
    gguf_arch_keys k = {.keys = keys, .of = of};
    gguf_keys_text(keys, "general.architecture", of->name);
    gguf_put_sizes(&k, c);
    if (c->positions == RAPT_POSITIONS_ROTARY)
        gguf_put_rope(&k, c);
    if (of->may & GGUF_WINDOW && c->window)
        gguf_put_windows(&k, c);
    if (of->may & GGUF_FACTORS)
        gguf_put_factors(&k, c);
    if (of->may & GGUF_PARALLEL)
        gguf_keys_bool(keys, gguf_key(&k, "use_parallel_residual"), c->parallel);
    if (of->may & GGUF_GELU && c->block.ffn_kind == RAPT_FFN_GELU_TANH)
        gguf_keys_bool(keys, GGUF_KEY_GELU_TANH, true);
    if (of->may & GGUF_CAPS) {
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
