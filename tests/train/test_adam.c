/* tests/train/test_adam.c: steps of Adam and gradient norms against a plain one in double; sparse parameters that move
 * like any other to the bit, however long deferred; the same bits at every level with any number of threads. Ten
 * steps against PyTorch are the business of test_golden_training.c.
 * labels: levels arm-first sanitized-late */
#define _GNU_SOURCE
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "rapt/train.h"

#include "base/rng.h"
#include "tape/tape_core.h"
#include "train/adam_steps.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void draw_gradient(rapt_param *p, size_t from, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        p->value.grad[from + i] = (rapt_real)(rng_uniform(key, i) - 0.5);
}

/* ---- against double --------------------------------------------------------------------------------------- */

#define MOST 3000 /* numbers of a parameter below */

/* A parameter and its moments in double, of the constants that a kernel has. */
typedef struct plain {
    double p[MOST], m[MOST], v[MOST];
} plain;

static void plain_step(plain *x, const rapt_param *p, const rapt_adam_options *o, double step, double lr, double scale)
{
    double beta1 = (double)(rapt_real)o->beta1, beta2 = (double)(rapt_real)o->beta2;
    double bc1 = 1 - pow(beta1, step), bc2 = 1 - pow(beta2, step);
    double decay = p->value.ndim >= 2 ? 1 - lr * o->weight_decay : 1;
    for (size_t i = 0; i < rapt_tensor_size(&p->value); i++) {
        double g = scale * (double)p->value.grad[i];
        x->m[i] = beta1 * x->m[i] + (1 - beta1) * g;
        x->v[i] = beta2 * x->v[i] + (1 - beta2) * g * g;
        x->p[i] = decay * x->p[i] - lr / bc1 * x->m[i] / (sqrt(x->v[i] / bc2) + o->eps);
    }
}

/* Each step rounds p three times (the decay, its product, the difference) and moves it by 0.01 |m| / sqrt(v) <= 0.012,
 * which some ten roundings went into. */
static void check_against(const plain *x, const rapt_param *p, size_t steps)
{
    for (size_t i = 0; i < rapt_tensor_size(&p->value); i++) {
        double bound = (double)steps * (10 * 0.012 + 3 * fabs(x->p[i])) * 0.5 * (double)FLT_EPSILON;
        if (!(fabs(x->p[i] - (double)p->value.data[i]) <= bound))
            fail_msg("%s[%zu] is %.9g, plain Adam has %.9g", p->value.name, i, (double)p->value.data[i], x->p[i]);
    }
}

static double plain_norm(rapt_param *const *p, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < rapt_tensor_size(&p[i]->value); j++)
            sum += (double)p[i]->value.grad[j] * (double)p[i]->value.grad[j];
    return sqrt(sum);
}

static void steps_are_those_of_plain_adam(rapt_tape *t, void *context)
{
    (void)context;
    static plain x[3];
    rapt_adam_options o = ADAM(.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1);
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_init init = {RAPT_INIT_UNIFORM, 1};
    rapt_param *p[] = {rapt_params_add(set, "matrix", 2, (size_t[]){60, 50}, init),
                       rapt_params_add(set, "vector", 1, (size_t[]){2999}, init),
                       rapt_params_add(set, "cube", 3, (size_t[]){3, 7, 5}, init)};
    rapt_param *frozen = rapt_params_add(set, "frozen", 1, (size_t[]){5}, init);
    rapt_param *idle = rapt_params_add(set, "idle", 1, (size_t[]){5}, init);
    rapt_params_freeze(set, "frozen");
    frozen->value.grad_filled = true; /* from before it was frozen */
    draw_gradient(frozen, 0, 5, 1);
    rapt_adam *a = new_adam(set, o);
    memset(x, 0, sizeof x);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < rapt_tensor_size(&p[i]->value); j++)
            x[i].p[j] = (double)p[i]->value.data[j];
    rapt_real kept[2] = {frozen->value.data[1], idle->value.data[1]};
    rapt_tape_begin(t, (rapt_pass){0});
    for (size_t s = 1; s <= 10; s++) {
        double lr = 0.01 / (double)s, scale = s % 2 ? 1 : 0.25;
        for (size_t i = 0; i < 3; i++) {
            draw_gradient(p[i], 0, rapt_tensor_size(&p[i]->value), rng_mix(s, i));
            p[i]->value.grad_filled = true;
            plain_step(&x[i], p[i], &o, (double)s, lr, scale);
        }
        double norm = plain_norm(p, 3); /* each sum of 8,192 squares: its roundings, and the roundings of the squares */
        assert_true(fabs(rapt_grad_norm(t, set) - norm) <= (8192.0 / 16 + 5) * 0.5 * (double)FLT_EPSILON * norm);
        step(a, t, lr, scale);
        for (size_t i = 0; i < 3; i++)
            check_against(&x[i], p[i], s);
        rapt_params_zero_grad(set);
    }
    assert_true(frozen->value.data[1] == kept[0] && idle->value.data[1] == kept[1]);
    assert_null(rapt_adam_first_moment(a, 3));
    assert_int_equal(rapt_adam_steps(a), 10);
    rapt_adam_free(a);
    rapt_params_free(set);
}

