/* tests/nn/test_lm_decoding.c: a language model with a KV cache gives the bits of the pass over whole rows,
 * in every shape, in pieces of any length, with packed weights, and when its window slides.
 * labels: each-level sanitized-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"
#include "nn/pack.h"
#include "tape/tape_core.h"

#define BATCH 3

typedef struct setting {
    rapt_tape *t;
    rapt_lm *m;
    size_t context;
} setting;

static setting new_setting(const char *isa, int threads, const rapt_lm_config *config)
{
    return (setting){model_tape(isa, threads), lm_model(config), config->context};
}

static void free_setting(setting *s)
{
    rapt_tape_free(s->t);
    rapt_lm_free(s->m);
}

static rapt_kv_cache *new_cache(const setting *s)
{
    rapt_error err = {0};
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(s->m, BATCH), &err);
    if (!cache)
        fail_msg("%s", err.message);
    return cache;
}

/* Columns first .. first + count - 1 of ids [BATCH, time]. */
static void columns(const int32_t *ids, size_t time, size_t first, size_t count, int32_t *to)
{
    for (size_t b = 0; b < BATCH; b++)
        memcpy(to + b * count, ids + b * time + first, count * sizeof *to);
}

/* Row b of want [BATCH, time, vocab] from column `first` on against row b of got [BATCH, count, vocab]. */
static void compare(const char *what, const rapt_real *want, size_t time, const rapt_real *got, size_t first, size_t count)
{
    for (size_t b = 0; b < BATCH; b++)
        model_same(what, want + (b * time + first) * MODEL_VOCAB, got + b * count * MODEL_VOCAB, count * MODEL_VOCAB);
}

/* ---- pieces ----------------------------------------------------------------------------------------------- */

/* Pieces of the given lengths, over and over; each once for all logits and, with another cache, for the last ones. */
static void check_pieces(const setting *s, const int32_t *ids, const rapt_real *want, const size_t *lengths, size_t n)
{
    int32_t piece[BATCH * LM_CONTEXT];
    rapt_kv_cache *all = new_cache(s), *last = new_cache(s);
    for (size_t first = 0, i = 0, count; first < LM_CONTEXT; first += count, i++) {
        count = lengths[i % n] < LM_CONTEXT - first ? lengths[i % n] : LM_CONTEXT - first;
        columns(ids, LM_CONTEXT, first, count, piece);
        assert_int_equal(rapt_kv_cache_past(all), first);
        rapt_tape_begin(s->t, (rapt_pass){0});
        rapt_real *a = model_copy(s->t, rapt_lm_step(s->t, s->m, all, (rapt_tokens){piece, BATCH, count}, false));
        compare("all logits", want, LM_CONTEXT, a, first, count);
        rapt_tensor *x = rapt_lm_step(s->t, s->m, last, (rapt_tokens){piece, BATCH, count}, true);
        rapt_real *b = model_copy(s->t, x);
        assert_int_equal(x->shape[1], 1);
        compare("last logits", want, LM_CONTEXT, b, first + count - 1, 1);
        free(a);
        free(b);
    }
    rapt_kv_cache_free(all);
    rapt_kv_cache_free(last);
}

static void check_setting(const setting *s)
{
    int32_t ids[BATCH * LM_CONTEXT];
    model_ids(ids, BATCH * LM_CONTEXT, 5);
    rapt_real *want = lm_whole(s->t, s->m, ids, BATCH, LM_CONTEXT);
    check_pieces(s, ids, want, (size_t[]){1}, 1);
    check_pieces(s, ids, want, (size_t[]){3, 1, 5, 2}, 4);
    check_pieces(s, ids, want, (size_t[]){LM_CONTEXT}, 1);
    free(want);
}

static void pieces_equal_whole_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < LM_VARIANTS; i++) {
        rapt_lm_config c = lm_variant(i);
        setting s = new_setting(NULL, 1 + (int)(i % 3), &c);
        check_setting(&s);
        free_setting(&s);
    }
}

/* All matrices but those that are only looked up. */
static void check_packed(const rapt_lm *m, const packed_weights *packed)
{
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_param *p = rapt_params_at(m->params, i);
        bool looked_up = p == m->input.positions.table || (p == m->input.embedding.weight && !m->config.tied);
        bool there = packed_weights_find(packed, p, packed->made_for) != NULL;
        if (p->value.ndim == 2 && !p->buffer && there == looked_up)
            fail_msg("%s is%s packed", p->value.name, there ? "" : " not");
    }
}

