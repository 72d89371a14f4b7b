/* tests/train/test_sgd.c: SGD: steps against plain ones in double; a sparse parameter moves as a dense one, to the bit, at every
 * level with any number of threads; what decays; options that are refused. tests/golden/test_golden_sgd.c compares
 * with torch.
 * labels: threads levels */
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "options.h"
#include "tensor/params.h"
#include "train/adam_steps.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 300
#define WIDTH 21 /* a vector and a bit */
#define BIAS 40
#define STEPS 8

typedef struct sgd_run {
    rapt_params *set;
    rapt_param *matrix, *vector;
    rapt_adam *sgd;
} sgd_run;

static rapt_params *some_parameters(bool sparse)
{
    rapt_params *set = rapt_params_new(3, NULL);
    rapt_param *p = rapt_params_add(set, "w", 2, (size_t[]){ROWS, WIDTH}, (rapt_init){RAPT_INIT_UNIFORM, 1});
    if (sparse)
        rapt_param_make_sparse(set, p);
    rapt_params_add(set, "b", 1, (size_t[]){BIAS}, (rapt_init){RAPT_INIT_UNIFORM, 1});
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    return set;
}

static sgd_run begin(bool sparse, const rapt_sgd_options *o)
{
    rapt_error err = {0};
    sgd_run r = {.set = some_parameters(sparse)};
    r.matrix = params_at(r.set, 0);
    r.vector = params_at(r.set, 1);
    r.sgd = rapt_sgd_new(r.set, o, &err);
    if (!r.sgd)
        fail_msg("%s", err.message);
    return r;
}

static void end(sgd_run *r)
{
    rapt_adam_free(r->sgd);
    rapt_params_free(r->set);
}

/* Whether a step uses a row, and an element's gradient. */
static bool is_used(uint64_t number, size_t row)
{
    return rng_below(rng_mix(number, 5), row, 4) == 0;
}

static rapt_real gradient_of(uint64_t number, size_t param, size_t e)
{
    if (param == 0 && !is_used(number, e / WIDTH))
        return 0;
    return (rapt_real)(((double)rng_below(rng_mix(number, param), e, 255) - 127) / 64);
}

static void draw(sgd_run *r, uint64_t number)
{
    rapt_params_zero_grad(r->set);
    for (size_t i = 0; i < 2; i++) {
        rapt_param *p = params_at(r->set, i);
        for (size_t e = 0; e < rapt_tensor_size(&p->value); e++)
            if (!p->sparse || is_used(number, e / WIDTH))
                p->value.grad[e] = gradient_of(number, i, e);
        p->value.grad_filled = true;
        for (size_t row = 0; p->sparse && row < ROWS; row++)
            p->state->row_used[row] = is_used(number, row);
    }
}

static double rate(uint64_t number)
{
    return 0.1 / (double)number;
}

static double scale(uint64_t number)
{
    return number % 3 ? 1 : 0.5;
}

static const rapt_sgd_options KINDS[] = {SGD(), SGD(.weight_decay = 0.1), SGD(.momentum = 0.9),
                                         SGD(.momentum = 0.9, .weight_decay = 0.1, .decay_vectors = true),
                                         SGD(.momentum = 0.8, .weight_decay = 0.01, .nesterov = true)};
#define COUNT (sizeof KINDS / sizeof *KINDS)

/* ---- a plain run ------------------------------------------------------------------------------------------- */

static void plain_step(const rapt_sgd_options *o, uint64_t number, size_t param, size_t n, double *p, double *m)
{
    for (size_t e = 0; e < n; e++) {
        double g = scale(number) * (double)gradient_of(number, param, e);
        g += param == 0 || o->decay_vectors ? o->weight_decay * p[e] : 0;
        m[e] = o->momentum * m[e] + g;
        p[e] -= rate(number) * (o->nesterov ? g + o->momentum * m[e] : m[e]);
    }
}

