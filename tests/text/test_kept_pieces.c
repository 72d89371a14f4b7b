/* tests/text/test_kept_pieces.c: an encoder that keeps pieces from text to text gives the ids that a new tokenizer gives: beyond
 * the bound of its table, for pieces that share a set, at the ends of texts, on several threads.
 * For src/text/bpe/kept_pieces.c, bpe_encode.c and eight_bytes.h.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/thread.h"
#include "options.h"
#include "rapt/text.h"
#include "text/bpe/bpe_encode.h"
#include "text/bpe/kept_pieces.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT_LETTERS = 4, MOST_WORD = 40 };

/* ---- eight bytes -------------------------------------------------------------------------------------------- */

static bool is_letter(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Each byte in each place, beside every other byte. */
static void letters_are_found(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++)
            for (size_t at = 0; at < 7; at++) {
                unsigned char text[8] = "aaaaaaaa";
                text[at] = (unsigned char)first;
                text[at + 1] = (unsigned char)second;
                const size_t want = !is_letter(text[at]) ? at : !is_letter(text[at + 1]) ? at + 1 : 8;
                const uint64_t other = eight_no_letters(eight_bytes(text, 8, 0));
                assert_int_equal(eight_before(other), want);
                assert_int_equal(other & ~EIGHT_TIMES(0x80), 0);
                assert_int_equal(other >> (8 * at + 7) & 1, !is_letter(text[at]));
                assert_int_equal(other >> (8 * at + 15) & 1, !is_letter(text[at + 1]));
            }
}