static void packed_weights_change_nothing(void **state)
{
    (void)state;
    rapt_error err = {0};
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (size_t i = 0; i < LM_VARIANTS && kernels_of_isa(*isa, NULL); i += 13) {
            rapt_lm_config c = lm_variant(i);
            setting s = new_setting(*isa, 2, &c);
            int32_t ids[BATCH * LM_CONTEXT];
            model_ids(ids, BATCH * LM_CONTEXT, 5);
            rapt_real *want = lm_whole(s.t, s.m, ids, BATCH, LM_CONTEXT);
            packed_weights *packed = pack_lm(s.m, s.t, s.t->pool, false, &err);
            assert_non_null(packed);
            check_packed(s.m, packed);
            tape_use_packed(s.t, packed);
            rapt_real *got = lm_whole(s.t, s.m, ids, BATCH, LM_CONTEXT);
            model_same("packed weights", want, got, BATCH * LM_CONTEXT * MODEL_VOCAB);
            check_setting(&s);
            free(want);
            free(got);
            free_setting(&s);
            packed_weights_free(packed);
        }
}

/* ---- a text without end ----------------------------------------------------------------------------------- */

#define LENGTH (4 * LM_CONTEXT + 5)

/* How many of the first n tokens are visible, by the rule of rapt/lm.h, token by token. */
static size_t visible_of(size_t context, size_t n)
{
    size_t held = 0;
    for (size_t i = 0; i < n; i++) {
        if (held == context)
            held -= context == 1 ? 1 : context / 2;
        held++;
    }
    return held;
}

/* Logits [BATCH, 1, vocab] after n tokens of ids [BATCH, LENGTH], all visible ones computed anew. */
static rapt_real *anew(const setting *s, const int32_t *ids, size_t n)
{
    int32_t window[BATCH * LM_CONTEXT];
    size_t visible = visible_of(s->context, n);
    columns(ids, LENGTH, n - visible, visible, window);
    rapt_real *all = lm_whole(s->t, s->m, window, BATCH, visible);
    for (size_t b = 0; b < BATCH; b++)
        memmove(all + b * MODEL_VOCAB, all + (b * visible + visible - 1) * MODEL_VOCAB, MODEL_VOCAB * sizeof *all);
    return all;
}

static void check_text(const setting *s, const size_t *lengths, size_t n)
{
    char what[80];
    int32_t ids[BATCH * LENGTH];
    model_ids(ids, BATCH * LENGTH, 6);
    rapt_kv_cache *cache = new_cache(s);
    for (size_t first = 0, i = 0, count; first < LENGTH; first += count, i++) {
        count = lengths[i % n] < LENGTH - first ? lengths[i % n] : LENGTH - first;
        rapt_tape_begin(s->t, (rapt_pass){0});
        rapt_real *got = model_copy(s->t, rapt_lm_next(s->t, s->m, cache, ids, LENGTH, first + count));
        rapt_real *want = anew(s, ids, first + count);
        assert_int_equal(rapt_kv_cache_past(cache), visible_of(s->context, first + count));
        assert_int_equal(rapt_kv_cache_first(cache) + rapt_kv_cache_past(cache), first + count);
        assert_int_equal(rapt_lm_visible(&s->m->config, first + count), visible_of(s->context, first + count));
        snprintf(what, sizeof what, "context %zu, %zu tokens after %zu", s->context, count, first);
        model_same(what, want, got, BATCH * MODEL_VOCAB);
        free(want);
        free(got);
    }
    rapt_kv_cache_free(cache);
}

static void window_slides(void **state)
{
    (void)state;
    for (size_t i = 0; i < LM_VARIANTS; i++) {
        rapt_lm_config c = lm_variant(i);
        setting s = new_setting(NULL, 2, &c);
        check_text(&s, (size_t[]){1}, 1);
        if (i % 5 == 0) {
            check_text(&s, (size_t[]){7, 1, 1, 30, 2}, 5);
            check_text(&s, (size_t[]){LENGTH}, 1);
        }
        free_setting(&s);
    }
}

