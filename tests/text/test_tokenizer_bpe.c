/* test_tokenizer_bpe.c: byte-level BPE: merges by hand, special tokens, and that any bytes come back.
 * For src/text/bpe/byte_bpe.c, bpe_encode.c, bpe_merge.c, specials.c and what they stand on.
 * Not a test of training (test_bpe_train.c), nor of files of others (test_tokenizer_hf.c, test_tokenizer_ranks.c).
 * labels: threads */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "options.h"
#include "text/bpe/bpe_encode.h"
#include "text/tokenizer_files.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A tokenizer with these merges, in this order: tokens 256, 257, ... */
static byte_bpe *bpe_of(const char *pattern, const char *const (*merges)[2], size_t count)
{
    byte_bpe *b = byte_bpe_new(pattern, NULL);
    assert_non_null(b);
    for (int i = 0; i < 256; i++)
        assert_true(token_list_put(&b->tokens, (size_t)i, &(char){(char)i}, 1, true));
    assert_int_equal(byte_bpe_find_bytes(b, NULL), RAPT_OK);
    for (size_t i = 0; i < count; i++) {
        char both[64];
        int size = snprintf(both, sizeof both, "%s%s", merges[i][0], merges[i][1]);
        int32_t left = token_list_find(&b->tokens, merges[i][0], strlen(merges[i][0]));
        int32_t right = token_list_find(&b->tokens, merges[i][1], strlen(merges[i][1]));
        if (token_list_find(&b->tokens, both, (size_t)size) < 0)
            assert_true(token_list_put(&b->tokens, b->tokens.size, both, (size_t)size, true));
        assert_int_equal(byte_bpe_add_merge(b, left, right, (uint32_t)i, NULL), RAPT_OK);
    }
    return b;
}

/* ---- merges ------------------------------------------------------------------------------------------------- */

static void test_merges_by_rank(void **state)
{
    (void)state;
    static const char *const merges[][2] = {{"b", "c"}, {"a", "b"}, {"a", "bc"}, {"c", "d"}, {"a", "a"}, {"aa", "a"}};
    byte_bpe *b = bpe_of(SPLIT_GPT2, merges, COUNT(merges)); /* bc 256, ab 257, abc 258, cd 259, aa 260, aaa 261 */
    const rapt_tokenizer *k = &b->base;
    ENCODES(k, "abc", 258);         /* bc goes before ab */
    ENCODES(k, "abd", 257, 'd');
    ENCODES(k, "abcd", 258, 'd');   /* bc goes before cd */
    ENCODES(k, "acd", 'a', 259);
    ENCODES(k, "aaa", 261);         /* the leftmost of two equal pairs */
    ENCODES(k, "aaaa", 260, 260);
    ENCODES(k, "aaaaa", 260, 261);
    ENCODES(k, "a bc", 'a', ' ', 256);
    ENCODES(k, "ab cd", 257, ' ', 259); /* no merge over the end of a piece */
    byte_bpe_free(b);
}

/* A token that the merges don't reach; "ignore_merges", as tiktoken has it, takes it where it is a piece. */
static void test_whole_pieces(void **state)
{
    (void)state;
    static const char *const merges[][2] = {{"a", "b"}};
    byte_bpe *b = bpe_of(SPLIT_GPT2, merges, COUNT(merges));
    assert_true(token_list_put(&b->tokens, 300, "xyz", 3, true));
    ENCODES(&b->base, "xyz", 'x', 'y', 'z');
    byte_bpe_free(b);
    b = bpe_of(SPLIT_GPT2, merges, COUNT(merges));
    assert_true(token_list_put(&b->tokens, 300, "xyz", 3, true));
    b->whole_pieces = true;
    ENCODES(&b->base, "xyz", 300);
    ENCODES(&b->base, "xyza", 'x', 'y', 'z', 'a');
    ENCODES(&b->base, "ab", 256);
    assert_null(rapt_tokenizer_token(&b->base, 280, NULL)); /* a hole */
    assert_int_equal(rapt_tokenizer_size(&b->base), 301);
    DECODES(&b->base, "xyza", 300, 280, 'a', 301);
    byte_bpe_free(b);
}

/* Whether a sequence is what the definition gives: apply the pair of lowest rank, the leftmost first, to the end. */
static size_t by_definition(const byte_bpe *b, const char *piece, size_t size, int32_t *ids)
{
    for (size_t i = 0; i < size; i++)
        ids[i] = b->bytes[(unsigned char)piece[i]];
    for (;;) {
        size_t best = size;
        pair_merge lowest = {PAIR_NEVER, -1};
        for (size_t i = 0; i + 1 < size; i++) {
            pair_merge m = pair_table_find(&b->pairs, ids[i], ids[i + 1]);
            if (m.rank < lowest.rank)
                lowest = m, best = i;
        }
        if (best == size)
            return size;
        ids[best] = lowest.id;
        memmove(ids + best + 1, ids + best + 2, (size - best - 2) * sizeof *ids);
        size--;
    }
}

