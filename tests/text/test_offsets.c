/* test_offsets.c: the bytes that tokens come from, for all kinds of tokenizers: rapt_tokenizer_encode_offsets. For tokenizer.json
 * files, what `tokenizers` 0.23.3 gives: tests/text/offsets.json, made by tools/golden_offsets.py; for SentencePiece models, what
 * its own definition says; for words, characters and rapt's own normalization, counted by hand. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "options.h"
#include "text/tokenizer_files.h"

#include <stdio.h>
#include <stdlib.h>

static json_t *read_json(const char *name)
{
    char path[1024];
    json_error_t where;
    snprintf(path, sizeof path, "%s/tests/%s", RAPT_SOURCE_DIR, name);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &where);
    if (!root)
        fail_msg("%s: %s", path, where.text);
    return root;
}

/* Each offset pair is as wanted, and rapt_tokenizer_encode_bytes gives the same ids. */
static void assert_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, const size_t (*want)[2],
                           size_t want_count)
{
    rapt_encode_options o = rapt_encode_options_default();
    rapt_error err = {0};
    int32_t *ids, *plain;
    rapt_span *offsets;
    size_t count, plain_count;
    o.specials = specials;
    if (rapt_tokenizer_encode_offsets(k, &(rapt_text){text, size}, &o, &ids, &offsets, &count, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tokenizer_encode_bytes(k, text, size, &o, &plain, &plain_count, NULL), RAPT_OK);
    assert_int_equal(count, plain_count);
    assert_int_equal(count, want_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ids[i], plain[i]);
        if (offsets[i].begin != want[i][0] || offsets[i].end != want[i][1])
            fail_msg("\"%.60s\": id %zu, %d: bytes %zu to %zu, not %zu to %zu", text, i, ids[i], offsets[i].begin, offsets[i].end,
                     want[i][0], want[i][1]);
    }
    free(ids);
    free(plain);
    free(offsets);
}

#define PLACES(...) ((const size_t[][2]){__VA_ARGS__}), sizeof((const size_t[][2]){__VA_ARGS__}) / sizeof(size_t[2])
#define OFFSETS(k, text, ...) assert_offsets(k, text, sizeof(text) - 1, false, PLACES(__VA_ARGS__))

/* ---- tokenizer.json ------------------------------------------------------------------------------------------------- */

static rapt_tokenizer *load_named(const char *name)
{
    char path[256];
    const bool folder = strchr(name, '/') != NULL;
    snprintf(path, sizeof path, folder ? "golden/%s/tokenizer.json" : "text/pipeline/%s.json", name);
    json_t *root = read_json(path);
    char *text = json_dumps(folder ? root : json_object_get(root, "tokenizer"), 0);
    assert_non_null(text);
    rapt_tokenizer *k = load(write_file("tokenizer.json", text, strlen(text)));
    free(text);
    json_decref(root);
    return k;
}

/* [text, offsets with special tokens, offsets without] */
static void check_line(const rapt_tokenizer *k, const json_t *line)
{
    const json_t *text = json_array_get(line, 0);
    assert_int_equal(json_array_size(line), 3);
    for (size_t kind = 1; kind <= 2; kind++) {
        const json_t *list = json_array_get(line, kind);
        const size_t count = json_array_size(list);
        size_t(*want)[2] = malloc((count + 1) * sizeof *want);
        assert_non_null(want);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < 2; j++)
                want[i][j] = (size_t)json_integer_value(json_array_get(json_array_get(list, i), j));
        assert_offsets(k, json_string_value(text), json_string_length(text), kind == 1, (const size_t(*)[2])want, count);
        free(want);
    }
}

static void as_in_tokenizers(void **state)
{
    const char *name;
    json_t *root = read_json("text/offsets.json"), *lines;
    (void)state;
    assert_true(json_object_size(root) >= 20);
    json_object_foreach(root, name, lines)
    {
        rapt_tokenizer *k = load_named(name);
        assert_true(json_array_size(lines) >= 40);
        for (size_t i = 0; i < json_array_size(lines); i++)
            check_line(k, json_array_get(lines, i));
        rapt_tokenizer_free(k);
    }
    json_decref(root);
}

/* `tokenizers` shifts the offsets behind a character that is left out. The vocabulary has ##c, and no e with an accent. */
static void a_character_that_is_left_out_shifts_nothing(void **state)
{
    rapt_tokenizer *k = load_named("prefixed");
    rapt_encode_options o = rapt_encode_options_default();
    int32_t *ids;
    rapt_span *offsets;
    size_t count, size = 0;
    (void)state;
    static const char text[] = "a\xE4\xBD\xA0"
                               "c";
    assert_int_equal(rapt_tokenizer_encode_offsets(k, &(rapt_text){text, 5}, &o, &ids, &offsets, &count, NULL), RAPT_OK);
    assert_int_equal(count, 2);
    assert_string_equal(rapt_tokenizer_token(k, ids[1], &size), "##c");
    assert_int_equal(offsets[0].begin, 0);
    assert_int_equal(offsets[1].begin, 4);
    assert_int_equal(offsets[1].end, 5);
    free(ids);
    free(offsets);
    rapt_tokenizer_free(k);
}

/* ---- rapt's own tokenizers ------------------------------------------------------------------------------------------ */

