/* test_tokenizer_marian.c: ids and texts of transformers' MarianTokenizer, for the folder tests/text/marian; and folders that
 * are none. For src/text/spm/marian.c and marian_file.c. tools/golden_marian.py makes the folder. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "text/tokenizer_files.h"

#define FOLDER RAPT_SOURCE_DIR "/tests/text/marian"

static json_t *expected;

static int marian_set_up(void **state)
{
    json_error_t where;
    expected = json_load_file(FOLDER "/expected.json", JSON_ALLOW_NUL, &where);
    return expected && folder_make(state) == 0 ? 0 : -1;
}

static int marian_tear_down(void **state)
{
    json_decref(expected);
    return folder_remove(state);
}

static int32_t *ids_of(const json_t *list, size_t *count)
{
    *count = json_array_size(list);
    int32_t *ids = malloc((*count + 1) * sizeof *ids);
    for (size_t i = 0; i < *count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return ids;
}

static void check_decoded(const rapt_tokenizer *k, const json_t *ids_list, const json_t *text)
{
    size_t count;
    int32_t *ids = ids_of(ids_list, &count);
    assert_decodes(k, ids, count, json_string_value(text), json_string_length(text));
    free(ids);
}

/* With special tokens, </s> ends a text. */
static void check_texts(const rapt_tokenizer *k, const char *side)
{
    const json_t *list = json_object_get(expected, side), *one;
    size_t i;
    assert_true(json_array_size(list) > 80);
    json_array_foreach(list, i, one)
    {
        const json_t *text = json_object_get(one, "text");
        size_t count;
        int32_t *ids = ids_of(json_object_get(one, "ids"), &count);
        assert_encodes(k, json_string_value(text), json_string_length(text), true, ids, count);
        assert_encodes(k, json_string_value(text), json_string_length(text), false, ids, count - 1);
        check_decoded(k, json_object_get(one, "ids"), json_object_get(one, "decoded"));
        free(ids);
    }
}

/* Texts of special tokens are those tokens where they are asked for. */
static void check_specials(const rapt_tokenizer *k, const char *list_name)
{
    const json_t *list = json_object_get(expected, list_name), *one;
    size_t i;
    assert_true(json_array_size(list) > 15);
    json_array_foreach(list, i, one)
    {
        const json_t *text = json_object_get(one, "text");
        size_t count;
        int32_t *ids = ids_of(json_object_get(one, "ids"), &count);
        assert_encodes(k, json_string_value(text), json_string_length(text), true, ids, count);
        free(ids);
    }
}

static void check_side(const char *file, const char *side, const char *specials)
{
    const json_t *one;
    size_t i;
    rapt_tokenizer *k = load(file);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_SENTENCEPIECE);
    assert_int_equal(rapt_tokenizer_size(k), json_integer_value(json_object_get(expected, "size")));
    check_texts(k, side);
    check_specials(k, specials);
    json_array_foreach(json_object_get(expected, "decode"), i, one)
        check_decoded(k, json_object_get(one, "ids"), json_object_get(one, "text"));
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void test_sides(void **state)
{
    (void)state;
    check_side(FOLDER "/source.spm", "source", "source_specials");
    check_side(FOLDER "/target.spm", "target", "target_specials");
    assert_refused(FOLDER, "is a translation model, with a tokenizer for each side");
}

static void test_what_it_is(void **state)
{
    (void)state;
    rapt_tokenizer *k = load(FOLDER "/source.spm");
    const int32_t last = (int32_t)rapt_tokenizer_size(k) - 1;
    assert_int_equal(rapt_tokenizer_special(k, "</s>"), 0);
    assert_int_equal(rapt_tokenizer_special(k, "<unk>"), 1);
    assert_int_equal(rapt_tokenizer_special(k, ">>deu<<"), 2);
    assert_int_equal(rapt_tokenizer_special(k, "<pad>"), last);
    assert_int_equal(rapt_tokenizer_special(k, ">>xyz<<"), -1);
    assert_int_equal(rapt_tokenizer_special(k, "s"), -1);
    assert_null(rapt_tokenizer_token(k, last + 1, NULL));
    rapt_tokenizer_free(k);
}

/* ---- folders ------------------------------------------------------------------------------------------------ */

static void copy_file(const char *from, const char *name)
{
    char *data;
    size_t size;
    assert_int_equal(file_read(from, 1 << 20, &data, &size, NULL), RAPT_OK);
    write_file(name, data, size);
    free(data);
}

static void make_folder(const char *vocab)
{
    copy_file(FOLDER "/source.spm", "source.spm");
    copy_file(FOLDER "/target.spm", "target.spm");
    write_file("vocab.json", vocab, strlen(vocab));
}

static void test_bad_vocabularies(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "vocab.json:1: "},
        {"[]", "vocab.json: not an object of tokens with their ids"},
        {"{}", "vocab.json: there is no <unk>"},
        {"{\"<unk>\": 0}", "vocab.json: there is no </s>"},
        {"{\"<unk>\": \"0\"}", "vocab.json: token \"<unk>\" has no sensible id"},
        {"{\"<unk>\": -1}", "vocab.json: token \"<unk>\" has no sensible id"},
        {"{\"<unk>\": 1000000000}", "vocab.json: token \"<unk>\" has no sensible id"},
        {"{\"<unk>\": 1, \"</s>\": 1}", "vocab.json: token \"</s>\": id 1 is another token's"},
        {"{\"<unk>\": 1, \"<unk>\": 2}", "vocab.json:1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_folder(cases[i][0]);
        assert_refused(folder_in("source.spm"), cases[i][1]);
    }
}

/* A separate vocabulary of the target belongs to target.spm alone. */
static void test_two_vocabularies(void **state)
{
    (void)state;
    static const char own[] = "{\"<unk>\": 5, \"</s>\": 7}";
    make_folder("{\"<unk>\": 1, \"</s>\": 0, \"x\": 2}");
    write_file("target_vocab.json", own, sizeof own - 1);
    rapt_tokenizer *source = load(folder_in("source.spm")), *target = load(folder_in("target.spm"));
    assert_int_equal(rapt_tokenizer_size(source), 3);
    assert_int_equal(rapt_tokenizer_size(target), 8);
    assert_null(rapt_tokenizer_token(target, 6, NULL));
    SPECIALS(target, "x", 5, 5, 7);
    assert_saves(target);
    rapt_tokenizer_free(source);
    rapt_tokenizer_free(target);
    unlink(folder_in("target_vocab.json"));
}

/* Without its sister or without a vocabulary it is a SentencePiece model like any other. */
static void test_alone(void **state)
{
    (void)state;
    make_folder("{}");
    unlink(folder_in("vocab.json"));
    rapt_tokenizer *k = load(folder_in("source.spm"));
    assert_int_equal(rapt_tokenizer_special(k, "<unk>"), 0);
    rapt_tokenizer_free(k);
    make_folder("{}");
    unlink(folder_in("target.spm"));
    rapt_tokenizer_free(load(folder_in("source.spm")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sides),           cmocka_unit_test(test_what_it_is), cmocka_unit_test(test_bad_vocabularies),
        cmocka_unit_test(test_two_vocabularies), cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, marian_set_up, marian_tear_down);
}
