/* tests/train/test_ready.c: buckets of gradients are told of in their order, most of them before the backward pass is over, and
 * do not change afterwards; a pass that adds more than was learnt fails, one that adds less tells of all buckets at its end.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/overlap_model.h"
#include "train/shards/ready.h"

typedef struct teller {
    overlap_model m;
    ready_buckets *ready;
    rapt_real *kept; /* as gradients were when their bucket was told of */
    size_t next;
} teller;

static void keep(void *context, size_t index)
{
    teller *x = context;
    const bucket *k = &x->m.b.list[index];
    assert_int_equal(index, x->next++);
    memcpy(x->kept + k->first, x->m.gradients + k->first, (k->end - k->first) * sizeof *x->kept);
}

static void backward(teller *x, bool recompute, rapt_code want)
{
    rapt_error err = {0};
    assert_int_equal(rapt_backward(x->m.t, overlap_model_forward(&x->m, recompute), &err), want);
}

static void teller_make(teller *x, bool tied, bool recompute)
{
    assert_true(overlap_model_make(&x->m, tied, RAPT_TYPE_FP32, 3));
    x->ready = ready_new(x->m.t, x->m.lm->params, &x->m.layout, &x->m.b, keep, x, NULL);
    x->kept = calloc(x->m.layout.size, sizeof *x->kept);
    x->next = 0;
    assert_non_null(x->ready);
    ready_learn(x->ready);
    tape_count(x->m.t, true);
    backward(x, recompute, RAPT_OK);
    tape_count(x->m.t, false);
    ready_learnt(x->ready);
    rapt_params_zero_grad(x->m.lm->params);
}

static void teller_free(teller *x)
{
    ready_free(x->ready);
    overlap_model_free(&x->m);
    free(x->kept);
}

static void buckets_are_complete_when_told(bool tied, bool recompute)
{
    teller x;
    teller_make(&x, tied, recompute);
    assert_true(x.m.b.count > 10);
    for (int passes = 0; passes < 3; passes++) { /* each adds to the one before */
        x.next = 0;
        ready_begin(x.ready);
        backward(&x, recompute, RAPT_OK);
        assert_int_equal(x.next, x.m.b.count);
        ready_end(x.ready);
        assert_memory_equal(x.kept, x.m.gradients, x.m.layout.size * sizeof *x.kept);
    }
    ready_end(x.ready);
    assert_int_equal(x.next, x.m.b.count);
    teller_free(&x);
}

static void test_complete(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        buckets_are_complete_when_told(i & 1, i & 2);
}

/* Told of before others have got anything: the first bucket's last contribution comes early in the pass. */
static size_t told_before; /* buckets, when the embedding's gradient was still 0 */
static const rapt_real *embedding_grad;

static void note_embedding(void *context, size_t index)
{
    (void)context, (void)index;
    told_before += *embedding_grad == 0;
}

static void most_are_told_early(void **state)
{
    (void)state;
    teller x;
    teller_make(&x, false, false);
    ready_free(x.ready);
    x.ready = ready_new(x.m.t, x.m.lm->params, &x.m.layout, &x.m.b, note_embedding, &x, NULL);
    ready_learn(x.ready);
    backward(&x, false, RAPT_OK);
    ready_learnt(x.ready);
    rapt_params_zero_grad(x.m.lm->params);
    memset(x.m.gradients, 0, x.m.layout.size * sizeof *x.m.gradients);
    embedding_grad = rapt_params_find(x.m.lm->params, "embedding.weight")->value.grad; /* token 0 is in the text */
    told_before = 0;
    ready_begin(x.ready);
    backward(&x, false, RAPT_OK);
    ready_end(x.ready);
    assert_true(*embedding_grad != 0);
    assert_true(told_before > x.m.b.count / 2 && told_before < x.m.b.count);
    teller_free(&x);
}

static void more_than_learnt_fails(void **state)
{
    (void)state;
    teller x;
    teller_make(&x, false, false);
    ready_learn(x.ready);
    ready_learnt(x.ready);
    ready_begin(x.ready);
    backward(&x, false, RAPT_ERR_VALUE);
    ready_end(x.ready);
    assert_int_equal(x.next, x.m.b.count); /* processes that others wait for tell of all of them */
    teller_free(&x);
}

static void less_than_learnt_is_told_at_the_end(void **state)
{
    (void)state;
    teller x;
    teller_make(&x, false, false);
    rapt_params_freeze(x.m.lm->params, "output*");
    ready_begin(x.ready);
    backward(&x, false, RAPT_OK);
    assert_int_equal(x.next, 0);
    ready_end(x.ready);
    assert_int_equal(x.next, x.m.b.count);
    teller_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(most_are_told_early),
        cmocka_unit_test(more_than_learnt_fails),
        cmocka_unit_test(less_than_learnt_is_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
