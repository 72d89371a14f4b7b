/* tests/decode/test_phrases.c: searches whose hypotheses must contain phrases. With a wide beam they find the best of all
 * hypotheses that contain them; with any other, all that they find contain them, if there is room for them at all. What a
 * hypothesis contains is counted here in the plainest way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "all_hypotheses.h"
#include "base/min.h"
#include "base/rng.h"

/* A way is a list of tokens; a phrase one or two of them. */
#define WAY(...) {(int32_t[]){__VA_ARGS__}, sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t)}
#define PHRASE(n, ...) {(rapt_token_list[]){__VA_ARGS__}, sizeof(rapt_token_list[]){__VA_ARGS__} / sizeof(rapt_token_list), n}
#define PHRASES(...) {(search_phrase[]){__VA_ARGS__}, sizeof(search_phrase[]){__VA_ARGS__} / sizeof(search_phrase)}

static bool is_at(const rapt_token_list *way, const int32_t *tokens, size_t length)
{
    return way->count <= length && memcmp(way->ids, tokens, way->count * sizeof *tokens) == 0;
}

/* The most occurrences without overlaps. */
static size_t most_occurrences(const search_phrase *p, const int32_t *tokens, size_t length)
{
    if (length == 0)
        return 0;
    size_t most = most_occurrences(p, tokens + 1, length - 1);
    for (size_t i = 0; i < p->way_count; i++)
        if (is_at(&p->ways[i], tokens, length)) {
            const size_t with = 1 + most_occurrences(p, tokens + p->ways[i].count, length - p->ways[i].count);
            most = with > most ? with : most;
        }
    return most;
}

static bool contains(const search_phrases *p, const int32_t *tokens, size_t length)
{
    for (size_t i = 0; i < p->count; i++)
        if (most_occurrences(&p->list[i], tokens, length) < p->list[i].times)
            return false;
    return true;
}

static void assert_contains(const search_phrases *p, const search_result *r)
{
    assert_true(r->count > 0);
    for (size_t j = 0; j < r->count; j++)
        assert_true(contains(p, r->best[j].tokens, r->best[j].length));
}

/* ---- the best of all ---------------------------------------------------------------------------------------------- */

/* Tokens 4 and 5 are words of a vocabulary of 6. */
static const search_phrases SMALL[] = {
    PHRASES(PHRASE(1, WAY(4))),
    PHRASES(PHRASE(1, WAY(5, 4))),
    PHRASES(PHRASE(1, WAY(4)), PHRASE(1, WAY(5))),
    PHRASES(PHRASE(2, WAY(5))),
    PHRASES(PHRASE(2, WAY(4, 5))),
    PHRASES(PHRASE(1, WAY(4, 5)), PHRASE(1, WAY(5, 4))), /* 4 5 4 has both */
    PHRASES(PHRASE(1, WAY(4, 4, 5))),
    PHRASES(PHRASE(1, WAY(4, 5), WAY(5))),
    PHRASES(PHRASE(1, WAY(1, 4), WAY(5, 5))),
    PHRASES(PHRASE(1, WAY(4, 5, 4)), PHRASE(1, WAY(4, 5))),
};
#define SMALLS (sizeof SMALL / sizeof *SMALL)

static void set_phrases(setting *s, search_phrases p)
{
    for (size_t i = 0; i < SENTENCES; i++)
        s->phrases[i] = p;
}

static size_t keep_containing(everything *e, const search_phrases *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++)
        if (contains(p, e->all[i].tokens, e->all[i].length))
            e->all[kept++] = e->all[i];
    return e->count = kept;
}

static void check_best(search_phrases p, double penalty, size_t n, rapt_real eos)
{
    static everything e;
    int32_t tokens[LIMIT + 1];
    setting s = new_setting(VOCAB, LIMIT - 1, eos);
    set_phrases(&s, p);
    search_together(&s, 0, SENTENCES, MOST, (search_options){.length_penalty = penalty, .n_best = n});
    for (size_t i = 0; i < SENTENCES; i++) {
        e.count = 0;
        write_down(&s, i, s.limits[i], penalty, tokens, 0, &e);
        const size_t all = keep_containing(&e, &p);
        qsort(e.all, all, sizeof *e.all, by_score);
        assert_int_equal(s.results[i].count, n < all ? n : all);
        for (size_t j = 0; j < s.results[i].count; j++) {
            const search_hypothesis *h = &s.results[i].best[j];
            assert_true(contains(&p, h->tokens, h->length));
            if (fabs(h->score - e.all[j].score) > 1e-4)
                fail_msg("penalty %g, sentence %zu, rank %zu: %g, not %g", penalty, i, j, h->score, e.all[j].score);
        }
    }
    free_setting(&s);
}

static void the_widest_beam_finds_the_best_that_contain_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < SMALLS; i++) {
        check_best(SMALL[i], 0, 1, 0);
        check_best(SMALL[i], 0.6, 7, 2);
        check_best(SMALL[i], -0.7, 3, 1);
    }
    check_best(SMALL[0], 0, MOST, 0);
    check_best(SMALL[5], 1, MOST, 1);
}

