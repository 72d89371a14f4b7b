/* test_unicode.c: normalization forms and lower case of every code point, and patterns over all of them, against what the package
 * `tokenizers` makes of them: checksums in tests/golden/unicode.json, written by tools/compare_unicode.py. Also that the time of
 * a text grows as its length. For src/text/unicode and src/text/split.
 * labels: sanitized-late */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "text/unicode/unicode.h"

#include "text/pipeline/char_classes.h"
#include "text/split/split.h"
#include "text/utf8.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static json_t *golden;

static uint32_t crc32_of(const char *text, size_t size)
{
    uint32_t table[256], crc = 0xFFFFFFFF;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320 : 0);
    }
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ (unsigned char)text[i]) & 0xFF];
    return ~crc;
}

static void put(buffer *b, uint32_t code)
{
    char bytes[4];
    assert_true(buffer_append(b, bytes, utf8_put(code, bytes)));
}

static uint32_t mark_at(size_t i)
{
    return (uint32_t)json_integer_value(json_array_get(json_object_get(golden, "marks"), i));
}

static buffer all_alone(void)
{
    buffer b = {0};
    for (uint32_t code = 0; code < UNICODE_END; code++)
        if (code < 0xD800 || code > 0xDFFF) {
            put(&b, code);
            put(&b, '\n');
        }
    return b;
}

/* Each STEP-th code point before each mark, and that before each fourth. */
static buffer all_marked(void)
{
    buffer b = {0};
    size_t step = (size_t)json_integer_value(json_object_get(golden, "step")), at = 0;
    size_t count = json_array_size(json_object_get(golden, "marks"));
    for (uint32_t code = 0; code < UNICODE_END; code++) {
        if ((code >= 0xD800 && code <= 0xDFFF) || at++ % step != 0)
            continue;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < count; k += 4) {
                put(&b, code);
                put(&b, mark_at(i));
                put(&b, mark_at(k));
                put(&b, '\n');
            }
    }
    return b;
}

static void check_form(const buffer *text, unicode_form form, const char *name, size_t which)
{
    buffer out = {0};
    json_t *sums = json_object_get(json_object_get(golden, "forms"), name);
    assert_true(unicode_append_form(&out, text->data, text->size, form));
    if (crc32_of(out.data, out.size) != (uint32_t)json_integer_value(json_array_get(sums, which)))
        fail_msg("%s of %s differs", name, which ? "characters before marks" : "code points alone");
    buffer_free(&out);
}

static void test_forms(void **state)
{
    (void)state;
    static const char *const names[] = {"NFC", "NFD", "NFKC", "NFKD"};
    buffer alone = all_alone(), marked = all_marked();
    for (int i = 0; i < 4; i++) {
        check_form(&alone, (unicode_form)i, names[i], 0);
        check_form(&marked, (unicode_form)i, names[i], 1);
    }
    buffer_free(&alone);
    buffer_free(&marked);
}

static void test_lower(void **state)
{
    (void)state;
    buffer out = {0};
    char bytes[16];
    for (uint32_t code = 0; code < UNICODE_END; code++)
        if (code < 0xD800 || code > 0xDFFF) {
            assert_true(buffer_append(&out, bytes, char_lower(code, bytes)));
            put(&out, '\n');
        }
    assert_int_equal(crc32_of(out.data, out.size), (uint32_t)json_integer_value(json_object_get(golden, "lower")));
    buffer_free(&out);
}

/* Some of UnicodeData.txt's mappings to upper and title case, and of CaseFolding.txt. */
static void test_case(void **state)
{
    (void)state;
    static const uint32_t upper[][2] = {{'a', 'A'}, {0xE4, 0xC4}, {0xFF, 0x178}, {0x131, 'I'}, {0x17F, 'S'}, {0x1C6, 0x1C4},
                                        {0x3C2, 0x3A3}, {0x10D0, 0x1C90}, {0xAB70, 0x13A0}, {0x1E943, 0x1E921},
                                        {'1', '1'}, {0x4E00, 0x4E00}};
    for (size_t i = 0; i < sizeof upper / sizeof *upper; i++)
        assert_int_equal(unicode_upper(upper[i][0]), upper[i][1]);
    assert_int_equal(unicode_title(0x1C6), 0x1C5);
    assert_int_equal(unicode_title(0x10D0), 0x10D0);
    assert_int_equal(unicode_title('a'), 'A');
    assert_int_equal(unicode_fold(0x17F), 's');
    assert_int_equal(unicode_fold(0x212A), 'k');
    assert_int_equal(unicode_fold(0x3A3), unicode_fold(0x3C2));
}

