/* test_bpe_train.c: the merges that are learnt from a text: small cases worked out by hand, random texts against a
 * trainer that counts everything anew for each merge, a real text against Hugging Face's `tokenizers`.
 * For src/text/bpe/bpe_train.c. Where pieces are cut, and that each is counted once, is test_piece_counts.c's.
 * labels: not-raced sanitized-late */
#include "options.h"
#include "text/bpe/bpe_train.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpe_reference.h"

#define WORDS "[^ ]+| "
#define WHOLE "[\\s\\S]+"
enum { MOST_MERGES = 400 };

static bpe_merge *train(const char *text, size_t size, const char *pattern, const rapt_bpe_options *o, size_t *count)
{
    rapt_error err = {0};
    bpe_merge *merges = NULL;
    split *cut = split_new(pattern, &err);
    if (!cut || bpe_train((learn_text){text, size, NULL}, cut, o, &merges, count, &err))
        fail_msg("%s", err.message);
    assert_non_null(merges);
    split_free(cut);
    return merges;
}

static void assert_merges(const char *text, const char *pattern, rapt_bpe_options o, const bpe_merge *want, size_t wanted)
{
    size_t count;
    o.threads = 1;
    bpe_merge *got = train(text, strlen(text), pattern, &o, &count);
    for (size_t i = 0; i < count && i < wanted; i++)
        if (got[i].left != want[i].left || got[i].right != want[i].right)
            fail_msg("'%s': merge %zu is %d %d, not %d %d", text, i, got[i].left, got[i].right, want[i].left, want[i].right);
    assert_int_equal(count, wanted);
    free(got);
}

#define MERGES(...) (const bpe_merge[]){__VA_ARGS__}, sizeof((bpe_merge[]){__VA_ARGS__}) / sizeof(bpe_merge)
#define NO_MERGES NULL, 0
#define ALL .vocab_size = 1000

/* hu 4, ug 6, pu 2, gs 1; then h-ug 4, p-ug 2, ug-s 1; then hug-s 1. */
static void test_most_frequent_first(void **state)
{
    const char *text = "hug hug hug pug pug hugs";
    (void)state;
    assert_merges(text, WORDS, TRAIN_BPE(ALL), MERGES({'u', 'g'}, {'h', 256}, {'p', 256}));
    assert_merges(text, WORDS, TRAIN_BPE(ALL, .min_freq = 1),
                  MERGES({'u', 'g'}, {'h', 256}, {'p', 256}, {257, 's'}));
    assert_merges(text, WORDS, TRAIN_BPE(ALL, .min_freq = 2), MERGES({'u', 'g'}, {'h', 256}, {'p', 256}));
    assert_merges(text, WORDS, TRAIN_BPE(ALL, .min_freq = 3), MERGES({'u', 'g'}, {'h', 256}));
    assert_merges(text, WORDS, TRAIN_BPE(ALL, .min_freq = 6), MERGES({'u', 'g'}));
    assert_merges(text, WORDS, TRAIN_BPE(ALL, .min_freq = 7), NO_MERGES);
    assert_merges(text, WORDS, TRAIN_BPE(ALL, .min_freq = SIZE_MAX), NO_MERGES);
}

/* All counts equal: the smaller first token, then the smaller second one; bytes count as 0 .. 255. */
static void test_ties(void **state)
{
    (void)state;
    rapt_bpe_options once = TRAIN_BPE(ALL, .min_freq = 1);
    assert_merges("ba ab", WORDS, once, MERGES({'a', 'b'}, {'b', 'a'}));
    assert_merges("ac ab aa", WORDS, once, MERGES({'a', 'a'}, {'a', 'b'}, {'a', 'c'}));
    assert_merges("\xC3\xA9 zz", WORDS, once, MERGES({'z', 'z'}, {0xC3, 0xA9}));
    /* xy, then of yz-.. none is left: "xy z" and "q xy" tie, and q is smaller than token 256 */
    assert_merges("xy xyz qxy", WORDS, once, MERGES({'x', 'y'}, {'q', 256}, {256, 'z'}));
}