static void test_short_and_long(void **state)
{
    (void)state;
    static const char *const merges[][2] = {{"b", "a"}, {"a", "a"}, {"a", "b"}, {"aa", "aa"}, {"ba", "ba"},
                                            {"ab", "b"}, {"aa", "ba"}, {"aaaa", "aa"}, {"baba", "a"}, {"b", "b"}};
    byte_bpe *b = bpe_of(SPLIT_GPT2, merges, COUNT(merges));
    for (uint64_t n = 0; n < 3000; n++) {
        char piece[400];
        int32_t want[400], got[400];
        size_t size = 1 + rng_below(n, 0, n % 3 ? BPE_SHORT : sizeof piece), count;
        for (size_t i = 0; i < size; i++)
            piece[i] = "abcaaaab"[rng_below(n, 1 + i, n % 2 ? 8 : 2)];
        size_t want_count = by_definition(b, piece, size, want);
        assert_int_equal(bpe_merge_long(b, piece, size, NULL, got, &count, NULL), RAPT_OK);
        assert_int_equal(count, want_count);
        assert_memory_equal(got, want, count * sizeof *got);
        if (size > BPE_SHORT)
            continue;
        assert_int_equal(bpe_merge_short(b, piece, size, got), want_count);
        assert_memory_equal(got, want, count * sizeof *got);
    }
    byte_bpe_free(b);
}

/* In time size x size this takes minutes. */
static void test_very_long_piece(void **state)
{
    (void)state;
    static const char *const merges[][2] = {{"a", "a"}, {"aa", "aa"}};
    enum { SIZE = 1 << 20 };
    byte_bpe *b = bpe_of(SPLIT_GPT2, merges, COUNT(merges));
    char *text = malloc(SIZE);
    int32_t *ids;
    size_t count;
    memset(text, 'a', SIZE);
    assert_int_equal(rapt_tokenizer_encode_bytes(&b->base, text, SIZE, NULL, &ids, &count, NULL), RAPT_OK);
    assert_int_equal(count, SIZE / 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids[i], 257);
    free(ids);
    free(text);
    byte_bpe_free(b);
}

/* ---- special tokens ----------------------------------------------------------------------------------------- */

static void add_special(byte_bpe *b, const char *text, bool always)
{
    assert_int_equal(byte_bpe_add_special(b, b->tokens.size, text, strlen(text), always, NULL), RAPT_OK);
}