/* Texts of just their size, so that a sanitizer sees reads beyond. */
static void nothing_is_read_beyond_the_end(void **state)
{
    (void)state;
    for (size_t size = 0; size < 40; size++) {
        unsigned char *text = malloc(size ? size : 1);
        for (size_t i = 0; i < size; i++)
            text[i] = (unsigned char)(200 + i);
        for (size_t at = 0; at <= size; at++) {
            const uint64_t bytes = eight_bytes(text, size, at);
            for (size_t i = 0; i < 8; i++)
                assert_int_equal(bytes >> 8 * i & 0xFF, at + i < size ? 200 + at + i : 0);
            for (size_t length = 1; length <= KEPT_BYTES && length <= size - at; length++) {
                unsigned char want[16] = {0};
                memcpy(want, text + at, length);
                want[15] = (unsigned char)length;
                const piece_key key = piece_key_of((const char *)text, size, at, length);
                assert_memory_equal(&key, want, sizeof want);
            }
        }
        free(text);
    }
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static void a_set_keeps_the_two_newest(void **state)
{
    (void)state;
    kept_set set = {0};
    piece_key keys[3];
    for (int i = 0; i < 3; i++) {
        keys[i] = piece_key_of("abc", 3, (size_t)i, 1);
        assert_null(kept_piece_find(&set, &keys[i]));
        kept_piece_put(&set, &keys[i], (const int32_t[]){i, i, i, i}, (size_t)i + 1);
    }
    assert_null(kept_piece_find(&set, &keys[0]));
    assert_memory_equal(kept_piece_find(&set, &keys[1])->ids, ((const int32_t[]){1, 1, -1, -1}), 4 * sizeof(int32_t));
    assert_memory_equal(kept_piece_find(&set, &keys[2])->ids, ((const int32_t[]){2, 2, 2, -1}), 4 * sizeof(int32_t));
}

/* How many pieces of one byte it has, each with its byte as the id. */
static size_t count_bytes(const kept_pieces *k)
{
    size_t count = 0;
    for (size_t i = 0; i < 256; i++) {
        const piece_key key = piece_key_of(&(char){(char)i}, 1, 0, 1);
        const kept_piece *p = kept_piece_find(kept_set_of(k, &key), &key);
        assert_true(!p || (p->ids[0] == (int32_t)i && p->ids[1] == -1));
        count += p != NULL;
    }
    return count;
}

static void it_grows_up_to_its_bound(void **state)
{
    (void)state;
    kept_pieces k = {0};
    size_t sets = 0;
    assert_true(kept_pieces_expect(&k, 1));
    for (size_t i = 0; i < 256; i++) { /* a set keeps two of them */
        const piece_key key = piece_key_of(&(char){(char)i}, 1, 0, 1);
        kept_piece_put(kept_set_of(&k, &key), &key, &(int32_t){(int32_t)i}, 1);
    }
    const size_t first = count_bytes(&k);
    assert_in_range(first, 1, KEPT_WAYS * (k.mask + 1));
    for (int i = 0; i < 3000; i++) {
        assert_true(kept_pieces_expect(&k, 5000));
        assert_true(k.mask + 1 >= sets && k.mask < KEPT_SETS);
        assert_int_equal(count_bytes(&k), first);
        sets = k.mask + 1;
    }
    assert_int_equal(sets, KEPT_SETS);
    assert_true(kept_pieces_expect(&k, SIZE_MAX) && kept_pieces_expect(&k, SIZE_MAX));
    assert_int_equal(k.mask + 1, KEPT_SETS);
    kept_pieces_free(&k);
}

/* ---- encoding ----------------------------------------------------------------------------------------------- */

static const char *const PATTERNS[] = {SPLIT_GPT2, SPLIT_CL100K, SPLIT_O200K, "\\w+|\\s+|[^\\w\\s]"};

/* Words of some letters, which merge in several ways. */
static size_t make_words(uint64_t key, char *text, size_t room, size_t most)
{
    size_t size = 0;
    for (uint64_t n = 0; size + MOST_WORD + 1 < room; n++) {
        const uint64_t word = rng_mix(key, n);
        const size_t length = 1 + rng_below(word, 0, most);
        for (size_t i = 0; i < length; i++)
            text[size++] = "abcdeABC"[rng_below(word, 1 + i, COUNT_LETTERS + key % 5)];
        text[size++] = " \n '"[rng_below(word, 99, 4)];
    }
    return size;
}

static rapt_tokenizer *kept_trained(const char *pattern)
{
    static char text[40000];
    const size_t size = make_words(1, text, sizeof text, 12);
    const rapt_bpe_options o = TRAIN_BPE(.vocab_size = 400, .pattern = pattern, .threads = 1);
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(text, size, &o, &err);
    if (!k)
        fail_msg("%s", err.message);
    return k;
}

/* The ids as the merges alone give them, piece by piece. */
static size_t by_merges(const byte_bpe *b, const char *text, size_t size, int32_t *ids)
{
    split_walk *w = split_walk_new(b->cut, NULL);
    size_t count = 0, more;
    for (size_t at = 0, end; at < size; at = end, count += more) {
        assert_int_equal(split_next(w, text, size, at, &end, NULL), RAPT_OK);
        assert_int_equal(bpe_merge_long(b, text + at, end - at, NULL, ids + count, &more, NULL), RAPT_OK);
    }
    split_walk_free(w);
    return count;
}

static void assert_by_merges(const rapt_tokenizer *k, const char *text, size_t size)
{
    int32_t *want = malloc((size + 1) * sizeof *want), *got;
    char *tight = malloc(size + 1); /* the last byte is not the text's */
    size_t count;
    assert_true(want && tight);
    memcpy(tight + 1, text, size);
    assert_int_equal(rapt_tokenizer_encode_bytes(k, tight + 1, size, NULL, &got, &count, NULL), RAPT_OK);
    assert_int_equal(count, by_merges(byte_bpe_of(k), text, size, want));
    assert_memory_equal(got, want, count * sizeof *got);
    free(tight);
    free(got);
    free(want);
}

/* Short texts, long words, sizes about KEPT_BYTES; a table that grows meanwhile. */
static void texts_one_after_the_other(void **state)
{
    (void)state;
    char text[4000];
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        rapt_tokenizer *k = kept_trained(PATTERNS[i]);
        for (uint64_t n = 0; n < 2000; n++) {
            const size_t size = make_words(n, text, 60 + rng_below(n, 7, n % 50 ? 200 : sizeof text - 60), n % 3 ? 8 : MOST_WORD);
            const size_t some = rng_below(n, 8, size + 1);
            assert_by_merges(k, text + size - some, some);
        }
        assert_by_merges(k, "a\0 a\0\0 aa\0", 10);
        rapt_tokenizer_free(k);
    }
}

