/* test_normalizer.c: what each step makes of a text, and the steps as JSON. Expected texts are written by hand after Unicode's
 * charts; Hugging Face's `tokenizers` 0.23.3 gives the same. */
#include "text/normalizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct copy {
    char text[200];
    size_t size;
} copy;

static rapt_code take(void *context, const char *text, size_t size)
{
    copy *c = context;
    assert_true(size < sizeof c->text);
    if (size)
        memcpy(c->text, text, size);
    c->text[size] = '\0';
    c->size = size;
    return RAPT_OK;
}

static void check_bytes(const normalizer *n, const char *text, size_t size, const char *want, size_t want_size)
{
    copy got;
    assert_int_equal(normalizer_apply(n, text, size, take, &got, NULL), RAPT_OK);
    assert_string_equal(got.text, want);
    assert_int_equal(got.size, want_size);
}

static void check(const normalizer *n, const char *text, const char *want)
{
    check_bytes(n, text, strlen(text), want, strlen(want));
}

static normalizer of(rapt_normalization which)
{
    normalizer n = {0};
    assert_int_equal(normalizer_add_all(&n, which, NULL), RAPT_OK);
    return n;
}

static normalizer only(normalizer_kind kind)
{
    normalizer n = {0};
    assert_int_equal(normalizer_add(&n, kind, NULL, NULL, NULL), RAPT_OK);
    return n;
}

static void test_none(void **state)
{
    (void)state;
    normalizer n = of(RAPT_NORMALIZATION_NONE);
    assert_int_equal(n.count, 0);
    assert_int_equal(normalizer_hash(&n), 0);
    check(&n, "  E\u0301  \u2019 ", "  E\u0301  \u2019 ");
    check(&n, "", "");
}

static void test_forms(void **state)
{
    (void)state;
    normalizer nfc = only(NORMALIZER_NFC), nfkc = only(NORMALIZER_NFKC);
    check(&nfc, "e\u0301 \uFB01 \u00A0", "\u00E9 \uFB01 \u00A0");
    check(&nfkc, "e\u0301 \uFB01 \u00A0|\uFF21\u2026", "\u00E9 fi  |A...");
    check(&nfkc, "\xFF" "e\u0301\xC3", "\xFF\u00E9\xC3"); /* what is not UTF-8 stays */
    normalizer_free(&nfc);
    normalizer_free(&nfkc);
}

static void test_nmt(void **state)
{
    (void)state;
    normalizer n = only(NORMALIZER_NMT);
    check(&n, "a\x01\x1F" "b\x7F" "c", "abc");
    check(&n, "a\tb\r\nc\u200Bd\uFEFFe\u2028f", "a b  c d e f");
    check_bytes(&n, "a\0b", 3, "a\0b", 3);
    normalizer_free(&n);
}

static void test_lowercase(void **state)
{
    (void)state;
    normalizer n = only(NORMALIZER_LOWERCASE);
    check(&n, "\u00C4RGER \u0130 \u039F\u0394\u039F\u03A3", "\u00E4rger i\u0307 \u03BF\u03B4\u03BF\u03C3");
    check(&n, "\xFFX", "\xFFx");
    normalizer_free(&n);
}

static void test_replace(void **state)
{
    (void)state;
    normalizer n = {0};
    assert_int_equal(normalizer_add(&n, NORMALIZER_REPLACE, "aa", "b", NULL), RAPT_OK);
    check(&n, "aaaaa aa", "bba b");
    check(&n, "aa", "b");
    normalizer_free(&n);
    assert_int_equal(normalizer_add(&n, NORMALIZER_REPLACE, "a", "", NULL), RAPT_OK);
    check(&n, "aaa", "");
    normalizer_free(&n);
}

static void test_spaces(void **state)
{
    (void)state;
    normalizer squeeze = only(NORMALIZER_SQUEEZE), strip = only(NORMALIZER_STRIP);
    check(&squeeze, "  a   b c ", " a b c ");
    check(&strip, " \t\u00A0a b\u2003", "a b");
    check(&strip, " \u00E9 ", "\u00E9");
    check(&strip, "   ", "");
    check(&strip, " \x80 ", "\x80");
    check(&strip, "\x1C" "a", "\x1C" "a"); /* white space to Python only */
    normalizer_free(&squeeze);
    normalizer_free(&strip);
}

