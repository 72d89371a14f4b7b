/* tests/train/test_muon.c: Muon: near a plain run in double, with matrices of many blocks; which parameters it moves, and that
 * all others have Adam's bits; the same bits at every level, with any number of threads, transposed, with the gradient in bf16,
 * and by processes that own whole matrices. tests/golden/test_golden_muon.c compares with torch.
 * labels: threads levels */
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "options.h"
#include "tensor/params.h"
#include "train/adam_steps.h"
#include "train/optimizer/adam_moment.h"
#include "train/optimizer/adam_owned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LR 0.02
#define SCALE 0.7

/* Blocks of one long row, products of more than 384 terms, sides that are no multiple of a tile or of a strip, several matrices
 * at once. */
static const struct {
    const char *name;
    size_t shape[2];
    bool muons;
} ALL[] = {
    {"embedding.weight", {90, 40}, false},
    {"blocks.0.attention.q.weight", {70, 70}, true},
    {"blocks.0.attention.k.weight", {35, 70}, true},
    {"blocks.0.attention.o.weight", {70, 35}, true},
    {"blocks.0.attention.q.lora_A.weight", {4, 70}, false},
    {"blocks.0.attention.q.lora_B.weight", {70, 4}, false},
    {"blocks.0.attention.q_norm.weight", {10, 7}, false},
    {"blocks.0.ffn.up.weight", {430, 66}, true},
    {"blocks.0.ffn.up.lora_A.weight", {66, 5}, false},
    {"blocks.0.ffn.gate.weight", {203, 201}, true},
    {"blocks.0.ffn.down.weight", {3, 9000}, true},
    {"encoder.1.self_attention.v.weight", {1, 9}, true},
    {"decoder.0.cross_attention.v.weight", {9, 1}, true},
    {"encoder.0.relative.weight", {32, 6}, false},
    {"output.weight", {90, 40}, false},
};
enum { COUNT = sizeof ALL / sizeof *ALL, VECTOR = COUNT, SPARSE, FROZEN, EVERY };

static rapt_params *some_parameters(void)
{
    rapt_params *set = rapt_params_new(7, NULL);
    const rapt_init init = {RAPT_INIT_NORMAL, 1};
    for (size_t i = 0; i < COUNT; i++)
        rapt_params_add(set, ALL[i].name, 2, ALL[i].shape, init);
    rapt_params_add(set, "blocks.0.ffn.up.bias", 1, (size_t[]){430}, init);
    rapt_param_make_sparse(set, rapt_params_add(set, "sparse.ffn.up.weight", 2, (size_t[]){300, 20}, init));
    rapt_params_add(set, "blocks.1.ffn.up.weight", 2, (size_t[]){8, 9}, init);
    rapt_params_freeze(set, "blocks.1.*");
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    return set;
}

static rapt_adam *new_muon(rapt_params *set, rapt_muon_options o)
{
    rapt_error err = {0};
    rapt_adam *a = rapt_muon_new(set, &o, &ADAM(.weight_decay = 0.1), &err);
    if (!a)
        fail_msg("%s", err.message);
    return a;
}

/* Element e of parameter `param` in a step; numbers that bf16 has. */
static rapt_real gradient_of(uint64_t number, size_t param, size_t e)
{
    return (rapt_real)(((double)rng_below(rng_mix(number, param), e, 255) - 127) / 64);
}

static void draw(rapt_param *p, uint64_t number)
{
    for (size_t e = 0; e < rapt_tensor_size(&p->value); e++) {
        const rapt_real g = gradient_of(number, p->index, e);
        if (p->value.grad_bf16)
            kernels_scalar.round_bf16(1, &g, (uint8_t *)p->value.grad + 2 * e);
        else
            p->value.grad[e] = g;
    }
    p->value.grad_filled = true;
    if (p->sparse)
        memset(p->state->row_used, 1, p->value.shape[0]);
}

static void draw_all(rapt_params *set, uint64_t number)
{
    rapt_params_zero_grad(set);
    for (size_t i = 0; i < rapt_params_count(set); i++)
        if (!params_at(set, i)->frozen)
            draw(params_at(set, i), number);
}

static void learn(rapt_adam *a, rapt_params *set, rapt_tape *t, uint64_t steps)
{
    for (uint64_t number = 1; number <= steps; number++) {
        draw_all(set, number);
        step(a, t, LR, SCALE);
    }
}

/* ---- a plain run in double ---------------------------------------------------------------------------------- */

