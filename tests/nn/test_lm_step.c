/* tests/nn/test_lm_step.c: texts that are continued together, each in a row of its own and in pieces of any length, have the
 * logits that each has alone, bit for bit: in every shape of model, at every ISA level, whatever stores keys and values.
 * labels: threads levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"
#include "nn/lm_step.h"
#include "tape/tape_core.h"

#define TEXTS 5
#define ROWS 7

typedef struct texts {
    rapt_tape *t;
    rapt_lm *m;
    rapt_kv_cache *cache;
    int32_t ids[TEXTS * LM_CONTEXT];
    rapt_real *want[TEXTS]; /* [LM_CONTEXT, vocab] */
    size_t row[TEXTS];
    uint64_t key, draws;
} texts;

static size_t draw(texts *x, size_t n)
{
    return (size_t)rng_below(x->key, x->draws++, n);
}

/* Each text alone, one token after the other. */
static rapt_real *logits_alone(texts *x, size_t text, rapt_type storage)
{
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(x->m, 1);
    rapt_error err = {0};
    sizes.storage = storage;
    rapt_kv_cache *cache = rapt_kv_cache_new(sizes, &err);
    rapt_real *all = malloc(LM_CONTEXT * MODEL_VOCAB * sizeof *all);
    assert_true(cache && all);
    for (size_t i = 0; i < LM_CONTEXT; i++) {
        rapt_tape_begin(x->t, (rapt_pass){0});
        const rapt_tensor *y = rapt_lm_step(x->t, x->m, cache, (rapt_tokens){x->ids + text * LM_CONTEXT + i, 1, 1}, true);
        assert_int_equal(rapt_tape_status(x->t, &err), RAPT_OK);
        memcpy(all + i * MODEL_VOCAB, y->data, MODEL_VOCAB * sizeof *all);
    }
    rapt_kv_cache_free(cache);
    return all;
}

static texts texts_new(const char *isa, int threads, size_t variant, rapt_type storage)
{
    rapt_error err = {0};
    rapt_lm_config c = lm_variant(variant);
    texts x = {.t = model_tape(isa, threads), .m = lm_model(&c), .key = variant + 77};
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(x.m, ROWS);
    sizes.storage = storage;
    sizes.sparse = variant % 2;
    x.cache = rapt_kv_cache_new(sizes, &err);
    assert_non_null(x.cache);
    model_ids(x.ids, TEXTS * LM_CONTEXT, 5);
    for (size_t i = 0; i < TEXTS; i++) {
        x.want[i] = logits_alone(&x, i, storage);
        x.row[i] = (i * 3 + variant) % ROWS;
    }
    return x;
}

static void texts_free(texts *x)
{
    for (size_t i = 0; i < TEXTS; i++)
        free(x->want[i]);
    rapt_kv_cache_free(x->cache);
    rapt_tape_free(x->t);
    rapt_lm_free(x->m);
}

/* One pass over a piece of some of the texts; false where all are at their ends. */
static bool step(texts *x)
{
    lm_piece pieces[TEXTS];
    size_t of[TEXTS], first[TEXTS], count = 0, row = 0;
    bool left = false;
    for (size_t i = 0; i < TEXTS; i++) {
        const size_t past = kv_cache_row_past(x->cache, x->row[i]), rest = LM_CONTEXT - past;
        left = left || rest > 0;
        if (rest == 0 || draw(x, 4) == 0)
            continue;
        of[count] = i;
        first[count] = past;
        pieces[count++] = (lm_piece){x->row[i], x->ids + i * LM_CONTEXT + past, 1 + draw(x, 2) * draw(x, rest),
                                     (lm_piece_logits)draw(x, 3)};
    }
    if (count == 0)
        return left;
    rapt_error err = {0};
    rapt_tape_begin(x->t, (rapt_pass){0});
    const rapt_tensor *y = lm_step_pieces(x->t, x->m, x->cache, pieces, count);
    if (rapt_tape_status(x->t, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        const lm_piece *p = &pieces[i];
        const size_t rows = p->logits == LM_PIECE_ALL ? p->count : p->logits == LM_PIECE_LAST;
        model_same("a piece", x->want[of[i]] + (first[i] + p->count - rows) * MODEL_VOCAB, y->data + row * MODEL_VOCAB,
                   rows * MODEL_VOCAB);
        row += rows;
        assert_int_equal(kv_cache_row_past(x->cache, p->row), first[i] + p->count);
    }
    return true;
}

/* Moves a text to a row that is free, with a part of what is held, or drops a part. */
static void move(texts *x)
{
    bool used[ROWS] = {false};
    size_t free_row = 0;
    const size_t text = draw(x, TEXTS), held = kv_cache_row_past(x->cache, x->row[text]);
    for (size_t i = 0; i < TEXTS; i++)
        used[x->row[i]] = true;
    while (used[free_row])
        free_row++;
    if (draw(x, 2)) {
        kv_cache_row_truncate(x->cache, x->row[text], held / 2);
        assert_int_equal(kv_cache_row_past(x->cache, x->row[text]), held / 2);
        return;
    }
    kv_cache_row_copy(x->cache, x->row[text], free_row, held - held / 3);
    kv_cache_row_trim(x->cache, x->row[text], 0);
    assert_int_equal(kv_cache_row_past(x->cache, x->row[text]), 0);
    x->row[text] = free_row;
}

static void check(const char *isa, int threads, size_t variant, rapt_type storage)
{
    texts x = texts_new(isa, threads, variant, storage);
    for (size_t i = 0; step(&x); i++)
        if (i < 8 && i % 2)
            move(&x);
    texts_free(&x);
}

static void pieces_have_the_bits_of_texts_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < LM_VARIANTS; i++)
        check(NULL, 1 + (int)(i % 5), i, RAPT_TYPE_FP32);
}

static void at_every_level_and_storage(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (size_t i = 0; i < LM_VARIANTS && kernels_of_isa(*isa, NULL); i += 7)
            check(*isa, 2, i, (rapt_type)(i % (RAPT_TYPE_Q8_0 + 1)));
}

static void refusals_leave_the_rows(void **state)
{
    (void)state;
    texts x = texts_new(NULL, 1, 2, RAPT_TYPE_FP32);
    const int32_t bad[] = {1, MODEL_VOCAB}, many[LM_CONTEXT + 1] = {0};
    rapt_error err = {0};
    rapt_tape_begin(x.t, (rapt_pass){0});
    lm_step_pieces(x.t, x.m, x.cache, (lm_piece[]){{0, x.ids, 3, LM_PIECE_LAST}, {1, bad, 2, LM_PIECE_LAST}}, 2);
    assert_int_equal(rapt_tape_status(x.t, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "token 53 at position 1 of row 1 is not in the vocabulary of 53");
    err.code = RAPT_OK;
    rapt_tape_begin(x.t, (rapt_pass){0});
    lm_step_pieces(x.t, x.m, x.cache, (lm_piece[]){{0, many, LM_CONTEXT + 1, LM_PIECE_NONE}}, 1);
    assert_int_equal(rapt_tape_status(x.t, &err), RAPT_ERR_SHAPE);
    assert_int_equal(kv_cache_row_past(x.cache, 0), 0);
    assert_int_equal(kv_cache_row_past(x.cache, 1), 0);
    texts_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_have_the_bits_of_texts_alone),
        cmocka_unit_test(at_every_level_and_storage),
        cmocka_unit_test(refusals_leave_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
