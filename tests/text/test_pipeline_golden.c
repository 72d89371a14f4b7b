/* test_pipeline_golden.c: tokenizer.json files of all kinds, with the ids and the texts that `tokenizers` 0.23.3 gives.
 * For src/text/pipeline. The files are in tests/text/pipeline, made by tools/golden_pipelines.py: each holds a tokenizer.json,
 * texts with their ids with special tokens and without, and ids with their texts with special tokens and without. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "text/pipeline/pipeline.h"
#include "text/tokenizer_files.h"

static json_t *golden_of(const char *name)
{
    char path[1024];
    json_error_t where;
    snprintf(path, sizeof path, "%s/tests/text/pipeline/%s.json", RAPT_SOURCE_DIR, name);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &where);
    if (!root)
        fail_msg("%s: %s", path, where.text);
    return root;
}

static rapt_tokenizer *load_golden(const json_t *root)
{
    char *text = json_dumps(json_object_get(root, "tokenizer"), 0);
    const char *path = write_file("tokenizer.json", text, strlen(text));
    free(text);
    rapt_tokenizer *k = load(path);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_PIPELINE);
    return k;
}

static int32_t *ids_of(const json_t *list, size_t *count)
{
    *count = json_array_size(list);
    int32_t *ids = malloc((*count + 1) * sizeof *ids);
    assert_true(json_is_array(list) && ids);
    for (size_t i = 0; i < *count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return ids;
}

/* [text, ids with special tokens, ids without] */
static void check_encoded(const rapt_tokenizer *k, const json_t *line)
{
    const json_t *text = json_array_get(line, 0);
    assert_int_equal(json_array_size(line), 3);
    for (size_t i = 1; i <= 2; i++) {
        size_t count;
        int32_t *ids = ids_of(json_array_get(line, i), &count);
        assert_encodes(k, json_string_value(text), json_string_length(text), i == 1, ids, count);
        free(ids);
    }
}

/* [ids, text with special tokens, text without] */
static void check_decoded(const rapt_tokenizer *k, const json_t *line)
{
    size_t count, size;
    int32_t *ids = ids_of(json_array_get(line, 0), &count);
    const json_t *all = json_array_get(line, 1), *shown = json_array_get(line, 2);
    assert_decodes(k, ids, count, json_string_value(all), json_string_length(all));
    char *text = pipeline_decode(pipeline_of(k), ids, count, true, &size, NULL);
    assert_non_null(text);
    assert_int_equal(size, json_string_length(shown));
    assert_memory_equal(text, json_string_value(shown), size + 1);
    free(text);
    free(ids);
}

static void check_golden(void **state)
{
    json_t *root = golden_of(*state);
    const json_t *encoded = json_object_get(root, "encoded"), *decoded = json_object_get(root, "decoded");
    rapt_tokenizer *k = load_golden(root);
    assert_true(json_array_size(encoded) >= 40 && json_array_size(decoded) >= 40);
    for (size_t i = 0; i < json_array_size(encoded); i++)
        check_encoded(k, json_array_get(encoded, i));
    for (size_t i = 0; i < json_array_size(decoded); i++)
        check_decoded(k, json_array_get(decoded, i));
    assert_saves(k);
    rapt_tokenizer_free(k);
    json_decref(root);
}

#define GOLDEN(name) {name, check_golden, NULL, NULL, name}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GOLDEN("llama2"),      GOLDEN("llama2_metaspace"), GOLDEN("gemma"),      GOLDEN("some_bytes"),
        GOLDEN("nllb"),        GOLDEN("bert"),             GOLDEN("bert_cased"), GOLDEN("words"),
        GOLDEN("roberta"),     GOLDEN("smollm"),           GOLDEN("byte_normalizer"), GOLDEN("openai"),
        GOLDEN("prefixed"),    GOLDEN("removed"),          GOLDEN("isolated"),   GOLDEN("previous"),
        GOLDEN("next"),        GOLDEN("contiguous"),       GOLDEN("contiguous_inverted"), GOLDEN("flags"),
        GOLDEN("unigram"),     GOLDEN("unigram_bytes"),    GOLDEN("precompiled"),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
