/* test_text_in_no_memory.c: every allocation of reading a text in gzip is made to fail in turn: the failure is reported, nothing
 * leaks, no file stays open. For src/text/text_in.c and src/text/gzip.c. Not zlib's own allocations, which no test can replace
 * at link time: check_library_memory.sh. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "text/text_in.h"

#include "failing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "folder.h"

enum { SIZE = 300000 };

static rapt_code read_text(void)
{
    char *data;
    size_t size;
    rapt_error err = {0};
    const rapt_code code = text_in_read("a.gz", SIZE, &data, &size, &err);
    assert_int_equal(code, err.code);
    assert_true(code ? data == NULL : size == SIZE && data[SIZE - 1] == 'a' && data[SIZE] == '\0');
    free(data);
    return code;
}

static rapt_code map_text(void)
{
    file_map m;
    rapt_error err = {0};
    const rapt_code code = text_in_map(&m, "a.gz", "a.gz", &err);
    assert_int_equal(code, err.code);
    assert_true(code ? m.data == NULL : m.size == SIZE && m.data[SIZE - 1] == 'a');
    file_map_close(&m);
    return code;
}

static int open_files(void)
{
    return folder_entries("/proc/self/fd");
}

static void test_gzip(void **state)
{
    (void)state;
    static char letters[SIZE];
    memset(letters, 'a', SIZE);
    gzFile file = gzopen("a.gz", "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, letters, SIZE), SIZE);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(setenv("TMPDIR", ".", 1), 0);
    const int before = open_files();
    failing f = {.what = "reading", .at_least = 4};
    do {
        failing_arm(&f);
    } while (failing_again(&f, read_text()));
    f = (failing){.what = "mapping", .at_least = 3};
    do {
        failing_arm(&f);
    } while (failing_again(&f, map_text()));
    assert_int_equal(open_files(), before);
    assert_int_equal(folder_entries("."), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_gzip)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
