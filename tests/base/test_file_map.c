/* tests/base/test_file_map.c: files as memory, and files written in portions. For src/base/file.c. What goes wrong while
 * a whole file is written is in test_file.c: it takes the same way. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "folder.h"

#include <string.h>
#include <sys/stat.h>

static char path[FOLDER_ROOM];

static int make_folder(void **state)
{
    if (folder_make(state))
        return -1;
    strcpy(path, folder_in("file"));
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return folder_remove_empty(state);
}

static void assert_maps_to(const char *text)
{
    file_map m;
    rapt_error err = {0};
    assert_int_equal(file_map_open(&m, path, &err), RAPT_OK);
    assert_int_equal(m.size, strlen(text));
    assert_true(m.size == 0 || memcmp(m.data, text, m.size) == 0);
    file_map_close(&m);
    assert_null(m.data);
    file_map_close(&m); /* does no harm */
}

static void assert_refused(const char *what, rapt_code code, const char *message)
{
    file_map m;
    rapt_error err = {0};
    assert_int_equal(file_map_open(&m, what, &err), code);
    assert_string_equal(err.message, message);
    assert_null(m.data);
    file_map_close(&m);
}

static void portions_become_a_file(void **state)
{
    (void)state;
    file_writer w;
    rapt_error err = {0};
    assert_int_equal(file_writer_open(&w, path, &err), RAPT_OK);
    assert_int_equal(file_writer_put(&w, "....", 4, &err), RAPT_OK);
    assert_int_equal(file_writer_put(&w, "", 0, &err), RAPT_OK);
    assert_int_equal(file_writer_put(&w, "body", 4, &err), RAPT_OK);
    assert_int_equal(file_writer_rewind(&w, &err), RAPT_OK);
    assert_int_equal(file_writer_put(&w, "head", 4, &err), RAPT_OK);
    assert_false(file_exists(path));
    assert_int_equal(file_writer_finish(&w, &err), RAPT_OK);
    assert_maps_to("headbody");
    assert_int_equal(folder_entries(folder_path), 1);
}

static void what_is_discarded_leaves_nothing(void **state)
{
    (void)state;
    file_writer w;
    assert_int_equal(file_write_atomic(path, "old", 3, NULL), RAPT_OK);
    assert_int_equal(file_writer_open(&w, path, NULL), RAPT_OK);
    assert_int_equal(file_writer_put(&w, "new", 3, NULL), RAPT_OK);
    assert_int_equal(folder_entries(folder_path), w.temporary ? 2 : 1); /* it has a name only where it must */
    file_writer_discard(&w);
    assert_maps_to("old");
    assert_int_equal(folder_entries(folder_path), 1);
}

static void a_map_outlives_replacement(void **state)
{
    (void)state;
    file_map m;
    assert_int_equal(file_write_atomic(path, "old", 3, NULL), RAPT_OK);
    assert_int_equal(file_map_open(&m, path, NULL), RAPT_OK);
    assert_int_equal(file_write_atomic(path, "newer", 5, NULL), RAPT_OK);
    assert_memory_equal(m.data, "old", 3);
    file_map_close(&m);
    assert_maps_to("newer");
}

static void an_empty_file_is_an_empty_map(void **state)
{
    (void)state;
    assert_int_equal(file_write_atomic(path, "", 0, NULL), RAPT_OK);
    assert_maps_to("");
}

static void what_has_no_pages_is_refused(void **state)
{
    (void)state;
    char message[FOLDER_ROOM + 64];
    snprintf(message, sizeof message, "cannot read %s: Is a directory", folder_path);
    assert_refused(folder_path, RAPT_ERR_IO, message);
    unlink(path);
    snprintf(message, sizeof message, "cannot read %s: No such file or directory", path);
    assert_refused(path, RAPT_ERR_NOT_FOUND, message);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes to it: opening must not wait */
    snprintf(message, sizeof message, "cannot read %s: not a regular file, so it cannot be mapped", path);
    assert_refused(path, RAPT_ERR_IO, message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portions_become_a_file),
        cmocka_unit_test(what_is_discarded_leaves_nothing),
        cmocka_unit_test(a_map_outlives_replacement),
        cmocka_unit_test(an_empty_file_is_an_empty_map),
        cmocka_unit_test(what_has_no_pages_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
