/* tests/base/test_file_regular.c: pipes, sockets and devices where a file is expected are refused at once, and texts that come
 * through a pipe are read.
 * For src/base/file_regular.c and file.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef rapt_code reader(const char *, size_t, char **, size_t *, rapt_error *);

static void refused(reader *read, const char *path, rapt_code code, const char *reason)
{
    char *data = (char *)path, wanted[600];
    size_t size = 1;
    rapt_error err = {0};
    assert_int_equal(read(path, 1000, &data, &size, &err), code);
    snprintf(wanted, sizeof wanted, "cannot read %s: %s", path, reason);
    assert_string_equal(err.message, wanted);
    assert_null(data);
    assert_int_equal(size, 0);
}

/* Nobody writes to the pipe: whoever opened it as a text would wait. */
static void what_is_no_file(void **state)
{
    (void)state;
    const char *pipe = folder_in("pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    refused(file_read_regular, pipe, RAPT_ERR_IO, "not a regular file");
    unlink(pipe);
    refused(file_read_regular, "/dev/null", RAPT_ERR_IO, "not a regular file");
    refused(file_read_regular, "/dev/zero", RAPT_ERR_IO, "not a regular file");
    refused(file_read_regular, "/tmp", RAPT_ERR_IO, "Is a directory");
    refused(file_read_regular, "/tmp/rapt-no-such-file", RAPT_ERR_NOT_FOUND, "No such file or directory");
    refused(file_read_regular, "-", RAPT_ERR_NOT_FOUND, "No such file or directory");
}

static void devices_that_never_end(void **state)
{
    (void)state;
    refused(file_read, "/dev/zero", RAPT_ERR_IO, "a device, which may never end");
    refused(file_read, "/dev/urandom", RAPT_ERR_IO, "a device, which may never end");
}

static void files(void **state)
{
    (void)state;
    char *data;
    size_t size;
    rapt_error err = {0};
    const char *path = folder_in("file");
    assert_int_equal(file_write_atomic(path, "abc", 3, &err), RAPT_OK);
    assert_int_equal(file_read_regular(path, 3, &data, &size, &err), RAPT_OK);
    assert_int_equal(size, 3);
    assert_string_equal(data, "abc");
    free(data);
    refused(file_read_regular, "/proc/self/mem", RAPT_ERR_IO, "Input/output error");
    assert_int_equal(file_read_regular(path, 2, &data, &size, &err), RAPT_ERR_VALUE);
    unlink(path);
}

/* What a shell's <(...) gives. */
static void texts_through_a_pipe(void **state)
{
    (void)state;
    int ends[2];
    char path[64], *data;
    size_t size;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "text", 4), 4);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(file_read(path, 1000, &data, &size, NULL), RAPT_OK);
    assert_string_equal(data, "text");
    free(data);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_file),
        cmocka_unit_test(devices_that_never_end),
        cmocka_unit_test(files),
        cmocka_unit_test(texts_through_a_pipe),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove_empty);
}
