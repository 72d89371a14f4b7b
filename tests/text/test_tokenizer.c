/* test_tokenizer.c: what holds for tokenizers of every kind, and what words and characters do.
 * For src/text/tokenizer.c, words_tokenizer.c and characters.c, with their files.
 * Not the place for byte-level BPE: test_tokenizer_bpe.c and its like. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "options.h"
#include "text/tokenizer_files.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- words -------------------------------------------------------------------------------------------------- */

static rapt_tokenizer *words_of(size_t min_freq, size_t max_size)
{
    static const char *const lines[] = {"Go on , go on .", "We go\xC2\xA0home!", "home . <eos>"};
    rapt_error err = {0};
    const rapt_words_options o = TRAIN_WORDS(.lowercase = true, .min_freq = min_freq, .max_size = max_size);
    rapt_tokenizer *k = rapt_tokenizer_train_words(lines, COUNT(lines), &o, &err);
    if (!k)
        fail_msg("%s", err.message);
    return k;
}

/* go 3; on, ., home 2; ",", we, ! 1. */
static void test_words(void **state)
{
    (void)state;
    static const char *const want[] = {"<unk>", "<pad>", "<bos>", "<eos>", "go", "on", ".", "home", ",", "we", "!"};
    rapt_tokenizer *k = words_of(1, 0);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_WORDS);
    assert_int_equal(rapt_tokenizer_size(k), COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        size_t size;
        assert_string_equal(rapt_tokenizer_token(k, (int32_t)i, &size), want[i]);
        assert_int_equal(size, strlen(want[i]));
    }
    assert_null(rapt_tokenizer_token(k, 11, NULL));
    assert_null(rapt_tokenizer_token(k, -1, NULL));
    assert_int_equal(rapt_tokenizer_special(k, "<eos>"), RAPT_EOS);
    assert_int_equal(rapt_tokenizer_special(k, "go"), -1);
    ENCODES(k, "GO home, we\n\ngo. far! <eos>\r\nwe", 4, 7, 8, 9, 4, 6, 0, 10, 0, 9);
    SPECIALS(k, "go <eos> <bos>", 4, 3, 2);
    DECODES(k, "go home .", 2, 4, 1, 7, 99, 6, -5, 3, 9);
    DECODES(k, "", 3, 4);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void test_fewer_words(void **state)
{
    (void)state;
    rapt_tokenizer *k = words_of(2, 0), *l = words_of(1, 6);
    assert_int_equal(rapt_tokenizer_size(k), 8);
    assert_int_equal(rapt_tokenizer_size(l), 6);
    assert_true(rapt_tokenizer_hash(k) != rapt_tokenizer_hash(l));
    rapt_tokenizer_free(k);
    rapt_tokenizer_free(l);
}

/* A file that version 0.1 wrote, and its hash, which models of that version name. */
static void test_old_file(void **state)
{
    (void)state;
    static const char file[] = "{\n \"format\": \"rapt-tokenizer\",\n \"version\": 1,\n \"type\": \"words\",\n"
                               " \"lowercase\": true,\n \"tokens\": [\n  \"<unk>\",\n  \"<pad>\",\n  \"<bos>\",\n  \"<eos>\",\n"
                               "  \"caf\xC3\xA9\"\n ]\n}";
    rapt_tokenizer *k = load(write_file("old.json", file, sizeof file - 1));
    ENCODES(k, "Caf\xC3\x89", 4);
    assert_true(rapt_tokenizer_hash(k) == 0x0dd526c378020cc8u);
    assert_int_equal(rapt_tokenizer_save(k, folder_in("new.json"), NULL), RAPT_OK);
    FILE *saved = fopen(folder_in("new.json"), "rb");
    char text[sizeof file + 1];
    assert_int_equal(fread(text, 1, sizeof text, saved), sizeof file - 1);
    assert_memory_equal(text, file, sizeof file - 1);
    fclose(saved);
    rapt_tokenizer_free(k);
}

static void test_words_bad_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *message;
    } cases[] = {{"go\nho\xFFme", 8, "byte 6: not UTF-8"}, {"go\0on", 5, "byte 3: NUL is no part of words"}};
    rapt_tokenizer *k = words_of(1, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        int32_t *ids;
        size_t count;
        rapt_error err = {0};
        assert_int_equal(rapt_tokenizer_encode_bytes(k, cases[i].text, cases[i].size, NULL, &ids, &count, &err),
                         RAPT_ERR_FORMAT);
        assert_string_equal(err.message, cases[i].message);
        assert_null(ids);
    }
    rapt_tokenizer_free(k);
}

