/* tests/golden/test_golden_training.c: clipping, Adam, and ten steps of the book's training against PyTorch.
 * For what single steps don't show: bias correction, moments that must survive, gradients that must not.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"

#include "options.h"
#include "rapt/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* PyTorch in float32 is within 1.3e-7 of PyTorch in float64 in these losses and within 6e-7 in the parameters after
 * ten steps (make_golden.py prints it). Adam divides by the gradient's size, so where a gradient is small its rounding
 * errors count fully; a factor of ten is for that. In the double build only the files' own rounding is left. */
#ifdef RAPT_DOUBLE
#define LOSS_BOUND 1e-13
#define NORM_BOUND 1e-12
#define ADAM_BOUND 6e-8
#define PARAMETER_BOUND 6e-8
#else
#define LOSS_BOUND 1.3e-6
#define NORM_BOUND 1e-6
#define ADAM_BOUND 1e-6 /* the gradients are given: roundings of five steps */
#define PARAMETER_BOUND 6e-6
#endif

static rapt_adam *make_adam(golden *g, rapt_params *set)
{
    rapt_error err = {0};
    rapt_adam_options o = ADAM(.beta1 = golden_number(g, "beta1", 0.9), .beta2 = golden_number(g, "beta2", 0.999),
                               .eps = golden_number(g, "eps", 1e-8), .weight_decay = golden_number(g, "weight_decay", 0),
                               .lazy = true); /* the file's sparse case is PyTorch's SparseAdam */
    rapt_adam *adam = rapt_adam_new(set, &o, &err);
    if (!adam)
        fail_msg("%s", err.message);
    return adam;
}

static void check_number(golden *g, const char *name, size_t i, double ours, double bound)
{
    char text[32];
    snprintf(text, sizeof text, "out/%s", name);
    double expected = golden_at(golden_get(g, text), i);
    if (!(fabs(ours - expected) <= bound * expected))
        fail_msg("%s/%s: %s: step %zu has %.9g, PyTorch %.9g", g->file, g->name, name, i, ours, expected);
}

/* Clips, steps, forgets: what every training step ends with. Checks the norm. */
static void step_and_check(golden *g, rapt_adam *adam, rapt_params *set, size_t step)
{
    rapt_error err = {0};
    double norm = rapt_grad_norm(g->tape, set), scale = fmin(1, golden_number(g, "clip", 0) / norm);
    check_number(g, "norms", step, norm, NORM_BOUND);
    if (rapt_adam_step(adam, g->tape, golden_number(g, "lr", 0), scale, &err))
        fail_msg("%s/%s: %s", g->file, g->name, err.message);
    rapt_params_zero_grad(set);
}

static double check_parameters(golden *g, const rapt_params *set, double bound)
{
    double worst = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        if (!p->buffer)
            worst = fmax(worst, golden_compare(g, p->value.name, p->value.data, rapt_tensor_size(&p->value), bound));
    }
    return worst;
}

static void backward(golden *g, rapt_tensor *loss)
{
    rapt_error err = {0};
    if (rapt_backward(g->tape, loss, &err))
        fail_msg("%s/%s: %s", g->file, g->name, err.message);
}

/* ---- Adam with given gradients ---------------------------------------------------------------------------- */

/* sum(p * numbers): numbers are the gradient. */
static rapt_tensor *loss_with_gradient(golden *g, rapt_param *p, size_t step)
{
    char name[32];
    snprintf(name, sizeof name, "in/%s%zu", p->value.name, step);
    rapt_real *gradient = golden_reals(g, name);
    rapt_tensor *loss = rapt_op_weighted_sum(g->tape, &p->value, gradient);
    free(gradient);
    return loss;
}

static rapt_param *add(golden *g, const char *name)
{
    char text[32];
    snprintf(text, sizeof text, "param/%s", name);
    const safetensors_entry *e = golden_get(g, text);
    return rapt_params_add(g->set, name, e->ndim, e->shape, (rapt_init){RAPT_INIT_ZEROS, 0});
}

static void check_dense_adam(golden *g)
{
    rapt_param *matrix = add(g, "matrix"), *vector = add(g, "vector");
    golden_load(g);
    rapt_adam *adam = make_adam(g, g->set);
    for (size_t step = 0; step < golden_size(g, "steps"); step++) {
        rapt_tape_begin(g->tape, (rapt_pass){.record = true, .training = true, .step = step});
        rapt_tensor *loss = loss_with_gradient(g, matrix, step);
        backward(g, rapt_op_add(g->tape, loss, loss_with_gradient(g, vector, step)));
        step_and_check(g, adam, g->set, step);
    }
    g->worst_output = fmax(g->worst_output, check_parameters(g, g->set, ADAM_BOUND));
    rapt_adam_free(adam);
}

