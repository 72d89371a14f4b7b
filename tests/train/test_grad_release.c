/* tests/train/test_grad_release.c: steps whose gradients are released in the backward pass: norm, parameters and moments are as
 * with rapt_backward, rapt_grad_norm and rapt_adam_step, at every level with any number of threads, whether gradients are tied,
 * sparse, deferred or recomputed; what is not finite is named; another model than the one that was learnt fails. Runs of
 * rapt_train: test_release_training.c.
 * labels: levels threads */
#define _GNU_SOURCE
#define SERIAL_WORK 1    /* loops of any size go to the threads, */
#include "base/pool.c"
#define FEWEST_CLASSES 1 /* and matrices of any size may have deferred gradients: */
#define MAX_DEFERRED_ROWS 0
#include "ops/output_loss.c" /* these copies take the places of the library's */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/lm.h"

#include "base/rng.h"
#include "tensor/params.h"
#include "train/adam_steps.h"
#include "train/optimizer/adam_moment.h"
#include "train/optimizer/grad_release.h"

#include <math.h>
#include <string.h>

#define TIME 11
#define VOCAB 150
#define WIDTH 48 /* 4 rows of TIME are deferred, 5 are not */

typedef struct kind {
    bool tied, sparse, recompute, bits8, norm_only, defers;
    size_t batch;
} kind;

typedef struct trained {
    rapt_lm *lm;
    rapt_adam *a;
    double norm;
} trained;

static trained new_trained(const kind *k)
{
    const rapt_lm_config c = {.vocab = VOCAB, .layers = 2, .context = TIME, .tied = k->tied, .positions = RAPT_POSITIONS_LEARNED,
                              .block = {.d_model = WIDTH, .heads = 4, .ffn = 2 * WIDTH, .shared_norm = true, .dropout = 0.1}};
    trained x = {.lm = rapt_lm_new(&c, 3, NULL)};
    assert_non_null(x.lm);
    if (k->sparse)
        rapt_param_make_sparse(x.lm->params, x.lm->input.embedding.weight);
    x.a = new_adam(x.lm->params, ADAM(.weight_decay = 0.1, .bits8 = k->bits8));
    return x;
}

static void free_trained(trained *x)
{
    rapt_adam_free(x->a);
    rapt_lm_free(x->lm);
}

static rapt_tensor *loss_of(const trained *x, rapt_tape *t, const kind *k, uint64_t step)
{
    int32_t ids[6 * TIME + 1], lens[6];
    for (size_t i = 0; i < 6 * TIME + 1; i++)
        ids[i] = (int32_t)rng_below(step, i, VOCAB);
    for (size_t b = 0; b < 6; b++)
        lens[b] = (int32_t)(b == 1 ? TIME / 2 : TIME);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .recompute = k->recompute, .seed = 9, .step = step});
    return rapt_lm_loss(t, x->lm, (rapt_tokens){ids, k->batch, TIME, NULL}, (rapt_tokens){ids + 1, k->batch, TIME, NULL},
                        &(rapt_loss_options){.valid_lens = lens}, NULL);
}

static void plain_step(trained *x, rapt_tape *t, const kind *k, uint64_t number)
{
    rapt_error err = {0};
    if (rapt_backward(t, loss_of(x, t, k, number), &err))
        fail_msg("%s", err.message);
    x->norm = rapt_grad_norm(t, x->lm->params);
    step(x->a, t, 0.01, 0.7);
    rapt_params_zero_grad(x->lm->params);
}

static grad_release *new_release(trained *x, rapt_tape *t, const kind *k)
{
    grad_release *r = grad_release_new(t, x->lm->params, NULL);
    assert_non_null(r);
    tape_count(t, true);
    grad_release_learn(r);
    assert_int_equal(rapt_backward(t, loss_of(x, t, k, 1), NULL), RAPT_OK);
    grad_release_learnt(r);
    tape_count(t, false);
    rapt_params_zero_grad(x->lm->params);
    assert_int_equal(grad_release_place(r, x->lm->params, NULL), RAPT_OK);
    return r;
}

static rapt_code released_pass(trained *x, grad_release *r, rapt_adam *a, rapt_tape *t, const kind *k, uint64_t number,
                               rapt_error *err)
{
    grad_release_begin(r, a, 0.01, 0.7);
    rapt_code code = rapt_backward(t, loss_of(x, t, k, number), err);
    return grad_release_end(r, code, &x->norm, err);
}

static void same_models(const trained *want, const trained *got)
{
    for (size_t i = 0; i < rapt_params_count(want->lm->params); i++) {
        const rapt_param *a = rapt_params_at(want->lm->params, i), *b = rapt_params_at(got->lm->params, i);
        same(a->value.name, rapt_tensor_size(&a->value), a->value.data, b->value.data);
        for (int second = 0; second < 2 && !a->buffer; second++) {
            const adam_moment m = adam_moment_of(want->a, i, second), n = adam_moment_of(got->a, i, second);
            assert_int_equal(m.bytes, n.bytes);
            assert_memory_equal(m.data, n.data, m.bytes);
        }
    }
}