/* ---- characters --------------------------------------------------------------------------------------------- */

static void test_characters(void **state)
{
    (void)state;
    static const char text[] = "ba\xC3\xA9\0\xF0\x9F\x98\x80" "a\n"; /* NUL, \n, a, b, U+00E9, U+1F600 */
    rapt_error err = {0};
    size_t size;
    rapt_tokenizer *k = rapt_tokenizer_train_characters(text, sizeof text - 1, &err);
    assert_non_null(k);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_CHARACTERS);
    assert_int_equal(rapt_tokenizer_size(k), 6);
    assert_string_equal(rapt_tokenizer_token(k, 4, &size), "\xC3\xA9");
    assert_int_equal(size, 2);
    assert_non_null(rapt_tokenizer_token(k, 0, &size));
    assert_int_equal(size, 1);
    assert_int_equal(rapt_tokenizer_special(k, "a"), -1);
    ENCODES(k, "ba\xC3\xA9\0\xF0\x9F\x98\x80" "a\n", 3, 2, 4, 0, 5, 2, 1);
    DECODES(k, "b\0\xF0\x9F\x98\x80", 3, 99, 0, -1, 5, 6);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* <unk> <pad> <bos> <eos>, then space, !, a, b, U+4F60, U+597D: the line feed between two lines is none. */
static void test_characters_of_lines(void **state)
{
    (void)state;
    static const char text[] = "a b!\n\xE4\xBD\xA0\xE5\xA5\xBD\n";
    static const char *const want[] = {"<unk>", "<pad>", "<bos>", "<eos>", " ", "!", "a", "b", "\xE4\xBD\xA0", "\xE5\xA5\xBD"};
    rapt_error err = {0};
    int32_t *ids;
    size_t count, size;
    const rapt_characters_options o = TRAIN_CHARACTERS(.specials_first = true);
    rapt_tokenizer *k = rapt_tokenizer_train_characters_with(text, sizeof text - 1, &o, &err);
    rapt_tokenizer *plain = rapt_tokenizer_train_characters_with(text, sizeof text - 1, NULL, &err);
    assert_non_null(k);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_CHARACTERS);
    assert_int_equal(rapt_tokenizer_size(k), COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_string_equal(rapt_tokenizer_token(k, (int32_t)i, &size), want[i]);
        assert_int_equal(size, strlen(want[i]));
    }
    assert_null(rapt_tokenizer_token(k, COUNT(want), NULL));
    assert_true(rapt_tokenizer_has_specials(k));
    assert_int_equal(rapt_tokenizer_special(k, "<eos>"), RAPT_EOS);
    assert_int_equal(rapt_tokenizer_special(k, "a"), -1);
    ENCODES(k, "\xE4\xBD\xA0 ba\xE7\x8C\xAB!\n\xE5\xA5\xBD", 8, 4, 7, 6, 0, 5, 9);
    ENCODES(k, "<eos>", 0, 0, 0, 0, 0);
    SPECIALS(k, "a<eos>b<bo", 6, 3, 7, 0, 7, 0);
    DECODES(k, "a \xE4\xBD\xA0<unk>", 2, 6, 4, 1, 8, 99, 0, -5, 3, 9);
    DECODES(k, "", 3, 8);
    assert_int_equal(rapt_tokenizer_encode(k, "a\xE4\xBD", &ids, &count, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "byte 2: not UTF-8");
    assert_null(rapt_tokenizer_train_characters_with("\n\n", 2, &o, NULL)); /* no token left */
    assert_true(rapt_tokenizer_hash(k) != rapt_tokenizer_hash(plain));
    assert_int_equal(rapt_tokenizer_size(plain), 7);
    assert_false(rapt_tokenizer_has_specials(plain));
    assert_saves(k);
    rapt_tokenizer_free(plain);
    rapt_tokenizer_free(k);
}

