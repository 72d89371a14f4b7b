/* test_line_stream.c: lines as they arrive: what a line is follows lines.h, whatever the portions it comes in. */
#define _GNU_SOURCE
#include "text/line_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A stream that reads from the returned end of a pipe. */
static line_stream *open_pipe(int *writer)
{
    int ends[2];
    char path[64];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    line_stream *s = line_stream_open(path, NULL);
    assert_non_null(s);
    close(ends[0]);
    *writer = ends[1];
    return s;
}

static void put(int writer, const char *text, size_t size)
{
    assert_int_equal(write(writer, text, size), (ssize_t)size);
}

static void assert_block(line_stream *s, size_t most, size_t first, const char *const *want)
{
    line_block b;
    size_t count = 0;
    assert_int_equal(line_stream_next(s, most, &b, NULL), RAPT_OK);
    for (; want[count]; count++) {
        assert_true(count < b.count);
        assert_string_equal(b.line[count].data, want[count]);
    }
    assert_int_equal(b.count, count);
    assert_true(count == 0 || b.first == first);
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_what_has_arrived(void **state)
{
    (void)state;
    int w;
    line_stream *s = open_pipe(&w);
    put(w, "one\ntw", 6);
    assert_block(s, 9, 1, LINES("one"));
    put(w, "o\r\n\nfour\nfive\nsi", 16);
    assert_block(s, 3, 2, LINES("two", "", "four"));
    assert_block(s, 3, 5, LINES("five"));
    put(w, "x", 1);
    close(w);
    assert_block(s, 3, 6, LINES("six"));
    assert_block(s, 3, 7, LINES(NULL));
    assert_block(s, 3, 7, LINES(NULL));
    line_stream_free(s);
}

static void test_byte_order_mark(void **state)
{
    (void)state;
    int w;
    line_stream *s = open_pipe(&w);
    put(w, "\xEF\xBB\xBF\n\xEF\xBB\xBFtwo\n", 11);
    close(w);
    assert_block(s, 1, 1, LINES(""));
    assert_block(s, 1, 2, LINES("\xEF\xBB\xBFtwo"));
    assert_block(s, 1, 3, LINES(NULL));
    line_stream_free(s);
    s = open_pipe(&w);
    put(w, "\xEF\xBB\xBF", 3);
    close(w);
    assert_block(s, 1, 1, LINES(NULL));
    line_stream_free(s);
}

static void test_error_comes_after_good_lines(void **state)
{
    (void)state;
    int w;
    line_block b;
    rapt_error err = {0};
    line_stream *s = open_pipe(&w);
    put(w, "one\ntwo\nt\xFF\nfour\n", 16);
    close(w);
    assert_block(s, 9, 1, LINES("one", "two"));
    assert_int_equal(line_stream_next(s, 9, &b, &err), RAPT_ERR_FORMAT);
    const char *message = strchr(err.message, ':');
    assert_string_equal(message, ":3: byte 2 of the line (0xff) is not valid UTF-8");
    assert_int_equal(line_stream_next(s, 9, &b, NULL), RAPT_ERR_FORMAT);
    line_stream_free(s);
}

/* Longer than one portion of reading, and a character that lies across two. */
static void test_long_lines(void **state)
{
    (void)state;
    enum { LENGTH = 1000001 };
    char path[] = "/tmp/rapt-stream-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    assert_non_null(f);
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k <= LENGTH; k += 2)
            fputs(k < LENGTH - 1 ? "\xC3\xA9" : "x\n", f);
    fclose(f);
    line_stream *s = line_stream_open(path, NULL);
    for (size_t i = 1; i <= 3; i++) {
        line_block b;
        assert_int_equal(line_stream_next(s, 1, &b, NULL), RAPT_OK);
        assert_int_equal(b.count, 1);
        assert_int_equal(b.first, i);
        assert_int_equal(b.line[0].size, LENGTH);
    }
    assert_block(s, 1, 4, LINES(NULL));
    line_stream_free(s);
    unlink(path);
}

static void test_what_cannot_be_read(void **state)
{
    (void)state;
    rapt_error err = {0};
    line_block b;
    assert_null(line_stream_open("/nonexistent/text", &err));
    assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
    assert_string_equal(err.message, "cannot read /nonexistent/text: No such file or directory");
    line_stream *s = line_stream_open("/", NULL);
    err = (rapt_error){0};
    assert_int_equal(line_stream_next(s, 1, &b, &err), RAPT_ERR_IO);
    assert_string_equal(err.message, "cannot read /: Is a directory");
    line_stream_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_has_arrived),
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_error_comes_after_good_lines),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
