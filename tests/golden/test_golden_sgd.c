/* tests/golden/test_golden_sgd.c: ten clipped steps of SGD, without and with momentum, Nesterov's, and weight decay, against
 * torch.optim.SGD in float64 (tools/golden_sgd.py): within twice the distance that torch.optim.SGD in float32 has.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "golden_steps.h"

#include "options.h"

#ifdef RAPT_DOUBLE
#define TIMES_TORCH 0.1 /* the parameters are read from float32 in both runs */
#else
#define TIMES_TORCH 2.0
#endif

static rapt_adam *make_sgd(golden *g, rapt_params *set)
{
    rapt_error err = {0};
    const rapt_sgd_options o = SGD(.momentum = golden_number(g, "momentum", 0),
                                   .weight_decay = golden_number(g, "weight_decay", 0),
                                   .nesterov = golden_number(g, "nesterov", 0) != 0,
                                   .decay_vectors = golden_number(g, "decay_vectors", 0) != 0);
    rapt_adam *a = rapt_sgd_new(set, &o, &err);
    if (!a)
        fail_msg("%s", err.message);
    return a;
}

static void ten_steps(void **state)
{
    (void)state;
    golden *g = golden_open("sgd");
    while (golden_next(g)) {
        rapt_transformer *m = golden_model(g);
        rapt_adam *a = make_sgd(g, m->params);
        const double torch = golden_number(g, "torch", 0);
        double worst = 0;
        golden_learn(g, m, a);
        for (size_t i = 0; i < rapt_params_count(m->params); i++)
            if (!rapt_params_at(m->params, i)->buffer)
                worst = fmax(worst, golden_distance(g, rapt_params_at(m->params, i)));
        print_message("%s: %.1e from float64, torch.optim.SGD in float32 %.1e\n", g->name, worst, torch);
        assert_true(torch > 0 && worst <= TIMES_TORCH * torch);
        rapt_adam_free(a);
        rapt_transformer_free(m);
    }
    golden_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
