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

#include "text/golden_lines.h"

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

static void check_golden(void **state)
{
    json_t *root = golden_of(*state);
    rapt_tokenizer *k = load_golden(root);
    check_lines(k, root);
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
