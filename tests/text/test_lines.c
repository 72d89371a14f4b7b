/* test_lines.c: texts cut into lines, and the messages for those that can't be.
 * For src/text/lines.c.
 * Not a test of reading files, but for the one line that joins the two. */
#define _GNU_SOURCE
#include "text/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Splits a copy, exactly as large as promised, so that a sanitizer sees reads beyond it. */
static rapt_code split(const char *text, size_t size, struct lines *lines, rapt_error *err)
{
    char *data = malloc(size + 1);
    assert_non_null(data);
    memcpy(data, text, size);
    return lines_split("text", data, size, lines, err);
}

static void assert_lines(const char *text, const char *const *want)
{
    struct lines lines;
    size_t count = 0;
    assert_int_equal(split(text, strlen(text), &lines, NULL), RAPT_OK);
    for (; want[count]; count++) {
        assert_true(count < lines.count);
        assert_string_equal(lines.line[count], want[count]);
        assert_int_equal(lines.length[count], strlen(want[count]));
    }
    assert_int_equal(lines.count, count);
    lines_free(&lines);
    assert_null(lines.line);
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_ends_of_lines(void **state)
{
    (void)state;
    assert_lines("", LINES(NULL));
    assert_lines("one", LINES("one"));
    assert_lines("one\n", LINES("one"));
    assert_lines("one\ntwo", LINES("one", "two"));
    assert_lines("one\n\ntwo\n", LINES("one", "", "two"));
    assert_lines("\n", LINES(""));
    assert_lines("\n\n", LINES("", ""));
    assert_lines("one\r\ntwo\r\n", LINES("one", "two"));
    assert_lines("\r\n", LINES(""));
    assert_lines("a\rb\n", LINES("a\rb"));
    assert_lines("a\r", LINES("a"));
    assert_lines("a\r\r\n", LINES("a\r"));
    assert_lines(" x \t\n", LINES(" x \t"));
    assert_lines("a\xE2\x80\xA8" "b\n", LINES("a\xE2\x80\xA8" "b")); /* U+2028 ends no line */
}

static void test_byte_order_mark(void **state)
{
    (void)state;
    assert_lines("\xEF\xBB\xBFone\ntwo\n", LINES("one", "two"));
    assert_lines("\xEF\xBB\xBF", LINES(NULL));
    assert_lines("\xEF\xBB\xBF\n", LINES(""));
    assert_lines("one\n\xEF\xBB\xBFtwo\n", LINES("one", "\xEF\xBB\xBFtwo"));
}

static void assert_refused(const char *text, size_t size, const char *message)
{
    struct lines lines;
    rapt_error err = {0};
    assert_int_equal(split(text, size, &lines, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, message);
    assert_null(lines.text);
    assert_int_equal(lines.count, 0);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    assert_refused("\xFF", 1, "text:1: byte 1 of the line (0xff) is not valid UTF-8");
    assert_refused("one\ntw\xC3\n", 8, "text:2: byte 3 of the line (0xc3) is not valid UTF-8");
    assert_refused("\n\n\xE4\xBD", 4, "text:3: byte 1 of the line (0xe4) is not valid UTF-8");
    assert_refused("one\nt\0o\n", 8, "text:2: byte 2 of the line (0x00) is a NUL");
    assert_refused("a\0\n\xFF", 4, "text:1: byte 2 of the line (0x00) is a NUL");
    assert_refused("\xFF\n\0", 3, "text:1: byte 1 of the line (0xff) is not valid UTF-8");
}

static void test_read(void **state)
{
    (void)state;
    char path[] = "/tmp/rapt-lines-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "one\ntw\xFF", 7), 7);
    struct lines lines;
    rapt_error err = {0};
    assert_int_equal(lines_read(path, 100, &lines, &err), RAPT_ERR_FORMAT);
    char want[100];
    snprintf(want, sizeof want, "%s:2: byte 3 of the line (0xff) is not valid UTF-8", path);
    assert_string_equal(err.message, want);
    assert_int_equal(ftruncate(fd, 6), 0);
    assert_int_equal(lines_read(path, 100, &lines, &err), RAPT_OK);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.line[1], "tw");
    lines_free(&lines);
    assert_int_equal(lines_read(path, 5, &lines, NULL), RAPT_ERR_VALUE);
    close(fd);
    unlink(path);
    assert_int_equal(lines_read(path, 100, &lines, NULL), RAPT_ERR_NOT_FOUND);
    lines_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_of_lines),
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
