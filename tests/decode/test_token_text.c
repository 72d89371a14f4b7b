/* test_token_text.c: tokens that come one by one give the text that they have together.
 * For src/search/token_text.c. The tokenizers and their ids are the goldens of tests/text/pipeline. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/buffer.h"
#include "options.h"
#include "search/token_text.h"
#include "text/tokenizer_files.h"

static rapt_code collect(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)err;
    return buffer_append(context, text, size) ? RAPT_OK : RAPT_ERR_MEMORY;
}

/* Tokens from `first` on, behind those before; what they add is `want`. */
static void check_stream(const rapt_tokenizer *k, const int32_t *ids, size_t first, size_t count, const char *want)
{
    buffer got = {0};
    token_text t;
    text_stream *out = text_stream_new(NULL, 0, collect, &got, NULL);
    assert_true(out && buffer_reserve(&got, 0));
    token_text_begin(&t, k, first);
    for (size_t i = first; i < count; i++)
        assert_int_equal(token_text_next(&t, ids, i + 1, out, NULL), RAPT_OK);
    assert_int_equal(token_text_finish(&t, ids, count, out, NULL), RAPT_OK);
    assert_int_equal(text_stream_finish(out, NULL), RAPT_OK);
    assert_string_equal(got.data, want);
    text_stream_free(out);
    buffer_free(&got);
}

/* Each text of the golden, cut where its first tokens decode to a beginning of the whole. */
static size_t check_texts(const rapt_tokenizer *k, const json_t *lines)
{
    int32_t ids[400];
    size_t checked = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *list = json_array_get(json_array_get(lines, i), 0);
        size_t count = json_array_size(list), first = count / 3, size = 0;
        assert_true(count <= 400);
        for (size_t j = 0; j < count; j++)
            ids[j] = (int32_t)json_integer_value(json_array_get(list, j));
        const char *all = json_string_value(json_array_get(json_array_get(lines, i), 1));
        char *before = rapt_tokenizer_decode(k, ids, first, &size);
        assert_non_null(before);
        if (!strstr(all, "\xEF\xBF\xBD") && strlen(all) == json_string_length(json_array_get(json_array_get(lines, i), 1)) &&
            strncmp(all, before, size) == 0) {
            check_stream(k, ids, first, count, all + size);
            checked++;
        }
        free(before);
    }
    return checked;
}

static void check_pipeline_text(void **state)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/text/pipeline/%s.json", RAPT_SOURCE_DIR, (const char *)*state);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL);
    char *text = json_dumps(json_object_get(root, "tokenizer"), 0);
    assert_non_null(text);
    rapt_tokenizer *k = load(write_file("tokenizer.json", text, strlen(text)));
    assert_true(check_texts(k, json_object_get(root, "decoded")) >= 30);
    rapt_tokenizer_free(k);
    free(text);
    json_decref(root);
}

/* The first of two bytes waits for the other one; at the end it is what the tokenizer has for it. */
static void test_unfinished_bytes(void **state)
{
    enum { BYTES = 300 };
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/text/pipeline/llama2.json", RAPT_SOURCE_DIR);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL);
    char *text = json_dumps(json_object_get(root, "tokenizer"), 0);
    rapt_tokenizer *k = load(write_file("tokenizer.json", text, strlen(text)));
    int32_t ids[3] = {-1, -1, -1}; /* <0x61>, <0xC3>, <0xA9> */
    for (int32_t i = 0; i < (int32_t)rapt_tokenizer_size(k); i++) {
        const char *token = rapt_tokenizer_token(k, i, NULL);
        ids[0] = token && strcmp(token, "<0x61>") == 0 ? i : ids[0];
        ids[1] = token && strcmp(token, "<0xC3>") == 0 ? i : ids[1];
        ids[2] = token && strcmp(token, "<0xA9>") == 0 ? i : ids[2];
    }
    assert_true(ids[0] >= 0 && ids[1] >= 0 && ids[2] >= 0);
    check_stream(k, ids, 1, 3, "\xC3\xA9");
    check_stream(k, ids + 1, 0, 1, "\xEF\xBF\xBD");
    /* Bytes that follow each other are one text, or U+FFFD each: tokenizers' ByteFallback. */
    int32_t many[BYTES + 1];
    char want[3 * (BYTES + 1) + 1] = "";
    for (size_t i = 0; i <= BYTES; i++) {
        many[i] = i < BYTES ? ids[1] : ids[0];
        strcat(want, "\xEF\xBF\xBD");
    }
    check_stream(k, many, 0, BYTES + 1, want);
    rapt_tokenizer_free(k);
    free(text);
    json_decref(root);
}

/* Bytes of other kinds are pushed as they are; the stream makes characters of them. */
static void test_bytes(void **state)
{
    (void)state;
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("ab", 2, &TRAIN_BPE(.vocab_size = 256), NULL);
    const int32_t ids[] = {'a', 0xC3, 0xA9, 'b'};
    assert_non_null(k);
    check_stream(k, ids, 1, 4, "\xC3\xA9" "b");
    check_stream(k, ids, 0, 2, "a\xEF\xBF\xBD");
    check_stream(k, (const int32_t[]){'a', 0xC3, 'b', 0xE2, 0x82, 0xE2, 0x82, 0xAC}, 0, 8,
                 "a\xEF\xBF\xBD" "b\xEF\xBF\xBD\xE2\x82\xAC"); /* Python: b"...".decode(errors="replace") */
    rapt_tokenizer_free(k);
}

#define TEXTS_OF(name) {name, check_pipeline_text, NULL, NULL, name}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEXTS_OF("llama2"), TEXTS_OF("gemma"),   TEXTS_OF("nllb"),           TEXTS_OF("roberta"),
        TEXTS_OF("bert"),   TEXTS_OF("smollm"), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_unfinished_bytes),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
