/* tests/golden/test_golden_muon.c: ten steps of Muon against a run in float64 (tools/golden_muon.py): with given gradients, and
 * of a model, whose other parameters Adam moves. They must be within twice the distance that torch.optim.Muon itself has, which
 * iterates in bfloat16, and within a few times the distance of the same formula in float32; with products in bf16, of the first.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "golden_steps.h"

#include "options.h"
#include "rapt/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TORCH 2.0
#ifdef RAPT_DOUBLE
#define SINGLE 0.1 /* what is read and written is float32 and float64; in between nothing is rounded to float32 */
#else
#define SINGLE 5.0 /* other orders of the same sums; the file's distance is the largest of one run */
#endif

static rapt_muon_options options_of(golden *g, const char *matrices)
{
    const bool original = golden_number(g, "original", 0) != 0;
    return MUON(.momentum = golden_number(g, "momentum", 0), .matrices = matrices, .ns_steps = golden_size(g, "ns_steps"),
                .weight_decay = golden_number(g, "weight_decay", 0), .nesterov = golden_number(g, "nesterov", 0) != 0,
                .adjust_lr = original ? RAPT_MUON_ORIGINAL : RAPT_MUON_MATCH_RMS_ADAMW);
}

static rapt_adam *make_muon(golden *g, rapt_params *set, const char *matrices)
{
    rapt_error err = {0};
    const rapt_muon_options o = options_of(g, matrices);
    rapt_adam *a = rapt_muon_new(set, &o, NULL, &err);
    if (!a)
        fail_msg("%s", err.message);
    return a;
}

/* Adam's parameters are compared with the bound of test_golden_training.c. */
static void check_parameters(golden *g, const rapt_params *set, const rapt_adam *a, bool bf16)
{
    const double torch = golden_number(g, "torch", 0), single = golden_number(g, "single", 0);
    double worst = 0, others = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        if (p->buffer)
            continue;
        double *to = rapt_adam_second_moment(a, i) ? &others : &worst;
        *to = fmax(*to, golden_distance(g, p));
    }
    print_message("%s%s: Muon's matrices differ by %.1e, torch.optim.Muon's by %.1e, float32's by %.1e; the others by %.1e\n",
                  g->name, bf16 ? ", products in bf16" : "", worst, torch, single, others);
    assert_true(torch > 0 && single > 0);
    assert_true(worst <= TORCH * torch);
    assert_true(bf16 || worst <= SINGLE * single);
    assert_true(others <= 2e-5);
}

/* ---- given gradients ---------------------------------------------------------------------------------------- */

static const char *const NAMES[] = {"wide", "tall", "square", "row"};
#define COUNT (sizeof NAMES / sizeof *NAMES)

/* The sum of p times numbers, which are p's gradient. */
static rapt_tensor *loss_with_gradient(golden *g, rapt_param *p, const rapt_real *gradients, size_t step)
{
    return rapt_op_weighted_sum(g->tape, &p->value, gradients + step * rapt_tensor_size(&p->value));
}

/* Steps are made on tape t, which may compute in bf16. */
static void check_given(golden *g, rapt_tape *t)
{
    rapt_param *params[COUNT];
    rapt_real *gradients[COUNT];
    rapt_error err = {0};
    char text[32];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "param/%s", NAMES[i]);
        params[i] = rapt_params_add(g->set, NAMES[i], 2, golden_get(g, text)->shape, (rapt_init){RAPT_INIT_ZEROS, 0});
        snprintf(text, sizeof text, "in/%s", NAMES[i]);
        gradients[i] = golden_reals(g, text);
    }
    golden_load(g);
    rapt_adam *a = make_muon(g, g->set, "*");
    for (size_t step = 0; step < golden_size(g, "steps"); step++) {
        rapt_tape_begin(g->tape, (rapt_pass){.record = true, .training = true, .step = step});
        rapt_tensor *loss = loss_with_gradient(g, params[0], gradients[0], step);
        for (size_t i = 1; i < COUNT; i++)
            loss = rapt_op_add(g->tape, loss, loss_with_gradient(g, params[i], gradients[i], step));
        if (rapt_backward(g->tape, loss, &err))
            fail_msg("%s", err.message);
        golden_step(g, t, a, g->set);
    }
    check_parameters(g, g->set, a, t != g->tape);
    rapt_adam_free(a);
    for (size_t i = 0; i < COUNT; i++)
        free(gradients[i]);
}

/* ---- a model ------------------------------------------------------------------------------------------------ */

static void check_model(golden *g)
{
    rapt_transformer *m = golden_model(g);
    rapt_adam *a = make_muon(g, m->params, NULL);
    golden_learn(g, m, a);
    check_parameters(g, m->params, a, false);
    rapt_adam_free(a);
    rapt_transformer_free(m);
}

static void ten_steps(void **state)
{
    (void)state;
    golden *g = golden_open("muon");
    rapt_tape *bf16 = rapt_tape_new(&(rapt_compute){.threads = 1, .type = RAPT_TYPE_BF16}, NULL); /* not in the double build */
    while (golden_next(g)) {
        if (golden_find(g, "in/source")) {
            check_model(g);
            continue;
        }
        check_given(g, g->tape);
        if (!bf16)
            continue;
        golden_again(g, true);
        rapt_tape_begin(bf16, (rapt_pass){0});
        check_given(g, bf16);
    }
    rapt_tape_free(bf16);
    golden_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