static void check_sparse_adam(golden *g)
{
    rapt_embedding m;
    char tokens[40], weights[40];
    const size_t *shape = golden_get(g, "param/weight")->shape;
    rapt_embedding_init(&m, g->set, "", shape[0], shape[1], &(rapt_embedding_options){.sparse = true});
    golden_load(g);
    rapt_adam *adam = make_adam(g, g->set);
    for (size_t step = 0; step < golden_size(g, "steps"); step++) {
        snprintf(tokens, sizeof tokens, "tokens%zu", step);
        snprintf(weights, sizeof weights, "in/loss%zu", step);
        rapt_tape_begin(g->tape, (rapt_pass){.record = true, .training = true, .step = step});
        rapt_real *w = golden_reals(g, weights);
        rapt_tensor *y = rapt_embedding_forward(g->tape, &m, golden_tokens(g, tokens));
        backward(g, rapt_op_weighted_sum(g->tape, y, w));
        free(w);
        step_and_check(g, adam, g->set, step);
    }
    g->worst_output = fmax(g->worst_output, check_parameters(g, g->set, ADAM_BOUND));
    rapt_adam_free(adam);
}

static void test_adam(void **state)
{
    (void)state;
    golden *g = golden_open("adam");
    while (golden_next(g)) {
        if (golden_find(g, "param/matrix"))
            check_dense_adam(g);
        else
            check_sparse_adam(g);
    }
    golden_close(g);
}

/* ---- ten steps of the book's training --------------------------------------------------------------------- */

typedef struct batches {
    rapt_tokens source, target, labels; /* of the first batch; the others follow */
    const int32_t *lens, *label_lens;
    size_t count;
} batches;

/* in/name [batches, batch, time], the first batch of it. */
static rapt_tokens first_batch(golden *g, const char *name)
{
    char text[32];
    snprintf(text, sizeof text, "in/%s", name);
    const safetensors_entry *e = golden_get(g, text);
    assert_int_equal(e->ndim, 3);
    return (rapt_tokens){golden_ints(g, name), e->shape[1], e->shape[2]};
}

static batches batches_of(golden *g)
{
    return (batches){.source = first_batch(g, "source"), .target = first_batch(g, "target"),
                     .labels = first_batch(g, "labels"), .lens = golden_ints(g, "valid_lens"),
                     .label_lens = golden_ints(g, "label_lens"), .count = golden_get(g, "in/source")->shape[0]};
}

static rapt_tokens batch_at(rapt_tokens first, size_t i)
{
    first.ids += i * first.batch * first.time;
    return first;
}

/* The book's loss of batch i: summed over sentences, over the steps of a sentence its mean. */
static rapt_tensor *loss_of(rapt_tape *t, const rapt_transformer *m, const batches *b, size_t i)
{
    size_t at = i * b->source.batch;
    rapt_loss_options o = {.valid_lens = b->label_lens + at, .normalizer = (double)b->labels.time};
    rapt_tensor *logits = rapt_transformer_forward(t, m, batch_at(b->source, i), b->lens + at, batch_at(b->target, i));
    return rapt_op_cross_entropy(t, logits, batch_at(b->labels, i), &o, NULL);
}

static void train(golden *g, rapt_transformer *m)
{
    batches b = batches_of(g);
    rapt_adam *adam = make_adam(g, m->params);
    for (size_t step = 0; step < golden_size(g, "steps"); step++) {
        rapt_tape_begin(g->tape, (rapt_pass){.record = true, .training = true, .step = step});
        rapt_tensor *loss = loss_of(g->tape, m, &b, step % b.count);
        backward(g, loss);
        check_number(g, "losses", step, (double)loss->data[0], LOSS_BOUND);
        step_and_check(g, adam, m->params, step);
    }
    rapt_adam_free(adam);
}

static void test_training(void **state)
{
    (void)state;
    golden *g = golden_open("training");
    while (golden_next(g)) {
        rapt_error err = {0};
        rapt_transformer_config c = golden_transformer_config(g);
        rapt_transformer *m = rapt_transformer_new(&c, 1, &err);
        if (!m)
            fail_msg("%s", err.message);
        golden_load_set(g, m->params);
        train(g, m);
        g->worst_output = fmax(g->worst_output, check_parameters(g, m->params, PARAMETER_BOUND));
        rapt_transformer_free(m);
    }
    golden_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
