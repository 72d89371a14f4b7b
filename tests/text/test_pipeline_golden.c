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

#include <time.h>

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

/* ---- WordPiece with a prefix of any length --------------------------------------------------------------------------- */

enum { WORDS = 200, LETTERS = 100, PREFIX = 200000 };

/* Tokens: [UNK], a, and a behind the prefix. */
static rapt_tokenizer *word_piece(const char *prefix)
{
    char *behind = NULL;
    assert_true(asprintf(&behind, "%sa", prefix) > 0);
    json_t *root = json_pack("{s:s, s:n, s:n, s:[], s:n, s:{s:s}, s:n, s:n, s:{s:s, s:s, s:s, s:i, s:{s:i, s:i, s:i}}}",
                             "version", "1.0", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "type",
                             "WhitespaceSplit", "post_processor", "decoder", "model", "type", "WordPiece", "unk_token", "[UNK]",
                             "continuing_subword_prefix", prefix, "max_input_chars_per_word", LETTERS, "vocab", "[UNK]", 0, "a",
                             1, behind, 2);
    assert_non_null(root);
    char *text = json_dumps(root, 0);
    rapt_tokenizer *k = load(write_file("tokenizer.json", text, strlen(text)));
    json_decref(root);
    free(text);
    free(behind);
    return k;
}

/* CPU seconds for words of LETTERS letters a, which are one token a letter. */
static double seconds_of(const rapt_tokenizer *k)
{
    char text[WORDS * (LETTERS + 1)];
    int32_t *ids;
    size_t count;
    rapt_error err = {0};
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % (LETTERS + 1) == LETTERS ? ' ' : 'a';
    const clock_t start = clock();
    assert_int_equal(rapt_tokenizer_encode_bytes(k, text, sizeof text, false, &ids, &count, &err), RAPT_OK);
    const clock_t end = clock();
    assert_int_equal(count, WORDS * LETTERS);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids[i], i % LETTERS ? 2 : 1);
    free(ids);
    return (double)(end - start) / CLOCKS_PER_SEC;
}

/* If each token walked the prefix, the second would take 100,000 times as long. */
static void a_long_prefix_costs_nothing(void **state)
{
    (void)state;
    char *prefix = malloc(PREFIX + 1);
    assert_non_null(prefix);
    memset(prefix, '#', PREFIX);
    prefix[PREFIX] = '\0';
    rapt_tokenizer *usual = word_piece("##"), *hostile = word_piece(prefix);
    const double least = seconds_of(usual), most = seconds_of(hostile);
    if (most > 1 + 100 * least)
        fail_msg("%g s with a prefix of %d characters, %g s with one of 2", most, PREFIX, least);
    rapt_tokenizer_free(usual);
    rapt_tokenizer_free(hostile);
    free(prefix);
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
        cmocka_unit_test(a_long_prefix_costs_nothing),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