/* Twice as many distinct pieces as the table has room for, so that all of them come and go; then the first ones again. */
static void more_pieces_than_it_keeps(void **state)
{
    (void)state;
    enum { PIECES = 2 * KEPT_SETS * KEPT_WAYS, A_TEXT = 2000 };
    rapt_tokenizer *k = kept_trained(SPLIT_CL100K);
    static char text[A_TEXT * 8];
    for (uint64_t first = 0; first < PIECES + 3 * A_TEXT; first += A_TEXT) {
        size_t size = 0;
        for (uint64_t n = first; n < first + A_TEXT; n++) {
            uint64_t word = n % PIECES;
            text[size++] = ' ';
            for (int i = 0; i < 7; i++, word /= 6)
                text[size++] = "abcdeB"[word % 6];
        }
        assert_by_merges(k, text, size);
    }
    rapt_tokenizer_free(k);
}

/* Pieces that all belong to one set drive each other out. */
static void pieces_of_one_set(void **state)
{
    (void)state;
    enum { WORDS = 24 };
    char text[WORDS * 8 * 20];
    size_t size = 0, found = 0;
    kept_pieces all = {0};
    assert_true(kept_pieces_expect(&all, (size_t)KEPT_SETS * 32));
    assert_int_equal(all.mask + 1, KEPT_SETS);
    rapt_tokenizer *k = kept_trained(SPLIT_GPT2);
    char words[WORDS + 1][8];
    for (uint32_t n = 0; found < WORDS; n++) {
        uint32_t left = n;
        words[found][0] = ' ';
        for (int i = 1; i < 8; i++, left /= 26)
            words[found][i] = (char)('a' + left % 26);
        const piece_key key = piece_key_of(words[found], 8, 0, 8);
        found += kept_set_of(&all, &key) == &all.sets[77];
    }
    kept_pieces_free(&all);
    for (uint64_t n = 0; n < 20 * (uint64_t)WORDS; n++, size += 8)
        memcpy(text + size, words[rng_below(3, n, WORDS)], 8);
    char *large = malloc((size_t)KEPT_SETS * 32 + size); /* for the table to be of full size */
    assert_non_null(large);
    memset(large, '\n', (size_t)KEPT_SETS * 32);
    memcpy(large + (size_t)KEPT_SETS * 32, text, size);
    assert_by_merges(k, large, (size_t)KEPT_SETS * 32 + size);
    assert_by_merges(k, text, size);
    free(large);
    rapt_tokenizer_free(k);
}

/* ---- threads ------------------------------------------------------------------------------------------------ */

enum { THREADS = 7, TEXTS = 300 };

typedef struct kept_use {
    const rapt_tokenizer *k;
    uint64_t first;
    uint64_t sums[TEXTS]; /* of the ids of each text */
} kept_use;

static void *encode_texts(void *context)
{
    kept_use *u = context;
    char text[500];
    for (uint64_t n = 0; n < TEXTS; n++) {
        int32_t *ids = NULL;
        size_t count = 0;
        const uint64_t which = (n + u->first) % TEXTS;
        rapt_tokenizer_encode_bytes(u->k, text, make_words(which, text, sizeof text, 9), NULL, &ids, &count, NULL);
        for (size_t i = 0; i < count; i++)
            u->sums[which] = rng_mix(u->sums[which], (uint64_t)ids[i]);
        free(ids);
    }
    return NULL;
}

static void threads_have_the_same_ids(void **state)
{
    (void)state;
    static kept_use alone, uses[THREADS];
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        rapt_tokenizer *k = kept_trained(PATTERNS[i]);
        thread_handle threads[THREADS];
        alone = (kept_use){.k = k};
        encode_texts(&alone);
        for (size_t t = 0; t < THREADS; t++) {
            uses[t] = (kept_use){.k = k, .first = 41 * t};
            assert_true(thread_start(&threads[t], encode_texts, &uses[t]));
        }
        for (size_t t = 0; t < THREADS; t++)
            thread_join(threads[t]);
        for (size_t t = 0; t < THREADS; t++)
            assert_memory_equal(uses[t].sums, alone.sums, sizeof alone.sums);
        rapt_tokenizer_free(k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_found), cmocka_unit_test(nothing_is_read_beyond_the_end),
        cmocka_unit_test(a_set_keeps_the_two_newest), cmocka_unit_test(it_grows_up_to_its_bound),
        cmocka_unit_test(texts_one_after_the_other), cmocka_unit_test(more_pieces_than_it_keeps),
        cmocka_unit_test(pieces_of_one_set), cmocka_unit_test(threads_have_the_same_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