static void near_plain(const rapt_param *p, size_t index, const rapt_sgd_options *o)
{
    const size_t n = rapt_tensor_size(&p->value);
    rapt_params *first = some_parameters(false);
    double *x = calloc(2 * n, sizeof *x), worst = 0;
    assert_non_null(x);
    for (size_t e = 0; e < n; e++)
        x[e] = (double)params_at(first, index)->value.data[e];
    for (uint64_t number = 1; number <= STEPS; number++)
        plain_step(o, number, index, n, x, x + n);
    for (size_t e = 0; e < n; e++)
        worst = fmax(worst, fabs(x[e] - (double)p->value.data[e]));
    assert_true(worst < 1e-5);
    free(x);
    rapt_params_free(first);
}

/* `context`: what the first level gave, [COUNT, ROWS * WIDTH]. */
static void steps_of_every_kind(rapt_tape *t, void *context)
{
    rapt_real *first = context;
    rapt_tape_begin(t, (rapt_pass){0});
    for (size_t i = 0; i < COUNT; i++) {
        sgd_run dense = begin(false, &KINDS[i]), sparse = begin(true, &KINDS[i]);
        for (uint64_t number = 1; number <= STEPS; number++) {
            draw(&dense, number);
            draw(&sparse, number);
            step(dense.sgd, t, rate(number), scale(number));
            step(sparse.sgd, t, rate(number), scale(number));
        }
        near_plain(dense.matrix, 0, &KINDS[i]);
        near_plain(dense.vector, 1, &KINDS[i]);
        same("w", ROWS * WIDTH, dense.matrix->value.data, sparse.matrix->value.data);
        if (first[i * ROWS * WIDTH] == 0)
            memcpy(first + i * ROWS * WIDTH, dense.matrix->value.data, ROWS * WIDTH * sizeof *first);
        same("w", ROWS * WIDTH, first + i * ROWS * WIDTH, dense.matrix->value.data);
        same("b", BIAS, dense.vector->value.data, sparse.vector->value.data);
        const rapt_real *m = rapt_adam_first_moment(dense.sgd, 0);
        assert_int_equal(m != NULL, KINDS[i].momentum > 0);
        if (m)
            same("m", ROWS * WIDTH, m, rapt_adam_first_moment(sparse.sgd, 0));
        assert_null(rapt_adam_second_moment(dense.sgd, 0));
        end(&dense);
        end(&sparse);
    }
}

static void steps_everywhere(void **state)
{
    static rapt_real first[COUNT * ROWS * WIDTH];
    (void)state;
    everywhere(steps_of_every_kind, first);
}

/* ---- errors ------------------------------------------------------------------------------------------------- */

static void refused_options(void **state)
{
    static const struct {
        rapt_sgd_options o;
        const char *message;
    } wrong[] = {{SGD(.momentum = 1), "SGD: a momentum of 1: it is 0 or more and below 1"},
                 {SGD(.momentum = -0.5), "SGD: a momentum of -0.5: it is 0 or more and below 1"},
                 {SGD(.momentum = NAN), "SGD: a momentum of nan: it is 0 or more and below 1"},
                 {SGD(.weight_decay = -1), "SGD: a weight decay of -1: it is 0 or more"},
                 {SGD(.weight_decay = INFINITY), "SGD: a weight decay of inf: it is 0 or more"},
                 {SGD(.nesterov = true), "SGD: nesterov needs a momentum above 0"}};
    rapt_params *set = some_parameters(false);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rapt_error err = {0};
        assert_null(rapt_sgd_new(set, &wrong[i].o, &err));
        assert_int_equal(err.code, RAPT_ERR_VALUE);
        assert_string_equal(err.message, wrong[i].message);
    }
    const rapt_sgd_options zeroed = {0};
    assert_null(rapt_sgd_new(set, &zeroed, NULL));
    rapt_adam *plain = rapt_sgd_new(set, NULL, NULL);
    assert_non_null(plain);
    rapt_adam_free(plain);
    rapt_params_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_everywhere),
        cmocka_unit_test(refused_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
