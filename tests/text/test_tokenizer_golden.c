/* test_tokenizer_golden.c: the ids of tiktoken for the public encodings: 200 texts each, texts with special tokens, and
 * whole files with the numbers and the hashes of their ids.
 * For src/text/bpe/ranks.c, bpe_encode.c and split_known.c. Rank files and goldens lie outside of the project (RAPT_SHARED);
 * where they aren't there, this is skipped.
 * labels: arm-first */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "text/bpe/base64.h"
#include "text/sha256.h"
#include "text/tokenizer_files.h"

enum { MAX_BYTES = 1 << 28 };

static const char *const ENCODINGS[] = {"cl100k_base", "o200k_base", "r50k_base"};
enum { ENCODING_COUNT = sizeof ENCODINGS / sizeof *ENCODINGS };

static const char *shared(const char *name)
{
    static char path[1024];
    const char *base = getenv("RAPT_SHARED");
    snprintf(path, sizeof path, "%s/%s", base ? base : "../shared", name);
    return path;
}

static void need(const char *name)
{
    if (access(shared(name), R_OK) == 0)
        return;
    print_message("%s is not here\n", shared(name));
    skip();
}

/* Loaded once for all tests; NULL where the rank file is missing. */
static rapt_tokenizer *tokenizers[ENCODING_COUNT];

static rapt_tokenizer *encoding(const char *name)
{
    char file[64], spec[1200];
    for (int i = 0; i < ENCODING_COUNT; i++) {
        if (strcmp(ENCODINGS[i], name) != 0)
            continue;
        snprintf(file, sizeof file, "data/tokenizers/%s.tiktoken", name);
        need(file);
        snprintf(spec, sizeof spec, "%s:%s", name, shared(file));
        return tokenizers[i] ? tokenizers[i] : (tokenizers[i] = load(spec));
    }
    fail_msg("there is no %s", name);
    return NULL;
}