static void test_plain(void **state)
{
    (void)state;
    everywhere(steps_are_those_of_plain_adam, NULL);
}

/* ---- many pieces ------------------------------------------------------------------------------------------ */

#define MANY 1500 /* parameters: more than a list of pieces has room for */

static rapt_params *many_parameters(void)
{
    rapt_params *set = rapt_params_new(2, NULL);
    for (size_t i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%zu", i);
        size_t rows = i % 500 == 7 || i == 1018 ? 3000 : 1 + i % 3; /* some of several pieces, the last of two lists */
        rapt_param *p = rapt_params_add(set, name, 2, (size_t[]){rows, 1 + i % 70}, (rapt_init){RAPT_INIT_UNIFORM, 1});
        draw_gradient(p, 0, rapt_tensor_size(&p->value), i);
        p->value.grad_filled = true;
    }
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    return set;
}

static double sum_of_squares(const rapt_params *set)
{
    double sum = 0;
    for (size_t i = 0; i < MANY; i++) {
        const rapt_tensor *x = &rapt_params_at(set, i)->value;
        for (size_t j = 0; j < rapt_tensor_size(x); j++)
            sum += (double)x->grad[j] * (double)x->grad[j];
    }
    return sum;
}

typedef struct many {
    rapt_params *first; /* of the first tape */
    double norm;
} many;

static void many_parameters_move(rapt_tape *t, void *context)
{
    many *m = context;
    rapt_params *set = many_parameters();
    rapt_adam *a = new_adam(set, ADAM(.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1));
    rapt_tape_begin(t, (rapt_pass){0});
    double norm = rapt_grad_norm(t, set), want = sqrt(sum_of_squares(set));
    assert_true(fabs(norm - want) <= 1e-4 * want);
    step(a, t, 0.01, 1 / norm);
    for (size_t i = 0; m->first && i < MANY; i++) {
        const rapt_tensor *x = &rapt_params_at(set, i)->value;
        same(x->name, rapt_tensor_size(x), rapt_params_at(m->first, i)->value.data, x->data);
    }
    if (m->first) {
        assert_true(norm == m->norm);
        rapt_params_free(set);
    } else
        *m = (many){set, norm};
    rapt_adam_free(a);
}

static void test_many(void **state)
{
    (void)state;
    many m = {0};
    everywhere(many_parameters_move, &m);
    rapt_params_free(m.first);
}

/* ---- sparse parameters ------------------------------------------------------------------------------------ */

#define ROWS 600
#define WIDTH 21 /* a vector and a bit */
#define STEPS 600 /* more than twice what a row may be behind */

typedef struct twins {
    rapt_params *dense_set, *sparse_set;
    rapt_param *dense, *sparse;
    rapt_adam *dense_adam, *sparse_adam;
    rapt_tape *t;
} twins;