static void test_specials(void **state)
{
    (void)state;
    static const char *const merges[][2] = {{"a", "b"}};
    byte_bpe *b = bpe_of(SPLIT_GPT2, merges, COUNT(merges));
    add_special(b, "<|e|>", false);  /* 257 */
    add_special(b, "<|e|>b", false); /* 258 */
    add_special(b, "ab!", true);     /* 259 */
    const rapt_tokenizer *k = &b->base;
    SPECIALS(k, "ab<|e|>ab", 256, 257, 256);
    SPECIALS(k, "<|e|>b", 258);             /* the longest one */
    SPECIALS(k, "<|e|<|e|>", '<', '|', 'e', '|', 257);
    SPECIALS(k, "<|e|><|e|>", 257, 257);
    ENCODES(k, "<|e|>", '<', '|', 'e', '|', '>');
    ENCODES(k, "aab!b", 'a', 259, 'b');     /* special or not, this one is always found */
    SPECIALS(k, "a<|e|", 'a', '<', '|', 'e', '|');
    DECODES(k, "a<|e|>", 'a', 257);
    assert_int_equal(rapt_tokenizer_special(k, "<|e|>b"), 258);
    assert_int_equal(rapt_tokenizer_special(k, "<|e|"), -1);
    rapt_error err = {0};
    assert_int_equal(byte_bpe_add_special(b, 400, "<|e|>", 5, false, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "special token \"<|e|>\" is there twice");
    byte_bpe_free(b);
}

/* A special token ends the text before it for the pattern too: its white space is trailing. */
static void test_specials_cut(void **state)
{
    (void)state;
    static const char *const merges[][2] = {{" ", " "}, {"  ", " "}, {" ", "a"}};
    byte_bpe *b = bpe_of(SPLIT_GPT2, merges, COUNT(merges)); /* two spaces 256, three 257, " a" 258 */
    add_special(b, "a!", false);
    ENCODES(&b->base, "   a!", 256, 258, '!');
    SPECIALS(&b->base, "   a!", 257, 259);
    byte_bpe_free(b);
}

static void test_ids_around(void **state)
{
    (void)state;
    byte_bpe *b = bpe_of(SPLIT_GPT2, NULL, 0);
    b->before = (id_row){malloc(sizeof(int32_t)), 1};
    b->after = (id_row){malloc(2 * sizeof(int32_t)), 2};
    b->before.ids[0] = 1, b->after.ids[0] = 2, b->after.ids[1] = 3;
    SPECIALS(&b->base, "a", 1, 'a', 2, 3);
    SPECIALS(&b->base, "", 1, 2, 3);
    ENCODES(&b->base, "a", 'a');
    byte_bpe_free(b);
}

/* ---- form NFC ----------------------------------------------------------------------------------------------- */

static void test_composed(void **state)
{
    (void)state;
    byte_bpe *b = bpe_of(SPLIT_GPT2, NULL, 0);
    assert_int_equal(normalizer_add_all(&b->normal, RAPT_NORMALIZATION_NFC, NULL), RAPT_OK);
    ENCODES(&b->base, "e\xCC\x81", 0xC3, 0xA9);           /* e and an acute accent */
    ENCODES(&b->base, "\xFF" "e\xCC\x81\xC3", 0xFF, 0xC3, 0xA9, 0xC3); /* what is not UTF-8 stays */
    ENCODES(&b->base, "\xE1\x84\x80\xE1\x85\xA1", 0xEA, 0xB0, 0x80);   /* a Hangul syllable */
    ENCODES(&b->base, "plain \xC3\xA9", 'p', 'l', 'a', 'i', 'n', ' ', 0xC3, 0xA9);
    byte_bpe_free(b);
}

/* ---- properties --------------------------------------------------------------------------------------------- */

/* Text of a few words, of random bytes, or of random code points. */
static size_t random_text(uint64_t n, char *text, size_t room)
{
    static const char *const words[] = {"the ", "then", "\xC3\xA9t\xC3\xA9", " ", "\n\n", "12345", "<|x|>", "'ll",
                                        "\xE4\xB8\xAD", "!?"};
    size_t size = 0, wanted = rng_below(n, 0, room - 16);
    for (uint64_t i = 1; size < wanted; i++) {
        const char *word = words[rng_below(n, i, COUNT(words))];
        if (n % 3 == 0 || (n % 3 == 1 && i % 4 == 0)) {
            text[size++] = (char)rng_below(n, i, 256);
        } else {
            memcpy(text + size, word, strlen(word));
            size += strlen(word);
        }
    }
    return size;
}

static rapt_tokenizer *trained(const char *pattern)
{
    static const char *const specials[] = {"<|x|>", "<|"};
    char *text = malloc(20000);
    size_t size = 0;
    for (uint64_t n = 1; size < 16000; n++)
        size += random_text(n, text + size, 1000);
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 600, .pattern = pattern, .specials = specials, .special_count = 2, .threads = 2);
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(text, size, &o, &err);
    if (!k)
        fail_msg("%s", err.message);
    free(text);
    return k;
}

static void test_round_trip(void **state)
{
    (void)state;
    static const char *const patterns[] = {NULL, SPLIT_CL100K, SPLIT_O200K, "\\w+|\\s+|[^\\w\\s]"};
    for (size_t i = 0; i < COUNT(patterns); i++) {
        rapt_tokenizer *k = trained(patterns[i]);
        assert_true(rapt_tokenizer_size(k) > 280 && rapt_tokenizer_size(k) <= 600);
        for (uint64_t n = 0; n < 300; n++) {
            char text[3000];
            size_t size = random_text(n, text, sizeof text);
            assert_round_trip(k, text, size, n % 2);
        }
        assert_saves(k);
        rapt_tokenizer_free(k);
    }
}

/* The table of kept pieces changes nothing: a text and its parts, cut where pieces end, give the same ids. */
static void test_parts_equal_whole(void **state)
{
    (void)state;
    rapt_tokenizer *k = trained("[^\\n]*\\n|[^\\n]+$");
    for (uint64_t n = 0; n < 100; n++) {
        char text[3000];
        int32_t *whole, *part;
        size_t size = random_text(n, text, sizeof text), count, part_count, done = 0;
        assert_int_equal(rapt_tokenizer_encode_bytes(k, text, size, NULL, &whole, &count, NULL), RAPT_OK);
        for (size_t at = 0, end; at < size; at = end) {
            const char *feed = memchr(text + at, '\n', size - at);
            end = feed ? (size_t)(feed - text) + 1 : size;
            assert_int_equal(rapt_tokenizer_encode_bytes(k, text + at, end - at, NULL, &part, &part_count, NULL), RAPT_OK);
            assert_true(done + part_count <= count);
            assert_memory_equal(part, whole + done, part_count * sizeof *part);
            done += part_count;
            free(part);
        }
        assert_int_equal(done, count);
        free(whole);
    }
    rapt_tokenizer_free(k);
}

