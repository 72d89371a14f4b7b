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

static inline rapt_transformer *model_new(rapt_norm_place norm, bool tied)
{
    rapt_error err = {0};
    rapt_transformer_config config = model_config(norm, tied);
    rapt_transformer *m = rapt_transformer_new(&config, 11, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

static inline rapt_tape *model_tape(const char *isa, int threads)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_tape_options){.isa = isa, .threads = threads}, &err);
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