/* Every two adjacent tokens count, so "aaa" holds two pairs; merging goes from left to right. */
static void test_runs(void **state)
{
    (void)state;
    rapt_bpe_options once = TRAIN_BPE(ALL, .min_freq = 1);
    assert_merges("aaa", WORDS, TRAIN_BPE(ALL), MERGES({'a', 'a'}));
    assert_merges("aaa", WORDS, TRAIN_BPE(ALL, .min_freq = 3), NO_MERGES);
    assert_merges("aaaa", WORDS, once, MERGES({'a', 'a'}, {256, 256}));
    /* aa aa a: (256, 97) and (256, 256) occur once; 97 is smaller */
    assert_merges("aaaaa", WORDS, once, MERGES({'a', 'a'}, {256, 'a'}, {256, 257}));
    /* aa aa aa a in each of two words, b before one of them: (256, 256) occurs 4 times; then 257 aa a */
    assert_merges("aaaaaaa baaaaaaa", WORDS, TRAIN_BPE(ALL),
                  MERGES({'a', 'a'}, {256, 256}, {256, 'a'}, {257, 258}));
    /* ab 4, ba 3; then 256 256 three times, 257 257 once */
    assert_merges("abababab", WORDS, TRAIN_BPE(ALL), MERGES({'a', 'b'}, {256, 256}));
}

static void test_vocabulary_size(void **state)
{
    const char *text = "hug hug hug pug pug hugs", *specials[] = {"<|a|>", "<|b|>"};
    (void)state;
    assert_merges(text, WORDS, TRAIN_BPE(.vocab_size = 256), NO_MERGES);
    assert_merges(text, WORDS, TRAIN_BPE(.vocab_size = 257), MERGES({'u', 'g'}));
    assert_merges(text, WORDS, TRAIN_BPE(.vocab_size = 258), MERGES({'u', 'g'}, {'h', 256}));
    assert_merges(text, WORDS, TRAIN_BPE(.vocab_size = 259, .specials = specials, .special_count = 2),
                  MERGES({'u', 'g'}));
    assert_merges(text, WORDS, TRAIN_BPE(.vocab_size = 258, .specials = specials, .special_count = 2), NO_MERGES);
    assert_merges(text, WORDS, TRAIN_BPE(.vocab_size = INT32_MAX), MERGES({'u', 'g'}, {'h', 256}, {'p', 256}));
}

/* The pair that would spell a special token is skipped; the tokens beside it still merge. */
static void test_special_tokens_are_not_made(void **state)
{
    const char *specials[] = {"hux", "hug"};
    (void)state;
    assert_merges("hug hug hug pug pug hugs", WORDS,
                  TRAIN_BPE(ALL, .min_freq = 1, .specials = specials, .special_count = 2),
                  MERGES({'u', 'g'}, {'p', 256}, {256, 's'}, {'h', 258}));
}

static void test_nothing_to_merge(void **state)
{
    (void)state;
    assert_merges("a", WORDS, TRAIN_BPE(ALL, .min_freq = 1), NO_MERGES);
    assert_merges("a b c a b c", WORDS, TRAIN_BPE(ALL, .min_freq = 1), NO_MERGES);
    assert_merges("ab cd ef", WORDS, TRAIN_BPE(ALL), NO_MERGES);
}

static void assert_refused(size_t size, rapt_bpe_options o, rapt_code code, const char *message)
{
    rapt_error err = {0};
    bpe_merge *merges = (bpe_merge *)&err;
    size_t count = 7;
    split *cut = split_new(WORDS, NULL);
    assert_int_equal(bpe_train((learn_text){"hug", size, NULL}, cut, &o, &merges, &count, &err), code);
    assert_string_equal(err.message, message);
    assert_null(merges);
    assert_int_equal(count, 0);
    split_free(cut);
}