typedef struct plain {
    size_t rows, columns;
    double *p, *m, *x, *next, *gram, *factor;
} plain;

/* out [m, n] = a [m, k] b [k, n], or with `turned` b [n, k] transposed. */
static void product(size_t m, size_t n, size_t k, const double *a, const double *b, bool turned, double *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += a[i * k + l] * (turned ? b[j * k + l] : b[l * n + j]);
            out[i * n + j] = sum;
        }
}

/* With more rows than columns x is stored transposed, [columns, rows]. */
static size_t place(const plain *w, size_t e)
{
    const size_t row = e / w->columns, column = e % w->columns;
    return w->rows > w->columns ? column * w->rows + row : e;
}

static void plain_orthogonal(plain *w, size_t ns_steps)
{
    const size_t n = w->rows < w->columns ? w->rows : w->columns, width = w->rows < w->columns ? w->columns : w->rows;
    for (size_t i = 0; i < ns_steps; i++) {
        product(n, n, width, w->x, w->x, true, w->gram);
        product(n, n, n, w->gram, w->gram, false, w->factor);
        for (size_t e = 0; e < n * n; e++)
            w->factor[e] = (e / n == e % n ? 3.4445 : 0) - 4.7750 * w->gram[e] + 2.0315 * w->factor[e];
        product(n, width, n, w->factor, w->x, false, w->next);
        memcpy(w->x, w->next, n * width * sizeof *w->x);
    }
}

static void plain_step(plain *w, const rapt_muon_options *o, size_t param, uint64_t number)
{
    const size_t all = w->rows * w->columns;
    const double rows = (double)w->rows, columns = (double)w->columns, lr = LR * o->lr_scale;
    const double ratio = o->adjust_lr == RAPT_MUON_ORIGINAL ? sqrt(fmax(1, rows / columns)) : 0.2 * sqrt(fmax(rows, columns));
    double norm = 0;
    for (size_t e = 0; e < all; e++) {
        const double g = SCALE * (double)gradient_of(number, param, e);
        w->m[e] = o->momentum * w->m[e] + (1 - o->momentum) * g;
        const double u = o->nesterov ? o->momentum * w->m[e] + (1 - o->momentum) * g : w->m[e];
        w->x[place(w, e)] = u;
        norm += u * u;
    }
    for (size_t e = 0; e < all; e++)
        w->x[e] /= sqrt(norm);
    plain_orthogonal(w, o->ns_steps);
    for (size_t e = 0; e < all; e++)
        w->p[e] = w->p[e] * (1 - lr * o->weight_decay) - lr * ratio * w->x[place(w, e)];
}

static plain plain_of(const rapt_param *p)
{
    const size_t rows = p->value.shape[0], columns = p->value.shape[1], all = rows * columns;
    plain w = {.rows = rows, .columns = columns, .p = calloc(6 * all, sizeof(double))};
    assert_non_null(w.p);
    w.m = w.p + all, w.x = w.m + all, w.next = w.x + all, w.gram = w.next + all, w.factor = w.gram + all;
    for (size_t e = 0; e < all; e++)
        w.p[e] = (double)p->value.data[e];
    return w;
}