static void released_steps_are_the_same(rapt_tape *t, void *context)
{
    const kind *k = context;
    rapt_error err = {0};
    trained want = new_trained(k), got = new_trained(k);
    for (uint64_t s = 1; s <= 2; s++) /* before, because the tape releases gradients from then on */
        plain_step(&want, t, k, s);
    grad_release *r = new_release(&got, t, k);
    for (uint64_t s = 1; s <= 2; s++) {
        if (k->norm_only && released_pass(&got, r, NULL, t, k, s, &err))
            fail_msg("%s", err.message);
        const double first = got.norm;
        if (released_pass(&got, r, got.a, t, k, s, &err))
            fail_msg("%s", err.message);
        assert_true(!k->norm_only || first == got.norm);
    }
    assert_true(want.norm == got.norm && want.norm > 0);
    assert_int_equal(rapt_adam_steps(got.a), 2);
    same_models(&want, &got);
    size_t all = 0, output = k->tied || !k->defers ? 0 : VOCAB * WIDTH * sizeof(rapt_real);
    for (size_t i = 0; i < rapt_params_count(got.lm->params); i++)
        all += params_at(got.lm->params, i)->buffer ? 0 : rapt_tensor_size(&params_at(got.lm->params, i)->value);
    assert_true(grad_release_bytes(r) + output < all * sizeof(rapt_real) * 3 / 4);
    assert_true(!k->tied || (grad_release_bytes(r) < VOCAB * WIDTH * sizeof(rapt_real)) == k->defers);
    grad_release_free(r);
    free_trained(&want);
    free_trained(&got);
}

static const kind kinds[] = {
    {.batch = 4, .defers = true},
    {.batch = 4, .defers = true, .tied = true},
    {.batch = 6, .tied = true, .recompute = true},
    {.batch = 4, .defers = true, .tied = true, .recompute = true, .bits8 = true, .norm_only = true},
    {.batch = 4, .defers = true, .sparse = true, .norm_only = true},
    {.batch = 6, .bits8 = true, .recompute = true},
};

static void test_released(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kind k = kinds[i];
        for (size_t j = 0; j < sizeof thread_counts / sizeof *thread_counts; j++) {
            rapt_tape *t = new_tape(NULL, thread_counts[j]);
            released_steps_are_the_same(t, &k);
            rapt_tape_free(t);
        }
    }
    everywhere(released_steps_are_the_same, (kind[]){kinds[1]});
}

static void test_bf16(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kind k = kinds[i];
        k.defers = false;
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 3, .type = RAPT_TYPE_BF16}, NULL);
        released_steps_are_the_same(t, &k);
        rapt_tape_free(t);
    }
}

/* The matrices of the feed-forward network of block 1, in their order: the first and the last one are multiplied. */
static void scale_ffn(const trained *x, rapt_real first, rapt_real last)
{
    rapt_param *w[3] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < rapt_params_count(x->lm->params); i++) {
        rapt_param *p = params_at(x->lm->params, i);
        if (strstr(p->value.name, "blocks.1.ffn") && p->value.ndim == 2 && count < 3)
            w[count++] = p;
    }
    assert_true(count >= 2);
    for (size_t i = 0; i < rapt_tensor_size(&w[0]->value); i++)
        w[0]->value.data[i] *= first;
    for (size_t i = 0; i < rapt_tensor_size(&w[count - 1]->value); i++)
        w[count - 1]->value.data[i] *= last;
}

/* A pass that only computes the norm names it and changes nothing. */
static void what_is_not_finite_is_named(void **state)
{
    const kind k = {.batch = 4, .tied = true};
    rapt_tape *t = new_tape(NULL, 2);
    trained x = new_trained(&k);
    rapt_error err = {0};
    (void)state;
    grad_release *r = new_release(&x, t, &k);
    const rapt_tensor *embedding = &x.lm->input.embedding.weight->value;
    scale_ffn(&x, 1e25f, 1e-25f); /* the loss stays finite, squares of the last one's gradient do not */
    const rapt_real kept = embedding->data[0];
    assert_int_equal(released_pass(&x, r, NULL, t, &k, 1, &err), RAPT_ERR_NOT_FINITE);
    assert_non_null(grad_release_bad(r));
    assert_non_null(strstr(grad_release_bad(r), "blocks.1.ffn"));
    assert_true(embedding->data[0] == kept);
    assert_int_equal(rapt_adam_steps(x.a), 0);
    scale_ffn(&x, 1e-25f, 1e25f);
    assert_int_equal(released_pass(&x, r, x.a, t, &k, 1, &err), RAPT_OK);
    assert_null(grad_release_bad(r));
    grad_release_free(r);
    free_trained(&x);
    rapt_tape_free(t);
}

static void another_order_fails(void **state)
{
    const kind k = {.batch = 4};
    rapt_tape *t = new_tape(NULL, 2);
    trained x = new_trained(&k);
    rapt_error err = {0};
    (void)state;
    grad_release *r = new_release(&x, t, &k);
    grad_release_begin(r, x.a, 0.01, 1);
    loss_of(&x, t, &k, 1);
    rapt_tensor *w = &x.lm->input.embedding.weight->value;
    rapt_tensor *loss = rapt_op_sum(t, rapt_op_reshape(t, w, 1, (size_t[]){VOCAB * WIDTH}, NULL));
    rapt_code code = rapt_backward(t, loss, &err);
    code = grad_release_end(r, code, &x.norm, &err);
    assert_int_equal(code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "embedding.weight: a pass adds to its gradient"));
    grad_release_free(r);
    free_trained(&x);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_released),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(another_order_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