static void test_plain(void **state)
{
    (void)state;
    normalizer n = of(RAPT_NORMALIZATION_PLAIN), lower = of(RAPT_NORMALIZATION_PLAIN_LOWERCASE);
    const char *text = " \u201EIt\u2019s\u201C\u00A0\u2014  cafe\u0301\u2026 don\u00B4t\r";
    check(&n, text, "\"It's\" - caf\u00E9... don't");
    check(&lower, text, "\"it's\" - caf\u00E9... don't");
    check(&n, "A man, in a hat.", "A man, in a hat.");
    normalizer_free(&n);
    normalizer_free(&lower);
}

static void test_lines(void **state)
{
    (void)state;
    normalizer n = of(RAPT_NORMALIZATION_PLAIN);
    char *out;
    size_t size;
    assert_int_equal(normalizer_apply_lines(&n, " a \n\nb\n c", 9, &out, &size, NULL), RAPT_OK);
    assert_int_equal(size, 6);
    assert_memory_equal(out, "a\n\nb\nc", 6);
    free(out);
    assert_int_equal(normalizer_apply_lines(&n, "", 0, &out, &size, NULL), RAPT_OK);
    assert_int_equal(size, 0);
    free(out);
    normalizer_free(&n);
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

static void test_written_and_read(void **state)
{
    (void)state;
    for (int which = RAPT_NORMALIZATION_NFC; which <= RAPT_NORMALIZATION_PLAIN_LOWERCASE; which++) {
        normalizer n = of((rapt_normalization)which), again = {0};
        json_t *json = normalizer_to_json(&n);
        assert_int_equal(normalizer_read(&again, json, NULL), RAPT_OK);
        assert_int_equal(again.count, n.count);
        assert_true(normalizer_hash(&again) == normalizer_hash(&n));
        json_decref(json);
        normalizer_free(&n);
        normalizer_free(&again);
    }
    normalizer plain = of(RAPT_NORMALIZATION_PLAIN), lower = of(RAPT_NORMALIZATION_PLAIN_LOWERCASE);
    assert_false(normalizer_hash(&plain) == normalizer_hash(&lower));
    normalizer_free(&plain);
    normalizer_free(&lower);
}

/* A tokenizer's own number has 2 for another option of it. */
static void test_hashes(void **state)
{
    (void)state;
    uint64_t hash[NORMALIZER_STRIP + 1] = {0};
    for (int kind = NORMALIZER_NFC; kind <= NORMALIZER_STRIP; kind++) {
        normalizer n = {0};
        assert_int_equal(normalizer_add(&n, (normalizer_kind)kind, "a", "b", NULL), RAPT_OK);
        hash[kind] = normalizer_hash(&n);
        assert_true(kind == NORMALIZER_NFC ? hash[kind] == 1 : hash[kind] > 1000);
        for (int other = 0; other < kind; other++)
            assert_true(hash[other] != hash[kind]);
        normalizer_free(&n);
    }
}

static void refuse(const char *text)
{
    normalizer n = {0};
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    assert_int_equal(normalizer_read(&n, json, NULL), RAPT_ERR_FORMAT);
    json_decref(json);
    normalizer_free(&n);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("{}");
    refuse("{\"type\": \"BertNormalizer\"}");
    refuse("{\"type\": \"Sequence\"}");
    refuse("{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {\"type\": \"NFD\"}]}");
    refuse("{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": false}");
    refuse("{\"type\": \"Replace\", \"pattern\": {\"String\": \"\"}, \"content\": \"a\"}");
    refuse("{\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}}");
    refuse("{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a+\"}, \"content\": \" \"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),   cmocka_unit_test(test_forms),  cmocka_unit_test(test_nmt),
        cmocka_unit_test(test_lowercase), cmocka_unit_test(test_replace), cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_plain),  cmocka_unit_test(test_lines),  cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