static void check_line(const rapt_tokenizer *k, const json_t *line, bool specials)
{
    const json_t *text = json_object_get(line, "text"), *list = json_object_get(line, "ids");
    size_t count = json_array_size(list), size = json_string_length(text);
    int32_t *ids = malloc((count + 1) * sizeof *ids);
    assert_true(json_is_string(text) && json_is_array(list) && ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    assert_encodes(k, json_string_value(text), size, specials, ids, count);
    assert_decodes(k, ids, count, json_string_value(text), size);
    free(ids);
}

/* Objects one a line, each with text and ids, and the encoding where the file is of several. */
static void check_file(const char *name, const char *of, bool specials, size_t at_least)
{
    need(name);
    FILE *file = fopen(shared(name), "r");
    size_t lines = 0;
    json_t *line;
    for (; (line = json_loadf(file, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, NULL)); lines++) {
        const char *own = json_string_value(json_object_get(line, "encoding"));
        check_line(encoding(own ? own : of), line, specials);
        json_decref(line);
    }
    fclose(file);
    print_message("%s: %zu texts\n", name, lines);
    assert_true(lines >= at_least);
}

static void test_cl100k(void **state)
{
    (void)state;
    check_file("golden/tokenizer/golden_cl100k_public.jsonl", "cl100k_base", false, 200);
}

static void test_o200k(void **state)
{
    (void)state;
    check_file("golden/tokenizer/golden_o200k_public.jsonl", "o200k_base", false, 200);
}

static void test_r50k(void **state)
{
    (void)state;
    check_file("golden/tokenizer/golden_r50k_public.jsonl", "r50k_base", false, 200);
}

static void test_special_tokens(void **state)
{
    (void)state;
    check_file("golden/tokenizer/golden_special.jsonl", NULL, true, 33);
}

/* ---- whole files -------------------------------------------------------------------------------------------- */

static void check_corpus(const char *file, const char *name, const json_t *want)
{
    char path[256], digest[SHA256_TEXT], *text;
    size_t size, count;
    int32_t *ids;
    rapt_tokenizer *k = encoding(name);
    snprintf(path, sizeof path, "data/%s", file);
    need(path);
    assert_int_equal(file_read(shared(path), MAX_BYTES, &text, &size, NULL), RAPT_OK);
    assert_int_equal(rapt_tokenizer_encode_bytes(k, text, size, NULL, &ids, &count, NULL), RAPT_OK);
    sha256_text(ids, count * sizeof *ids, digest); /* 32 bits each, little-endian, as the machines have it that run this */
    if (count != (size_t)json_integer_value(json_object_get(want, "tokens")))
        fail_msg("%s: %zu tokens of %s", file, count, name);
    assert_string_equal(digest, json_string_value(json_object_get(want, "sha256_u32le")));
    assert_decodes(k, ids, count, text, size);
    free(ids);
    free(text);
}

static void test_whole_files(void **state)
{
    (void)state;
    const char *file, *name;
    json_t *encodings, *want;
    need("golden/tokenizer/corpus_counts.json");
    json_t *root = json_load_file(shared("golden/tokenizer/corpus_counts.json"), 0, NULL);
    assert_true(json_object_size(root) > 0);
    json_object_foreach(root, file, encodings)
        json_object_foreach(encodings, name, want)
            check_corpus(file, name, want);
    json_decref(root);
}

/* p50k_base's file is r50k_base's with runs of 2 to 25 spaces behind the id of <|endoftext|>; its sha256 is in tiktoken's
 * openai_public.py, and the ids are tiktoken's. */
static void test_p50k(void **state)
{
    (void)state;
    char *text, more[2000], *to = more, digest[SHA256_TEXT];
    static const char spaces[] = "                         ";
    size_t size;
    need("data/tokenizers/r50k_base.tiktoken");
    assert_int_equal(file_read(shared("data/tokenizers/r50k_base.tiktoken"), MAX_BYTES, &text, &size, NULL), RAPT_OK);
    for (size_t n = 2; n <= 25; n++) {
        char letters[64] = "";
        base64_encode(spaces, n, letters);
        to += sprintf(to, "%s %zu\n", letters, 50255 + n);
    }
    text = realloc(text, size + sizeof more);
    assert_non_null(text);
    memcpy(text + size, more, (size_t)(to - more));
    size += (size_t)(to - more);
    sha256_text(text, size, digest);
    assert_string_equal(digest, "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069");
    rapt_tokenizer *k = load(write_file("ranks", text, size)); /* recognized by its bytes */
    free(text);
    SPECIALS(k, "Hello    world   x <|endoftext|>\n        y", 15496, 50258, 995, 50257, 2124, 220, 50256, 198, 50262, 331);
    ENCODES(k, "<|endoftext|>", 27, 91, 437, 1659, 5239, 91, 29);
    ENCODES(k, "def f(x):\n    if x:\n        return  1\n", 4299, 277, 7, 87, 2599, 198, 50258, 611, 2124, 25, 198, 50262, 1441,
            220, 352, 198);
    ENCODES(k, "                          a", 50280, 257);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* Without a name before it, a file that is published is what it is with one. */
static void test_unnamed(void **state)
{
    (void)state;
    for (int i = 0; i < ENCODING_COUNT; i++) {
        char file[64];
        const rapt_tokenizer *named = encoding(ENCODINGS[i]);
        snprintf(file, sizeof file, "data/tokenizers/%s.tiktoken", ENCODINGS[i]);
        rapt_tokenizer *k = load(shared(file));
        assert_true(rapt_tokenizer_hash(k) == rapt_tokenizer_hash(named));
        rapt_tokenizer_free(k);
    }
}

/* As a list in a tokenizer file, an encoding is what it was. */
static void test_saved(void **state)
{
    (void)state;
    for (int i = 0; i < ENCODING_COUNT; i++)
        assert_saves(encoding(ENCODINGS[i]));
}

static int tear_down(void **state)
{
    for (int i = 0; i < ENCODING_COUNT; i++)
        rapt_tokenizer_free(tokenizers[i]);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cl100k),         cmocka_unit_test(test_o200k),       cmocka_unit_test(test_r50k),
        cmocka_unit_test(test_special_tokens), cmocka_unit_test(test_whole_files), cmocka_unit_test(test_saved),
        cmocka_unit_test(test_p50k),           cmocka_unit_test(test_unnamed),
    };
    return cmocka_run_group_tests(tests, folder_make, tear_down);
}
