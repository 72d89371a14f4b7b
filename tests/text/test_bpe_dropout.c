/* tests/text/test_bpe_dropout.c: BPE dropout (Provilkov et al. 2020): how often each segmentation of a piece comes, against all
 * of them enumerated with their probabilities; without any draw the usual tokens; every segmentation decodes to its text. For
 * src/text/bpe/bpe_merge.c and bpe_encode.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "options.h"
#include "text/bpe/bpe_encode.h"
#include "text/tokenizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, OUTCOMES = 64 };

static rapt_tokenizer *learned(void)
{
    static const char text[] = "abab abcab bcab abc abab cab aab abab abcabc ab bc";
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(text, strlen(text), &TRAIN_BPE(.vocab_size = 263, .min_freq = 1), &err);
    if (!k)
        fail_msg("%s", err.message);
    return k;
}

/* ---- the definition, enumerated ------------------------------------------------------------------------------------- */

typedef struct tokens {
    int32_t ids[MOST];
    size_t count;
} tokens;

typedef struct distribution {
    tokens what[OUTCOMES];
    double probability[OUTCOMES];
    size_t count;
} distribution;

static bool are_same(const tokens *a, const tokens *b)
{
    return a->count == b->count && memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0;
}

static double *probability_of(distribution *d, const tokens *t)
{
    size_t i = 0;
    while (i < d->count && !are_same(&d->what[i], t))
        i++;
    if (i == d->count) {
        assert_true(d->count < OUTCOMES);
        d->what[d->count++] = *t;
    }
    return &d->probability[i];
}

/* Adds what becomes of these tokens, which are reached with probability `reached`: the pairs that merge are considered in their
 * order, and the first that is not left out merges. */
static void enumerate(const byte_bpe *b, const tokens *t, double p, double reached, distribution *d)
{
    bool done[MOST] = {false};
    for (;;) {
        size_t best = MOST;
        pair_merge merge = {PAIR_NEVER, -1};
        for (size_t i = 0; i + 1 < t->count; i++) {
            const pair_merge m = pair_table_find(&b->pairs, t->ids[i], t->ids[i + 1]);
            if (!done[i] && m.rank < merge.rank)
                best = i, merge = m;
        }
        if (best == MOST)
            break;
        tokens next = {.count = t->count - 1};
        memcpy(next.ids, t->ids, best * sizeof *next.ids);
        next.ids[best] = merge.id;
        memcpy(next.ids + best + 1, t->ids + best + 2, (t->count - best - 2) * sizeof *next.ids);
        enumerate(b, &next, p, reached * (1 - p), d);
        reached *= p;
        done[best] = true;
    }
    *probability_of(d, t) += reached;
}

static void check_frequencies(const byte_bpe *b, const char *piece, double p)
{
    enum { DRAWS = 40000 };
    const size_t size = strlen(piece);
    static distribution expected, found;
    tokens bytes = {.count = size};
    double sum = 0;
    memset(&expected, 0, sizeof expected);
    memset(&found, 0, sizeof found);
    for (size_t i = 0; i < size; i++)
        bytes.ids[i] = b->bytes[(unsigned char)piece[i]];
    enumerate(b, &bytes, p, 1, &expected);
    for (uint64_t n = 0; n < DRAWS; n++) {
        bpe_dropout draws = {p, rng_mix(7, n), 0};
        tokens t = {0};
        assert_int_equal(bpe_merge_long(b, piece, size, &draws, t.ids, &t.count, NULL), RAPT_OK);
        *probability_of(&found, &t) += 1.0 / DRAWS;
    }
    for (size_t i = 0; i < expected.count; i++) {
        const double q = expected.probability[i], f = *probability_of(&found, &expected.what[i]);
        sum += q;
        assert_true(fabs(f - q) <= 5 * sqrt(q * (1 - q) / DRAWS));
    }
    assert_true(fabs(sum - 1) < 1e-12 && found.count == expected.count); /* and no other outcome */
    print_message("%s, p %g: %zu segmentations\n", piece, p, expected.count);
}

static void frequencies(void **state)
{
    static const char *const pieces[] = {"ab", "abab", "abcab", "aababc", "abcabcab"};
    rapt_tokenizer *k = learned();
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        check_frequencies(byte_bpe_of(k), pieces[i], 0.1);
        check_frequencies(byte_bpe_of(k), pieces[i], 0.5);
    }
    rapt_tokenizer_free(k);
}

/* ---- texts ---------------------------------------------------------------------------------------------------------- */

static size_t random_text(char *text, uint64_t n)
{
    const size_t size = 1 + rng_below(n, 0, 400);
    for (size_t i = 0; i < size; i++)
        text[i] = "aabbc "[rng_below(n, 1 + i, n % 2 ? 6 : 5)];
    text[size] = '\0';
    return size;
}

static id_list encode(const byte_bpe *b, const char *text, size_t size, double p, uint64_t key)
{
    bpe_dropout draws = {p, key, 0};
    id_list l = {0};
    assert_int_equal(bpe_encode_dropout(b, text, size, false, &draws, id_list_append, &l, NULL), RAPT_OK);
    return l;
}

static void texts(void **state)
{
    rapt_tokenizer *k = learned();
    const byte_bpe *b = byte_bpe_of(k);
    char text[512];
    size_t longer = 0;
    (void)state;
    for (uint64_t n = 0; n < 500; n++) {
        const size_t size = random_text(text, n);
        size_t count;
        int32_t *usual;
        assert_int_equal(rapt_tokenizer_encode(k, text, &usual, &count, NULL), RAPT_OK);
        id_list none = encode(b, text, size, 0, n), some = encode(b, text, size, 0.3, n), again = encode(b, text, size, 0.3, n);
        assert_true(none.count == count && memcmp(none.ids, usual, count * sizeof *usual) == 0);
        assert_true(some.count == again.count && memcmp(some.ids, again.ids, some.count * sizeof *usual) == 0);
        longer += some.count > count;
        char *back = rapt_tokenizer_decode(k, some.ids, some.count, NULL);
        assert_string_equal(back, text);
        free(back);
        free(none.ids);
        free(some.ids);
        free(again.ids);
        free(usual);
    }
    assert_true(longer > 250);
    rapt_tokenizer_free(k);
}

/* A piece without a cut, of a hundred thousand bytes, and most merges left out: it ends. */
static void a_long_piece(void **state)
{
    enum { SIZE = 100000 };
    rapt_tokenizer *k = learned();
    char *text = malloc(SIZE);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = "abc"[i % 3];
    id_list l = encode(byte_bpe_of(k), text, SIZE, 0.9, 1);
    assert_true(l.count > SIZE / 6 && l.count <= SIZE);
    free(l.ids);
    free(text);
    rapt_tokenizer_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frequencies), cmocka_unit_test(texts), cmocka_unit_test(a_long_piece)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