static void near_a_plain_run(void **state)
{
    const rapt_muon_options options[] = {MUON(.weight_decay = 0.1), MUON(.nesterov = false, .adjust_lr = RAPT_MUON_ORIGINAL,
                                                                      .lr_scale = 2, .momentum = 0.6, .ns_steps = 4)};
    (void)state;
    for (size_t o = 0; o < 2; o++) {
        rapt_params *set = some_parameters();
        rapt_tape *t = new_tape(NULL, 2);
        rapt_adam *a = new_muon(set, options[o]);
        plain runs[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            runs[i] = plain_of(params_at(set, i));
        for (uint64_t number = 1; number <= 3; number++)
            for (size_t i = 0; i < COUNT; i++)
                if (ALL[i].muons)
                    plain_step(&runs[i], &options[o], i, number);
        learn(a, set, t, 3);
        for (size_t i = 0; i < COUNT; free(runs[i++].p))
            for (size_t e = 0; ALL[i].muons && e < rapt_tensor_size(&params_at(set, i)->value); e++)
                if (!(fabs((double)params_at(set, i)->value.data[e] - runs[i].p[e]) < 5e-6))
                    fail_msg("%s[%zu] is %.9g, not %.9g", ALL[i].name, e, (double)params_at(set, i)->value.data[e], runs[i].p[e]);
        rapt_adam_free(a);
        rapt_params_free(set);
        rapt_tape_free(t);
    }
}

/* ---- which parameters --------------------------------------------------------------------------------------- */

static void the_rest_is_adams(void **state)
{
    rapt_params *set = some_parameters(), *other = some_parameters();
    rapt_tape *t = new_tape(NULL, 2);
    rapt_adam *a = new_muon(set, MUON(.weight_decay = 0)), *adam = new_adam(other, ADAM(.weight_decay = 0.1));
    (void)state;
    learn(a, set, t, 2);
    learn(adam, other, t, 2);
    for (size_t i = 0; i < EVERY; i++) {
        const bool muons = i < COUNT && ALL[i].muons;
        const rapt_tensor *x = &rapt_params_at(set, i)->value, *y = &rapt_params_at(other, i)->value;
        const adam_moment m = adam_moment_of(a, i, false), v = adam_moment_of(a, i, true);
        assert_int_equal(m.data != NULL, i != FROZEN);
        assert_int_equal(v.data != NULL, i != FROZEN && !muons);
        assert_int_equal(v.bytes, v.data ? m.bytes : 0);
        if (muons)
            assert_int_not_equal(memcmp(x->data, y->data, rapt_tensor_size(x) * sizeof *x->data), 0);
        else
            same(x->name, rapt_tensor_size(x), y->data, x->data);
    }
    rapt_adam_free(a);
    rapt_adam_free(adam);
    rapt_params_free(set);
    rapt_params_free(other);
    rapt_tape_free(t);
}

static void a_pattern_names_others(void **state)
{
    rapt_params *set = some_parameters();
    rapt_adam *a = new_muon(set, MUON(.matrices = "*put.weight"));
    (void)state;
    for (size_t i = 0; i < EVERY; i++)
        assert_int_equal(!rapt_adam_second_moment(a, i), i == FROZEN || i == COUNT - 1);
    rapt_adam_free(a);
    a = new_muon(set, MUON(.matrices = "*"));
    for (size_t i = 0; i < EVERY; i++) {
        const bool adapter = strstr(rapt_params_at(set, i)->value.name, "lora") != NULL;
        assert_int_equal(rapt_adam_second_moment(a, i) != NULL, adapter || i == VECTOR || i == SPARSE);
    }
    rapt_adam_free(a);
    rapt_params_free(set);
}

/* A parameter without a gradient stays, and so does its momentum. */
static void without_gradients_nothing_moves(void **state)
{
    rapt_params *set = some_parameters(), *fresh = some_parameters();
    rapt_tape *t = new_tape(NULL, 1);
    rapt_adam *a = new_muon(set, MUON(.weight_decay = 0.1));
    (void)state;
    draw(params_at(set, 1), 1);
    step(a, t, LR, 1);
    assert_int_equal(rapt_adam_steps(a), 1);
    for (size_t i = 0; i < EVERY; i++) {
        const rapt_tensor *x = &rapt_params_at(set, i)->value, *y = &rapt_params_at(fresh, i)->value;
        assert_int_equal(memcmp(x->data, y->data, rapt_tensor_size(x) * sizeof *x->data) != 0, i == 1);
        assert_true(i == 1 || i == FROZEN || rapt_adam_first_moment(a, i)[0] == 0);
    }
    rapt_adam_free(a);
    rapt_params_free(set);
    rapt_params_free(fresh);
    rapt_tape_free(t);
}

/* A gradient of zeros has no direction: only the decay is left. */
static void zeros_only_decay(void **state)
{
    rapt_params *set = some_parameters();
    rapt_tape *t = new_tape(NULL, 1);
    rapt_adam *a = new_muon(set, MUON(.weight_decay = 0.5));
    rapt_param *p = params_at(set, 1);
    const rapt_real before = p->value.data[5];
    (void)state;
    memset(p->value.grad, 0, rapt_tensor_size(&p->value) * sizeof *p->value.grad);
    p->value.grad_filled = true;
    step(a, t, LR, 1);
    assert_true(p->value.data[5] == before * (rapt_real)(1 - LR * 0.5));
    rapt_adam_free(a);
    rapt_params_free(set);
    rapt_tape_free(t);
}

/* ---- bits --------------------------------------------------------------------------------------------------- */

static void same_as(rapt_tape *t, void *context)
{
    const rapt_params *want = context;
    rapt_params *set = some_parameters();
    rapt_adam *a = new_muon(set, MUON(.weight_decay = 0.1));
    learn(a, set, t, 2);
    for (size_t i = 0; i < EVERY; i++)
        same(params_at(set, i)->value.name, rapt_tensor_size(&params_at(set, i)->value), rapt_params_at(want, i)->value.data,
             rapt_params_at(set, i)->value.data);
    rapt_adam_free(a);
    rapt_params_free(set);
}

static void the_same_bits_everywhere(void **state)
{
    rapt_params *set = some_parameters();
    rapt_tape *t = new_tape("scalar", 1);
    rapt_adam *a = new_muon(set, MUON(.weight_decay = 0.1));
    (void)state;
    learn(a, set, t, 2);
    rapt_params_at(set, SPARSE);
    everywhere(same_as, set);
    rapt_adam_free(a);
    rapt_params_free(set);
    rapt_tape_free(t);
}

/* With gradients in bf16, which the drawn numbers fit. */
static void the_same_bits_with_gradients_in_bf16(void **state)
{
    rapt_error err = {0};
    rapt_params *set = some_parameters();
    (void)state;
    if (!kernels_scalar.adam8)
        skip();
    rapt_tape *t = new_tape(NULL, 2);
    rapt_adam *a = new_muon(set, MUON(.weight_decay = 0.1));
    learn(a, set, t, 2);
    rapt_params *lean = some_parameters();
    assert_int_equal(params_store_gradients_bf16(lean, &err), RAPT_OK);
    assert_true(params_at(lean, 1)->value.grad_bf16);
    rapt_adam *b = new_muon(lean, MUON(.weight_decay = 0.1));
    learn(b, lean, t, 2);
    for (size_t i = 0; i < COUNT; i++)
        same(ALL[i].name, rapt_tensor_size(&params_at(set, i)->value), params_at(set, i)->value.data,
             params_at(lean, i)->value.data);
    rapt_adam_free(a);
    rapt_adam_free(b);
    rapt_params_free(set);
    rapt_params_free(lean);
    rapt_tape_free(t);
}

/* Products in bf16 are the processor's own, but not the threads'. */
static void products_in_bf16(void **state)
{
    rapt_params *first = NULL;
    (void)state;
    if (!kernels_scalar.adam8)
        skip();
    for (size_t i = 0; i < sizeof thread_counts / sizeof *thread_counts; i++) {
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = thread_counts[i], .type = RAPT_TYPE_BF16}, NULL);
        rapt_params *set = some_parameters();
        rapt_adam *a = new_muon(set, MUON(.weight_decay = 0.1));
        assert_non_null(t);
        learn(a, set, t, 2);
        for (size_t k = 0; first && k < COUNT; k++)
            same(ALL[k].name, rapt_tensor_size(&params_at(set, k)->value), params_at(first, k)->value.data,
                 params_at(set, k)->value.data);
        rapt_adam_free(a);
        rapt_tape_free(t);
        if (first)
            rapt_params_free(set);
        else
            first = set;
    }
    rapt_params_free(first);
}

