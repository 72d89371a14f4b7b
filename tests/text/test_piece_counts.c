/* test_piece_counts.c: pieces counted in chunks and by several threads are the pieces of one walk from the first byte
 * to the last, for patterns that make this hard: walks that never meet, pieces longer than chunks, lookbehind, failures.
 * For src/text/bpe/piece_counts.c and the counts of token_list.c. What a pattern matches is the split's business. */
#include "text/bpe/bpe_train.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_SIZE = 3000 };

static uint64_t random_below(uint64_t *seed, uint64_t n)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed % n;
}

/* Words, digits, spaces, lines, characters of 2 to 4 bytes, and bytes that are not UTF-8. */
static size_t random_text(char *text, uint64_t seed)
{
    static const char *const parts[] = {"a", "b", "ab", "ba", " ", "  ", "\n", "17", "'s", "\xC3\xA9", "\xE4\xBD\xA0",
                                        "\xF0\x9F\x98\x80", "\xFF", "\xC3", "\x80\x80", "!?"};
    size_t size = 0;
    while (size < TEXT_SIZE - 4) {
        const char *part = parts[random_below(&seed, 16)];
        memcpy(text + size, part, strlen(part));
        size += strlen(part);
    }
    return size;
}

/* One walk; how often a piece occurs in it is counted by comparing it with all of them. */
static size_t walk_all(const char *text, size_t size, const split *cut, size_t *starts)
{
    size_t count = 0;
    split_walk *walk = split_walk_new(cut, NULL);
    for (size_t at = 0; at < size;) {
        starts[count++] = at;
        assert_int_equal(split_next(walk, text, size, at, &at, NULL), RAPT_OK);
    }
    starts[count] = size;
    split_walk_free(walk);
    return count;
}

static int64_t occurrences(const char *text, const size_t *starts, size_t count, const char *piece_text, size_t length)
{
    int64_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += starts[i + 1] - starts[i] == length && memcmp(text + starts[i], piece_text, length) == 0;
    return n;
}

static void assert_counts(const token_counts *got, const char *text, const size_t *starts, size_t count)
{
    int64_t total = 0;
    for (size_t i = 0, length; i < got->tokens.size; i++) {
        const char *piece = token_list_at(&got->tokens, (int64_t)i, &length);
        assert_int_equal(got->counts[i], occurrences(text, starts, count, piece, length));
        total += got->counts[i];
    }
    assert_int_equal(total, count); /* none is missing, none is there twice */
}

static void check_pattern(const char *pattern, const char *text, size_t size)
{
    static const size_t chunks[] = {1, 2, 3, 7, 64, 1000, 100000};
    static const int threads[] = {1, 2, 7};
    static size_t starts[TEXT_SIZE + 1];
    split *cut = split_new(pattern, NULL);
    assert_non_null(cut);
    size_t count = walk_all(text, size, cut, starts);
    for (size_t i = 0; i < 7 * 3; i++) {
        token_counts got = {0};
        rapt_error err = {0};
        const learn_text all = {.data = text, .size = size};
        if (piece_counts_take(all, cut, threads[i % 3], chunks[i / 3], (stop_check){0}, &got, &err))
            fail_msg("%s", err.message);
        assert_counts(&got, text, starts, count);
        token_counts_free(&got);
    }
    split_free(cut);
}

