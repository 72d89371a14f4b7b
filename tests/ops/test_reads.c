/* tests/ops/test_reads.c: what operations say of the parameters that they read. Before they read one they have its updates
 * applied: here an update is what replaces NaN by its elements. And where products are in bf16, parameters of which no
 * operation says that it reads them as they are can be replaced by rounded ones without a change of any bit.
 * labels: each-level sanitized-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ops_modules.h"

#include "tape/tape_core.h"
#include "tensor/bf16_numbers.h"
#include "tensor/params.h"

#include <math.h>
#include <stdlib.h>

#define ROWS (OPS_ROWS + MODULE_ROWS)
#define MOST 512 /* parameters of a row */

static const ops_row *row_at(size_t i)
{
    return i < OPS_ROWS ? &ops_rows[i] : &module_rows[i - OPS_ROWS];
}

/* A row at work, and what its parameters hold. */
typedef struct reader {
    const ops_row *row;
    ops_case c;
    rapt_tape *t;
    rapt_real *kept[MOST];
    struct update {
        rapt_param *p;
        const rapt_real *kept;
        size_t applied;
    } updates[MOST];
} reader;

/* A param_refresh_fn. */
static void apply(void *context, pool *threads, const int32_t *ids, size_t count)
{
    struct update *u = context;
    (void)threads, (void)ids, (void)count;
    if (u->applied++ == 0)
        memcpy(u->p->value.data, u->kept, rapt_tensor_size(&u->p->value) * sizeof *u->kept);
}

/* Its loss, and its gradients of inputs added up, after a pass. */
static void reader_run(reader *r, double result[2])
{
    rapt_error err = {0};
    const rapt_tensor *loss = ops_step(&r->c, r->t, r->row->build, NULL, &err);
    if (err.code)
        fail_msg("%s: %s", r->row->name, err.message);
    result[0] = (double)loss->data[0];
    result[1] = 0;
    for (size_t i = 0; i < r->c.inputs; i++)
        for (size_t j = 0; j < rapt_tensor_size(r->c.input[i]); j++)
            result[1] += (double)(1 + j) * (double)r->c.input[i]->grad[j];
}

/* `isa` NULL: the best one. */
static reader reader_new(const ops_row *row, rapt_type precision, const char *isa, bool large)
{
    double result[2];
    reader r = {.row = row, .c = ops_case_new(row->flags, large)};
    r.t = rapt_tape_new(&(rapt_compute){.threads = 1, .type = precision, .isa = isa}, NULL);
    assert_non_null(r.t);
    reader_run(&r, result); /* which makes the parameters */
    size_t count = rapt_params_count(r.c.params);
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        const rapt_tensor *x = &params_at(r.c.params, i)->value;
        size_t bytes = rapt_tensor_size(x) * sizeof *x->data;
        r.kept[i] = malloc(bytes);
        memcpy(r.kept[i], x->data, bytes);
    }
    return r;
}

static void reader_free(reader *r)
{
    for (size_t i = 0; i < rapt_params_count(r->c.params); i++) {
        param_defer_updates(params_at(r->c.params, i), NULL, NULL);
        free(r->kept[i]);
    }
    ops_case_free(&r->c);
    rapt_tape_free(r->t);
}

/* As they were before the first pass; one with a max_norm changes them. */
static void reader_restore(reader *r)
{
    for (size_t i = 0; i < rapt_params_count(r->c.params); i++) {
        const rapt_tensor *x = &params_at(r->c.params, i)->value;
        memcpy(x->data, r->kept[i], rapt_tensor_size(x) * sizeof *x->data);
    }
}

static void check_updates(const ops_row *row, bool large)
{
    double want[2], got[2];
    reader r = reader_new(row, RAPT_TYPE_FP32, NULL, large);
    reader_run(&r, want);
    reader_restore(&r);
    reader_run(&r, want);
    for (size_t i = 0; i < rapt_params_count(r.c.params); i++) {
        rapt_param *p = params_at(r.c.params, i);
        r.updates[i] = (struct update){p, r.kept[i], 0};
        if (p->buffer) /* has no updates */
            continue;
        param_defer_updates(p, apply, &r.updates[i]);
        for (size_t j = 0; j < rapt_tensor_size(&p->value); j++)
            p->value.data[j] = (rapt_real)NAN;
    }
    reader_run(&r, got);
    for (size_t i = 0; i < rapt_params_count(r.c.params); i++)
        if (!r.updates[i].p->buffer && r.updates[i].applied == 0)
            fail_msg("%s: %s is read without its updates", row->name, r.updates[i].p->value.name);
    if (memcmp(want, got, sizeof want) != 0)
        fail_msg("%s: something was read before it was updated", row->name);
    reader_free(&r);
}

