/* test_tokenizer_no_memory.c: every allocation of making, saving, loading and using tokenizers is made to fail in turn: the
 * failure is reported as what it is, and nothing crashes. That nothing leaks is for a build with sanitizers to find.
 * For src/text/tokenizer.c and what it stands on, allocations within other libraries left out. Linked as
 * tests/failing.h says.
 * labels: late */
#define _GNU_SOURCE
#include "failing.h"

#include <jansson.h>

#include "options.h"
#include "text/split/split.h"
#include "text/tokenizer_files.h"

/* ---- scenarios ---------------------------------------------------------------------------------------------- */

/* Text with a piece that is long, a special token, and something to compose. */
static char text[3000];

static int set_up(void **state)
{
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i < 400 ? 'a' : "the sea, the moon\n"[i % 18];
    memcpy(text + 600, "<|end|>", 7);
    memcpy(text + 700, "e\xCC\x81", 3);
    return failing_check_link(state) == 0 && folder_make(state) == 0 ? 0 : -1;
}

/* Encodes, alone and as a batch, decodes, and writes and reads a file. What went wrong, RAPT_OK if nothing did. */
static rapt_code use(rapt_tokenizer *k, rapt_error *err)
{
    int32_t *ids = NULL;
    size_t count;
    if (!k)
        return err->code;
    rapt_code code = rapt_tokenizer_encode_bytes(k, text, sizeof text, &ENCODE(.specials = true), &ids, &count, err);
    char *back = code ? NULL : rapt_tokenizer_decode(k, ids, count, NULL);
    if (code == RAPT_OK && !back)
        code = RAPT_ERR_MEMORY;
    free(back);
    free(ids);
    ids = NULL;
    size_t *starts = NULL;
    const rapt_text two[] = {{text, 900}, {text + 450, 300}};
    if (code == RAPT_OK)
        code = rapt_tokenizer_encode_batch(k, two, 2, &ENCODE(.specials = true, .threads = 1), &ids, &starts, err);
    free(ids);
    free(starts);
    if (code == RAPT_OK)
        code = rapt_tokenizer_save(k, folder_in("again.json"), err);
    rapt_tokenizer *again = code ? NULL : rapt_tokenizer_load(folder_in("again.json"), err);
    if (code == RAPT_OK && !again)
        code = err->code;
    rapt_tokenizer_free(again);
    rapt_tokenizer_free(k);
    return code;
}

static rapt_code with_words(void)
{
    rapt_error err = {0};
    const char *lines[] = {"the sea , the moon"};
    return use(rapt_tokenizer_train_words(lines, 1, &TRAIN_WORDS(.lowercase = true), &err), &err);
}

static rapt_code with_characters_of_lines(void)
{
    rapt_error err = {0};
    rapt_characters_options o = TRAIN_CHARACTERS(.specials_first = true);
    return use(rapt_tokenizer_train_characters_with(text, sizeof text, &o, &err), &err);
}

static rapt_code with_characters(void)
{
    rapt_error err = {0};
    return use(rapt_tokenizer_train_characters(text, sizeof text, &err), &err);
}

static rapt_code with_bpe_of(const char *pattern)
{
    static const char *const specials[] = {"<|end|>"};
    rapt_error err = {0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 290, .pattern = pattern, .specials = specials, .special_count = 1, .threads = 1);
    return use(rapt_tokenizer_train_bpe(text, sizeof text, &o, &err), &err);
}

static rapt_code with_bpe(void)
{
    return with_bpe_of(SPLIT_O200K);
}

static rapt_code with_own_pattern(void)
{
    return with_bpe_of("\\w+|\\s");
}

static rapt_code with_normalization(void)
{
    rapt_error err = {0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 270, .threads = 1, .normalization = RAPT_NORMALIZATION_PLAIN_LOWERCASE);
    return use(rapt_tokenizer_train_bpe(text, sizeof text, &o, &err), &err);
}

/* A file made by test_files, with a normalizer and a template. */
static rapt_code with_file(void)
{
    rapt_error err = {0};
    return use(rapt_tokenizer_load(folder_in("other.json"), &err), &err);
}

static rapt_code with_model(const char *name)
{
    char path[300];
    rapt_error err = {0};
    snprintf(path, sizeof path, "%s/tests/text/%s", RAPT_SOURCE_DIR, name);
    return use(rapt_tokenizer_load(path, &err), &err);
}

