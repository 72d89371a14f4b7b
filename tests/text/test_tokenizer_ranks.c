/* test_tokenizer_ranks.c: rank files: what is read from them, and what is said of bad ones.
 * For src/text/bpe/ranks.c and base64.c. The files are made here: as many ranks as r50k_base has, of tokens of our own.
 * Not a comparison with tiktoken; test_tokenizer_golden.c is. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/bpe/base64.h"
#include "text/bpe/byte_bpe.h"
#include "text/tokenizer_files.h"

enum { RANKS = 50256, HOLED_RANKS = 50281, MOST_LINE = 32, MIDDLE = 300 };

/* Ranks 0 to 255 are the bytes, backwards; rank 256 + i has the two bytes i / 256 and i % 256; the last one is "abc". */
static size_t token_of(size_t rank, char token[3])
{
    if (rank == RANKS - 1) {
        memcpy(token, "abc", 3);
        return 3;
    }
    token[0] = rank < 256 ? (char)(255 - rank) : (char)((rank - 256) / 256);
    token[1] = (char)((rank - 256) % 256);
    return rank < 256 ? 1 : 2;
}

/* The line of a rank, without its end. */
static void line_of(size_t rank, char line[MOST_LINE])
{
    char token[3], letters[8] = "";
    base64_encode(token, token_of(rank, token), letters);
    snprintf(line, MOST_LINE, "%s %zu", letters, rank);
}

/* A file in which the line of rank `at` is another one, or none (NULL); ends in `ending`. */
static const char *write_ranks(size_t at, const char *instead, const char *line_end, const char *ending)
{
    static char spec[300];
    char *text = malloc((size_t)RANKS * MOST_LINE), *to = text, line[MOST_LINE];
    for (size_t i = 0; i < RANKS; i++) {
        line_of(i, line);
        if (i != at || instead)
            to += sprintf(to, "%s%s", i == at ? instead : line, line_end);
    }
    to += sprintf(to, "%s", ending);
    snprintf(spec, sizeof spec, "r50k_base:%s", write_file("ranks", text, (size_t)(to - text)));
    free(text);
    return spec;
}

#define GOOD write_ranks(RANKS, NULL, "\n", "")
enum { A = 255 - 'a', B = 255 - 'b', C = 255 - 'c', SPACE = 255 - ' ' };
#define PAIR(x, y) (256 + 256 * (x) + (y))

/* A pair has the rank of its bytes, so that the one with the smaller first byte merges first. */
static void test_ranks(void **state)
{
    (void)state;
    size_t size;
    rapt_tokenizer *k = load(GOOD);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_BYTE_BPE);
    assert_int_equal(rapt_tokenizer_size(k), RANKS + 1);
    ENCODES(k, "a", A);
    ENCODES(k, "ba", PAIR('b', 'a'));
    ENCODES(k, "bab", B, PAIR('a', 'b'));
    ENCODES(k, "abab", PAIR('a', 'b'), PAIR('a', 'b'));
    ENCODES(k, "aaa", PAIR('a', 'a'), A);            /* the leftmost of equal ones */
    ENCODES(k, "abc", RANKS - 1);                    /* a piece that is a token */
    ENCODES(k, "abcb", PAIR('a', 'b'), PAIR('c', 'b')); /* ab goes first, and cb before abc */
    ENCODES(k, "cabc", C, RANKS - 1);
    ENCODES(k, " ba", PAIR(' ', 'b'), A);
    SPECIALS(k, "a<|endoftext|>a", A, RANKS, A);
    assert_int_equal(rapt_tokenizer_special(k, "<|endoftext|>"), RANKS);
    assert_non_null(rapt_tokenizer_token(k, 255, &size)); /* the byte 0 */
    assert_int_equal(size, 1);
    assert_null(rapt_tokenizer_token(k, RANKS + 1, NULL));
    char text[2000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * i % 253 + i / 500);
    assert_round_trip(k, text, sizeof text, true);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* p50k_base has a special token amid its ranks. */
static const char *write_holed(const char *in_hole)
{
    static char spec[300];
    char *text = malloc((size_t)RANKS * MOST_LINE + 2000), *to = text, line[MOST_LINE];
    for (size_t i = 0; i < RANKS; i++) {
        line_of(i, line);
        to += sprintf(to, "%s\n", line);
    }
    to += sprintf(to, "%s", in_hole);
    for (size_t i = RANKS + 1; i < HOLED_RANKS; i++) {
        char letters[8] = "";
        base64_encode((char[]){'a', 'a', (char)i}, 3, letters);
        to += sprintf(to, "%s %zu\n", letters, i);
    }
    snprintf(spec, sizeof spec, "p50k_base:%s", write_file("holed", text, (size_t)(to - text)));
    free(text);
    return spec;
}

/* In a tokenizer.json `tokenizers` gives special tokens that are no entries of the vocabulary the ids behind all of those. */
static void assert_vocabulary(const rapt_tokenizer *k, size_t entries, bool with_special)
{
    json_t *root = hf_to_json(byte_bpe_of(k)), *vocab = json_object_get(json_object_get(root, "model"), "vocab");
    assert_int_equal(json_object_size(vocab), entries);
    if (with_special)
        assert_int_equal(json_integer_value(json_object_get(vocab, "<|endoftext|>")), RANKS);
    json_decref(root);
}