/* ---- a token more ------------------------------------------------------------------------------------------------------ */

enum { SMALL_MOST = 40, SMALL_WAYS = 3, SMALL_TOKENS = 4 };

/* 12 phrases of words of three letters, so that they overlap, begin alike and are repeated. */
static void draw_phrases(search_phrase *list, rapt_token_list (*ways)[SMALL_WAYS], int32_t (*ids)[SMALL_WAYS][SMALL_TOKENS],
                         uint64_t seed)
{
    for (size_t i = 0, at = 0; i < 12; i++) {
        list[i].ways = ways[i];
        list[i].way_count = 1 + (size_t)rng_below(seed, at++, SMALL_WAYS);
        list[i].times = 1 + (size_t)rng_below(seed, at++, 3);
        for (size_t j = 0; j < list[i].way_count; j++) {
            ways[i][j] = (rapt_token_list){ids[i][j], 1 + (size_t)rng_below(seed, at++, SMALL_TOKENS)};
            for (size_t k = 0; k < ways[i][j].count; k++)
                ids[i][j][k] = 4 + (int32_t)rng_below(seed, at++, 3);
        }
    }
}

/* From the left, the shortest way first. */
static size_t first_occurrences(const search_phrase *p, const int32_t *tokens, size_t length)
{
    for (size_t size = 1; size <= length && size <= SMALL_TOKENS; size++)
        for (size_t i = 0; i < p->way_count; i++)
            if (p->ways[i].count == size && is_at(&p->ways[i], tokens, length))
                return 1 + first_occurrences(p, tokens + size, length - size);
    return length > 0 ? first_occurrences(p, tokens + 1, length - 1) : 0;
}

/* What a candidate misses is found by its last token as by all of its tokens. */
static void a_token_more_is_counted_as_all_anew(void **state)
{
    search_phrase list[12];
    rapt_token_list ways[12][SMALL_WAYS];
    int32_t ids[12][SMALL_WAYS][SMALL_TOKENS], tokens[SMALL_MOST];
    struct phrase_count before[12], after[12];
    struct phrase_entry entries[12 * SMALL_WAYS * SMALL_TOKENS];
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        draw_phrases(list, ways, ids, seed);
        const search_phrases p = {list, 12};
        phrase_counts c = {0, before}, all = {0, after};
        phrase_index index = {entries, 0};
        assert_true(phrases_tokens(&p) <= sizeof entries / sizeof *entries);
        phrases_index(&p, &index);
        for (size_t length = 0; length < SMALL_MOST; length++) {
            phrases_count(&p, &index, tokens, length, &c);
            for (size_t i = 0; i < p.count; i++)
                assert_int_equal(c.of[i].found, MIN(first_occurrences(&list[i], tokens, length), list[i].times));
            for (int32_t token = 3; token < 8; token++) { /* 3 and 7 are in no phrase */
                tokens[length] = token;
                phrases_count(&p, &index, tokens, length + 1, &all);
                assert_int_equal(phrases_missing_after(&p, &index, &c, tokens, length + 1),
                                 phrases_missing(&p, &all, tokens, length + 1, NULL));
            }
            tokens[length] = 3 + (int32_t)rng_below(seed + 1000, length, 5);
        }
    }
}

/* ---- any beam ------------------------------------------------------------------------------------------------------ */

static const search_phrases WORDS[] = {
    PHRASES(PHRASE(1, WAY(30))),
    PHRASES(PHRASE(1, WAY(30, 31, 32)), PHRASE(1, WAY(7, 8))),
    PHRASES(PHRASE(3, WAY(9, 9)), PHRASE(2, WAY(9, 10, 9))),
    PHRASES(PHRASE(1, WAY(11, 12), WAY(13)), PHRASE(1, WAY(12, 11)), PHRASE(1, WAY(14, 11, 12, 11))),
    /* more than the beam has places for */
    PHRASES(PHRASE(5, WAY(7, 8, 9, 10)), PHRASE(1, WAY(20, 21, 22, 23, 24, 25, 26, 27, 28, 29)), PHRASE(6, WAY(33, 34))),
};
#define WORDS_COUNT (sizeof WORDS / sizeof *WORDS)

/* Limits: what is just enough, if nothing overlaps, and more. */
static void check_any(size_t which, size_t room, size_t beam, const rapt_search_policy *policy)
{
    const search_options o = {.n_best = beam > 2 ? 2 : 1, .length_penalty = 0.6, .policy = policy};
    setting s = new_setting(MODEL_VOCAB, 8, 1);
    set_phrases(&s, WORDS[which]);
    for (size_t i = 0; i < SENTENCES; i++)
        s.limits[i] = phrases_length(&WORDS[which]) + room;
    search_together(&s, 0, SENTENCES, beam, o);
    for (size_t i = 0; i < SENTENCES; i++) {
        assert_contains(&WORDS[which], &s.results[i]);
        for (size_t j = 0; j < s.results[i].count && !policy; j++) {
            const search_hypothesis *h = &s.results[i].best[j];
            assert_true(fabs(log_p_of(&s, i, h->tokens, h->length) - h->log_prob) < 1e-3);
        }
    }
    free_setting(&s);
}

