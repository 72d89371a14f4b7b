/* test_tokenizer_m2m100.c: ids and texts of transformers' M2M100Tokenizer, for the folder tests/text/m2m100; and folders that are
 * refused. For src/text/layout/layout_listed.c and src/text/spm/marian.c. tools/golden_m2m100.py makes the folder. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "text/tokenizer_files.h"

#define FOLDER RAPT_SOURCE_DIR "/tests/text/m2m100"

static const char *const FILES[] = {"sentencepiece.bpe.model", "vocab.json", "tokenizer_config.json", "special_tokens_map.json",
                                    "added_tokens.json", "config.json"};
static json_t *expected;

static int m2m100_set_up(void **state)
{
    json_error_t where;
    expected = json_load_file(FOLDER "/expected.json", JSON_ALLOW_NUL, &where);
    return expected && folder_make(state) == 0 ? 0 : -1;
}

static int m2m100_tear_down(void **state)
{
    json_decref(expected);
    return folder_remove(state);
}

/* ---- folders ------------------------------------------------------------------------------------------------ */

static void put_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static void put_json(const char *name, const json_t *value)
{
    char *text = json_dumps(value, 0);
    put_text(name, text);
    free(text);
}

static void copy_file(const char *name)
{
    char path[1024], *data;
    size_t size;
    snprintf(path, sizeof path, FOLDER "/%s", name);
    assert_int_equal(file_read(path, 1 << 20, &data, &size, NULL), RAPT_OK);
    write_file(name, data, size);
    free(data);
}

/* A folder of the model and the vocabulary. */
static void make_folder(void)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        remove(folder_in(FILES[i]));
    copy_file("sentencepiece.bpe.model");
    copy_file("vocab.json");
}

/* ---- ids ---------------------------------------------------------------------------------------------------- */

static int32_t *ids_of(const json_t *list, size_t *count)
{
    *count = json_array_size(list);
    int32_t *ids = malloc((*count + 1) * sizeof *ids);
    for (size_t i = 0; i < *count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return ids;
}

/* [text, ids with special tokens, ids without, which can be left out] */
static void check_encoded(const rapt_tokenizer *k, const char *key, size_t at_least)
{
    const json_t *one;
    size_t i;
    assert_true(json_array_size(json_object_get(expected, key)) >= at_least);
    json_array_foreach(json_object_get(expected, key), i, one)
    {
        const json_t *text = json_array_get(one, 0);
        for (size_t j = 1; j < json_array_size(one); j++) {
            size_t count;
            int32_t *ids = ids_of(json_array_get(one, j), &count);
            assert_encodes(k, json_string_value(text), json_string_length(text), j == 1, ids, count);
            free(ids);
        }
    }
}

static void check_decoded(const rapt_tokenizer *k)
{
    const json_t *one;
    size_t i;
    assert_int_equal(json_array_size(json_object_get(expected, "decoded")), 100);
    json_array_foreach(json_object_get(expected, "decoded"), i, one)
    {
        size_t count;
        int32_t *ids = ids_of(json_array_get(one, 0), &count);
        const json_t *text = json_array_get(one, 1);
        assert_decodes(k, ids, count, json_string_value(text), json_string_length(text));
        free(ids);
    }
}

static void check_languages(const rapt_tokenizer *k)
{
    const char *code;
    const json_t *id;
    assert_int_equal(json_object_size(json_object_get(expected, "languages")), 100);
    json_object_foreach(json_object_get(expected, "languages"), code, id)
    {
        char token[20];
        snprintf(token, sizeof token, "__%s__", code);
        assert_int_equal(rapt_tokenizer_special(k, token), json_integer_value(id));
    }
}

static void check_folder(const char *folder)
{
    rapt_tokenizer *k = load(folder);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_SENTENCEPIECE);
    assert_int_equal(rapt_tokenizer_size(k), json_integer_value(json_object_get(expected, "size")));
    check_encoded(k, "encoded", 80);
    check_decoded(k);
    check_languages(k);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void as_published(void **state)
{
    (void)state;
    check_folder(FOLDER);
}

/* Its files list all added tokens by id. */
static void as_transformers_5_saves_it(void **state)
{
    const char *name;
    const json_t *value;
    (void)state;
    make_folder();
    json_object_foreach(json_object_get(expected, "saved"), name, value)
        put_json(name, value);
    check_folder(folder_in("."));
}

static void by_the_type_of_the_model(void **state)
{
    (void)state;
    make_folder();
    put_text("config.json", "{\"model_type\": \"m2m_100\"}");
    check_folder(folder_in("."));
}

static void another_source(void **state)
{
    (void)state;
    make_folder();
    put_text("tokenizer_config.json", "{\"tokenizer_class\": \"M2M100Tokenizer\", \"src_lang\": \"de\"}");
    rapt_tokenizer *k = load(folder_in("."));
    check_encoded(k, "german", 5);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* Languages of WMT21 are en, ha, is, ja, cs, ru, zh, de, counted from the number of tokens. */
static void languages_of_wmt21(void **state)
{
    (void)state;
    make_folder();
    put_text("tokenizer_config.json", "{\"tokenizer_class\": \"M2M100Tokenizer\", \"language_codes\": \"wmt21\"}");
    const int32_t first = (int32_t)json_integer_value(json_object_get(json_object_get(expected, "languages"), "af"));
    rapt_tokenizer *k = load(folder_in("."));
    assert_int_equal(rapt_tokenizer_size(k), first + 8);
    assert_int_equal(rapt_tokenizer_special(k, "__en__"), first);
    assert_int_equal(rapt_tokenizer_special(k, "__cs__"), first + 4);
    assert_int_equal(rapt_tokenizer_special(k, "__af__"), -1);
    SPECIALS(k, "", first, 2);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void what_it_is(void **state)
{
    (void)state;
    rapt_tokenizer *k = load(FOLDER);
    const int32_t last = (int32_t)rapt_tokenizer_size(k) - 1;
    assert_int_equal(rapt_tokenizer_special(k, "<s>"), 0);
    assert_int_equal(rapt_tokenizer_special(k, "<pad>"), 1);
    assert_int_equal(rapt_tokenizer_special(k, "</s>"), 2);
    assert_int_equal(rapt_tokenizer_special(k, "<unk>"), 3);
    assert_int_equal(rapt_tokenizer_special(k, "__zu__"), last);
    assert_int_equal(rapt_tokenizer_special(k, "__xx__"), -1); /* a token of the vocabulary */
    assert_int_equal(rapt_tokenizer_special(k, ">>deu<<"), -1);
    assert_null(rapt_tokenizer_token(k, last + 1, NULL));
    rapt_tokenizer_free(k);
}

/* ---- what is refused ---------------------------------------------------------------------------------------- */

static void refused_settings(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\"src_lang\": \"xx\"", "there is no language \"__xx__\", which goes before a text"},
        {"\"src_lang\": \"\"", "there is no language \"____\""},
        {"\"language_codes\": \"m2m200\"", "\"language_codes\" is \"m2m200\": it changes ids"},
        {"\"language_codes\": 3", "\"language_codes\" is 3: it changes ids"},
        {"\"sp_model_kwargs\": {\"nbest_size\": 4}", "\"sp_model_kwargs\" is {\"nbest_size\":4}"},
        {"\"eos_token\": \"<pad>\"", "\"eos_token\" is \"<pad>\""},
        {"\"unk_token\": \"<pad>\"", "\"unk_token\" is \"<pad>\""},
        {"\"additional_special_tokens\": [\"__en__\", \"__qq__\"]", "\"additional_special_tokens\" is \"__qq__\""},
        {"\"added_tokens_decoder\": {\"2\": {\"content\": \"<s>\"}}", "gives id 2 to the added token \"<s>\", and M2M"},
        {"\"added_tokens_decoder\": {\"9\": {\"content\": \"<new>\"}}",
         "gives id 9 to the added token \"<new>\", and M2M100Tokenizer none"},
        {"\"added_tokens_decoder\": {\"9\": 1}", "gives id 9 to the added token \"\", and M2M100Tokenizer none"},
    };
    make_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char config[300];
        snprintf(config, sizeof config, "{\"tokenizer_class\": \"M2M100Tokenizer\", %s}", cases[i][0]);
        put_text("tokenizer_config.json", config);
        assert_refused(folder_in("."), cases[i][1]);
    }
}