/* A matrix and its transpose take transposed steps, to the bit, if the norm has the same sums: numbers of few bits. */
static void transposed_is_the_same(void **state)
{
    enum { ROWS = 12, COLUMNS = 31 };
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_param *p = rapt_params_add(set, "a", 2, (size_t[]){ROWS, COLUMNS}, (rapt_init){RAPT_INIT_ZEROS, 0});
    rapt_param *q = rapt_params_add(set, "b", 2, (size_t[]){COLUMNS, ROWS}, (rapt_init){RAPT_INIT_ZEROS, 0});
    rapt_tape *t = new_tape(NULL, 2);
    rapt_adam *a = new_muon(set, MUON(.matrices = "*", .momentum = 0.5, .nesterov = false));
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            p->value.grad[i * COLUMNS + j] = q->value.grad[j * ROWS + i] = (rapt_real)rng_below(5, i * COLUMNS + j, 17) - 8;
    p->value.grad_filled = q->value.grad_filled = true;
    step(a, t, LR, 1);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            same("transposed", 1, &p->value.data[i * COLUMNS + j], &q->value.data[j * ROWS + i]);
    rapt_adam_free(a);
    rapt_params_free(set);
    rapt_tape_free(t);
}

/* ---- processes ---------------------------------------------------------------------------------------------- */