typedef struct shared_use {
    const rapt_tokenizer *k;
    char text[3000];
    size_t size, count;
    int32_t *ids;
} shared_use;

static void *use_shared(void *argument)
{
    shared_use *u = argument;
    rapt_tokenizer_encode_bytes(u->k, u->text, u->size, &ENCODE(.specials = true), &u->ids, &u->count, NULL);
    return NULL;
}

/* Threads share a tokenizer; for the thread sanitizer to look at as well. */
static void test_threads(void **state)
{
    (void)state;
    static const char *const patterns[] = {SPLIT_O200K, "\\w+|\\s+|[^\\w\\s]"};
    enum { THREADS = 4 };
    for (size_t i = 0; i < COUNT(patterns); i++) {
        rapt_tokenizer *k = trained(patterns[i]);
        static shared_use uses[THREADS];
        pthread_t threads[THREADS];
        for (size_t j = 0; j < THREADS; j++) {
            uses[j].k = k;
            uses[j].size = random_text(2 + j % 2, uses[j].text, sizeof uses[j].text);
            assert_int_equal(pthread_create(&threads[j], NULL, use_shared, &uses[j]), 0);
        }
        for (size_t j = 0; j < THREADS; j++)
            pthread_join(threads[j], NULL);
        for (size_t j = 0; j < THREADS; j++) {
            assert_non_null(uses[j].ids);
            assert_encodes(k, uses[j].text, uses[j].size, true, uses[j].ids, uses[j].count);
            free(uses[j].ids);
        }
        rapt_tokenizer_free(k);
    }
}

/* What a tokenizer does is in its hash. */
static void test_hashes_differ(void **state)
{
    (void)state;
    static const char *const merges[][2] = {{"a", "b"}, {"b", "c"}}, *const turned[][2] = {{"b", "c"}, {"a", "b"}};
    byte_bpe *all[7];
    for (size_t i = 0; i < COUNT(all); i++)
        all[i] = bpe_of(i == 1 ? SPLIT_CL100K : SPLIT_GPT2, i == 2 ? turned : merges, i == 3 ? 1 : 2);
    add_special(all[4], "<|x|>", false);
    add_special(all[5], "<|x|>", true);
    all[6]->whole_pieces = true;
    for (size_t i = 0; i < COUNT(all); i++)
        for (size_t j = 0; j < i; j++)
            assert_true(rapt_tokenizer_hash(&all[i]->base) != rapt_tokenizer_hash(&all[j]->base));
    for (size_t i = 0; i < COUNT(all); i++)
        byte_bpe_free(all[i]);
}

#define SIZED .size = sizeof(rapt_bpe_options)

static void test_bad_training(void **state)
{
    (void)state;
    static const char *const empty[] = {""}, *const twice[] = {"<a>", "<a>"}, *const bytes[] = {"\xFF\xFE"};
    const struct {
        rapt_bpe_options o;
        const char *message;
    } cases[] = {
        {{SIZED, .vocab_size = 300, .pattern = "a("}, "pattern, byte 2 of 2"},
        {{SIZED, .vocab_size = 300, .specials = empty, .special_count = 1}, "a special token is empty"},
        {{SIZED, .vocab_size = 300, .specials = twice, .special_count = 2}, "special token \"<a>\" is there twice"},
        {{SIZED, .vocab_size = 300, .specials = bytes, .special_count = 1}, "is not UTF-8"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        rapt_error err = {0};
        assert_null(rapt_tokenizer_train_bpe("abcabc", 6, &cases[i].o, &err));
        if (!strstr(err.message, cases[i].message))
            fail_msg("\"%s\" has no \"%s\"", err.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges_by_rank), cmocka_unit_test(test_whole_pieces), cmocka_unit_test(test_short_and_long),
        cmocka_unit_test(test_very_long_piece), cmocka_unit_test(test_specials), cmocka_unit_test(test_specials_cut),
        cmocka_unit_test(test_ids_around), cmocka_unit_test(test_composed), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_parts_equal_whole), cmocka_unit_test(test_threads), cmocka_unit_test(test_hashes_differ),
        cmocka_unit_test(test_bad_training),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