static rapt_code with_unigram(void)
{
    return with_model("sentencepiece/ties_unused.model");
}

static rapt_code with_sentencepiece_bpe(void)
{
    return with_model("sentencepiece/bpe_unused.model");
}

/* With a character map for what was decoded. */
static rapt_code with_rules(void)
{
    return with_model("sentencepiece/unigram_rules.model");
}

static rapt_code with_marian(void)
{
    return with_model("marian/source.spm");
}

static rapt_code with_m2m100(void)
{
    return with_model("m2m100");
}

/* Replaces a part of the file that a trained tokenizer was saved to. */
static void edit(char *file, const char *from, const char *to)
{
    char *at = strstr(file, from);
    assert_non_null(at);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

static void make_other_file(void)
{
    char *file = calloc(1, 100000);
    assert_int_equal(with_bpe(), RAPT_OK);
    FILE *saved = fopen(folder_in("again.json"), "rb");
    assert_true(saved && fread(file, 1, 90000, saved) > 0);
    fclose(saved);
    edit(file, "\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}");
    edit(file, "\"post_processor\": null",
         "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<|end|>\"}}, "
         "{\"Sequence\": {\"id\": \"A\"}}], \"special_tokens\": {\"<|end|>\": {\"ids\": [7]}}}");
    write_file("other.json", file, strlen(file));
    free(file);
}

/* The tokenizer.json within a golden. */
static void make_pipeline_file(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/text/pipeline/%s.json", RAPT_SOURCE_DIR, name);
    json_t *golden = json_load_file(path, JSON_ALLOW_NUL, NULL);
    char *file = json_dumps(json_object_get(golden, "tokenizer"), 0);
    assert_non_null(file);
    write_file("other.json", file, strlen(file));
    free(file);
    json_decref(golden);
}

/* Repeats the scenario with its first, second, ... allocation failing, until none is left to fail. */
static void fail_each_allocation(const char *what, rapt_code (*run)(void), long at_least)
{
    failing f = {.what = what, .at_least = at_least, .uncounted = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, run()));
}

static void test_words(void **state)
{
    (void)state;
    fail_each_allocation("words", with_words, 15);
}

static void test_characters(void **state)
{
    (void)state;
    fail_each_allocation("characters", with_characters, 8);
    fail_each_allocation("characters of lines", with_characters_of_lines, 8);
}

static void test_bpe(void **state)
{
    (void)state;
    fail_each_allocation("BPE", with_bpe, 50);
}

static void test_own_pattern(void **state)
{
    (void)state;
    /* a walk that begins within the text and lacks memory to look ahead is done again from its first byte */
    failing f = {.what = "own pattern", .at_least = 50, .uncounted = true, .unnoticed = 2};
    do {
        failing_arm(&f);
    } while (failing_again(&f, with_own_pattern()));
}

static void test_normalization(void **state)
{
    (void)state;
    fail_each_allocation("normalization", with_normalization, 100);
}

static void test_file(void **state)
{
    (void)state;
    make_other_file();
    fail_each_allocation("file", with_file, 300);
}

static void test_sentencepiece(void **state)
{
    (void)state;
    fail_each_allocation("unigram", with_unigram, 50);
    fail_each_allocation("SentencePiece's BPE", with_sentencepiece_bpe, 50);
    fail_each_allocation("rules", with_rules, 50);
    fail_each_allocation("Marian", with_marian, 50);
    fail_each_allocation("M2M100", with_m2m100, 50);
}

/* Between them they have all kinds of components but those that differ in what they do to a character. */
static void test_pipelines(void **state)
{
    (void)state;
    static const char *const names[] = {"llama2", "nllb", "bert", "words", "flags", "contiguous", "openai", "roberta",
                                        "precompiled"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make_pipeline_file(names[i]);
        fail_each_allocation(names[i], with_file, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),       cmocka_unit_test(test_characters), cmocka_unit_test(test_bpe),
        cmocka_unit_test(test_own_pattern), cmocka_unit_test(test_normalization), cmocka_unit_test(test_file),
        cmocka_unit_test(test_sentencepiece),
        cmocka_unit_test(test_pipelines),
    };
    return cmocka_run_group_tests(tests, set_up, folder_remove);
}
