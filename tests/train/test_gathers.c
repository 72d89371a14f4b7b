/* tests/train/test_gathers.c: ranks that have made their own parts of the parameters get the others' before anything reads
 * them: a pass that runs while they are on their way gives what it gives with all of them, in bf16 too, where most come in half
 * the bytes; and gathers_whole gives every digit.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "group/group_case.h"
#include "train/overlap_model.h"
#include "train/shards/gathers.h"

#include <math.h>

#define STEPS 4
#define MOST_RANKS 5

typedef struct wanted {
    rapt_type precision;
    bool tied;
    int size;
    rapt_real loss[STEPS + 1];
    uint64_t sent[MOST_RANKS]; /* bytes of payload in the last step */
} wanted;

/* Elements of the array after a step; they have several digits, and differ from every other step's. */
static rapt_real value_after(size_t step, size_t i)
{
    return (rapt_real)(0.2 * (rng_uniform(step + 1, i) - 0.5));
}

static void move_block(overlap_model *m, size_t at, size_t step)
{
    const norm_block *block = &m->b.blocks.list[m->b.block_at[at]];
    size_t n = block->rows * norm_block_width(params_at(m->lm->params, block->param));
    for (size_t i = m->b.block_first[at]; i < m->b.block_first[at] + n; i++)
        m->values[i] = value_after(step, i);
}

/* One process that has all. */
static void expect(wanted *w)
{
    overlap_model m;
    assert_true(overlap_model_make(&m, w->tied, w->precision, 1));
    for (size_t step = 0; step < STEPS; step++) {
        const rapt_tensor *loss = overlap_model_forward(&m, false);
        assert_int_equal(rapt_tape_error(m.t)->code, RAPT_OK);
        w->loss[step] = loss->data[0];
        for (size_t at = 0; at < m.b.blocks.count; at++)
            move_block(&m, at, step);
    }
    overlap_model_free(&m);
}

/* Own blocks of a bucket. */
static void move_own(overlap_model *m, int range, size_t index, size_t step)
{
    for (size_t at = m->b.list[index].first_block; at < m->b.list[index].end_block; at++)
        if (m->b.range_of[m->b.block_at[at]] == range)
            move_block(m, at, step);
}

/* How many elements of dense parameters are not what they are after a step, or are not near it. */
static size_t count_wrong(overlap_model *m, size_t step, bool near)
{
    size_t wrong = 0;
    for (size_t i = 0; i < m->layout.dense; i++) {
        const rapt_param *p = params_at(m->lm->params, m->layout.order[i]);
        size_t from = m->layout.offset[p->index];
        for (size_t j = 0; j < rapt_tensor_size(&p->value); j++) {
            rapt_real want = value_after(step, from + j), got = m->values[from + j];
            wrong += near ? !(fabsf(got - want) <= fabsf(want) / 256) : memcmp(&want, &got, sizeof got) != 0;
        }
    }
    return wrong;
}

static void rank_steps(case_rank *r, wanted *w, overlap_model *m, gathers *g)
{
    int rank = rapt_group_rank(r->g);
    for (size_t step = 0; step < STEPS; step++) {
        rapt_error err = {0};
        rapt_tensor *loss = overlap_model_forward(m, step % 2);
        CASE_CHECK(r, !rapt_tape_error(m->t)->code && memcmp(&loss->data[0], &w->loss[step], sizeof w->loss[step]) == 0);
        CASE_CHECK(r, gathers_finish(g, &err) == RAPT_OK);
        if (step % 2)
            CASE_CHECK(r, gathers_whole(g, &err) == RAPT_OK && count_wrong(m, step - 1, false) == 0);
        CASE_CHECK(r, rapt_backward(m->t, loss, &err) == RAPT_OK);
        uint64_t before = group_statistics(r->g).sent;
        for (size_t i = m->b.count; i-- > 0;) {
            move_own(m, group_range(rank, w->size), i, step);
            CASE_CHECK(r, gathers_begin(g, i, &err) == RAPT_OK);
        }
        if (step + 1 < STEPS)
            continue;
        const rapt_param *p = rapt_params_at(m->lm->params, 0); /* which waits for this parameter */
        rapt_real want = value_after(step, m->layout.offset[0] + 1);
        CASE_CHECK(r, memcmp(&p->value.data[1], &want, sizeof want) == 0);
        CASE_CHECK(r, gathers_finish(g, &err) == RAPT_OK && count_wrong(m, step, true) == 0);
        w->sent[rank] = group_statistics(r->g).sent - before;
        CASE_CHECK(r, gathers_whole(g, &err) == RAPT_OK && count_wrong(m, step, false) == 0);
        before = group_statistics(r->g).sent;
        CASE_CHECK(r, gathers_whole(g, &err) == RAPT_OK && group_statistics(r->g).sent == before);
    }
}

static void rank_body(case_rank *r)
{
    wanted *w = r->context;
    overlap_model m;
    rapt_error err = {0};
    bool made = r->g && overlap_model_make(&m, w->tied, w->precision, w->size);
    CASE_CHECK(r, made);
    if (!made)
        return;
    gathers *g = gathers_new(r->g, m.t, m.lm->params, &m.layout, &m.b, m.values, m.gradients, &err);
    CASE_CHECK(r, g != NULL);
    if (g)
        rank_steps(r, w, &m, g);
    gathers_free(g);
    overlap_model_free(&m);
    rapt_group_free(r->g);
}

/* Bytes that the ranks sent in a step. */
static uint64_t run_ranks(rapt_type precision, bool tied, int size)
{
    wanted w = {.precision = precision, .tied = tied, .size = size};
    case_rank ranks[MOST_RANKS] = {0};
    uint64_t sent = 0;
    rapt_transport *transports = rapt_group_local(size, NULL);
    assert_non_null(transports);
    expect(&w);
    for (int i = 0; i < size; i++)
        ranks[i] = (case_rank){.transport = transports[i], .context = &w};
    assert_int_equal(case_run(ranks, size, rank_body), 0);
    rapt_group_local_free(transports);
    for (int i = 0; i < size; i++)
        sent += w.sent[i];
    return sent;
}

static void passes_wait_for_what_they_read(void **state)
{
    (void)state;
    for (int size = 2; size <= MOST_RANKS; size += size == 3 ? 2 : 1)
        for (int tied = 0; tied < 2; tied++)
            run_ranks(RAPT_TYPE_FP32, tied, size);
}

/* In the tied model the embedding comes whole, in the other model half of all numbers do. */
static void rounded_ones_take_half_the_bytes(void **state)
{
    (void)state;
    for (int size = 2; size <= 3; size++) {
        uint64_t whole = run_ranks(RAPT_TYPE_FP32, false, size), rounded = run_ranks(RAPT_TYPE_BF16, false, size);
        overlap_model m;
        assert_true(overlap_model_make(&m, false, RAPT_TYPE_FP32, 1));
        uint64_t exact = sizeof(rapt_real) * (OVERLAP_VOCAB * 64 + 5000), all = sizeof(rapt_real) * m.layout.size;
        overlap_model_free(&m);
        assert_true(whole >= (uint64_t)(size - 1) * (all - 4096));
        assert_true(rounded < (uint64_t)(size - 1) * (exact + (all - exact) / 2) && rounded > whole / 2);
        run_ranks(RAPT_TYPE_BF16, true, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_wait_for_what_they_read),
        cmocka_unit_test(rounded_ones_take_half_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
