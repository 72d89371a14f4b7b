/* tests/ops/ops_case.h: one row of the table of operations at work: its inputs, parameters and constants, drawn from
 * a seed at the first pass and the same (or as a test changed them) at every later one. For the builders of
 * ops_build.h and the tests that run them. It checks nothing itself. */
#ifndef TESTS_OPS_CASE_H
#define TESTS_OPS_CASE_H

#include "ops_table.h"

#include "rapt/nn.h"

#include "base/rng.h"

#include <string.h>

#define OPS_MAX_INPUTS 8
#define OPS_MAX_SLOTS 16

typedef struct ops_slot {
    void *data;
    size_t bytes;
    bool borrowed; /* spoilt between the forward and the backward pass: operations may not rely on it */
} ops_slot;

typedef struct ops_case {
    uint64_t seed;
    unsigned flags;      /* which variant of the builder */
    bool large;          /* sizes that make several chunks and tasks */
    bool reuse;          /* every input goes into the loss a second time, so that gradients add up */
    rapt_params *params; /* holds the memory of everything below */
    rapt_tensor *input[OPS_MAX_INPUTS];
    rapt_real *value[OPS_MAX_INPUTS]; /* what input i is filled from */
    size_t inputs;
    ops_slot slot[OPS_MAX_SLOTS];
    size_t slots;
    const double *row_factor; /* by this the gradient of row i of parameter "w" differs from the derivative; NULL: 1 */
    uint32_t *examples;       /* keys of the dropout */
} ops_case;

typedef rapt_tensor *ops_builder(ops_case *c, rapt_tape *t);

static inline ops_case ops_case_new(unsigned flags, bool large)
{
    return (ops_case){.seed = 7, .flags = flags, .large = large, .params = rapt_params_new(7, NULL)};
}

static inline void ops_case_free(ops_case *c)
{
    rapt_params_free(c->params);
}

static inline bool ops_is(const ops_case *c, unsigned flag)
{
    return (c->flags & flag) != 0;
}

static inline size_t ops_size(const ops_case *c, size_t small, size_t large)
{
    return c->large ? large : small;
}

/* Memory that the next pass finds again, zeroed at first. */
static inline void *ops_keep(ops_case *c, size_t bytes, bool borrowed)
{
    ops_slot *s = &c->slot[c->slots++];
    if (!s->data)
        *s = (ops_slot){rapt_params_alloc(c->params, bytes, 1), bytes, borrowed};
    return s->data;
}

/* Numbers of variance about 1. */
static inline void ops_draw(const ops_case *c, rapt_real *x, size_t n, uint64_t stream)
{
    uint64_t key = rng_mix(c->seed, stream);
    for (size_t i = 0; i < n; i++)
        x[i] = (rapt_real)(3.4 * rng_uniform(key, i) - 1.7);
}

static inline rapt_tensor *ops_input(ops_case *c, rapt_tape *t, int ndim, const size_t *shape)
{
    size_t n = 1, i = c->inputs++;
    for (int j = 0; j < ndim; j++)
        n *= shape[j];
    if (!c->value[i]) {
        c->value[i] = rapt_params_alloc(c->params, n, sizeof(rapt_real));
        ops_draw(c, c->value[i], n, 100 + i);
    }
    c->input[i] = rapt_tape_input(t, ndim, shape, c->value[i], true);
    return c->input[i];
}

static inline rapt_param *ops_param(ops_case *c, const char *name, int ndim, const size_t *shape)
{
    rapt_param *p = rapt_params_find(c->params, name);
    return p ? p : rapt_params_add(c->params, name, ndim, shape, (rapt_init){RAPT_INIT_UNIFORM, 1.7});
}

/* Whole numbers in [low, high); fresh ones at every pass, because they are spoilt. */
static inline int32_t *ops_ids(ops_case *c, size_t count, int32_t low, int32_t high)
{
    uint64_t key = rng_mix(c->seed, 200 + c->slots);
    int32_t *ids = ops_keep(c, count * sizeof *ids, true);
    for (size_t i = 0; i < count; i++)
        ids[i] = low + (int32_t)rng_below(key, i, (uint64_t)(high - low));
    return ids;
}

static inline uint8_t *ops_keep_flags(ops_case *c, size_t count)
{
    uint64_t key = rng_mix(c->seed, 300 + c->slots);
    uint8_t *keep = ops_keep(c, count, true);
    for (size_t i = 0; i < count; i++)
        keep[i] = rng_uniform(key, i) < 0.7;
    return keep;
}

/* The sum of x times random weights. */
static inline rapt_tensor *ops_weigh(ops_case *c, rapt_tape *t, rapt_tensor *x)
{
    size_t n = rapt_tensor_size(x);
    uint64_t stream = 400 + c->slots;
    rapt_real *weights = ops_keep(c, (n ? n : 1) * sizeof *weights, true);
    ops_draw(c, weights, n, stream);
    return rapt_op_weighted_sum(t, x, weights);
}

/* One forward pass: begins it, builds the row and its loss. *output, if not NULL, is what the row itself gives. */
static inline rapt_tensor *ops_forward(ops_case *c, rapt_tape *t, ops_builder *build, bool record, rapt_tensor **output)
{
    c->inputs = c->slots = 0;
    rapt_tape_begin(t, (rapt_pass){.record = record, .training = true, .seed = c->seed, .step = 3,
                                   .examples = c->examples, .recompute = ops_is(c, OPS_AGAIN)});
    rapt_tensor *y = build(c, t), *loss = ops_weigh(c, t, y);
    for (size_t i = 0; c->reuse && i < c->inputs; i++)
        loss = rapt_op_add(t, loss, ops_weigh(c, t, c->input[i]));
    if (output)
        *output = y;
    return loss;
}

/* Lent arrays change as soon as the forward pass is over. */
static inline void ops_spoil(ops_case *c)
{
    for (size_t i = 0; i < c->slots; i++)
        if (c->slot[i].borrowed)
            memset(c->slot[i].data, 0x5a, c->slot[i].bytes);
}

/* Forward and backward, gradients of parameters cleared before. */
static inline rapt_tensor *ops_step(ops_case *c, rapt_tape *t, ops_builder *build, rapt_tensor **output,
                                    rapt_error *err)
{
    rapt_params_zero_grad(c->params);
    rapt_tensor *loss = ops_forward(c, t, build, true, output);
    ops_spoil(c);
    rapt_backward(t, loss, err);
    return loss;
}

#endif
