/* tests/train/overlap_model.h: a language model whose gradients and parameters lie in arrays that are cut into many buckets, as
 * in the steps of a group. For test_ready.c and test_gathers.c. */
#ifndef TESTS_TRAIN_OVERLAP_MODEL_H
#define TESTS_TRAIN_OVERLAP_MODEL_H

#include "rapt/lm.h"

#include "base/rng.h"
#include "tensor/params.h"
#include "train/shards/buckets.h"
#include "train/shards/gradient_layout.h"

#include <stdlib.h>
#include <string.h>

#define OVERLAP_TIME 12
#define OVERLAP_VOCAB 300

typedef struct overlap_model {
    rapt_lm *lm;
    rapt_tape *t;
    gradient_layout layout;
    buckets b;
    arena memory;
    rapt_real *values, *gradients;
    int32_t ids[2 * OVERLAP_TIME + 1];
} overlap_model;

/* False: something failed. */
static inline bool overlap_model_make(overlap_model *m, bool tied, rapt_type precision, int ranks)
{
    rapt_lm_config c = {.vocab = OVERLAP_VOCAB, .layers = 4, .context = OVERLAP_TIME, .tied = tied,
                        .block = {.d_model = 64, .heads = 4, .ffn = 128, .shared_norm = tied}};
    *m = (overlap_model){.lm = rapt_lm_new(&c, 3, NULL),
                         .t = rapt_tape_new(&(rapt_compute){.threads = 2, .type = precision}, NULL)};
    arena_init(&m->memory, 1 << 20);
    if (!m->lm || !m->t || gradient_layout_make(&m->layout, m->lm->params, NULL) ||
        buckets_make(&m->b, m->lm->params, &m->layout, ranks, NULL, NULL))
        return false;
    m->values = value_array_move(&m->memory, m->lm->params, &m->layout);
    m->gradients = arena_zeroed(&m->memory, m->layout.size, sizeof *m->gradients);
    for (size_t i = 0; m->gradients && i < m->layout.dense; i++)
        params_at(m->lm->params, m->layout.order[i])->value.grad = m->gradients + m->layout.offset[m->layout.order[i]];
    return m->values && m->gradients;
}

static inline void overlap_model_free(overlap_model *m)
{
    buckets_free(&m->b);
    gradient_layout_free(&m->layout);
    rapt_lm_free(m->lm);
    rapt_tape_free(m->t);
    arena_free(&m->memory);
}

/* The loss of a forward pass over some text, which is not there in a pass that is only counted. */
static inline rapt_tensor *overlap_model_forward(overlap_model *m, bool recompute)
{
    for (size_t i = 0; i < sizeof m->ids / sizeof *m->ids; i++)
        m->ids[i] = (int32_t)(i * 37 % OVERLAP_VOCAB);
    rapt_tape_begin(m->t, (rapt_pass){.record = true, .training = true, .recompute = recompute});
    return rapt_lm_loss(m->t, m->lm, (rapt_tokens){m->ids, 2, OVERLAP_TIME, NULL},
                        (rapt_tokens){m->ids + 1, 2, OVERLAP_TIME, NULL}, NULL, NULL);
}

#endif