static rapt_param *add_matrix(rapt_params *set, size_t width, bool sparse)
{
    rapt_param *p = rapt_params_add(set, "w", 2, (size_t[]){ROWS, width}, (rapt_init){RAPT_INIT_UNIFORM, 1});
    memset(p->value.grad, 0, rapt_tensor_size(&p->value) * sizeof *p->value.grad);
    if (sparse)
        rapt_param_make_sparse(set, p);
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    return p;
}

static twins make_twins(rapt_tape *t, size_t width, rapt_adam_options o)
{
    twins w = {.dense_set = rapt_params_new(3, NULL), .sparse_set = rapt_params_new(3, NULL), .t = t};
    w.dense = add_matrix(w.dense_set, width, false);
    w.sparse = add_matrix(w.sparse_set, width, true);
    w.dense_adam = new_adam(w.dense_set, o);
    w.sparse_adam = new_adam(w.sparse_set, o);
    rapt_tape_begin(t, (rapt_pass){0});
    return w;
}

static void free_twins(twins *w)
{
    rapt_adam_free(w->dense_adam);
    rapt_adam_free(w->sparse_adam);
    rapt_params_free(w->dense_set);
    rapt_params_free(w->sparse_set);
}

static void forget_gradients(twins *w)
{
    memset(w->dense->value.grad, 0, rapt_tensor_size(&w->dense->value) * sizeof(rapt_real));
    w->dense->value.grad_filled = false;
    rapt_params_zero_grad(w->sparse_set);
}

/* A few rows, some of them often, most of them never. */
static size_t draw_rows(int32_t *rows, uint64_t s)
{
    size_t count = 1 + rng_below(s, 0, 6);
    for (size_t i = 0; i < count; i++)
        rows[i] = (int32_t)(rng_below(s, 10 + i, 3) ? rng_below(s, 20 + i, 20) : rng_below(s, 30 + i, ROWS / 2));
    return count;
}

static void fill_gradients(twins *w, const int32_t *rows, size_t count, uint64_t s)
{
    size_t width = w->dense->value.shape[1];
    for (size_t i = 0; i < count; i++) {
        size_t from = (size_t)rows[i] * width;
        draw_gradient(w->dense, from, width, rng_mix(s, (uint64_t)rows[i]));
        memcpy(w->sparse->value.grad + from, w->dense->value.grad + from, width * sizeof(rapt_real));
        w->sparse->state->row_used[rows[i]] = 1;
    }
    w->dense->value.grad_filled = true;
}

/* The rows that a forward pass reads. */
static void check_read_rows(twins *w, const int32_t *rows, size_t count)
{
    size_t width = w->dense->value.shape[1];
    rapt_tape_begin(w->t, (rapt_pass){0});
    const rapt_tensor *y = rapt_op_embed(w->t, w->sparse, (rapt_tokens){.ids = rows, .batch = 1, .time = count}, NULL);
    assert_int_equal(rapt_tape_error(w->t)->code, RAPT_OK);
    for (size_t i = 0; i < count; i++)
        same("a row that is read", width, w->dense->value.data + (size_t)rows[i] * width, y->data + i * width);
}

static void check_everything(twins *w)
{
    size_t n = rapt_tensor_size(&w->dense->value);
    same("w", n, w->dense->value.data, rapt_params_at(w->sparse_set, 0)->value.data);
    same("m", n, rapt_adam_first_moment(w->dense_adam, 0), rapt_adam_first_moment(w->sparse_adam, 0));
    same("v", n, rapt_adam_second_moment(w->dense_adam, 0), rapt_adam_second_moment(w->sparse_adam, 0));
}

static double rate(size_t s)
{
    return s < 50 ? 1e-3 * (double)s : 0.05 / sqrt((double)s);
}