/* a, 1, a space and a full stop about each assigned code point. */
static buffer all_between(void)
{
    buffer b = {0};
    size_t i;
    json_t *span;
    json_array_foreach(json_object_get(golden, "assigned"), i, span) {
        uint32_t last = (uint32_t)json_integer_value(json_array_get(span, 1));
        for (uint32_t code = (uint32_t)json_integer_value(json_array_get(span, 0)); code <= last; code++) {
            put(&b, 'a');
            put(&b, code);
            put(&b, '1');
            put(&b, code);
            put(&b, ' ');
            put(&b, code);
            put(&b, '.');
        }
    }
    return b;
}

static uint32_t pieces_of(const char *pattern, const buffer *text)
{
    buffer lengths = {0};
    rapt_error err = {0};
    split *s = split_new(pattern, &err);
    if (!s)
        fail_msg("%s: %s", pattern, err.message);
    split_walk *w = split_walk_new(s, NULL);
    for (size_t at = 0, end; at < text->size; at = end) {
        char length[24];
        assert_int_equal(split_next(w, text->data, text->size, at, &end, &err), RAPT_OK);
        assert_true(buffer_append(&lengths, length, (size_t)snprintf(length, sizeof length, "%zu ", end - at)));
    }
    uint32_t sum = crc32_of(lengths.data, lengths.size);
    buffer_free(&lengths);
    split_walk_free(w);
    split_free(s);
    return sum;
}

static void test_patterns(void **state)
{
    (void)state;
    const char *pattern;
    json_t *sum;
    buffer text = all_between();
    json_object_foreach(json_object_get(golden, "patterns"), pattern, sum)
        if (pieces_of(pattern, &text) != (uint32_t)json_integer_value(sum))
            fail_msg("other pieces: %s", pattern);
    buffer_free(&text);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The shortest of three runs over an a and `count` marks of two classes, in the order that has all of them moved. */
static double time_of_marks(unicode_form form, size_t count)
{
    double best = 1e9;
    buffer text = {0}, out = {0};
    put(&text, 'a');
    for (size_t i = 0; i < count; i++)
        put(&text, i % 2 ? 0x316 : 0x301);
    for (int i = 0; i < 3; i++) {
        double begun = seconds(), taken;
        out.size = 0;
        assert_true(unicode_append_form(&out, text.data, text.size, form));
        taken = seconds() - begun;
        best = taken < best ? taken : best;
    }
    /* the mark of the higher class ends the text */
    assert_memory_equal(out.data + out.size - 2, "\xCC\x81", 2);
    buffer_free(&text);
    buffer_free(&out);
    return best;
}

/* A quadratic order takes 16 times as long for four times the length; this one takes four times. */
static void test_marks_take_linear_time(void **state)
{
    (void)state;
    for (int form = UNICODE_NFC; form <= UNICODE_NFKD; form++) {
        double some = time_of_marks((unicode_form)form, 1 << 17), more = time_of_marks((unicode_form)form, 1 << 19);
        if (more > 10 * some + 1e-3)
            fail_msg("form %d: %g s for half a million marks, %g s for a quarter of them", form, more, some);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), cmocka_unit_test(test_lower), cmocka_unit_test(test_case),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_marks_take_linear_time),
    };
    golden = json_load_file(RAPT_SOURCE_DIR "/tests/golden/unicode.json", 0, NULL);
    int failed = golden ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    json_decref(golden);
    return failed;
}
