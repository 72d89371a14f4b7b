/* tests/ops/test_gradients.c: which gradients are there after a backward pass, and what they are where they are kept, for a
 * calculation that can be done by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/tape.h"

#include <string.h>

/* x w^T = h, relu(h) = r, 3 r = s, r + s = y, and the loss is y times (5, 1/2). */
typedef struct chain {
    rapt_params *set;
    rapt_param *w;
    rapt_tape *t;
    rapt_tensor *x, *h, *r, *s, *y, *loss;
} chain;

static int set_up(void **state)
{
    static const rapt_real w[] = {1, -1, 2, 1};
    static chain c;
    c = (chain){.set = rapt_params_new(1, NULL), .t = rapt_tape_new(NULL, NULL)};
    if (!c.set || !c.t)
        return -1;
    c.w = rapt_params_add(c.set, "w", 2, (size_t[]){2, 2}, (rapt_init){0});
    memcpy(c.w->value.data, w, sizeof w);
    *state = &c;
    return 0;
}

static int tear_down(void **state)
{
    chain *c = *state;
    rapt_tape_free(c->t);
    rapt_params_free(c->set);
    return 0;
}

static void walk(chain *c, bool keep)
{
    rapt_error err = {0};
    rapt_params_zero_grad(c->set);
    rapt_tape_begin(c->t, (rapt_pass){.record = true, .keep_gradients = keep});
    c->x = rapt_tape_input(c->t, 2, (size_t[]){1, 2}, (rapt_real[]){1, 2}, true);
    c->h = rapt_op_linear(c->t, c->x, c->w, NULL, RAPT_ACTIVATION_IDENTITY);
    c->r = rapt_op_relu(c->t, c->h);
    c->s = rapt_op_scale(c->t, c->r, 3);
    c->y = rapt_op_add(c->t, c->r, c->s);
    c->loss = rapt_op_weighted_sum(c->t, c->y, (rapt_real[]){5, 0.5f});
    if (rapt_backward(c->t, c->loss, &err))
        fail_msg("%s", err.message);
    assert_true(c->loss->data[0] == 8); /* h is (-1, 4), y (0, 16) */
}

static void assert_grad(const char *name, const rapt_tensor *x, const rapt_real *want, size_t n)
{
    if (!x->grad)
        fail_msg("%s has no gradient", name);
    for (size_t i = 0; i < n; i++)
        if (x->grad[i] != want[i])
            fail_msg("%s: gradient %zu is %g, not %g", name, i, (double)x->grad[i], (double)want[i]);
}

/* The caller's input and the parameter: dx is dh w, dw is dh^T x with dh of (0, 2). */
static void assert_ends(const chain *c)
{
    assert_grad("x", c->x, (rapt_real[]){4, 2}, 2);
    assert_grad("w", &c->w->value, (rapt_real[]){0, 0, 2, 4}, 4);
}

static void results_lose_theirs(void **state)
{
    chain *c = *state;
    walk(c, false);
    assert_ends(c);
    const rapt_tensor *results[] = {c->h, c->r, c->s, c->y, c->loss};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        assert_null(results[i]->grad);
}

static void results_keep_theirs_on_request(void **state)
{
    chain *c = *state;
    walk(c, true);
    assert_ends(c);
    assert_grad("the loss", c->loss, (rapt_real[]){1}, 1);
    assert_grad("y", c->y, (rapt_real[]){5, 0.5f}, 2);
    assert_grad("s", c->s, (rapt_real[]){5, 0.5f}, 2);
    assert_grad("r", c->r, (rapt_real[]){20, 2}, 2); /* through s, three times, and through y */
    assert_grad("h", c->h, (rapt_real[]){0, 2}, 2);
}

/* The wish is one pass's. */
static void the_next_pass_is_free(void **state)
{
    walk(*state, true);
    results_lose_theirs(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(results_lose_theirs),
        TEST(results_keep_theirs_on_request),
        TEST(the_next_pass_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
