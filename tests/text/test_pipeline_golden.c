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

/* ---- WordPiece with a prefix, and with words, of any length ----------------------------------------------------------- */

enum { WORDS = 200, LETTERS = 100, PREFIX = 200000, MOST_WALKED = 4096, LONG_WORD = 400000 };

/* Writes a file of the tokens [UNK], a, a behind the prefix, and `more` (NULL: none) with `most` characters in a word. */
static const char *write_word_piece(const char *prefix, json_int_t most, const char *more)
{
    char *behind = NULL;
    assert_true(asprintf(&behind, "%sa", prefix) > 0);
    json_t *root = json_pack("{s:s, s:n, s:n, s:[], s:n, s:{s:s}, s:n, s:n, s:{s:s, s:s, s:s, s:I, s:{s:i, s:i, s:i}}}",
                             "version", "1.0", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "type",
                             "WhitespaceSplit", "post_processor", "decoder", "model", "type", "WordPiece", "unk_token", "[UNK]",
                             "continuing_subword_prefix", prefix, "max_input_chars_per_word", most, "vocab", "[UNK]", 0, "a", 1,
                             behind, 2);
    assert_non_null(root);
    if (more)
        json_object_set_new(json_object_get(json_object_get(root, "model"), "vocab"), more, json_integer(3));
    char *text = json_dumps(root, 0);
    const char *path = write_file("tokenizer.json", text, strlen(text));
    json_decref(root);
    free(text);
    free(behind);
    return path;
}

static rapt_tokenizer *word_piece(const char *prefix)
{
    return load(write_word_piece(prefix, LETTERS, NULL));
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
    assert_int_equal(rapt_tokenizer_encode_bytes(k, text, sizeof text, NULL, &ids, &count, &err), RAPT_OK);
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

/* A token of ## and `letters` letters a. */
static char *long_token(size_t letters)
{
    char *token = malloc(letters + 3);
    assert_non_null(token);
    memcpy(token, "##", 2);
    memset(token + 2, 'a', letters);
    token[letters + 2] = '\0';
    return token;
}

/* A token that continues words is walked from each place of a word on: one of a million letters would make a word of as many cost
 * the square of its length. It is refused where a word may be as long, and where it may not, it makes no token. */
static void a_long_word_costs_little(void **state)
{
    (void)state;
    rapt_error err = {0};
    char *token = long_token(MOST_WALKED + 1), *most = long_token(MOST_WALKED), *word = long_token(LONG_WORD);
    assert_null(rapt_tokenizer_load(write_word_piece("##", INT64_MAX, token), &err));
    assert_non_null(strstr(err.message, "with max_input_chars_per_word 9223372036854775807 a token has at most 4096 bytes behind "
                                        "the prefix; token 3 has 4097"));
    rapt_tokenizer *k = load(write_word_piece("##", LETTERS, token));
    (void)seconds_of(k);
    rapt_tokenizer_free(k);

    /* ##aaa..., in words without a limit: a, then as often the longest token as it fits, then one a letter */
    k = load(write_word_piece("##", INT64_MAX, most));
    int32_t *ids;
    size_t count;
    assert_int_equal(rapt_tokenizer_encode_bytes(k, word + 2, LONG_WORD, NULL, &ids, &count, &err), RAPT_OK);
    const size_t longest = (LONG_WORD - 1) / MOST_WALKED;
    assert_int_equal(count, 1 + longest + (LONG_WORD - 1) % MOST_WALKED);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids[i], i == 0 ? 1 : i <= longest ? 3 : 2);
    free(ids);
    rapt_tokenizer_free(k);
    free(token);
    free(most);
    free(word);
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
        cmocka_unit_test(a_long_prefix_costs_nothing), cmocka_unit_test(a_long_word_costs_little),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