/* One step of both; some steps read rows that were not brought up to date, which the optimizer has to bear. */
static void step_twins(twins *w, size_t s, bool look)
{
    int32_t rows[8];
    size_t count = draw_rows(rows, s);
    if (s % 5 != 0 && look)
        check_read_rows(w, rows, count);
    forget_gradients(w);
    fill_gradients(w, rows, count, s);
    double norm = rapt_grad_norm(w->t, w->dense_set);
    assert_true(norm == rapt_grad_norm(w->t, w->sparse_set));
    step(w->dense_adam, w->t, rate(s), norm > 1 ? 1 / norm : 1);
    step(w->sparse_adam, w->t, rate(s), norm > 1 ? 1 / norm : 1);
}

static void sparse_moves_as_dense(rapt_tape *t, void *context)
{
    double decay = *(double *)context;
    twins w = make_twins(t, decay > 0 ? WIDTH : 32, ADAM(.beta2 = 0.95, .weight_decay = decay));
    for (size_t s = 1; s <= STEPS; s++) {
        step_twins(&w, s, true);
        if (s == 3 || s == 300)
            check_everything(&w);
    }
    check_everything(&w);
    free_twins(&w);
}

static void test_sparse_decay(void **state)
{
    (void)state;
    everywhere(sparse_moves_as_dense, &(double){0.1});
}

static void test_sparse_no_decay(void **state)
{
    (void)state;
    everywhere(sparse_moves_as_dense, &(double){0});
}

/* Rows far behind are most of what is tested above; here nothing but the look at the end brings them up to date. */
static void sparse_rows_are_read_at_the_end(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    twins w = make_twins(t, WIDTH, ADAM(.beta2 = 0.95, .weight_decay = 0.1));
    for (size_t s = 1; s <= 700; s++)
        step_twins(&w, s, false);
    bool differs = memcmp(w.dense->value.data, w.sparse->value.data, ROWS * WIDTH * sizeof(rapt_real)) != 0;
    assert_true(differs); /* else nothing was deferred, and this is no test */
    check_everything(&w);
    free_twins(&w);
    rapt_tape_free(t);
}

/* With eps 0 rows without a gradient become NaN: exactly means that, too. */
static void sparse_without_eps(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    twins w = make_twins(t, WIDTH, ADAM(.beta2 = 0.95, .eps = 0, .weight_decay = 0.1));
    for (size_t s = 1; s <= 3; s++)
        step_twins(&w, s, false);
    rapt_params_at(w.sparse_set, 0);
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        assert_int_equal(isnan(w.dense->value.data[i]), isnan(w.sparse->value.data[i]));
    assert_true(isnan(w.sparse->value.data[ROWS * WIDTH - 1]));
    free_twins(&w);
    rapt_tape_free(t);
}

/* A step in which no row is used is none for a sparse parameter, as for one without a gradient. */
static void steps_without_rows_are_none(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    twins w = make_twins(t, WIDTH, ADAM(.beta2 = 0.95, .weight_decay = 0.1));
    for (size_t s = 1; s <= 40; s++) {
        if (s % 3) {
            step_twins(&w, s, true);
            continue;
        }
        forget_gradients(&w);
        step(w.dense_adam, t, 0.1, 1);
        step(w.sparse_adam, t, 0.1, 1);
    }
    check_everything(&w);
    free_twins(&w);
    rapt_tape_free(t);
}

/* Moments and values that come from a file: as if never stopped. */
static void resumed_rows_go_on(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    rapt_adam_options o = ADAM(.beta2 = 0.95, .weight_decay = 0.1);
    size_t bytes = ROWS * WIDTH * sizeof(rapt_real);
    twins w = make_twins(t, WIDTH, o);
    for (size_t s = 1; s <= 290; s++)
        step_twins(&w, s, true);
    check_everything(&w);
    twins again = make_twins(t, WIDTH, o);
    for (size_t i = 0; i < 5; i++)
        step_twins(&again, 1000 + i, true); /* something to forget */
    rapt_param *to[2] = {again.dense, again.sparse};
    rapt_adam *adam[2] = {again.dense_adam, again.sparse_adam};
    rapt_params_at(w.sparse_set, 0);
    rapt_params_at(again.sparse_set, 0); /* before it is written: nothing is deferred any more */
    for (int i = 0; i < 2; i++) {
        memcpy(to[i]->value.data, w.sparse->value.data, bytes);
        memcpy(rapt_adam_first_moment(adam[i], 0), rapt_adam_first_moment(w.sparse_adam, 0), bytes);
        memcpy(rapt_adam_second_moment(adam[i], 0), rapt_adam_second_moment(w.sparse_adam, 0), bytes);
        rapt_adam_set_steps(adam[i], 290);
    }
    for (size_t s = 291; s <= 600; s++) {
        step_twins(&w, s, true);
        step_twins(&again, s, true);
    }
    check_everything(&w);
    check_everything(&again);
    same("w", ROWS * WIDTH, w.sparse->value.data, again.sparse->value.data);
    free_twins(&again);
    free_twins(&w);
    rapt_tape_free(t);
}