static void test_characters_refuse(void **state)
{
    (void)state;
    rapt_error err = {0};
    int32_t *ids;
    size_t count;
    assert_null(rapt_tokenizer_train_characters("", 0, &err));
    assert_string_equal(err.message, "an empty text has no characters");
    err = (rapt_error){0};
    assert_null(rapt_tokenizer_train_characters("ab\xC3", 3, &err));
    assert_string_equal(err.message, "byte 3: not UTF-8");
    rapt_tokenizer *k = rapt_tokenizer_train_characters("ab", 2, NULL);
    err = (rapt_error){0};
    assert_int_equal(rapt_tokenizer_encode_bytes(k, "ab\xC3\xA9", 4, NULL, &ids, &count, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "byte 3: character U+00E9 is not in the vocabulary");
    err = (rapt_error){0};
    assert_int_equal(rapt_tokenizer_encode(k, "a\xA9", &ids, &count, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "byte 2: not UTF-8");
    rapt_tokenizer_free(k);
}

/* Options that no default was written into say nothing about special tokens. */
static void test_options_without_a_size(void **state)
{
    (void)state;
    const rapt_encode_options none = {.specials = true};
    const rapt_text text = {"ab", 2};
    rapt_tokenizer *k = rapt_tokenizer_train_characters("ab", 2, NULL);
    rapt_error err = {0};
    int32_t *ids = (int32_t *)&err;
    size_t count, *starts = &count;
    assert_int_equal(rapt_tokenizer_encode_bytes(k, "ab", 2, &none, &ids, &count, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "options without a size: make them with rapt_encode_options_default()");
    assert_null(ids);
    assert_int_equal(rapt_tokenizer_encode_to(k, "ab", 2, &none, NULL, NULL, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_tokenizer_encode_batch(k, &text, 1, &none, &ids, &starts, NULL), RAPT_ERR_VALUE);
    assert_null(starts);
    rapt_tokenizer_free(k);
}

/* ---- encoding in portions ----------------------------------------------------------------------------------- */

typedef struct collected {
    int32_t ids[20000];
    size_t count, calls, stop_after;
} collected;

static rapt_code collect(void *context, const int32_t *ids, size_t count, rapt_error *err)
{
    collected *c = context;
    if (++c->calls == c->stop_after)
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "enough");
    assert_true(c->count + count <= COUNT(c->ids));
    memcpy(c->ids + c->count, ids, count * sizeof *ids);
    c->count += count;
    return RAPT_OK;
}

static void check_portions(rapt_tokenizer *k, const char *text, size_t size)
{
    static collected c;
    rapt_error err = {0};
    c = (collected){.stop_after = 0};
    assert_int_equal(rapt_tokenizer_encode_to(k, text, size, &ENCODE(.specials = true), collect, &c, &err), RAPT_OK);
    assert_true(c.calls > 1);
    assert_encodes(k, text, size, true, c.ids, c.count);
    c = (collected){.stop_after = 2};
    assert_int_equal(rapt_tokenizer_encode_to(k, text, size, &ENCODE(.specials = true), collect, &c, &err), RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "enough");
    assert_int_equal(c.calls, 2);
    rapt_tokenizer_free(k);
}

static void test_portions(void **state)
{
    (void)state;
    static char text[20000];
    const char *special = "<|x|>";
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "go on, we go home!\n "[(i * i / 7 + i) % 20];
    check_portions(words_of(1, 0), text, sizeof text);
    check_portions(rapt_tokenizer_train_characters(text, sizeof text, NULL), text, sizeof text);
    memcpy(text + 7000, special, 5);
    const rapt_bpe_options o = TRAIN_BPE(.vocab_size = 300, .specials = &special, .special_count = 1,
                                         .normalization = RAPT_NORMALIZATION_NFC);
    check_portions(rapt_tokenizer_train_bpe(text, sizeof text, &o, NULL), text, sizeof text);
}

static void test_empty_text(void **state)
{
    (void)state;
    rapt_tokenizer *all[] = {words_of(1, 0), rapt_tokenizer_train_characters("a", 1, NULL),
                             rapt_tokenizer_train_bpe("aa", 2, &TRAIN_BPE(.vocab_size = 257), NULL)};
    for (size_t i = 0; i < COUNT(all); i++) {
        int32_t *ids;
        size_t count, size;
        assert_int_equal(rapt_tokenizer_encode(all[i], "", &ids, &count, NULL), RAPT_OK);
        assert_non_null(ids);
        assert_int_equal(count, 0);
        char *text = rapt_tokenizer_decode(all[i], ids, 0, &size);
        assert_string_equal(text, "");
        assert_int_equal(size, 0);
        free(text);
        free(ids);
        rapt_tokenizer_free(all[i]);
    }
    rapt_tokenizer_free(NULL);
}

/* ---- files that are refused --------------------------------------------------------------------------------- */

#define REFUSED(text, message) assert_refused(write_file("bad.json", text, sizeof(text) - 1), message)
#define WORDS_FILE(rest) "{\"format\": \"rapt-tokenizer\", \"version\": 1, \"type\": \"words\", " rest
#define CHARACTERS_FILE(tokens)                                                                                        \
    "{\"format\": \"rapt-tokenizer\", \"version\": 1, \"type\": \"characters\", \"tokens\": " tokens "}"

static void test_bad_files(void **state)
{
    (void)state;
    assert_refused(folder_in("nothing.json"), "nothing.json: No such file");
    REFUSED("", "bad.json:1: ");
    REFUSED("{\n\"a\": }", "bad.json:2: ");
    REFUSED("{\"a\": 1, \"a\": 2}", "bad.json:1: duplicate");
    REFUSED("[1]", "not a tokenizer file");
    REFUSED("{\"format\": \"rapt-tokenizer\", \"version\": 2, \"type\": \"words\"}", "\"words\", version 2; this rapt reads");
    REFUSED("{\"format\": \"rapt-tokenizer\", \"version\": 1, \"type\": \"sounds\"}", "\"sounds\", version 1; this rapt reads");
    REFUSED("{\"format\": \"rapt-tokenizer\", \"version\": 1}", "type \"\", version 1");
    REFUSED(WORDS_FILE("\"tokens\": []}"), "not a tokenizer file");
    REFUSED(WORDS_FILE("\"lowercase\": true}"), "not a tokenizer file");
    REFUSED(WORDS_FILE("\"lowercase\": true, \"tokens\": [\"<unk>\"]}"), "a vocabulary of 1 tokens lacks the special ones");
    REFUSED(WORDS_FILE("\"lowercase\": true, \"tokens\": [\"a\"]}"), "token 0 is not \"<unk>\"");
    REFUSED(WORDS_FILE("\"lowercase\": true, \"tokens\": [\"<unk>\", \"<pad>\", \"<bos>\", \"<eos>\", \"a b\"]}"),
            "token 4 is not a word");
    REFUSED(WORDS_FILE("\"lowercase\": true, \"tokens\": [\"<unk>\", \"<pad>\", \"<bos>\", \"<eos>\", \"a\\u0000b\"]}"),
            "token 4 is not a word");
    REFUSED(WORDS_FILE("\"lowercase\": true, \"tokens\": [\"<unk>\", \"<pad>\", \"<bos>\", \"<eos>\", \"a\", \"a\"]}"),
            "token 5 repeats token 4");
    REFUSED(CHARACTERS_FILE("[]"), "without characters");
    REFUSED(CHARACTERS_FILE("[\"a\", 5]"), "token 1 is not a character");
    REFUSED(CHARACTERS_FILE("[\"ab\"]"), "token 0 is not a character");
    REFUSED(CHARACTERS_FILE("[\"b\", \"a\"]"), "token 1 is out of order");
    REFUSED(CHARACTERS_FILE("[\"a\", \"a\"]"), "token 1 is out of order");
    REFUSED(CHARACTERS_FILE("[\"<unk>\", \"<pad>\", \"<bos>\", \"<eos>\"]"), "without characters");
    REFUSED(CHARACTERS_FILE("[\"<unk>\", \"<pad>\", \"<bos>\", \"a\"]"), "token 0 is not a character");
    REFUSED(CHARACTERS_FILE("[\"<unk>\", \"<pad>\", \"<bos>\", \"<eos>\", \"b\", \"a\"]"), "token 5 is out of order");
}

static void test_folder(void **state)
{
    (void)state;
    static const char file[] = CHARACTERS_FILE("[\"a\", \"b\"]");
    write_file("tokenizer.json", file, sizeof file - 1);
    rapt_tokenizer *k = load(folder_path);
    ENCODES(k, "abba", 0, 1, 1, 0);
    rapt_tokenizer_free(k);
    unlink(folder_in("tokenizer.json"));
    assert_refused(folder_path, "/tokenizer.json: No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_fewer_words),       cmocka_unit_test(test_old_file),
        cmocka_unit_test(test_words_bad_bytes), cmocka_unit_test(test_characters),   cmocka_unit_test(test_characters_refuse),
        cmocka_unit_test(test_portions),   cmocka_unit_test(test_empty_text),        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_folder),     cmocka_unit_test(test_characters_of_lines),
        cmocka_unit_test(test_options_without_a_size),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