static void test_what_is_refused(void **state)
{
    const char *specials[] = {"<|a|>", "<|b|>"};
    (void)state;
    assert_refused(0, TRAIN_BPE(ALL), RAPT_ERR_VALUE, "nothing to learn from: the text is empty");
    assert_refused(3, TRAIN_BPE(.vocab_size = 255), RAPT_ERR_VALUE,
                   "a vocabulary of 255 is too small for 256 bytes and 0 special tokens");
    assert_refused(3, TRAIN_BPE(.vocab_size = 257, .specials = specials, .special_count = 2), RAPT_ERR_VALUE,
                   "a vocabulary of 257 is too small for 256 bytes and 2 special tokens");
    assert_refused(3, TRAIN_BPE(.vocab_size = (size_t)INT32_MAX + 1), RAPT_ERR_VALUE,
                   "a vocabulary of 2147483648 is too large; at most 2147483647 are possible");
    assert_refused(3, TRAIN_BPE(ALL, .threads = 1000), RAPT_ERR_VALUE,
                   "1000 threads asked for; at most 256 are possible");
}

/* ---- random texts ------------------------------------------------------------------------------------------ */

/* A small generator of its own, so that the texts stay what they are. */
static uint64_t random_below(uint64_t *seed, uint64_t n)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed % n;
}

static size_t token_text(const bpe_merge *merges, int32_t token, char *out)
{
    if (token < 256) {
        *out = (char)token;
        return 1;
    }
    size_t left = token_text(merges, merges[token - 256].left, out);
    return left + token_text(merges, merges[token - 256].right, out + left);
}

static void assert_no_twins(const bpe_merge *merges, size_t count)
{
    static char texts[MOST_MERGES][512];
    static size_t sizes[MOST_MERGES];
    for (size_t i = 0; i < count; i++) {
        sizes[i] = token_text(merges, (int32_t)(256 + i), texts[i]);
        for (size_t j = 0; j < i; j++)
            if (sizes[i] == sizes[j] && memcmp(texts[i], texts[j], sizes[i]) == 0)
                fail_msg("tokens %zu and %zu have the same bytes", 256 + j, 256 + i);
    }
}

static void assert_as_defined(const char *text, size_t size, const char *pattern, const rapt_bpe_options *o)
{
    static bpe_merge want[MOST_MERGES + 1];
    size_t count, wanted = reference_train(text, size, pattern, o, want);
    bpe_merge *got = train(text, size, pattern, o, &count);
    for (size_t i = 0; i < count && i < wanted; i++)
        if (got[i].left != want[i].left || got[i].right != want[i].right)
            fail_msg("'%.*s' cut by %s: merge %zu is %d %d, not %d %d", (int)size, text, pattern, i, got[i].left,
                     got[i].right, want[i].left, want[i].right);
    assert_int_equal(count, wanted);
    assert_no_twins(got, count);
    free(got);
}

static void test_random_texts(void **state)
{
    static const char *const patterns[] = {WORDS, WHOLE, SPLIT_GPT2, ".{1,9}", "a+|[bc]+"};
    uint64_t seed = 42;
    char text[200];
    (void)state;
    for (int i = 0; i < 2000; i++) {
        size_t size = 1 + random_below(&seed, sizeof text), letters = 1 + random_below(&seed, 4);
        for (size_t j = 0; j < size; j++)
            text[j] = random_below(&seed, 6) ? (char)('a' + random_below(&seed, letters)) : ' ';
        rapt_bpe_options o = TRAIN_BPE(.vocab_size = 256 + random_below(&seed, 60), .min_freq = random_below(&seed, 4),
                                       .threads = 1);
        assert_as_defined(text, size, patterns[i % 5], &o);
    }
}

