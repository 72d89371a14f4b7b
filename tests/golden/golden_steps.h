/* tests/golden/golden_steps.h: the steps of a golden run of the book's small model, for optimizers that are compared with a run
 * in float64. To be included after golden.h. */
#ifndef GOLDEN_STEPS_H
#define GOLDEN_STEPS_H

#include "rapt/train.h"

#include <math.h>
#include <stdio.h>

/* The largest difference of an element from out/NAME. */
static inline double golden_distance(golden *g, const rapt_param *p)
{
    char text[96];
    snprintf(text, sizeof text, "out/%s", p->value.name);
    const safetensors_entry *e = golden_get(g, text);
    double worst = 0;
    for (size_t i = 0; i < rapt_tensor_size(&p->value); i++)
        worst = fmax(worst, fabs((double)p->value.data[i] - golden_at(e, i)));
    return worst;
}

/* A clipped step on tape t; the gradients are zero afterwards. */
static inline void golden_step(golden *g, rapt_tape *t, rapt_adam *a, rapt_params *set)
{
    rapt_error err = {0};
    const double clip = golden_number(g, "clip", INFINITY), norm = rapt_grad_norm(g->tape, set);
    if (rapt_adam_step(a, t, golden_number(g, "lr", 0), fmin(1, clip / norm), &err))
        fail_msg("%s/%s: %s", g->file, g->name, err.message);
    rapt_params_zero_grad(set);
}

/* Batch `step` of in/NAME [batches, batch, time]. */
static inline rapt_tokens golden_batch(golden *g, const char *name, size_t step)
{
    char text[32];
    snprintf(text, sizeof text, "in/%s", name);
    const safetensors_entry *e = golden_get(g, text);
    const size_t at = step % e->shape[0];
    return (rapt_tokens){golden_ints(g, name) + at * e->shape[1] * e->shape[2], e->shape[1], e->shape[2]};
}

/* The case's model with its parameters; to be freed. */
static inline rapt_transformer *golden_model(golden *g)
{
    rapt_error err = {0};
    rapt_transformer_config c = golden_transformer_config(g);
    rapt_transformer *m = rapt_transformer_new(&c, 1, &err);
    if (!m)
        fail_msg("%s", err.message);
    golden_load_set(g, m->params);
    return m;
}

/* All steps of a model's run with the book's loss. */
static inline void golden_learn(golden *g, rapt_transformer *m, rapt_adam *a)
{
    rapt_error err = {0};
    for (size_t step = 0; step < golden_size(g, "steps"); step++) {
        const rapt_tokens source = golden_batch(g, "source", step), labels = golden_batch(g, "labels", step);
        const size_t at = step % golden_get(g, "in/source")->shape[0] * source.batch;
        rapt_tape_begin(g->tape, (rapt_pass){.record = true, .training = true, .step = step});
        rapt_tensor *logits = rapt_transformer_forward(g->tape, m, source, golden_ints(g, "valid_lens") + at,
                                                       golden_batch(g, "target", step));
        rapt_loss_options o = {.valid_lens = golden_ints(g, "label_lens") + at, .normalizer = (double)labels.time};
        if (rapt_backward(g->tape, rapt_op_cross_entropy(g->tape, logits, labels, &o, NULL), &err))
            fail_msg("%s", err.message);
        golden_step(g, g->tape, a, m->params);
    }
}

#endif