static void all_hypotheses_contain_all(void **state)
{
    static const rapt_search_policy policy = {.given = true, .beams = 3, .length_penalty = 1, .repetition_penalty = 1},
                                    early = {.given = true, .beams = 3, .length_penalty = 0.5, .repetition_penalty = 1.2,
                                             .early_stopping = RAPT_EARLY_STOPPING_YES};
    (void)state;
    for (size_t which = 0; which < WORDS_COUNT; which++)
        for (size_t room = 0; room <= 9; room += 9)
            for (size_t beam = 1; beam <= 40; beam *= 6) {
                check_any(which, room, beam, NULL);
                check_any(which, room, beam, &policy);
                check_any(which, room, beam, &early);
            }
}

static void without_room_there_is_nothing(void **state)
{
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 8, 1);
    set_phrases(&s, (search_phrases)PHRASES(PHRASE(1, WAY(30, 31, 32)), PHRASE(2, WAY(7, 8))));
    for (size_t i = 0; i < SENTENCES; i++)
        s.limits[i] = 6;
    for (size_t beam = 1; beam <= 16; beam += 15) {
        search_together(&s, 0, SENTENCES, beam, (search_options){0});
        for (size_t i = 0; i < SENTENCES; i++)
            assert_int_equal(s.results[i].count, 0);
    }
    free_setting(&s);
}

/* A phrase of which a token is excluded cannot be had; one that is not, can. */
static void what_is_suppressed_stays_so(void **state)
{
    const search_phrases excluded = PHRASES(PHRASE(1, WAY(30, 31))), partly = PHRASES(PHRASE(1, WAY(30, 31), WAY(31)));
    const rapt_token_list none[] = {{(int32_t[]){30}, 1}};
    const search_options o = {.suppressed = none, .suppressed_count = 1};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 1);
    set_phrases(&s, excluded);
    search_together(&s, 0, SENTENCES, 4, o);
    for (size_t i = 0; i < SENTENCES; i++)
        assert_int_equal(s.results[i].count, 0);
    set_phrases(&s, partly);
    search_together(&s, 0, SENTENCES, 4, o);
    for (size_t i = 0; i < SENTENCES; i++)
        assert_contains(&partly, &s.results[i]);
    free_setting(&s);
}

/* ---- what comes before, and beside ---------------------------------------------------------------------------------- */

/* A phrase that the prefix has need not come once more, and the end of a prefix may begin one. */
static void prefixes_count(void **state)
{
    static const int32_t prefix[] = {7, 8, 30};
    const search_phrases has = PHRASES(PHRASE(1, WAY(7, 8))), begun = PHRASES(PHRASE(1, WAY(30, 31, 32)));
    search_result free_of_them[SENTENCES];
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 5, 1);
    set_prefix(&s, prefix, 3);
    search_together(&s, 0, SENTENCES, 8, (search_options){0});
    memcpy(free_of_them, s.results, sizeof free_of_them);
    set_phrases(&s, has);
    search_together(&s, 0, SENTENCES, 8, (search_options){0});
    for (size_t i = 0; i < SENTENCES; i++)
        assert_same_result(&s.results[i], &free_of_them[i]);
    set_phrases(&s, begun);
    for (size_t i = 0; i < SENTENCES; i++)
        s.limits[i] = 5; /* the prefix and two more */
    search_together(&s, 0, SENTENCES, 8, (search_options){0});
    for (size_t i = 0; i < SENTENCES; i++)
        assert_contains(&begun, &s.results[i]);
    free_setting(&s);
}

/* Each gets the bits that it gets alone, with phrases of its own or none. */
static void other_sentences_change_nothing(void **state)
{
    search_result together[SENTENCES];
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 30, 1);
    for (size_t beam = 1; beam <= 9; beam += 4) {
        const search_options o = {.n_best = beam, .length_penalty = 0.6, .log_probs = true};
        for (size_t i = 0; i < SENTENCES; i++)
            s.phrases[i] = i == 2 ? (search_phrases){0} : WORDS[i % 4];
        search_together(&s, 0, SENTENCES, beam, o);
        memcpy(together, s.results, sizeof together);
        for (size_t i = 0; i < SENTENCES; i++) {
            search_together(&s, i, 1, beam, o);
            assert_same_result(&together[i], &s.results[i]);
        }
        set_phrases(&s, (search_phrases){0});
        search_together(&s, 0, SENTENCES, beam, o);
        assert_same_result(&together[2], &s.results[2]);
    }
    free_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_widest_beam_finds_the_best_that_contain_all),
        cmocka_unit_test(a_token_more_is_counted_as_all_anew), cmocka_unit_test(all_hypotheses_contain_all),
        cmocka_unit_test(without_room_there_is_nothing),
        cmocka_unit_test(what_is_suppressed_stays_so),
        cmocka_unit_test(prefixes_count),
        cmocka_unit_test(other_sentences_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
