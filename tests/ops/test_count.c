/* tests/ops/test_count.c: a pass that is only counted takes, by its own account, as many bytes as the same pass computed:
 * every operation and module, forward and backward. Elements of a counted pass are not allocated, so an operation that touches
 * one outside the pool's loops ends this test. And a tape that has counted computes as before.
 * labels: not-raced sanitized-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ops_modules.h"

#include "tape/tape_core.h"

#define ROWS (OPS_ROWS + MODULE_ROWS)

static const ops_row *row_at(size_t i)
{
    return i < OPS_ROWS ? &ops_rows[i] : &module_rows[i - OPS_ROWS];
}

/* The bytes of a pass in which each case is new, and its loss. */
static size_t pass(rapt_tape *t, const ops_row *row, unsigned variant, rapt_real *loss)
{
    rapt_error err = {0};
    ops_case c = ops_case_new(row->flags, variant & 1);
    c.reuse = variant & 2;
    const rapt_tensor *y = ops_step(&c, t, row->build, NULL, &err);
    if (err.code)
        fail_msg("%s: %s", row->name, err.message);
    if (tape_computes(t))
        *loss = y->data[0];
    ops_case_free(&c);
    return rapt_tape_memory(t);
}

static rapt_tape *new_tape(void)
{
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 3}, NULL);
    assert_non_null(t);
    return t;
}

static void check_row(const ops_row *row, unsigned variant)
{
    rapt_real computed, after;
    rapt_tape *t = new_tape(), *other = new_tape();
    size_t bytes = pass(t, row, variant, &computed);
    tape_count(other, true);
    size_t counted = pass(other, row, variant, &after);
    tape_count(other, false);
    if (counted != bytes)
        fail_msg("%s: %zu bytes counted, %zu taken", row->name, counted, bytes);
    assert_int_equal(pass(other, row, variant, &after), bytes);
    assert_memory_equal(&computed, &after, sizeof after);
    rapt_tape_free(t);
    rapt_tape_free(other);
}

static void every_row_is_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (unsigned variant = 0; variant < 4; variant++)
            check_row(row_at(i), variant);
}

/* A model that no machine holds: none is touched, and more than an address can say is refused. */
static void sizes_have_no_end(void **state)
{
    (void)state;
    rapt_tape *t = new_tape();
    tape_count(t, true);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    size_t before = rapt_tape_memory(t);
    rapt_tensor *x = rapt_tape_tensor(t, 2, (size_t[]){(size_t)1 << 22, (size_t)1 << 22}, true);
    rapt_error err = {0};
    assert_int_equal(rapt_backward(t, rapt_op_sum(t, rapt_op_relu(t, x)), &err), RAPT_OK);
    assert_true(rapt_tape_memory(t) - before > (size_t)5 << 46);
    for (int i = 0; i < 2; i++)
        rapt_tape_tensor(t, 2, (size_t[]){(size_t)1 << 29, (size_t)1 << 29}, true);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_ERR_MEMORY);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_counted),
        cmocka_unit_test(sizes_have_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
