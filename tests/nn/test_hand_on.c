/* tests/nn/test_hand_on.c: memory that a module hands on to the next operation serves its result, once; what was not
 * handed on stays as it is. That blocks compute the same is shown by tests/golden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/model.h"

#include "ops/tape_core.h"
#include "rapt/observe.h"

#define BATCH 2
#define TIME 3
#define WIDTH 5
#define SIZE (BATCH * TIME * WIDTH)

static rapt_tensor *numbers(rapt_tape *t, uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(t, 3, (size_t[]){BATCH, TIME, WIDTH}, true);
    for (size_t i = 0; i < SIZE; i++)
        x->data[i] = (rapt_real)rng_normal(key, i);
    return x;
}

static rapt_tape *begun(void)
{
    rapt_tape *t = model_tape(NULL, 2);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    return t;
}

static void check_sum(const rapt_tensor *z, uint64_t x, uint64_t y)
{
    for (size_t i = 0; i < SIZE; i++)
        assert_true(z->data[i] == (rapt_real)rng_normal(x, i) + (rapt_real)rng_normal(y, i));
}

static void memory_is_taken_once(void **state)
{
    rapt_tape *t = begun();
    rapt_tensor *x = numbers(t, 1), *y = numbers(t, 2), *other = numbers(t, 3);
    (void)state;
    rapt_tensor *z = rapt_op_add(t, x, tape_hand_on(t, y));
    assert_ptr_equal(z->data, y->data);
    check_sum(z, 1, 2);
    rapt_tensor *again = rapt_op_add(t, other, y);
    assert_ptr_not_equal(again->data, y->data);
    check_sum(z, 1, 2);
    rapt_tape_free(t);
}

static void dropout_works_in_place(void **state)
{
    rapt_tape *t = begun();
    rapt_tensor *kept = numbers(t, 1), *want = rapt_op_dropout(t, kept, 0.5);
    rapt_real first[SIZE];
    (void)state;
    memcpy(first, want->data, sizeof first);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true}); /* the same key */
    rapt_tensor *y = numbers(t, 1), *dropped = rapt_op_dropout(t, tape_hand_on(t, y), 0.5);
    assert_ptr_equal(dropped->data, y->data);
    assert_memory_equal(dropped->data, first, sizeof first);
    rapt_tape_free(t);
}

static void a_new_pass_forgets(void **state)
{
    rapt_tape *t = begun();
    rapt_tensor *y = tape_hand_on(t, numbers(t, 1));
    (void)state;
    rapt_tape_begin(t, (rapt_pass){.record = true});
    assert_null(tape_take_over(t, y));
    rapt_tape_free(t);
}

static void count_step(void *context, const rapt_observation *s)
{
    (void)s;
    ++*(int *)context;
}

/* Who records looks at every step. */
static void recorded_passes_keep_all(void **state)
{
    rapt_tape *t = model_tape(NULL, 2);
    int steps = 0;
    (void)state;
    rapt_observe(t, count_step, &steps);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *y = numbers(t, 1);
    assert_ptr_equal(tape_hand_on(t, y), y);
    assert_null(tape_take_over(t, y));
    rapt_tape_free(t);
}

/* The caller's own result stays what it is, in whatever order norm, dropout and sum come. */
static void check_module_keeps(rapt_norm_place place, rapt_norm_kind kind)
{
    rapt_tape *t = begun();
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_add_norm m = {.dropout = 0.5, .place = place};
    rapt_norm_init(&m.norm, set, "norm.", WIDTH, kind, true, 1e-5);
    rapt_tensor *x = numbers(t, 1), *y = numbers(t, 2);
    rapt_tensor *z = rapt_add_norm_after(t, &m, x, y);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    assert_ptr_not_equal(z->data, y->data);
    for (size_t i = 0; i < SIZE; i++) {
        assert_true(x->data[i] == (rapt_real)rng_normal(1, i));
        assert_true(y->data[i] == (rapt_real)rng_normal(2, i));
    }
    rapt_tape_free(t);
    rapt_params_free(set);
}

static void modules_keep_the_callers(void **state)
{
    (void)state;
    check_module_keeps(RAPT_NORM_PLACE_PRE, RAPT_NORM_KIND_LAYER);
    check_module_keeps(RAPT_NORM_PLACE_POST, RAPT_NORM_KIND_LAYER);
    check_module_keeps(RAPT_NORM_PLACE_POST, RAPT_NORM_KIND_RMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_taken_once),
        cmocka_unit_test(dropout_works_in_place),
        cmocka_unit_test(a_new_pass_forgets),
        cmocka_unit_test(recorded_passes_keep_all),
        cmocka_unit_test(modules_keep_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