static void refused_vocabularies(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "vocab.json:1: "},
        {"[]", "vocab.json: not an object of tokens with their ids"},
        {"{}", "there is no <unk>"},
        {"{\"<unk>\": 0}", "there is no </s>"},
        {"{\"<unk>\": -1, \"</s>\": 0}", "token \"<unk>\" has no sensible id"},
        {"{\"<unk>\": 0, \"</s>\": 2}", "id 2 is another token's"}, /* of the first language */
        {"{\"<unk>\": 0, \"</s>\": 1, \"__en__\": 2}", "vocab.json: there is a token \"__en__\", which is a language"},
    };
    make_folder();
    put_text("tokenizer_config.json", "{\"tokenizer_class\": \"M2M100Tokenizer\"}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("vocab.json", cases[i][0]);
        assert_refused(folder_in("."), cases[i][1]);
    }
    remove(folder_in("vocab.json"));
    assert_refused(folder_in("."), "vocab.json");
}

/* A file of rapt whose parts do not fit each other. */
static void refused_files(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        json_int_t number;
        const char *text, *says;
    } cases[] = {{"source", 0, "__xx__", "there is no language \"__xx__\""},
                 {"source", 0, "<pad>", "there is no language \"<pad>\""},
                 {"source", 3, NULL, "there is no language \"\""},
                 {"languages", 0, NULL, "there is no language \"__en__\""},
                 {"languages", -1, NULL, "there is no language \"__en__\""},
                 {"languages", 1000000, NULL, "there is no language \"__en__\""}};
    rapt_tokenizer *k = load(FOLDER);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_error_t where;
        assert_int_equal(rapt_tokenizer_save(k, folder_in("m2m100.json"), NULL), RAPT_OK);
        json_t *root = json_load_file(folder_in("m2m100.json"), 0, &where);
        json_object_set_new(root, cases[i].key, cases[i].text ? json_string(cases[i].text) : json_integer(cases[i].number));
        put_json("m2m100.json", root);
        json_decref(root);
        assert_refused(folder_in("m2m100.json"), cases[i].says);
    }
    rapt_tokenizer_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_published),      cmocka_unit_test(as_transformers_5_saves_it),
        cmocka_unit_test(another_source),    cmocka_unit_test(by_the_type_of_the_model),
        cmocka_unit_test(languages_of_wmt21), cmocka_unit_test(what_it_is),
        cmocka_unit_test(refused_settings),  cmocka_unit_test(refused_vocabularies),
        cmocka_unit_test(refused_files),
    };
    return cmocka_run_group_tests(tests, m2m100_set_up, m2m100_tear_down);
}
