/* test_merges_txt.c: folders with vocab.json and merges.txt and no tokenizer.json, with the ids and texts that transformers 5.24
 * gives; and folders that are refused. For src/text/layout/layout_merges_txt.c. tools/golden_merges.py makes the folder. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "text/golden_lines.h"
#include "text/utf8.h"

#define FOLDER RAPT_SOURCE_DIR "/tests/text/merges/"

static const char *const FILES[] = {"tokenizer_config.json", "config.json", "special_tokens_map.json", "added_tokens.json"};

static void put_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static void put_vocabulary(const char *name)
{
    static const char *const files[] = {"vocab.json", "merges.txt"};
    for (size_t i = 0; i < 2; i++) {
        char path[1024], *data;
        size_t size;
        snprintf(path, sizeof path, FOLDER "%s.%s", name, files[i]);
        assert_int_equal(file_read(path, SIZE_MAX, &data, &size, NULL), RAPT_OK);
        write_file(files[i], data, size);
        free(data);
    }
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        remove(folder_in(FILES[i]));
}

static void check_golden(void **state)
{
    char path[1024];
    const char *name;
    const json_t *value;
    json_error_t where;
    snprintf(path, sizeof path, FOLDER "%s.json", (const char *)*state);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &where);
    assert_non_null(root);
    put_vocabulary(json_string_value(json_object_get(root, "vocabulary")));
    json_object_foreach(json_object_get(root, "files"), name, value)
    {
        char *text = json_dumps(value, 0);
        put_text(name, text);
        free(text);
    }
    rapt_tokenizer *k = load(folder_in("."));
    assert_int_equal(rapt_tokenizer_size(k), json_integer_value(json_object_get(root, "size")));
    const json_t *encoded = json_object_get(root, "encoded"), *decoded = json_object_get(root, "decoded");
    assert_true(json_array_size(encoded) > 70 && json_array_size(decoded) == 60);
    for (size_t i = 0; i < json_array_size(encoded); i++)
        check_encoded(k, json_array_get(encoded, i));
    for (size_t i = 0; i < json_array_size(decoded); i++) {
        const json_t *text = json_array_get(json_array_get(decoded, i), 1);
        size_t count, size;
        int32_t *ids = ids_of(json_array_get(json_array_get(decoded, i), 0), &count);
        char *got = rapt_tokenizer_decode(k, ids, count, &size);
        assert_true(got && size > 0 ? json_string_length(text) > 0 : json_string_length(text) == 0);
        if (utf8_valid_prefix(got, size) == size) /* broken bytes are shown by transformers, and kept by rapt */
            assert_string_equal(got, json_string_value(text));
        free(got);
        free(ids);
    }
    assert_saves(k);
    rapt_tokenizer_free(k);
    json_decref(root);
}

static void refused_settings(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{}", "the folder names no class"},
        {"{\"tokenizer_class\": \"Qwen2Tokenizer\"}", "and the folder names Qwen2Tokenizer"},
        {"{\"tokenizer_class\": \"GPT2\"}", "and the folder names GPT2"},
        {"{\"tokenizer_class\": \"RobertaTokenizer\"}", "the special token \"<s>\" has no id"},
        {"{\"tokenizer_class\": \"GPT2Tokenizer\", \"add_bos_token\": true}", "\"add_bos_token\" is true"},
        {"{\"tokenizer_class\": \"GPT2Tokenizer\", \"pad_token\": \"[PAD]\"}", "the special token \"[PAD]\" has no id"},
        {"{\"tokenizer_class\": \"GPT2Tokenizer\", \"additional_special_tokens\": [\"<x>\"]}", "token \"<x>\" has no id"},
        {"{\"tokenizer_class\": \"GPT2Tokenizer\", \"added_tokens_decoder\": {\"5\": {\"content\": \"<|endoftext|>\"}}}",
         "gives id 5 to the added token \"<|endoftext|>\", and vocab.json another"},
        {"{\"tokenizer_class\": \"GPT2Tokenizer\", \"added_tokens_decoder\": {\"x\": {\"content\": \"<x>\"}}}", "gives id x to"},
        {"{\"tokenizer_class\": \"GPT2Tokenizer\", \"added_tokens_decoder\": {\"600\": 1}}", "gives id 600 to"},
    };
    put_vocabulary("plain");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("tokenizer_config.json", cases[i][0]);
        assert_refused(folder_in("."), cases[i][1]);
    }
}

static void refused_files(void **state)
{
    (void)state;
    put_vocabulary("plain");
    put_text("tokenizer_config.json", "{\"tokenizer_class\": \"GPT2Tokenizer\"}");
    put_text("merges.txt", "#version: 0.2\nno-space\n");
    assert_refused(folder_in("."), "merges.txt");
    put_text("merges.txt", "h zzzz\n");
    assert_refused(folder_in("."), "merges.txt");
    put_text("merges.txt", "\xFF \xFF\n");
    assert_refused(folder_in("."), "not UTF-8");
    write_file("merges.txt", "a b\n\0", 5);
    assert_refused(folder_in("."), "has a NUL");
    put_vocabulary("plain");
    put_text("tokenizer_config.json", "{\"tokenizer_class\": \"GPT2Tokenizer\"}");
    put_text("vocab.json", "[]");
    assert_refused(folder_in("."), "vocab.json: not an object");
    remove(folder_in("vocab.json"));
    assert_refused(folder_in("."), "vocab.json");
}

#define GOLDEN(name) {name, check_golden, NULL, NULL, name}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GOLDEN("gpt2"), GOLDEN("dialogpt"), GOLDEN("padded"), GOLDEN("roberta"), GOLDEN("bart"),
        cmocka_unit_test(refused_settings), cmocka_unit_test(refused_files),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