/* Bytes of which many are not UTF-8, and NULs. */
static void test_random_bytes(void **state)
{
    static const char *const parts[] = {"\0\0", "\xFF", "\xC3\xA9", "\xC3", "\xF0\x9F\x98\x80", "\xF0\x9F", "\x80\x80", " ", "a"};
    static const size_t sizes[] = {2, 1, 2, 1, 4, 2, 2, 1, 1};
    uint64_t seed = 7;
    char text[600];
    (void)state;
    for (int i = 0; i < 100; i++) {
        size_t size = 0, wanted = 1 + random_below(&seed, sizeof text - 4);
        while (size < wanted) {
            size_t part = random_below(&seed, 9);
            memcpy(text + size, parts[part], sizes[part]);
            size += sizes[part];
        }
        rapt_bpe_options o = TRAIN_BPE(.vocab_size = 300, .threads = 1);
        assert_as_defined(text, size, i % 2 ? SPLIT_GPT2 : WHOLE, &o);
    }
}

/* ---- large texts ------------------------------------------------------------------------------------------ */

static char *random_words(size_t size, bool bytes)
{
    uint64_t seed = 99;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < size; i++) {
        uint64_t x = random_below(&seed, bytes ? 512 : 32);
        text[i] = x >= 256 ? ' ' : bytes ? (char)x : x < 6 ? " \n.,'9"[x] : (char)('a' + random_below(&seed, 5) * (x % 5));
    }
    return text;
}

static void check_threads(const char *text, size_t size, const char *pattern)
{
    static const int threads[] = {2, 3, 7, 0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 256 + MOST_MERGES, .threads = 1);
    size_t wanted, count;
    bpe_merge *want = train(text, size, pattern, &o, &wanted);
    assert_int_equal(wanted, MOST_MERGES);
    for (size_t i = 0; i < 4; i++) {
        o.threads = threads[i];
        bpe_merge *got = train(text, size, pattern, &o, &count);
        assert_int_equal(count, wanted);
        assert_memory_equal(got, want, count * sizeof *got);
        free(got);
    }
    free(want);
}

static void test_any_number_of_threads(void **state)
{
    size_t size = 1000003;
    (void)state;
    for (int bytes = 0; bytes < 2; bytes++) {
        char *text = random_words(size, bytes);
        check_threads(text, size, SPLIT_GPT2);
        check_threads(text, size, SPLIT_CL100K);
        free(text);
    }
}

static char *read_shakespeare(size_t *size)
{
    char path[1024];
    const char *shared = getenv("RAPT_SHARED");
    snprintf(path, sizeof path, "%s/data/tinyshakespeare/input.txt", shared ? shared : "../shared");
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = malloc(2 << 20);
    *size = text ? fread(text, 1, 2 << 20, file) : 0;
    fclose(file);
    return text;
}

/* The first 64 tokens that BpeTrainer of `tokenizers` 0.23.3 makes of the same text (train_from_iterator of the whole
 * text, ByteLevel, min_frequency 2). Further on, at merge 182, equal counts come out in another order: it numbers the
 * bytes otherwise. */
static void test_as_tokenizers(void **state)
{
    static const char *const want[] = {
        " t", "he", " a", "ou", " s", " m", "in", " w", "re", "ha", "nd", " the", " b", "is", "or", " f",
        "er", "ll", "it", "on", " d", " c", "es", "en", " n", " l", " y", " th", "ar", " h", " o", " to",
        " you", " p", "hat", " I", " he", "ve", "ot", "st", " and", "ow", "ing", "an", " of", "om", " g", "at",
        " be", "se", " my", " in", "ce", " ha", "le", "ay", "ld", "ir", "et", "ed", "ut", " me", "im", "ith"};
    char *text, token[64];
    size_t size, count;
    (void)state;
    text = read_shakespeare(&size);
    if (!text) {
        print_message("no ../shared/data/tinyshakespeare here\n");
        skip();
    }
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 256 + 64, .threads = 2);
    bpe_merge *merges = train(text, size, SPLIT_GPT2, &o, &count);
    assert_int_equal(count, 64);
    for (size_t i = 0; i < 64; i++) {
        token[token_text(merges, (int32_t)(256 + i), token)] = '\0';
        assert_string_equal(token, want[i]);
    }
    free(merges);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_frequent_first),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_vocabulary_size),
        cmocka_unit_test(test_special_tokens_are_not_made),
        cmocka_unit_test(test_nothing_to_merge),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_as_tokenizers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
