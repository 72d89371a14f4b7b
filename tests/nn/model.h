/* tests/nn/model.h: a small model, and sentences for it, for the tests of this folder. It checks nothing itself. */
#ifndef TESTS_NN_MODEL_H
#define TESTS_NN_MODEL_H

#include "rapt/nn.h"

#include "base/rng.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_VOCAB 53

static inline rapt_transformer_config model_config(rapt_norm_place norm, bool tied)
{
    return (rapt_transformer_config){
        .source_vocab = MODEL_VOCAB, .target_vocab = MODEL_VOCAB, .layers = 2, .max_positions = 80,
        .scale_embedding = true, .tied = tied,
        .block = {.d_model = 42, .heads = 3, .ffn = 71, .bias = true, .dropout = 0.25, .norm_place = norm}};
}

#define MODEL_VARIANTS 12

/* 0 to 3: as in the paper, post- and pre-norm, with separate and with tied matrices; then with later parts: every kind of
 * positions, norm and activation, grouped queries, one norm for a block; 8 has another decoder than encoder, as Marian's can
 * have, 9 what mBART and M2M100 have; 10 has no positions, 11 ALiBi's. */
static inline rapt_transformer_config model_variant(size_t i)
{
    static const rapt_positions_kind positions[] = {RAPT_POSITIONS_ROTARY, RAPT_POSITIONS_LEARNED, RAPT_POSITIONS_ROTARY,
                                                    RAPT_POSITIONS_SINUSOIDAL};
    static const rapt_ffn_kind kinds[] = {RAPT_FFN_SWIGLU, RAPT_FFN_GELU, RAPT_FFN_GELU_TANH, RAPT_FFN_SWIGLU};
    rapt_transformer_config c = model_config(i % 2 ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST, i / 2 % 2);
    if (i == 8) {
        c.tied_output = true;
        c.output_bias = RAPT_OUTPUT_BIAS_ALWAYS;
        c.decoder_layers = 3;
        c.decoder_heads = 2;
        c.decoder_ffn = 37;
        c.block.ffn_kind = RAPT_FFN_SILU;
        c.sinusoid_layout = RAPT_SINUSOID_LAYOUT_HALVES;
    }
    if (i == 9) {
        c.tied = true;
        c.output_bias = RAPT_OUTPUT_BIAS_NEVER;
        c.embedding_norm = true;
        c.sinusoid_layout = RAPT_SINUSOID_LAYOUT_FAIRSEQ;
    }
    if (i >= 10)
        c.positions = i == 10 ? RAPT_POSITIONS_NONE : RAPT_POSITIONS_ALIBI;
    if (i < 4 || i >= 8)
        return c;
    c.positions = positions[i - 4];
    c.scale_embedding = i != 6;
    c.block.ffn_kind = kinds[i - 4];
    c.block.kv_heads = i == 5 ? 3 : 1;
    c.block.norm_kind = i == 5 ? RAPT_NORM_KIND_LAYER : RAPT_NORM_KIND_RMS;
    c.block.shared_norm = i == 6;
    c.block.bias = i % 2;
    c.block.no_ffn_bias = i == 4;
    c.block.no_norm_bias = i == 5;
    c.block.init = i == 7 ? RAPT_WEIGHT_INIT_GPT2 : RAPT_WEIGHT_INIT_PYTORCH;
    return c;
}

static inline rapt_transformer *model_of(rapt_transformer_config config)
{
    rapt_error err = {0};
    rapt_transformer *m = rapt_transformer_new(&config, 11, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

static inline rapt_transformer *model_new(rapt_norm_place norm, bool tied)
{
    return model_of(model_config(norm, tied));
}

static inline rapt_tape *model_tape(const char *isa, int threads)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.isa = isa, .threads = threads}, &err);
    if (!t)
        fail_msg("%s", err.message);
    return t;
}

static inline void model_ids(int32_t *ids, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)rng_below(key, i, MODEL_VOCAB);
}

/* The numbers must be the same bytes; the message says which one is not. */
static inline void model_same(const char *what, const rapt_real *want, const rapt_real *got, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&want[i], &got[i], sizeof *want) != 0)
            fail_msg("%s: number %zu is %a, not %a", what, i, (double)got[i], (double)want[i]);
}

/* A copy that outlives the pass; free() it. */
static inline rapt_real *model_copy(rapt_tape *t, const rapt_tensor *x)
{
    if (rapt_tape_error(t)->code)
        fail_msg("%s", rapt_tape_error(t)->message);
    rapt_real *copy = malloc(rapt_tensor_size(x) * sizeof *copy);
    assert_non_null(copy);
    return memcpy(copy, x->data, rapt_tensor_size(x) * sizeof *copy);
}

#endif
