/* tests/ops/test_profile.c: what operations say of themselves is what a hand counts, and the results don't mind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/profile.h"

#include "base/clock.h"

#include <string.h>

#define ROWS 6
#define IN 5
#define OUT 4

typedef struct bench {
    rapt_tape *t;
    rapt_params *set;
    rapt_param *w, *v;
} bench;

static int set_up(void **state)
{
    static bench b;
    b = (bench){rapt_tape_new(&(rapt_tape_options){.threads = 2}, NULL), rapt_params_new(3, NULL)};
    b.w = rapt_params_add(b.set, "w", 2, (size_t[]){OUT, IN}, (rapt_init){RAPT_INIT_NORMAL, 1});
    b.v = rapt_params_add(b.set, "v", 2, (size_t[]){OUT, IN}, (rapt_init){RAPT_INIT_NORMAL, 1});
    *state = &b;
    return b.t && b.set ? 0 : -1;
}

static int tear_down(void **state)
{
    bench *b = *state;
    rapt_tape_free(b->t);
    rapt_params_free(b->set);
    return 0;
}

/* The sum of relu(x w^T) and of both of x w^T and x v^T; returns it, and leaves the gradients. */
static rapt_real pass(bench *b)
{
    rapt_error err = {0};
    rapt_real numbers[ROWS * IN];
    rapt_tensor *y[2];
    for (size_t i = 0; i < ROWS * IN; i++)
        numbers[i] = (rapt_real)((double)i / 7 - 2);
    rapt_params_zero_grad(b->set);
    rapt_tape_begin(b->t, (rapt_pass){.record = true});
    rapt_tensor *x = rapt_tape_input(b->t, 2, (size_t[]){ROWS, IN}, numbers, true);
    rapt_tensor *z = rapt_op_linear(b->t, x, b->w, NULL, RAPT_ACTIVATION_RELU);
    rapt_op_linears(b->t, 2, (rapt_linear_args[]){{x, b->w, NULL}, {x, b->v, NULL}}, y);
    rapt_tensor *loss = rapt_op_sum(b->t, rapt_op_add(b->t, z, rapt_op_add(b->t, y[0], y[1])));
    if (rapt_backward(b->t, loss, &err))
        fail_msg("%s", err.message);
    return loss->data[0];
}

static const rapt_profile_entry *find(bench *b, const char *op, bool backward)
{
    size_t count;
    const rapt_profile_entry *list = rapt_tape_profile_entries(b->t, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].op, op) == 0 && list[i].backward == backward)
            return &list[i];
    fail_msg("no entry %s", op);
    return NULL;
}

static void counts_are_those_of_a_hand(void **state)
{
    bench *b = *state;
    double start = clock_seconds(), sum = 0;
    rapt_tape_profile(b->t, true);
    pass(b);
    double wall = clock_seconds() - start;
    const rapt_profile_entry *linear = find(b, "linear", false), *back = find(b, "linear", true), *add = find(b, "add", false);
    assert_int_equal(linear->calls, 2); /* one alone, one of two layers */
    assert_true(linear->flops == 3 * 2.0 * ROWS * IN * OUT);
    /* x, w and y; then x once, both weights, both outputs */
    assert_true(linear->bytes == sizeof(rapt_real) * (double)(2 * ROWS * IN + 3 * IN * OUT + 3 * ROWS * OUT));
    assert_int_equal(back->calls, 2);
    assert_true(back->flops == 2 * linear->flops); /* a product for the input, one for the weight */
    assert_int_equal(add->calls, 2);
    assert_true(add->flops == 0 && add->bytes == sizeof(rapt_real) * 2.0 * 3 * ROWS * OUT);
    size_t count;
    const rapt_profile_entry *list = rapt_tape_profile_entries(b->t, &count);
    for (size_t i = 0; i < count; i++) {
        assert_true(list[i].seconds >= 0);
        sum += list[i].seconds;
    }
    assert_true(sum > 0 && sum <= wall);
}

static void time_between_passes_is_nobodys(void **state)
{
    bench *b = *state;
    double sum = 0, start, passes = 0;
    size_t count;
    rapt_tape_profile(b->t, true);
    for (int i = 0; i < 2; i++) {
        start = clock_seconds();
        pass(b);
        passes += clock_seconds() - start;
        for (start = clock_seconds(); clock_seconds() - start < 0.1;)
            ;
    }
    const rapt_profile_entry *list = rapt_tape_profile_entries(b->t, &count);
    for (size_t i = 0; i < count; i++)
        sum += list[i].seconds;
    assert_true(sum <= passes);
    assert_int_equal(find(b, "linear", false)->calls, 4);
}

static void results_are_the_same(void **state)
{
    bench *b = *state;
    size_t count;
    rapt_real gradient[OUT * IN], plain = pass(b);
    memcpy(gradient, b->w->value.grad, sizeof gradient);
    rapt_tape_profile_entries(b->t, &count);
    assert_int_equal(count, 0); /* off: nothing */
    rapt_tape_profile(b->t, true);
    assert_true(pass(b) == plain);
    assert_memory_equal(b->w->value.grad, gradient, sizeof gradient);
    rapt_tape_profile(b->t, false);
    rapt_tape_profile_entries(b->t, &count);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_are_those_of_a_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_between_passes_is_nobodys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(results_are_the_same, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