static void words_and_characters(void **state)
{
    static const char *const lines[] = {"hello , world !"};
    (void)state;
    rapt_tokenizer *k = rapt_tokenizer_train_words(lines, 1, &TRAIN_WORDS(.lowercase = true), NULL);
    assert_non_null(k);
    OFFSETS(k, "Hello, world!", {0, 5}, {5, 6}, {7, 12}, {12, 13});
    OFFSETS(k, " \xC2\xA0\xC3\x84h... x\tx.y\n.z", {3, 6}, {6, 7}, {7, 8}, {8, 9}, {10, 11}, {12, 13}, {13, 15}, {16, 18});
    rapt_tokenizer_free(k);
    k = rapt_tokenizer_train_characters_with("ab\xC3\xA4", 4, &TRAIN_CHARACTERS(.specials_first = true), NULL);
    assert_non_null(k);
    OFFSETS(k, "\xC3\xA4"
               "b\nx\xE2\x82\xAC",
            {0, 2}, {2, 3}, {4, 5}, {5, 8});
    assert_offsets(k, "a<eos>b", 7, true, PLACES({0, 1}, {1, 6}, {6, 7}));
    rapt_tokenizer_free(k);
}

/* Bytes alone are tokens: a character's bytes have the character, a byte that is not UTF-8 is one. */
static void byte_level_bpe(void **state)
{
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 256);
    (void)state;
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("abc", 3, &o, NULL);
    assert_non_null(k);
    OFFSETS(k, "a\xC3\xA4\xFF"
               "b",
            {0, 1}, {1, 3}, {1, 3}, {3, 4}, {4, 5});
    rapt_tokenizer_free(k);
    o.normalization = RAPT_NORMALIZATION_PLAIN_LOWERCASE;
    k = rapt_tokenizer_train_bpe("abc", 3, &o, NULL);
    assert_non_null(k);
    /* spaces go from the ends, the last of several stays, a quotation mark and a ligature are replaced, a mark composes */
    OFFSETS(k, "  A  \xE2\x80\x9C\xEF\xAC\x81 e\xCC\x81 ", {2, 3}, {4, 5}, {5, 8}, {8, 11}, {8, 11}, {11, 12}, {12, 13},
            {12, 13});
    rapt_tokenizer_free(k);
}

/* ---- SentencePiece -------------------------------------------------------------------------------------------------- */

static void sentencepiece(void **state)
{
    char path[1024];
    (void)state;
    snprintf(path, sizeof path, "%s/tests/text/sentencepiece/characters.model", RAPT_SOURCE_DIR);
    rapt_tokenizer *k = load(path);
    /* the space before the text is a piece of its own and comes from nothing; the second of two spaces belongs to the first */
    OFFSETS(k, " the  a ", {1, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 6}, {6, 7});
    rapt_tokenizer_free(k);
    snprintf(path, sizeof path, "%s/tests/text/sentencepiece/unigram_bytes.model", RAPT_SOURCE_DIR);
    k = load(path);
    /* digits and the last letter are no pieces: their bytes have them */
    OFFSETS(k, "13 \xC3\xBF", {0, 1}, {1, 2}, {2, 3}, {3, 5}, {3, 5});
    rapt_tokenizer_free(k);
}

/* Tokens of the bytes of "a</w>", which merge: five bytes, of which the text has one. */
static void bytes_of_a_suffix_have_the_last_place(void **state)
{
    static const char file[] =
        "{\"model\": {\"type\": \"BPE\", \"end_of_word_suffix\": \"</w>\", \"byte_fallback\": true, \"unk_token\": \"u\", "
        "\"vocab\": {\"u\": 0, \"<0x61>\": 1, \"<0x3C>\": 2, \"<0x2F>\": 3, \"<0x77>\": 4, \"<0x3E>\": 5, "
        "\"<0x61><0x3C>\": 6, \"<0x61><0x3C><0x2F>\": 7, \"<0x61><0x3C><0x2F><0x77>\": 8}, "
        "\"merges\": [[\"<0x61>\", \"<0x3C>\"], [\"<0x61><0x3C>\", \"<0x2F>\"], [\"<0x61><0x3C><0x2F>\", \"<0x77>\"]]}}";
    rapt_error err = {0};
    (void)state;
    rapt_tokenizer *k = rapt_tokenizer_load_bytes(file, sizeof file - 1, &err);
    if (!k)
        fail_msg("%s", err.message);
    OFFSETS(k, "a", {0, 1}, {0, 1});
    rapt_tokenizer_free(k);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------- */

static void what_is_refused(void **state)
{
    rapt_error err = {0};
    int32_t *ids;
    rapt_span *offsets;
    size_t count;
    rapt_encode_options o = {0};
    (void)state;
    rapt_tokenizer *k = rapt_tokenizer_train_characters("ab", 2, NULL);
    assert_non_null(k);
    assert_int_equal(rapt_tokenizer_encode_offsets(k, &(rapt_text){"ab", 2}, &o, &ids, &offsets, &count, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "rapt_encode_options_default()"));
    assert_null(ids);
    assert_null(offsets);
    err = (rapt_error){0};
    assert_int_equal(rapt_tokenizer_encode_offsets(k, &(rapt_text){"ax", 2}, NULL, &ids, &offsets, &count, &err), RAPT_ERR_VALUE);
    assert_null(ids);
    assert_int_equal(rapt_tokenizer_encode_offsets(k, &(rapt_text){NULL, 0}, NULL, &ids, &offsets, &count, &err), RAPT_OK);
    assert_int_equal(count, 0);
    free(ids);
    free(offsets);
    rapt_tokenizer_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_in_tokenizers),     cmocka_unit_test(a_character_that_is_left_out_shifts_nothing),
        cmocka_unit_test(words_and_characters), cmocka_unit_test(byte_level_bpe),
        cmocka_unit_test(sentencepiece),        cmocka_unit_test(bytes_of_a_suffix_have_the_last_place),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