/* Moves the blocks of some parameters, each parameter whole. */
static void step_owned(rapt_adam *a, rapt_tape *t, const norm_blocks *b, bool even)
{
    adam_owned s;
    uint32_t list[256];
    size_t count = 0;
    assert_int_equal(adam_owned_begin(&s, a, t, LR, SCALE, b, NULL), RAPT_OK);
    for (uint32_t i = 0; i < b->count; i++)
        if ((b->list[i].param % 2 == 0) == even)
            list[count++] = i;
    assert_true(count < sizeof list / sizeof *list);
    adam_owned_move(&s, list, count);
}

static void owners_move_whole_matrices(void **state)
{
    rapt_params *whole = some_parameters(), *parts[2] = {some_parameters(), some_parameters()};
    rapt_tape *t = new_tape(NULL, 3);
    norm_blocks b;
    const rapt_muon_options o = MUON(.weight_decay = 0.1);
    rapt_adam *a = new_muon(whole, o);
    (void)state;
    assert_int_equal(norm_blocks_make(&b, whole, NULL), RAPT_OK);
    learn(a, whole, t, 2);
    for (size_t k = 0; k < 2; k++) {
        rapt_adam *own = adam_owned_new(parts[k], (optimizer_options){.adam = &ADAM(.weight_decay = 0.1), .muon = &o}, NULL);
        assert_non_null(own);
        for (uint64_t number = 1; number <= 2; number++) {
            draw_all(parts[k], number);
            for (size_t i = 0; i < EVERY; i++) /* gradients of others are not read */
                if (i % 2 != k && i != SPARSE)
                    params_at(parts[k], i)->value.grad[0] = (rapt_real)NAN;
            step_owned(own, t, &b, k == 0);
        }
        for (size_t i = k; i < EVERY; i += 2)
            same(params_at(whole, i)->value.name, rapt_tensor_size(&params_at(whole, i)->value),
                 rapt_params_at(whole, i)->value.data, rapt_params_at(parts[k], i)->value.data);
        rapt_adam_free(own);
        rapt_params_free(parts[k]);
    }
    norm_blocks_free(&b);
    rapt_adam_free(a);
    rapt_params_free(whole);
    rapt_tape_free(t);
}

/* ---- refused ------------------------------------------------------------------------------------------------ */

static void refused(rapt_muon_options o, rapt_adam_options adam, const char *message)
{
    rapt_error err = {0};
    rapt_params *set = some_parameters();
    assert_null(rapt_muon_new(set, &o, &adam, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    rapt_params_free(set);
}

static void wrong_options(void **state)
{
    const rapt_adam_options adam = ADAM(.beta1 = 0.9);
    (void)state;
    refused((rapt_muon_options){.momentum = 0.9}, adam, "options without a size: make them with rapt_muon_options_default()");
    refused(MUON(.lr_scale = 0), adam, "Muon: lr_scale 0: it is above 0");
    refused(MUON(.momentum = 1), adam, "Muon: a momentum of 1: it is 0 or more and below 1");
    refused(MUON(.weight_decay = -1), adam, "Muon: a weight decay of -1: it is 0 or more");
    refused(MUON(.ns_steps = 0), adam, "Muon: 0 Newton-Schulz steps: 1 to 99 are possible");
    refused(MUON(.ns_steps = 100), adam, "Muon: 100 Newton-Schulz steps: 1 to 99 are possible");
    refused(MUON(.adjust_lr = (rapt_muon_adjust)2), adam, "Muon: adjust_lr is no rapt_muon_adjust");
    refused(MUON(.reserved = {1}), adam, "rapt_muon_options.reserved is not zero: this version of rapt has no members there");
    refused(MUON(.lr_scale = 1), ADAM(.beta1 = 1), "Adam: beta1 1 and beta2 0.999: they are 0 or more and below 1");
    if (kernels_scalar.adam8)
        refused(MUON(.lr_scale = 1), ADAM(.bits8 = true), "Muon with moments of Adam in 8 bits: bits8 is for Adam alone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_a_plain_run),
        cmocka_unit_test(the_rest_is_adams),
        cmocka_unit_test(a_pattern_names_others),
        cmocka_unit_test(without_gradients_nothing_moves),
        cmocka_unit_test(zeros_only_decay),
        cmocka_unit_test(the_same_bits_everywhere),
        cmocka_unit_test(the_same_bits_with_gradients_in_bf16),
        cmocka_unit_test(products_in_bf16),
        cmocka_unit_test(transposed_is_the_same),
        cmocka_unit_test(owners_move_whole_matrices),
        cmocka_unit_test(wrong_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