static void windows_of_any_size(void **state)
{
    (void)state;
    for (size_t context = 1; context < LM_CONTEXT; context++) {
        rapt_lm_config c = lm_variant(context % 3 + 72);
        c.context = context;
        setting s = new_setting(NULL, 1, &c);
        check_text(&s, (size_t[]){1}, 1);
        check_text(&s, (size_t[]){4, 9, 1, 1}, 4);
        free_setting(&s);
    }
}

/* A row does not see the rows beside it. */
static void rows_stand_alone(void **state)
{
    (void)state;
    int32_t ids[BATCH * LM_CONTEXT];
    model_ids(ids, BATCH * LM_CONTEXT, 9);
    for (size_t i = 0; i < LM_VARIANTS; i += 5) {
        rapt_lm_config c = lm_variant(i);
        setting s = new_setting(NULL, 2, &c);
        rapt_real *together = lm_whole(s.t, s.m, ids, BATCH, LM_CONTEXT);
        for (size_t b = 0; b < BATCH; b++) {
            rapt_real *alone = lm_whole(s.t, s.m, ids + b * LM_CONTEXT, 1, LM_CONTEXT);
            model_same("a row alone", together + b * LM_CONTEXT * MODEL_VOCAB, alone, LM_CONTEXT * MODEL_VOCAB);
            free(alone);
        }
        free(together);
        free_setting(&s);
    }
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

static void expect(const setting *s, const char *message)
{
    assert_string_equal(rapt_tape_error(s->t)->message, message);
    rapt_tape_begin(s->t, (rapt_pass){0});
}

static void refusals_leave_the_cache(void **unused)
{
    (void)unused;
    int32_t ids[2 * LM_CONTEXT] = {1, 2, 3, 4, 5, 6};
    rapt_lm_config c = lm_variant(1);
    setting s = new_setting(NULL, 1, &c);
    rapt_kv_cache *cache = new_cache(&s);
    rapt_kv_cache_clear(cache, 2);
    rapt_tape_begin(s.t, (rapt_pass){0});
    rapt_lm_step(s.t, s.m, cache, (rapt_tokens){ids, 2, 3}, false);
    expect(&s, "");
    rapt_lm_step(s.t, s.m, cache, (rapt_tokens){ids, 1, 3}, false);
    expect(&s, "1 rows of tokens for a KV cache of 2");
    rapt_lm_step(s.t, s.m, cache, (rapt_tokens){ids, 2, 10}, false);
    expect(&s, "13 tokens are more than the model's context of 12");
    ids[4] = MODEL_VOCAB;
    rapt_lm_step(s.t, s.m, cache, (rapt_tokens){ids, 2, 3}, false);
    expect(&s, "token 53 at position 4 of row 1 is not in the vocabulary of 53");
    ids[4] = -1;
    rapt_lm_next(s.t, s.m, cache, (int32_t[]){1, 2, 3, 4, -1, 6, 1, 2, 3, 4, 5, 6}, 6, 6);
    expect(&s, "token -1 at position 4 of row 0 is not in the vocabulary of 53");
    rapt_lm_next(s.t, s.m, cache, (int32_t[28]){[3] = -1}, 14, 14); /* the first ones are left behind, -1 among them */
    expect(&s, "");
    assert_int_equal(rapt_kv_cache_first(cache), 6);
    rapt_lm_next(s.t, s.m, cache, (int32_t[30]){[14] = -1}, 15, 15);
    expect(&s, "token -1 at position 14 of row 0 is not in the vocabulary of 53");
    rapt_lm_next(s.t, s.m, cache, ids, 6, 0);
    assert_int_equal(rapt_tape_error(s.t)->code, RAPT_ERR_SHAPE);
    rapt_lm_next(s.t, s.m, cache, ids, 6, 7);
    assert_int_equal(rapt_kv_cache_first(cache), 6);
    assert_int_equal(rapt_kv_cache_past(cache), 8);
    rapt_kv_cache_clear(cache, 1);
    assert_int_equal(rapt_kv_cache_past(cache) + rapt_kv_cache_first(cache), 0);
    assert_int_equal(rapt_kv_cache_rows(cache), 1);
    rapt_kv_cache_free(cache);
    rapt_kv_cache_free(NULL);
    free_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_equal_whole_rows),       cmocka_unit_test(packed_weights_change_nothing),
        cmocka_unit_test(window_slides),               cmocka_unit_test(windows_of_any_size),
        cmocka_unit_test(rows_stand_alone),              cmocka_unit_test(refusals_leave_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
