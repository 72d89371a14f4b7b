/* tests/base/test_chars.c: strings are copied, cut and searched, also at their limits, and what is printed to memory is read
 * back. For src/base/chars.h and memory_stream.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/chars.h"
#include "base/memory_stream.h"

#include <stdlib.h>
#include <string.h>

static void copies(void **state)
{
    const char unended[3] = {'a', 'b', 'c'};
    char *copy = chars_copy("a b"), *part = chars_copy_part("abc", 2), *all = chars_copy_part("ab", SIZE_MAX),
         *none = chars_copy_part(unended, 0), *three = chars_copy_part(unended, sizeof unended);
    (void)state;
    assert_string_equal(copy, "a b");
    assert_string_equal(part, "ab");
    assert_string_equal(all, "ab");
    assert_string_equal(none, "");
    assert_string_equal(three, "abc");
    free(copy);
    free(part);
    free(all);
    free(none);
    free(three);
    assert_int_equal(chars_length(unended, 3), 3);
    assert_int_equal(chars_length("ab", 9), 2);
    assert_int_equal(chars_length("", 1), 0);
}

static void prints(void **state)
{
    char *text = chars_print("%d %s", 12, "and more"), *nothing = chars_print("%s", "");
    (void)state;
    assert_string_equal(text, "12 and more");
    assert_string_equal(nothing, "");
    free(text);
    free(nothing);
}

static void finds(void **state)
{
    static const char text[] = {'a', '\0', 'a', 'b', 'a', 'b', 'c'};
    (void)state;
    assert_ptr_equal(chars_find(text, sizeof text, "abc", 3), text + 4);
    assert_ptr_equal(chars_find(text, sizeof text, "\0a", 2), text + 1);
    assert_ptr_equal(chars_find(text, sizeof text, "a", 1), text);
    assert_ptr_equal(chars_find(text, sizeof text, "", 0), text);
    assert_null(chars_find(text, sizeof text - 1, "abc", 3));
    assert_null(chars_find(text, 2, "abc", 3));
    assert_null(chars_find(text, 0, "a", 1));
}

static void cuts(void **state)
{
    char list[] = "a,,b:c", *rest = list;
    (void)state;
    assert_string_equal(chars_cut(&rest, ",:"), "a");
    assert_string_equal(chars_cut(&rest, ",:"), "");
    assert_string_equal(chars_cut(&rest, ",:"), "b");
    assert_string_equal(chars_cut(&rest, ",:"), "c");
    assert_null(chars_cut(&rest, ",:"));
}

static void compares(void **state)
{
    (void)state;
    assert_true(chars_alike(".PnG", ".png"));
    assert_true(chars_alike("", ""));
    assert_false(chars_alike("a", "ab"));
    assert_false(chars_alike("ab", "a"));
    assert_false(chars_alike("@", "`")); /* 32 apart as a letter's two cases are */
    assert_false(chars_alike("\xc3\x84", "\xc3\xa4")); /* A and a with two dots: not letters of ASCII */
}

static void streams(void **state)
{
    memory_stream m;
    (void)state;
    assert_non_null(memory_stream_open(&m));
    for (int i = 0; i < 10000; i++)
        fprintf(m.to, "%04d\n", i);
    fwrite("\0\r\n", 1, 3, m.to);
    assert_true(memory_stream_close(&m));
    assert_null(m.to);
    assert_int_equal(m.size, 50003);
    assert_memory_equal(m.text, "0000\n0001\n", 10);
    assert_memory_equal(m.text + 49995, "9999\n\0\r\n", 9);
    free(m.text);
    assert_non_null(memory_stream_open(&m));
    assert_true(memory_stream_close(&m));
    assert_string_equal(m.text, "");
    free(m.text);
    m = (memory_stream){0};
    assert_false(memory_stream_close(&m));
    assert_null(m.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies), cmocka_unit_test(prints), cmocka_unit_test(finds),
                                       cmocka_unit_test(cuts), cmocka_unit_test(compares), cmocka_unit_test(streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