static void test_a_special_token_amid_the_ranks(void **state)
{
    (void)state;
    rapt_tokenizer *k = load(write_holed(""));
    assert_int_equal(rapt_tokenizer_size(k), HOLED_RANKS);
    ENCODES(k, "abc", RANKS - 1);
    ENCODES(k, "aaQ", RANKS + 1); /* 50257 is 196 times 256 and 81, a Q */
    SPECIALS(k, "a<|endoftext|>a", A, RANKS, A);
    assert_saves(k);
    assert_refused(write_holed("YWFh 50256\n"), "holed:50257: rank 50256; in p50k_base that is a special token");
    assert_vocabulary(k, HOLED_RANKS, true);
    rapt_tokenizer_free(k);
    k = load(GOOD);
    assert_vocabulary(k, RANKS, false);
    rapt_tokenizer_free(k);
}

/* Line ends of Windows and empty lines, which tiktoken reads as well; a last line without an end. */
static void test_line_ends(void **state)
{
    (void)state;
    rapt_tokenizer *k = load(GOOD), *l = load(write_ranks(RANKS, NULL, "\r\n", "\n\n"));
    assert_true(rapt_tokenizer_hash(k) == rapt_tokenizer_hash(l));
    rapt_tokenizer_free(l);
    l = load(write_ranks(RANKS - 1, NULL, "\n", "YWJj 50255"));
    assert_true(rapt_tokenizer_hash(k) == rapt_tokenizer_hash(l));
    rapt_tokenizer_free(l);
    rapt_tokenizer_free(k);
}

static void test_bad_lines(void **state)
{
    (void)state;
    char line[MOST_LINE], place[64];
    line_of(MIDDLE, line);
    static const struct {
        const char *instead, *message;
    } cases[] = {
        {"nonsense", "not a token in base64, a space and a rank"},
        {"ACw= ", "not a token in base64, a space and a rank"},
        {"ACw= x", "not a token in base64, a space and a rank"},
        {"ACw= -300", "not a token in base64, a space and a rank"},
        {"ACw= 300 1", "not a token in base64, a space and a rank"},
        {"ACw= 99999999999999999999", "not a token in base64, a space and a rank"},
        {" 300", "the token is not base64"},
        {"AC 300", "the token is not base64"},
        {"ACw 300", "the token is not base64"},
        {"A=w= 300", "the token is not base64"},
        {"ACx= 300", "the token is not base64"}, /* bits beyond the last byte */
        {"A$w= 300", "the token is not base64"},
        {"ACw= 299", "rank 299 was there before"},
        {"ACw= 50256", "rank 50256; r50k_base ends with rank 50255"},
        {"YQ== 300", "the token was there before, with rank 158"},
    };
    assert_string_equal(line, "ACw= 300");
    snprintf(place, sizeof place, "ranks:%d: ", MIDDLE + 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *spec = write_ranks(MIDDLE, cases[i].instead, "\n", "");
        assert_refused(spec, cases[i].message);
        assert_refused(spec, place);
    }
}

static void test_missing_ranks(void **state)
{
    (void)state;
    char empty[300];
    assert_refused(write_ranks(MIDDLE, NULL, "\n", ""), "ranks: rank 300 is missing; r50k_base has ranks 0 to 50255");
    assert_refused(write_ranks(RANKS - 1, NULL, "\n", ""), "ranks: rank 50255 is missing");
    assert_refused(write_ranks(255 - 'a', "YWFh 158", "\n", ""), "ranks: there is no token for the byte 0x61");
    snprintf(empty, sizeof empty, "r50k_base:%s", write_file("empty", "", 0));
    assert_refused(empty, "empty: an empty file");
    snprintf(empty, sizeof empty, "cl100k_base:%s", folder_in("ranks"));
    assert_refused(empty, "is missing; cl100k_base has ranks 0 to 100255");
    assert_refused("o200k_base:/nothing/here", "/nothing/here: No such file");
}

#define RANKS_FILE(rest) "{\"format\": \"rapt-tokenizer\", \"version\": 1, \"type\": \"ranks\", " rest "}"
#define REFUSED(text, message) assert_refused(write_file("bad.json", text, sizeof(text) - 1), message)

static void test_bad_json(void **state)
{
    (void)state;
    REFUSED(RANKS_FILE("\"tokens\": []"), "\"encoding\" is none of");
    REFUSED(RANKS_FILE("\"encoding\": \"p50k_edit\", \"tokens\": []"), "\"encoding\" is none of");
    REFUSED(RANKS_FILE("\"encoding\": \"r50k_base\", \"tokens\": []"), "rank 0 is missing");
    REFUSED(RANKS_FILE("\"encoding\": \"r50k_base\", \"tokens\": [\"AA==\", \"AA==\"]"), "token:1: the token was there before");
    REFUSED(RANKS_FILE("\"encoding\": \"r50k_base\", \"tokens\": [7]"), "token:0: the token is not base64");
}

/* RFC 4648, section 10. */
static void test_base64(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}, {"\xFB\xFF\xBF", "+/+/"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char letters[16] = "", bytes[16] = "";
        size_t length;
        base64_encode(pairs[i][0], strlen(pairs[i][0]), letters);
        assert_string_equal(letters, pairs[i][1]);
        assert_true(base64_decode(letters, strlen(letters), bytes, &length));
        assert_int_equal(length, strlen(pairs[i][0]));
        assert_memory_equal(bytes, pairs[i][0], length);
    }
    size_t length;
    char bytes[16];
    static const char *const bad[] = {"Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9=", "Zh==", "Zm 9", "Zm9\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(base64_decode(bad[i], strlen(bad[i]), bytes, &length));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),         cmocka_unit_test(test_a_special_token_amid_the_ranks),
        cmocka_unit_test(test_line_ends),     cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_missing_ranks), cmocka_unit_test(test_bad_json),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
