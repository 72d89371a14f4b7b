/* tests/train/test_gradients_bf16.c: gradients that are stored in bf16: which; that they are those in fp32, rounded once after
 * each operation that adds to them; that the norm and Adam's step read what is stored.
 * labels: levels */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "tensor/grad_store.h"
#include "tensor/params.h"
#include "train/adam_steps.h"

#include <math.h>

/* x to 8 binary digits, ties to even. */
static float rounded(double x)
{
    int exponent;
    if (x == 0)
        return (float)x;
    frexp(x, &exponent);
    const double unit = ldexp(1, exponent - 8);
    return (float)(nearbyint(x / unit) * unit);
}

typedef struct net {
    rapt_params *set;
    rapt_param *x, *twice, *once, *small, *rest; /* `rest` makes the others an eighth of the set at most */
} net;

enum { WIDTH = 72 };

static net new_net(bool bf16)
{
    const rapt_init init = {RAPT_INIT_NORMAL, 0.3};
    rapt_error err = {0};
    net n = {.set = rapt_params_new(5, NULL)};
    n.x = rapt_params_add(n.set, "x", 2, (size_t[]){10, WIDTH}, init);
    n.twice = rapt_params_add(n.set, "twice", 2, (size_t[]){WIDTH, WIDTH}, init);
    n.once = rapt_params_add(n.set, "once", 2, (size_t[]){WIDTH, WIDTH}, init);
    n.small = rapt_params_add(n.set, "small", 2, (size_t[]){4, WIDTH}, init);
    n.rest = rapt_params_add(n.set, "rest", 2, (size_t[]){8 * WIDTH, WIDTH}, init);
    if (bf16)
        assert_int_equal(params_store_gradients_bf16(n.set, &err), RAPT_OK);
    return n;
}

static void backward(const net *n, rapt_tape *t, int uses)
{
    rapt_error err = {0};
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *h = rapt_op_linear(t, &n->x->value, n->once, NULL, RAPT_ACTIVATION_GELU);
    for (int i = 0; i < uses; i++)
        h = rapt_op_linear(t, h, n->twice, NULL, RAPT_ACTIVATION_GELU);
    rapt_tensor *loss = rapt_op_sum(t, rapt_op_linear(t, h, n->small, NULL, RAPT_ACTIVATION_IDENTITY));
    if (rapt_backward(t, loss, &err))
        fail_msg("%s", err.message);
}

static float stored(const rapt_param *p, size_t i)
{
    const uint32_t bits = (uint32_t)grad_stored(&p->value)[i] << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void large_matrices_are_stored(void **state)
{
    net n = new_net(true);
    (void)state;
    assert_true(n.once->value.grad_bf16 && n.twice->value.grad_bf16);
    assert_false(n.x->value.grad_bf16 || n.small->value.grad_bf16 || n.rest->value.grad_bf16);
    rapt_params_free(n.set);
}

static void they_are_rounded_once(rapt_tape *t, void *context)
{
    net plain = new_net(false), bf16 = new_net(true);
    (void)context;
    backward(&plain, t, 1);
    backward(&bf16, t, 1);
    for (size_t i = 0; i < WIDTH * WIDTH; i++) {
        assert_true(stored(bf16.once, i) == rounded((double)plain.once->value.grad[i]));
        assert_true(stored(bf16.twice, i) == rounded((double)plain.twice->value.grad[i]));
    }
    same("small", 4 * WIDTH, plain.small->value.grad, bf16.small->value.grad);
    rapt_params_free(plain.set);
    rapt_params_free(bf16.set);
}

static void rounding_is_that_of_the_format(void **state)
{
    (void)state;
    everywhere(they_are_rounded_once, NULL);
}

/* A matrix with two uses has the last use's gradient, rounded, and the first use's. Another net, whose other use has a separate
 * matrix with the same elements, has the first use's alone. */
static void several_uses_add_up(void **state)
{
    rapt_tape *t = new_tape(NULL, 2);
    net apart = new_net(false), bf16 = new_net(true);
    rapt_error err = {0};
    (void)state;
    rapt_param *other = rapt_params_add(apart.set, "other", 2, (size_t[]){WIDTH, WIDTH}, (rapt_init){.kind = RAPT_INIT_ZEROS});
    memcpy(other->value.data, apart.twice->value.data, WIDTH * WIDTH * sizeof(rapt_real));
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *h = rapt_op_linear(t, &apart.x->value, apart.once, NULL, RAPT_ACTIVATION_GELU);
    h = rapt_op_linear(t, h, other, NULL, RAPT_ACTIVATION_GELU);
    h = rapt_op_linear(t, h, apart.twice, NULL, RAPT_ACTIVATION_GELU);
    rapt_tensor *loss = rapt_op_sum(t, rapt_op_linear(t, h, apart.small, NULL, RAPT_ACTIVATION_IDENTITY));
    assert_int_equal(rapt_backward(t, loss, &err), RAPT_OK);
    backward(&bf16, t, 2);
    for (size_t i = 0; i < WIDTH * WIDTH; i++) {
        const float last = rounded((double)apart.twice->value.grad[i]);
        assert_true(stored(bf16.twice, i) == rounded((double)(last + other->value.grad[i])));
    }
    rapt_params_free(apart.set);
    rapt_params_free(bf16.set);
    rapt_tape_free(t);
}

/* A step with gradients in fp32 that are set to what is stored. */
static void steps_read_what_is_stored(void **state)
{
    rapt_tape *t = new_tape(NULL, 2);
    (void)state;
    for (int bits8 = 0; bits8 < 2; bits8++) {
        net plain = new_net(false), bf16 = new_net(true);
        const rapt_adam_options o = ADAM(.weight_decay = 0.1, .bits8 = bits8);
        rapt_adam *a = new_adam(plain.set, o), *b = new_adam(bf16.set, o);
        for (int s = 0; s < 3; s++) {
            backward(&plain, t, 2);
            backward(&bf16, t, 2);
            for (size_t i = 0; i < WIDTH * WIDTH; i++) {
                plain.once->value.grad[i] = stored(bf16.once, i);
                plain.twice->value.grad[i] = stored(bf16.twice, i);
            }
            assert_true(rapt_grad_norm(t, plain.set) == rapt_grad_norm(t, bf16.set));
            step(a, t, 0.01, 0.5);
            step(b, t, 0.01, 0.5);
            rapt_params_zero_grad(plain.set);
            rapt_params_zero_grad(bf16.set);
            same("once", WIDTH * WIDTH, plain.once->value.data, bf16.once->value.data);
            same("twice", WIDTH * WIDTH, plain.twice->value.data, bf16.twice->value.data);
            same("small", 4 * WIDTH, plain.small->value.data, bf16.small->value.data);
        }
        rapt_adam_free(a);
        rapt_adam_free(b);
        rapt_params_free(plain.set);
        rapt_params_free(bf16.set);
    }
    rapt_tape_free(t);
}

static void not_finite_is_found(void **state)
{
    rapt_tape *t = new_tape(NULL, 1);
    net n = new_net(true);
    (void)state;
    backward(&n, t, 1);
    assert_null(rapt_first_not_finite(t, n.set, true));
    grad_stored(&n.twice->value)[WIDTH * WIDTH - 1] = 0x7f80;
    assert_string_equal(rapt_first_not_finite(t, n.set, true), "twice");
    rapt_params_free(n.set);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_matrices_are_stored), cmocka_unit_test(rounding_is_that_of_the_format),
        cmocka_unit_test(several_uses_add_up),       cmocka_unit_test(steps_read_what_is_stored),
        cmocka_unit_test(not_finite_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