static void parameters_are_updated_before_they_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (int large = 0; large < 2; large++)
            check_updates(row_at(i), large);
}

/* The number of parameters that were rounded. */
static size_t check_rounding(const ops_row *row, const char *isa, bool large)
{
    double want[2], got[2];
    size_t rounded = 0;
    reader r = reader_new(row, RAPT_TYPE_BF16, isa, large);
    reader_restore(&r);
    reader_run(&r, want);
    reader_restore(&r);
    for (size_t i = 0; i < rapt_params_count(r.c.params); i++) {
        const rapt_param *p = params_at(r.c.params, i);
        size_t n = rapt_tensor_size(&p->value);
        if (p->buffer || p->state->read_exactly)
            continue;
        uint16_t *numbers = malloc(n * sizeof *numbers);
        bf16_numbers_round(r.t->team.gemm, n, p->value.data, numbers);
        bf16_numbers_widen(n, numbers, p->value.data);
        free(numbers);
        rounded++;
        assert_memory_not_equal(p->value.data, r.kept[i], n * sizeof *p->value.data); /* else this tries nothing */
    }
    reader_run(&r, got);
    if (memcmp(want, got, sizeof want) != 0)
        fail_msg("%s: rounded parameters give another result", row->name);
    reader_free(&r);
    return rounded;
}

static void what_only_products_read_can_be_rounded(void **state)
{
    (void)state;
    for (const char *const *level = kernels_names; *level; level++) {
        size_t rounded = 0;
        for (size_t i = 0; i < ROWS && kernels_of_isa(*level, NULL); i++)
            for (int large = 0; large < 2; large++)
                rounded += check_rounding(row_at(i), *level, large);
        assert_true(rounded > 50 || !kernels_of_isa(*level, NULL));
    }
}

static void in_fp32_everything_is_read_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        reader r = reader_new(row_at(i), RAPT_TYPE_FP32, NULL, false);
        for (size_t j = 0; j < rapt_params_count(r.c.params); j++)
            if (!params_at(r.c.params, j)->buffer)
                assert_true(params_at(r.c.params, j)->state->read_exactly);
        reader_free(&r);
    }
}

/* Half way to the even one, worked out by hand. */
static const struct {
    rapt_real x, want;
} ROUNDED[] = {{1, 1}, {0x1.01p0f, 0x1p0f}, {0x1.03p0f, 0x1.04p0f}, {-0x1.010002p0f, -0x1.02p0f}, {0x1.fffp3f, 0x1p4f},
               {0x1.abp-100f, 0x1.acp-100f}, {-0.0f, -0.0f}, {0x1.0001p-120f, 0x1p-120f}};
#define ROUNDED_COUNT (sizeof ROUNDED / sizeof *ROUNDED)

static void check_rounded(const kernels_gemm *g, size_t n)
{
    rapt_real *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    uint16_t *numbers = calloc(n, sizeof *numbers);
    for (size_t i = 0; i < n; i++)
        x[i] = ROUNDED[i % ROUNDED_COUNT].x;
    bf16_numbers_round(g, n, x, numbers);
    bf16_numbers_widen(n, numbers, y);
    for (size_t i = 0; i < n; i++)
        assert_memory_equal(&y[i], &ROUNDED[i % ROUNDED_COUNT].want, sizeof *y);
    free(x);
    free(y);
    free(numbers);
}

static void rounding_is_to_nearest_even(void **state)
{
    const size_t lengths[] = {1, 31, 32, 383, 384, 385, 800, 16 * 384, 16 * 384 + 484};
    (void)state;
    for (const char *const *level = kernels_names; *level; level++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths && kernels_of_isa(*level, NULL); i++)
            check_rounded(kernels_of_isa(*level, NULL)->bf16, lengths[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_updated_before_they_are_read),
        cmocka_unit_test(what_only_products_read_can_be_rounded),
        cmocka_unit_test(in_fp32_everything_is_read_as_it_is),
        cmocka_unit_test(rounding_is_to_nearest_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