static void a_failed_look_up_stops_the_step(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    twins w = make_twins(t, WIDTH, ADAM(.beta2 = 0.95, .weight_decay = 0.1));
    for (size_t s = 1; s <= 4; s++)
        step_twins(&w, s, false);
    const int32_t ids[] = {ROWS, 590, -1, 590};
    rapt_tokens tokens = {.ids = ids, .batch = 2, .time = 2};
    rapt_op_embed(t, w.sparse, tokens, NULL);
    rapt_error err = {0};
    assert_int_equal(rapt_adam_step(w.sparse_adam, t, 0.1, 1, &err), RAPT_ERR_VALUE);
    assert_int_equal(rapt_adam_steps(w.sparse_adam), 4);
    free_twins(&w);
    rapt_tape_free(t);
}

/* Adam has no moments for what came after it. */
static void sets_that_grow(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_tape *t = new_tape(NULL, 1);
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_params_add(set, "a", 1, (size_t[]){3}, (rapt_init){0});
    rapt_adam *a = rapt_adam_new(set, &ADAM(.beta2 = 0.95), NULL);
    for (size_t i = 0; i < 20; i++)
        rapt_params_add(set, (char[]){(char)('A' + i), '\0'}, 1, (size_t[]){3}, (rapt_init){0});
    rapt_tape_begin(t, (rapt_pass){0});
    assert_int_equal(rapt_adam_step(a, t, 0.1, 1, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "the optimizer was made for 1 parameters, and there are 21");
    rapt_adam_free(a);
    rapt_params_free(set);
    rapt_tape_free(t);
}

/* PyTorch's SparseAdam: one step of the kernel for the rows used, none for the others. */
static void lazy_rows_stay(rapt_tape *t, void *context)
{
    (void)context;
    rapt_adam_options o = ADAM(.beta2 = 0.95, .weight_decay = 0.1, .lazy = true);
    twins w = make_twins(t, WIDTH, o);
    static rapt_real p[ROWS * WIDTH], m[ROWS * WIDTH], v[ROWS * WIDTH];
    memcpy(p, w.sparse->value.data, sizeof p);
    memset(m, 0, sizeof m);
    memset(v, 0, sizeof v);
    for (size_t s = 1; s <= 30; s++) {
        int32_t rows[8];
        size_t count = draw_rows(rows, s);
        double b1 = (double)(rapt_real)0.9, b2 = (double)(rapt_real)0.95;
        kernels_adam c = {.beta1 = (rapt_real)0.9, .beta2 = (rapt_real)0.95, .eps = (rapt_real)1e-8, .grad_scale = 1,
                          .step_size = (rapt_real)(0.01 / (1 - pow(b1, (double)s))),
                          .inv_sqrt_bc2 = (rapt_real)(1 / sqrt(1 - pow(b2, (double)s))),
                          .decay = (rapt_real)(1 - 0.01 * 0.1)};
        forget_gradients(&w);
        fill_gradients(&w, rows, count, s);
        for (size_t i = 0; i < ROWS; i++)
            if (w.sparse->state->row_used[i])
                t->k->adam(WIDTH, p + i * WIDTH, w.sparse->value.grad + i * WIDTH, m + i * WIDTH, v + i * WIDTH, &c);
        step(w.sparse_adam, t, 0.01, 1);
        step(w.dense_adam, t, 0.01, 1);
    }
    same("w", ROWS * WIDTH, p, rapt_params_at(w.sparse_set, 0)->value.data); /* nothing is deferred */
    same("m", ROWS * WIDTH, m, rapt_adam_first_moment(w.sparse_adam, 0));
    same("v", ROWS * WIDTH, v, rapt_adam_second_moment(w.sparse_adam, 0));
    assert_true(memcmp(p, w.dense->value.data, sizeof p) != 0);
    free_twins(&w);
}

static void test_lazy(void **state)
{
    (void)state;
    everywhere(lazy_rows_stay, NULL);
}

static rapt_real first_value_after(const rapt_adam_options *options)
{
    rapt_tape *t = new_tape(NULL, 1);
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_param *p = rapt_params_add(set, "a", 1, (size_t[]){1}, (rapt_init){RAPT_INIT_ONES, 0});
    rapt_adam *a = rapt_adam_new(set, options, NULL);
    rapt_tape_begin(t, (rapt_pass){0});
    for (int i = 1; i <= 4; i++) {
        p->value.grad[0] = (rapt_real)(i % 3) * (rapt_real)1e-6;
        p->value.grad_filled = true;
        step(a, t, 0.01, 1);
    }
    rapt_real x = p->value.data[0];
    rapt_adam_free(a);
    rapt_params_free(set);
    rapt_tape_free(t);
    return x;
}

/* The defaults are the paper's; 0 is 0. */
static void values_are_what_they_say(void **state)
{
    (void)state;
    const rapt_adam_options defaults = rapt_adam_options_default();
    const rapt_real standard = first_value_after(&ADAM(.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8));
    assert_true(first_value_after(NULL) == standard);
    assert_true(first_value_after(&defaults) == standard);
    const rapt_adam_options zeros[] = {ADAM(.beta1 = 0), ADAM(.beta2 = 0), ADAM(.eps = 0)};
    const rapt_adam_options tiny[] = {ADAM(.beta1 = 1e-30), ADAM(.beta2 = 1e-30), ADAM(.eps = 1e-30)};
    for (size_t i = 0; i < 3; i++) {
        rapt_real x = first_value_after(&zeros[i]);
        assert_true(x != standard && fabs((double)(x - first_value_after(&tiny[i]))) < 1e-6);
    }
}

static void refused(rapt_adam_options o, const char *message)
{
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, NULL);
    assert_null(rapt_adam_new(set, &o, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    rapt_params_free(set);
}

static void bad_options(void **state)
{
    (void)state;
    refused((rapt_adam_options){.beta1 = 0.9}, "options without a size: make them with rapt_adam_options_default()");
    refused(ADAM(.beta1 = 1), "Adam: beta1 1 and beta2 0.999: they are 0 or more and below 1");
    refused(ADAM(.beta2 = -1), "Adam: beta1 0.9 and beta2 -1: they are 0 or more and below 1");
    refused(ADAM(.eps = -1), "Adam: eps -1 and a weight decay of 0: they are 0 or more");
    refused(ADAM(.weight_decay = (double)NAN), "Adam: eps 1e-08 and a weight decay of nan: they are 0 or more");
    refused(ADAM(.reserved = {1}), "rapt_adam_options.reserved is not zero: this version of rapt has no members there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_sparse_decay),
        cmocka_unit_test(test_sparse_no_decay),
        cmocka_unit_test(sparse_rows_are_read_at_the_end),
        cmocka_unit_test(sparse_without_eps),
        cmocka_unit_test(steps_without_rows_are_none),
        cmocka_unit_test(resumed_rows_go_on),
        cmocka_unit_test(a_failed_look_up_stops_the_step),
        cmocka_unit_test(sets_that_grow),
        cmocka_unit_test(test_lazy),
        cmocka_unit_test(values_are_what_they_say),
        cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
