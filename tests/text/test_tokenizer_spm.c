/* test_tokenizer_spm.c: ids and texts of sentencepiece 0.2.3, for models of all types and settings in
 * tests/text/sentencepiece: texts that are hard, long texts by the hashes of their ids, and random ids decoded. For
 * src/text/spm. tools/golden_spm.py makes the files; tools/compare_spm.py compares more, where sentencepiece is there.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "text/encode_run.h"
#include "text/sha256.h"
#include "text/tokenizer_files.h"
#include "text/utf8.h"

#define FOLDER RAPT_SOURCE_DIR "/tests/text/sentencepiece"

static json_t *expected;

static int spm_set_up(void **state)
{
    json_error_t where;
    expected = json_load_file(FOLDER "/expected.json", 0, &where);
    return expected && folder_make(state) == 0 ? 0 : -1;
}

static int spm_tear_down(void **state)
{
    json_decref(expected);
    return folder_remove(state);
}

/* ---- short texts -------------------------------------------------------------------------------------------- */

/* The bytes of hexadecimal digits; the caller frees them. */
static char *from_hex(const json_t *digits, size_t *size)
{
    const char *hex = json_string_value(digits);
    assert_non_null(hex);
    *size = strlen(hex) / 2;
    char *bytes = malloc(*size + 1);
    for (size_t i = 0; i < *size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (char)byte;
    }
    bytes[*size] = '\0';
    return bytes;
}

static int32_t *ids_of(const json_t *list, size_t *count)
{
    *count = json_array_size(list);
    int32_t *ids = malloc((*count + 1) * sizeof *ids);
    for (size_t i = 0; i < *count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return ids;
}

static void check_decoded(const rapt_tokenizer *k, const json_t *one)
{
    size_t count, size;
    int32_t *ids = ids_of(json_object_get(one, "ids"), &count);
    char *text = from_hex(json_object_get(one, "decoded"), &size);
    assert_decodes(k, ids, count, text, size);
    free(text);
    free(ids);
}

static void check_text(const rapt_tokenizer *k, const json_t *one)
{
    size_t count, size;
    int32_t *ids = ids_of(json_object_get(one, "ids"), &count);
    char *text = from_hex(json_object_get(one, "text"), &size);
    assert_encodes(k, text, size, false, ids, count);
    assert_encodes(k, text, size, true, ids, count);
    free(text);
    free(ids);
    check_decoded(k, one);
}

/* ---- long texts --------------------------------------------------------------------------------------------- */

/* 100,000 letters. */
static size_t make_unspaced(char *text)
{
    const size_t size = 100000;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + (i * i + i / 3) % 26);
    return size;
}

/* Every code point once. */
static size_t make_code_points(char *text)
{
    size_t size = 0;
    for (uint32_t code = 0; code < 0x110000; code++)
        size += utf8_put(code, text + size);
    return size;
}

static void assert_hash(const json_t *want, const void *data, size_t size)
{
    char got[SHA256_TEXT];
    sha256_text(data, size, got);
    assert_string_equal(got, json_string_value(want));
}

static void check_long(const rapt_tokenizer *k, const json_t *one)
{
    const bool unspaced = strcmp(json_string_value(json_object_get(one, "rule")), "unspaced") == 0;
    char *text = malloc((size_t)4 * 0x110000);
    size_t count, size = (unspaced ? make_unspaced : make_code_points)(text), decoded_size;
    int32_t *ids;
    assert_int_equal(rapt_tokenizer_encode_bytes(k, text, size, NULL, &ids, &count, NULL), RAPT_OK);
    assert_int_equal(count, json_integer_value(json_object_get(one, "count")));
    assert_hash(json_object_get(one, "ids"), ids, count * sizeof *ids);
    char *decoded = rapt_tokenizer_decode(k, ids, count, &decoded_size);
    assert_hash(json_object_get(one, "decoded"), decoded, decoded_size);
    free(decoded);
    free(ids);
    free(text);
}

/* ---- models ------------------------------------------------------------------------------------------------- */

static void check_model(const char *name)
{
    char path[sizeof FOLDER + 64];
    const json_t *model = json_object_get(expected, name), *one;
    size_t i;
    assert_non_null(model);
    snprintf(path, sizeof path, FOLDER "/%s.model", name);
    rapt_tokenizer *k = load(path);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_SENTENCEPIECE);
    assert_true(json_array_size(json_object_get(model, "texts")) >= 80);
    json_array_foreach(json_object_get(model, "texts"), i, one)
        check_text(k, one);
    json_array_foreach(json_object_get(model, "sequences"), i, one)
        check_decoded(k, one);
    json_array_foreach(json_object_get(model, "long"), i, one)
        check_long(k, one);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void test_unigram(void **state)
{
    (void)state;
    check_model("unigram");
    check_model("unigram_bytes");
    check_model("unigram_suffix");
    check_model("unigram_rules");
}

static void test_bpe(void **state)
{
    (void)state;
    check_model("bpe");
    check_model("bpe_bytes");
}

static void test_characters_and_words(void **state)
{
    (void)state;
    check_model("characters");
    check_model("words");
}