static void test_one_walk(void **state)
{
    static const char *const patterns[] = {
        SPLIT_GPT2, SPLIT_CL100K, SPLIT_O200K,
        "[^ ]+| ",
        "..",                    /* walks that begin at odd and even characters never meet in valid text */
        "[\\s\\S]{7}",
        "[\\s\\S]{300}",            /* longer than most chunks */
        "[\\s\\S]+",                /* one piece */
        "(?<=a)b+|(?<=b)a+|.",   /* looks back beyond the piece */
        "ab",                    /* what lies between is a piece as well */
        "[ab]{3}(?=[ab]* )|[ab]{2}",
        "(?<= )[ab]+(?= )|\\n+",
    };
    char text[TEXT_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        check_pattern(patterns[i], text, random_text(text, 1 + i));
}

static void assert_same_counts(token_counts *got, const token_counts *wanted)
{
    for (size_t i = 0, length; i < wanted->tokens.size; i++) {
        const char *piece = token_list_at(&wanted->tokens, (int64_t)i, &length);
        assert_true(token_counts_add(got, piece, length, -wanted->counts[i]));
    }
    for (size_t i = 0; i < got->tokens.size; i++)
        assert_int_equal(got->counts[i], 0);
}

/* Special tokens are no pieces, and what is between two of them is cut as a text of its own: the counts are the sums. */
static void test_special_tokens(void **state)
{
    static const text_special specials[] = {{0, 2}, {40, 45}, {45, 47}, {300, 301}, {TEXT_SIZE - 100, TEXT_SIZE - 93}};
    static const char *const patterns[] = {SPLIT_GPT2, "[\\s\\S]{7}", "[\\s\\S]+", "(?<=a)b+|(?<=b)a+|.",
                                           "(?<= )[ab]+(?= )|\\n+"};
    enum { COUNT = sizeof specials / sizeof *specials };
    static const size_t chunks[] = {1, 3, 50, 1000, 100000};
    char text[TEXT_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const size_t size = random_text(text, 1 + i);
        split *cut = split_new(patterns[i], NULL);
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
            token_counts got = {0}, wanted = {0};
            const learn_text all = {.data = text, .size = size, .specials = specials, .special_count = COUNT};
            assert_int_equal(piece_counts_take(all, cut, 3, chunks[c], (stop_check){0}, &got, NULL), RAPT_OK);
            for (size_t k = 0; k <= COUNT; k++) {
                const size_t begin = k > 0 ? specials[k - 1].end : 0, end = k < COUNT ? specials[k].begin : size;
                const learn_text part = {.data = text + begin, .size = end - begin};
                if (end > begin)
                    assert_int_equal(piece_counts_take(part, cut, 1, 100000, (stop_check){0}, &wanted, NULL), RAPT_OK);
            }
            assert_same_counts(&got, &wanted);
            token_counts_free(&got);
            token_counts_free(&wanted);
        }
        split_free(cut);
    }
}

static void test_periodic_text(void **state)
{
    char text[TEXT_SIZE];
    (void)state;
    memset(text, 'a', sizeof text);
    check_pattern("aa", text, sizeof text);
    check_pattern("a{3}", text, sizeof text - 1);
    check_pattern("a+", text, sizeof text);
    memset(text, '\x80', sizeof text);
    check_pattern("aa", text, sizeof text);
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    check_pattern(".", text, sizeof text);
    check_pattern("...", text, sizeof text);
    check_pattern(".", "a", 1);
}

/* (a+)+b takes 2^n steps to give up on n letters a: more than the split allows, which takes it most of a second. */
#define SLOW_RUN "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* The second chunk begins within the run, where the pattern fails. The walk from the start never comes there. */
static void test_failure_beside_the_way(void **state)
{
    const char *text = "x" SLOW_RUN SLOW_RUN "caab";
    token_counts got = {0};
    rapt_error err = {0};
    split *cut = split_new("xa{128}|(?:a+)+b|c", NULL);
    (void)state;
    assert_non_null(cut);
    if (piece_counts_take((learn_text){text, strlen(text), NULL}, cut, 1, 80, (stop_check){0}, &got, &err))
        fail_msg("%s", err.message);
    assert_counts(&got, text, (const size_t[]){0, 129, 130, 133}, 3);
    token_counts_free(&got);
    split_free(cut);
}

/* The same failure on the way is reported, from the place that the walk came to, not from where a chunk begins. */
static void test_failure_on_the_way(void **state)
{
    const char *text = "caabcaabc" SLOW_RUN "cb";
    token_counts got = {0};
    rapt_error err = {0};
    split *cut = split_new("(?:a+)+b|c", NULL);
    (void)state;
    assert_non_null(cut);
    const learn_text all = {text, strlen(text), NULL};
    assert_int_equal(piece_counts_take(all, cut, 2, 40, (stop_check){0}, &got, &err), RAPT_ERR_VALUE);
    assert_memory_equal(err.message, "byte 10: ", 9);
    token_counts_free(&got);
    split_free(cut);
}

static void test_table(void **state)
{
    token_counts t = {0};
    char bytes[2] = {0};
    (void)state;
    for (int i = 0; i < 3 * 65536; i++) { /* every two bytes, three times */
        memcpy(bytes, &(uint16_t){(uint16_t)(i * 7919)}, 2);
        assert_true(token_counts_add(&t, bytes, 2, 1));
    }
    assert_true(token_counts_add(&t, bytes, 1, 5)); /* a piece that begins another one is its own */
    assert_int_equal(t.tokens.size, 65537);
    for (size_t i = 0, length; i < t.tokens.size; i++) {
        const char *piece = token_list_at(&t.tokens, (int64_t)i, &length);
        assert_int_equal(token_list_find(&t.tokens, piece, length), i);
        assert_int_equal(t.counts[i], length == 1 ? 5 : 3);
    }
    token_counts_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_walk),
        cmocka_unit_test(test_special_tokens),
        cmocka_unit_test(test_periodic_text),
        cmocka_unit_test(test_failure_beside_the_way),
        cmocka_unit_test(test_failure_on_the_way),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
