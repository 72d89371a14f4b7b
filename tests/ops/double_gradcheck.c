/* tests/ops/double_gradcheck.c: gradients of every operation and module against central differences, in the
 * double build of the same sources. For the backward passes; float rounding is the business of test_bits.c.
 * labels: not-sanitized not-emulated */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ops_dirty.h"
#include "ops_modules.h"

#include <math.h>
#include <stdio.h>

#ifndef RAPT_DOUBLE
#error "the gradient check needs the double build"
#endif

#define STEP 1e-5
#define BOUND 1e-7        /* of the largest entry of the gradient */
#define MOST_ENTRIES 150  /* of a tensor that are checked */

typedef struct check {
    ops_case *c;
    rapt_tape *t;
    const ops_row *row;
    double largest;     /* entry of all gradients of the row */
    double worst;       /* relative error so far */
    const char *where;
} check;

static double loss_value(check *k)
{
    rapt_tensor *loss = ops_forward(k->c, k->t, k->row->build, false, NULL);
    if (rapt_tape_error(k->t)->code)
        fail_msg("%s: %s", k->row->name, rapt_tape_error(k->t)->message);
    return loss->data[0];
}

static double derivative(check *k, rapt_real *x)
{
    rapt_real kept = *x;
    *x = kept + STEP;
    double up = loss_value(k);
    *x = kept - STEP;
    double down = loss_value(k);
    *x = kept;
    return (up - down) / (2 * STEP);
}

static double largest_entry(const rapt_real *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Compares some entries of one tensor's gradient; `factor`, if not NULL, belongs to rows of `width`. */
static void check_tensor(check *k, const char *name, rapt_real *x, const rapt_real *grad, size_t n,
                         const double *factor, size_t width)
{
    /* A gradient that vanishes by definition, such as the key bias's, has no scale. */
    double scale = fmax(largest_entry(grad, n), 1e-2 * k->largest);
    size_t stride = n > MOST_ENTRIES ? n / MOST_ENTRIES : 1;
    for (size_t i = 0; i < n; i += stride) {
        double want = derivative(k, &x[i]) * (factor ? factor[i / width] : 1), error = fabs(want - grad[i]) / scale;
        if (!(error <= k->worst)) {
            k->worst = error;
            k->where = name;
        }
        if (!(error <= BOUND))
            fail_msg("%s: d/d%s[%zu] is %.12g, the differences say %.12g", k->row->name, name, i, grad[i], want);
    }
}

/* A copy of every gradient, because later passes release them. */
typedef struct gradients {
    rapt_real *input[OPS_MAX_INPUTS];
} gradients;

static rapt_real *copied(ops_case *c, const rapt_real *from, size_t n)
{
    rapt_real *to = rapt_params_alloc(c->params, n, sizeof *to);
    if (from)
        memcpy(to, from, n * sizeof *to);
    return to;
}

static gradients take_gradients(check *k)
{
    gradients g = {{0}};
    for (size_t i = 0; i < k->c->inputs; i++) {
        size_t n = rapt_tensor_size(k->c->input[i]);
        assert_non_null(k->c->input[i]->grad);
        g.input[i] = copied(k->c, k->c->input[i]->grad, n);
        k->largest = fmax(k->largest, largest_entry(g.input[i], n));
    }
    for (size_t i = 0; i < rapt_params_count(k->c->params); i++) {
        rapt_tensor *p = &rapt_params_at(k->c->params, i)->value;
        if (p->requires_grad)
            k->largest = fmax(k->largest, largest_entry(p->grad, rapt_tensor_size(p)));
    }
    return g;
}

static void check_all(check *k, const gradients *g)
{
    static const char *const names[OPS_MAX_INPUTS] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    for (size_t i = 0; i < k->c->inputs; i++)
        check_tensor(k, names[i], k->c->value[i], g->input[i], rapt_tensor_size(k->c->input[i]), NULL, 1);
    for (size_t i = 0; i < rapt_params_count(k->c->params); i++) {
        rapt_tensor *p = &rapt_params_at(k->c->params, i)->value;
        const double *factor = strcmp(p->name, "w") == 0 ? k->c->row_factor : NULL;
        if (p->requires_grad)
            check_tensor(k, p->name, p->data, p->grad, rapt_tensor_size(p), factor, rapt_tensor_features(p));
    }
}

/* A second backward pass without clearing doubles the gradients of all parameters. */
static void check_adding_up(check *k)
{
    size_t count = rapt_params_count(k->c->params);
    rapt_real **once = rapt_params_alloc(k->c->params, count + 1, sizeof *once);
    for (size_t i = 0; i < count; i++) {
        const rapt_tensor *p = &rapt_params_at(k->c->params, i)->value;
        once[i] = copied(k->c, p->grad, rapt_tensor_size(p));
    }
    rapt_tensor *loss = ops_forward(k->c, k->t, k->row->build, true, NULL);
    assert_int_equal(rapt_backward(k->t, loss, NULL), RAPT_OK);
    for (size_t i = 0; i < count; i++) {
        const rapt_tensor *p = &rapt_params_at(k->c->params, i)->value;
        for (size_t j = 0; p->requires_grad && j < rapt_tensor_size(p); j++)
            if (!(fabs(p->grad[j] - 2 * once[i][j]) <= 1e-13 * k->largest))
                fail_msg("%s: %s[%zu]: gradients of two passes do not add up", k->row->name, p->name, j);
    }
}

static double check_row(const ops_row *row, bool reuse)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    ops_case c = ops_case_new(row->flags, false);
    uint32_t examples[] = {5, 2, 9};
    check k = {.c = &c, .t = t, .row = row};
    c.reuse = reuse;
    c.examples = examples;
    ops_dirty(t);
    ops_step(&c, t, row->build, NULL, &err);
    if (err.code)
        fail_msg("%s: %s", row->name, err.message);
    gradients g = take_gradients(&k);
    check_all(&k, &g);
    check_adding_up(&k);
    assert_int_equal(rapt_params_error(c.params)->code, RAPT_OK);
    printf("  %-28s%s %.1e at %s\n", row->name, reuse ? " (inputs used twice)" : "", k.worst, k.where);
    ops_case_free(&c);
    rapt_tape_free(t);
    return k.worst;
}

static void check_rows(const ops_row *rows, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        worst = fmax(worst, check_row(&rows[i], false));
        worst = fmax(worst, check_row(&rows[i], true));
    }
    printf("  worst relative error %.2e\n", worst);
}

static void operations_match_differences(void **state)
{
    (void)state;
    check_rows(ops_rows, OPS_ROWS);
}

static void modules_match_differences(void **state)
{
    (void)state;
    check_rows(module_rows, MODULE_ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_match_differences),
        cmocka_unit_test(modules_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