/* Nearly every text has several cuts that are equally good, but for rounding. */
static void test_ties(void **state)
{
    (void)state;
    check_model("ties");
    check_model("ties_large");
    check_model("ties_positive");
    check_model("ties_unused");
    check_model("characters_unused");
    check_model("bpe_ties");
    check_model("bpe_unused");
}

/* Pieces of up to 80 and 150 times the same letter, user-defined and unused. */
static void test_nested(void **state)
{
    (void)state;
    check_model("kept_long");
    check_model("bpe_kept_long");
    check_model("bpe_deep");
}

/* ---- what a model is ---------------------------------------------------------------------------------------- */

static void test_what_it_is(void **state)
{
    (void)state;
    size_t size;
    rapt_tokenizer *k = load(FOLDER "/unigram_bytes.model");
    assert_int_equal(rapt_tokenizer_special(k, "<unk>"), 0);
    assert_int_equal(rapt_tokenizer_special(k, "<s>"), 1);
    assert_int_equal(rapt_tokenizer_special(k, "</s>"), 2);
    assert_int_equal(rapt_tokenizer_special(k, "<0x0A>"), -1);
    assert_int_equal(rapt_tokenizer_special(k, "e"), -1);
    assert_false(rapt_tokenizer_has_specials(k));
    assert_string_equal(rapt_tokenizer_token(k, 2, NULL), "</s>");
    assert_string_equal(rapt_tokenizer_token(k, 3, NULL), "<ent>");
    const int32_t byte = 3 + 3 + '\n'; /* behind three reserved and three user-defined pieces */
    assert_string_equal(rapt_tokenizer_token(k, byte, &size), "\n");
    assert_int_equal(size, 1);
    assert_null(rapt_tokenizer_token(k, (int32_t)rapt_tokenizer_size(k), NULL));
    assert_null(rapt_tokenizer_token(k, -1, NULL));
    rapt_tokenizer_free(k);
}

/* A folder stands for the model in it, under one of three names; a tokenizer.json goes before it. */
static void test_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"tokenizer.model", "sentencepiece.bpe.model", "spiece.model"};
    rapt_error err = {0};
    rapt_tokenizer *k = load(FOLDER "/bpe.model");
    assert_refused(folder_in("."), "tokenizer.json");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(rapt_tokenizer_save(k, folder_in(names[i]), &err), RAPT_OK);
        rapt_tokenizer *found = load(folder_in("."));
        assert_true(rapt_tokenizer_hash(found) == rapt_tokenizer_hash(k));
        rapt_tokenizer_free(found);
        unlink(folder_in(names[i]));
    }
    rapt_tokenizer_free(k);
}

/* Saved under a model's name it is the file that was read; any file with that content is known. */
static void test_saved_as_model(void **state)
{
    (void)state;
    rapt_error err = {0};
    char *was, *is;
    size_t was_size, is_size;
    rapt_tokenizer *k = load(FOLDER "/words.model");
    assert_int_equal(rapt_tokenizer_save(k, folder_in("again.spm"), &err), RAPT_OK);
    assert_int_equal(file_read(FOLDER "/words.model", 1 << 20, &was, &was_size, &err), RAPT_OK);
    assert_int_equal(file_read(folder_in("again.spm"), 1 << 20, &is, &is_size, &err), RAPT_OK);
    assert_int_equal(was_size, is_size);
    assert_memory_equal(was, is, was_size);
    rapt_tokenizer *other = load(write_file("other name", was, was_size));
    assert_true(rapt_tokenizer_hash(other) == rapt_tokenizer_hash(k));
    rapt_tokenizer_free(other);
    rapt_tokenizer_free(k);
    free(was);
    free(is);
}

/* ---- a long text on all threads ----------------------------------------------------------------------------- */

static rapt_code count_ids(void *context, const int32_t *ids, size_t count, rapt_error *err)
{
    (void)ids;
    (void)err;
    *(size_t *)context += count;
    return RAPT_OK;
}

/* It is one sentence, whatever its length. */
static void test_encode_run(void **state)
{
    (void)state;
    rapt_error err = {0};
    char *text = malloc(100000);
    size_t got = 0, count, size = make_unspaced(text);
    int32_t *ids;
    rapt_tokenizer *k = load(FOLDER "/unigram.model");
    pool *threads = pool_new(2, &err);
    encode_run run = {.text = text, .size = size, .chunk = 100, .pool = threads, .sink = count_ids, .context = &got};
    assert_int_equal(encode_run_all(k, &run, &err), RAPT_OK);
    assert_int_equal(rapt_tokenizer_encode_bytes(k, text, size, NULL, &ids, &count, &err), RAPT_OK);
    assert_int_equal(got, count);
    free(ids);
    pool_free(threads);
    rapt_tokenizer_free(k);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unigram),    cmocka_unit_test(test_bpe),    cmocka_unit_test(test_characters_and_words),
        cmocka_unit_test(test_ties),       cmocka_unit_test(test_nested), cmocka_unit_test(test_what_it_is),
        cmocka_unit_test(test_folder),     cmocka_unit_test(test_saved_as_model),
        cmocka_unit_test(test_encode_run),
    };
    return cmocka_run_group_tests(tests, spm_set_up, spm_tear_down);
}
