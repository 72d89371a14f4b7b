/* tests/ops/test_profile.c: what operations say of themselves is what a hand counts, in the types that operands are stored in,
 * and the results don't mind.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/profile.h"

#include "base/clock.h"
#include "ops/attention_op.h"
#include "options.h"
#include "rapt/train.h"
#include "tape/tape_core.h"

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
    b = (bench){rapt_tape_new(&(rapt_compute){.threads = 2}, NULL), rapt_params_new(3, NULL)};
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

enum { WIDE_IN = 64, WIDE_OUT = 3 };

/* The bytes of x w^T in a profile, with w packed for a precision: without the bytes of x and y. */
static double bytes_of_weights(rapt_type precision)
{
    const rapt_real numbers[ROWS * WIDE_IN] = {1};
    size_t count;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1, .type = precision}, NULL);
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_param *w = rapt_params_add(set, "w", 2, (size_t[]){WIDE_OUT, WIDE_IN}, (rapt_init){RAPT_INIT_NORMAL, 1});
    packed_weights *p = packed_weights_new(set, t->packs, false, NULL);
    assert_int_equal(packed_weights_add(p, w, t->packs, t->pool, NULL), RAPT_OK);
    tape_use_packed(t, p);
    rapt_tape_profile(t, true);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_op_linear(t, rapt_tape_input(t, 2, (size_t[]){ROWS, WIDE_IN}, numbers, false), w, NULL, RAPT_ACTIVATION_IDENTITY);
    const rapt_profile_entry *list = rapt_tape_profile_entries(t, &count);
    assert_int_equal(count, 1);
    const double bytes = list[0].bytes - sizeof(rapt_real) * (double)(ROWS * WIDE_IN + ROWS * WIDE_OUT);
    assert_true(bytes == (double)p->bytes);
    rapt_tape_free(t);
    packed_weights_free(p);
    rapt_params_free(set);
    return bytes;
}

static void weights_count_as_they_are_packed(void **state)
{
    (void)state;
    const double numbers = WIDE_IN * WIDE_OUT;
    assert_true(bytes_of_weights(RAPT_TYPE_FP32) == 4 * numbers);
    assert_true(bytes_of_weights(RAPT_TYPE_BF16) == 2 * numbers);
    assert_true(bytes_of_weights(RAPT_TYPE_Q8_0) == numbers * 34 / 32);
    assert_true(bytes_of_weights(RAPT_TYPE_Q4_0) == numbers * 18 / 32);
}

enum { KEYS = 5, HEADS = 2, FEATURES = 32 };

/* The bytes of one query's attention to keys and values that are stored so. */
static double bytes_of_attention(bench *b, rapt_type storage)
{
    const uint8_t stored[KEYS * HEADS * FEATURES * sizeof(rapt_real)] = {0};
    const size_t shape[] = {1, KEYS, HEADS * FEATURES};
    rapt_tape_profile(b->t, true);
    rapt_tape_begin(b->t, (rapt_pass){0});
    rapt_tensor *q = rapt_tape_tensor(b->t, 3, (size_t[]){1, 1, HEADS * FEATURES}, false);
    memset(q->data, 0, rapt_tensor_size(q) * sizeof *q->data);
    rapt_tensor *k = rapt_tape_tensor(b->t, 3, shape, false), *v = rapt_tape_tensor(b->t, 3, shape, false);
    attention_op_stored(b->t, q, k, v, (attention_stored){storage, stored, stored}, &(rapt_op_attention_options){.heads = HEADS});
    return find(b, "attention", false)->bytes - 2 * sizeof(rapt_real) * HEADS * FEATURES;
}

static void keys_and_values_count_as_they_are_stored(void **state)
{
    bench *b = *state;
    const double numbers = 2 * KEYS * HEADS * FEATURES;
    assert_true(bytes_of_attention(b, RAPT_TYPE_BF16) == 2 * numbers);
    assert_true(bytes_of_attention(b, RAPT_TYPE_Q8_0) == numbers * 34 / 32);
}

enum { MATRIX = 128 }; /* rows and columns: large enough for moments in 8 bits and a gradient in bf16 */

/* The bytes of Adam and of the gradient norm, of one matrix and a vector of MATRIX elements. */
static void bytes_of_step(bool bits8, bool bf16, double *adam, double *norm)
{
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_param *w = rapt_params_add(set, "w", 2, (size_t[]){MATRIX, MATRIX}, (rapt_init){RAPT_INIT_NORMAL, 1});
    rapt_param *bias = rapt_params_add(set, "b", 1, (size_t[]){MATRIX}, (rapt_init){RAPT_INIT_ZEROS, 0});
    w->value.grad_bf16 = bf16;
    rapt_adam *a = rapt_adam_new(set, &ADAM(.bits8 = bits8), NULL);
    assert_non_null(a);
    rapt_params_zero_grad(set);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *x = rapt_tape_tensor(t, 2, (size_t[]){1, MATRIX}, false);
    memset(x->data, 0, MATRIX * sizeof *x->data);
    assert_int_equal(rapt_backward(t, rapt_op_sum(t, rapt_op_linear(t, x, w, bias, RAPT_ACTIVATION_IDENTITY)), NULL), RAPT_OK);
    rapt_tape_profile(t, true);
    rapt_grad_norm(t, set);
    assert_int_equal(rapt_adam_step(a, t, 0.1, 1, NULL), RAPT_OK);
    bench b = {.t = t};
    *norm = find(&b, "gradient norm", false)->bytes;
    *adam = find(&b, "adam", false)->bytes;
    rapt_adam_free(a);
    rapt_tape_free(t);
    rapt_params_free(set);
}

static void a_step_counts_as_it_is_stored(void **state)
{
    double adam, norm;
    const double of_vector = MATRIX, of_matrix = MATRIX * MATRIX;
    (void)state;
    bytes_of_step(false, false, &adam, &norm);
    assert_true(norm == 4 * (of_matrix + of_vector) && adam == 28 * (of_matrix + of_vector));
    bytes_of_step(true, false, &adam, &norm);
    assert_true(norm == 4 * (of_matrix + of_vector) && adam == 16 * of_matrix + 28 * of_vector);
    bytes_of_step(true, true, &adam, &norm);
    assert_true(norm == 2 * of_matrix + 4 * of_vector && adam == 14 * of_matrix + 28 * of_vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_are_those_of_a_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_between_passes_is_nobodys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(results_are_the_same, set_up, tear_down),
        cmocka_unit_test(weights_count_as_they_are_packed),
        cmocka_unit_test_setup_teardown(keys_and_values_count_as_they_are_stored, set_up, tear_down),
        cmocka_unit_test(a_step_counts_as_it_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
