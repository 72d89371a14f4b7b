/* tests/tape/test_grad_watch.c: gradients of parameters are told of once for each use, after they were added to, in the order of
 * the backward pass: kept or recomputed, computed or only counted; after its last use a gradient does not change any more.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/lm.h"

#include "base/rng.h"
#include "tape/grad_watch.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

#define TIME 9
#define BATCH 2
#define VOCAB 31
#define MOST 4096 /* uses of a pass */
#define MARGIN 16 /* elements before the first gradient */

/* A model whose gradients are in one piece of memory, and what is told of them. */
typedef struct watched {
    rapt_lm *lm;
    rapt_tape *t;
    rapt_real *grad, *last; /* [MARGIN + size]; `last`: each parameter's gradient after its last use */
    size_t size;
    const rapt_tensor **list; /* [params] */
    size_t *uses, *left;
    size_t told[MOST], count;
    bool counts; /* else nothing is computed */
} watched;

static size_t params_of(const watched *w)
{
    return rapt_params_count(w->lm->params);
}

static void watched_one(watched *w, rapt_tensor *x)
{
    size_t i = ((rapt_param *)x)->index;
    assert_ptr_equal(&params_at(w->lm->params, i)->value, x);
    assert_true(w->count < MOST);
    w->told[w->count++] = i;
    if (w->counts)
        w->uses[i]++;
    else if (--w->left[i] == 0)
        memcpy(w->last + (x->grad - w->grad), x->grad, rapt_tensor_size(x) * sizeof *x->grad);
}

static void watched_note(void *context, rapt_tensor *const *asked, size_t count)
{
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        watched_one(context, asked[i]);
}

static watched watched_new(bool tied)
{
    rapt_error err = {0};
    rapt_lm_config c = {.vocab = VOCAB, .layers = 3, .context = TIME, .tied = tied,
                        .block = {.d_model = 16, .heads = 4, .kv_heads = 2, .ffn = 24}};
    watched w = {.lm = rapt_lm_new(&c, 3, &err)};
    if (!w.lm)
        fail_msg("%s", err.message);
    w.t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
    for (size_t i = 0; i < params_of(&w); i++)
        w.size += rapt_tensor_size(&params_at(w.lm->params, i)->value);
    w.grad = calloc(MARGIN + w.size, sizeof *w.grad);
    w.last = calloc(MARGIN + w.size, sizeof *w.last);
    w.uses = calloc(params_of(&w), sizeof *w.uses);
    w.left = calloc(params_of(&w), sizeof *w.left);
    w.list = calloc(params_of(&w), sizeof(const rapt_tensor *));
    for (size_t i = 0, at = MARGIN; i < params_of(&w); i++) {
        rapt_tensor *x = &params_at(w.lm->params, i)->value;
        x->grad = w.grad + at;
        at += rapt_tensor_size(x);
    }
    return w;
}

static void watched_free(watched *w)
{
    rapt_lm_free(w->lm);
    rapt_tape_free(w->t);
    free(w->grad);
    free(w->last);
    free(w->uses);
    free(w->left);
    free(w->list);
}

static void watched_pass(watched *w, bool recompute)
{
    rapt_error err = {0};
    int32_t ids[BATCH * TIME];
    for (size_t i = 0; i < BATCH * TIME; i++)
        ids[i] = (int32_t)rng_below(4, i, VOCAB);
    rapt_tokens tokens = {ids, BATCH, TIME, NULL};
    w->count = 0;
    memcpy(w->left, w->uses, params_of(w) * sizeof *w->left);
    rapt_params_zero_grad(w->lm->params);
    rapt_tape_begin(w->t, (rapt_pass){.record = true, .training = true, .recompute = recompute});
    if (rapt_backward(w->t, rapt_lm_loss(w->t, w->lm, tokens, tokens, NULL, NULL), &err))
        fail_msg("%s", err.message);
}

/* From parameter `first` on. */
static void watched_learn(watched *w, size_t first, bool recompute)
{
    for (size_t i = first; i < params_of(w); i++)
        w->list[i - first] = &params_at(w->lm->params, i)->value;
    grad_watch_sort(w->list, params_of(w) - first);
    grad_watch(w->t, w->list, params_of(w) - first, watched_note, w);
    w->counts = true;
    tape_count(w->t, true);
    watched_pass(w, recompute);
    tape_count(w->t, false);
    w->counts = false;
}

static void gradients_are_final_after_their_last_use(bool tied, bool recompute)
{
    watched w = watched_new(tied);
    size_t told[MOST], count, most = 0;
    watched_learn(&w, 0, recompute);
    memcpy(told, w.told, sizeof told);
    count = w.count;
    for (int pass = 0; pass < 2; pass++) {
        watched_pass(&w, recompute);
        assert_int_equal(w.count, count); /* the order of the pass that was counted */
        assert_memory_equal(w.told, told, count * sizeof *told);
        assert_memory_equal(w.last + MARGIN, w.grad + MARGIN, w.size * sizeof *w.grad);
    }
    for (size_t i = 0; i < params_of(&w); i++) {
        most = w.uses[i] > most ? w.uses[i] : most;
        assert_int_equal(w.left[i], 0);
        assert_true(w.uses[i] > 0 || params_at(w.lm->params, i)->buffer);
    }
    assert_int_equal(most, tied ? 2 : 1);
    watched_free(&w);
}

static void test_final(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        gradients_are_final_after_their_last_use(i & 1, i & 2);
}

/* The matrix of a tied model is not final before the embedding's backward pass: with one use less that shows. */
static void a_use_too_few_shows(void **state)
{
    (void)state;
    watched w = watched_new(true);
    watched_learn(&w, 0, false);
    for (size_t i = 0; i < params_of(&w); i++)
        w.uses[i] -= w.uses[i] > 1;
    watched_pass(&w, false);
    assert_memory_not_equal(w.last, w.grad, (MARGIN + w.size) * sizeof *w.grad);
    watched_free(&w);
}

/* What is not listed is not told of, nor anything when nobody watches; frozen parameters have no gradient. */
static void only_what_is_watched(void **state)
{
    (void)state;
    watched w = watched_new(false);
    watched_learn(&w, 1, false);
    size_t count = w.count;
    rapt_params_freeze(w.lm->params, "*.weight");
    params_at(w.lm->params, 0)->value.requires_grad = true; /* again */
    memset(w.uses, 1, params_of(&w) * sizeof *w.uses);
    watched_pass(&w, false);
    assert_true(w.count < count);
    for (size_t i = 0; i < w.count; i++)
        assert_true(params_at(w.lm->params, w.told[i])->value.requires_grad && w.told[i] != 0);
    grad_watch(w.t, NULL, 0, NULL, NULL);
    watched_pass(&w, false);
    assert_int_equal(w.count, 0);
    watched_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_final),
        cmocka_unit_test(a_use_too_few_shows),
        cmocka_unit_test(only_what_is_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
