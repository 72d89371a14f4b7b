/* tests/ops/test_bits.c: outputs and gradients of every operation and module, byte for byte the same at every level of
 * kernels and with any number of threads. The reference is the scalar level with one thread. That the numbers are right
 * is the business of double_gradcheck.c and the golden tests. With products in bf16 they are the same for any threads, at one
 * level, and near those in fp32.
 * labels: threads each-level sanitized-late */
#define _GNU_SOURCE
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "levels.h"
#include "ops_dirty.h"
#include "ops_modules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS (OPS_ROWS + MODULE_ROWS)
#ifdef __SANITIZE_THREAD__
#define VARIANTS 2 /* threads share the work in the same way for inputs that are used twice */
#else
#define VARIANTS 4 /* small or large, inputs used once or twice */
#endif

/* Everything that a row computes, one number after the other. */
typedef struct result {
    rapt_real *x;
    size_t count, capacity;
} result;

static result reference[ROWS][VARIANTS];

static const ops_row *row_at(size_t i)
{
    return i < OPS_ROWS ? &ops_rows[i] : &module_rows[i - OPS_ROWS];
}

static void append(result *r, const rapt_real *x, size_t n)
{
    if (r->count + n > r->capacity) {
        r->capacity = 2 * (r->count + n);
        r->x = realloc(r->x, r->capacity * sizeof *x);
        assert_non_null(r->x);
    }
    memcpy(r->x + r->count, x, n * sizeof *x);
    r->count += n;
}

static result run_row(rapt_tape *t, const ops_row *row, size_t variant)
{
    result r = {0};
    rapt_error err = {0};
    rapt_tensor *output;
    ops_case c = ops_case_new(row->flags, variant & 1);
    c.reuse = variant & 2;
    ops_dirty(t);
    rapt_tensor *loss = ops_step(&c, t, row->build, &output, &err);
    if (err.code)
        fail_msg("%s: %s", row->name, err.message);
    append(&r, output->data, rapt_tensor_size(output));
    append(&r, loss->data, 1);
    for (size_t i = 0; i < c.inputs; i++)
        append(&r, c.input[i]->grad, rapt_tensor_size(c.input[i]));
    for (size_t i = 0; i < rapt_params_count(c.params); i++) {
        const rapt_tensor *p = &rapt_params_at(c.params, i)->value;
        append(&r, p->data, rapt_tensor_size(p)); /* max_norm changes it */
        if (p->requires_grad)
            append(&r, p->grad, rapt_tensor_size(p));
    }
    ops_case_free(&c);
    return r;
}

static rapt_tape *new_tape(const char *isa, int threads, rapt_type precision)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads, .isa = isa, .type = precision}, &err);
    if (!t)
        fail_msg("%s", err.message);
    return t;
}

static int make_reference(void **state)
{
    rapt_tape *t = new_tape("scalar", 1, RAPT_TYPE_FP32);
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            reference[i][v] = run_row(t, row_at(i), v);
    rapt_tape_free(t);
    return 0;
}

static int free_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            free(reference[i][v].x);
    return 0;
}

static void compare(const result *want, const result *got, const char *row, const char *isa, int threads)
{
    assert_int_equal(want->count, got->count);
    for (size_t i = 0; i < want->count; i++) {
        if (!(want->x[i] == want->x[i]))
            fail_msg("%s: number %zu of %zu is a NaN", row, i, want->count);
        if (memcmp(&want->x[i], &got->x[i], sizeof *want->x) != 0)
            fail_msg("%s: number %zu of %zu is %a, but %a at %s with %d threads", row, i, want->count, (double)want->x[i],
                     (double)got->x[i], isa, threads);
    }
}

static void check_tape(const char *isa, int threads)
{
    rapt_tape *t = new_tape(isa, threads, RAPT_TYPE_FP32);
    assert_int_equal(rapt_tape_threads(t), threads);
    assert_string_equal(rapt_tape_isa(t), isa);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t v = 0; v < VARIANTS; v++) {
            result r = run_row(t, row_at(i), v);
            compare(&reference[i][v], &r, row_at(i)->name, isa, threads);
            free(r.x);
        }
    rapt_tape_free(t);
}

static void same_bits(void **state)
{
    const char *isa = levels_wanted(state);
    static const int threads[] = {3, 1, 2, 7};
    const size_t counts = LEVELS_TESTED == 1 ? 1 : sizeof threads / sizeof *threads; /* races need no fourth run to be found */
    for (size_t i = 0; i < counts; i++)
        if (threads[i] > 1 || strcmp(isa, "scalar") != 0) /* that is the reference */
            check_tape(isa, threads[i]);
}

/* The mean difference of two results in units of their mean size: a single number may differ by all of it, where a ReLU or
 * a masked weight turns over. */
static double distance(const result *a, const result *b)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < a->count; i++) {
        sum += fabs((double)a->x[i] - (double)b->x[i]);
        size += fabs((double)a->x[i]);
    }
    return size > 0 ? sum / size : 0;
}

static void check_row_bf16(const char *isa, rapt_tape *const *tapes, size_t row, size_t variant, double *farthest)
{
    result one = run_row(tapes[0], row_at(row), variant);
    assert_int_equal(reference[row][variant].count, one.count);
    double far = distance(&reference[row][variant], &one);
    if (far > 32 * 0x1p-8) /* 2^-9 for each factor, and no row has a chain of more products than 32, there and back */
        fail_msg("%s: in bf16 %g away from fp32", row_at(row)->name, far);
    *farthest = fmax(*farthest, far);
    for (int i = 1; tapes[i]; i++) {
        result more = run_row(tapes[i], row_at(row), variant);
        compare(&one, &more, row_at(row)->name, isa, rapt_tape_threads(tapes[i]));
        free(more.x);
    }
    free(one.x);
}

static void same_bits_bf16(void **state)
{
    const char *isa = levels_wanted(state);
    double farthest = 0;
    rapt_tape *tapes[] = {new_tape(isa, 1, RAPT_TYPE_BF16), new_tape(isa, 7, RAPT_TYPE_BF16),
                          LEVELS_TESTED == 1 ? NULL : new_tape(isa, 2, RAPT_TYPE_BF16), NULL};
    assert_string_not_equal(rapt_tape_gemm(tapes[0]), "fp32");
    for (size_t i = 0; i < ROWS; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            check_row_bf16(isa, tapes, i, v, &farthest);
    assert_true(farthest > 1e-4); /* it is bf16 */
    print_message("  at most %.2g away from fp32\n", farthest);
    for (int i = 0; tapes[i]; i++)
        rapt_tape_free(tapes[i]);
}

int main(void)
{
    struct CMUnitTest tests[2 * LEVELS_MOST] = {{0}};
    size_t levels = levels_tests(tests, "same_bits", same_bits, kernels_names);
    levels_tests(tests + levels, "same_bits_bf16", same_bits_bf16, kernels_names + 1); /* without scalar, for its time */
    return cmocka_run_group_tests(tests, make_reference, free_reference);
}
