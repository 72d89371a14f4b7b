/* tests/base/test_unfinished.c: what killed writers have left is removed, and nothing else. For src/base/unfinished.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/unfinished.h"
#include "folder.h"

static void names_have_their_forms(void **state)
{
    static const struct {
        const char *name;
        bool file, folder;
        long process;
        size_t size;
    } cases[] = {{".m.12.0.tmp", true, true, 12, 1}, {".m.gguf.12.34.tmp", true, true, 12, 6}, {".m.12.tmp", false, true, 12, 1},
                 {".m.tmp", false, false}, {".tmp", false, false}, {".12.tmp", false, false}, {"..12.tmp", false, false},
                 {"m.12.0.tmp", false, false}, {".m.12.0.tmpx", false, false}, {".m.1x.0.tmp", false, true},
                 {".m..0.tmp", false, true}, {"", false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        long process = 0;
        size_t size = 0;
        if (unfinished_is_folder(cases[i].name, &process, &size) != cases[i].folder)
            fail_msg("%s as a folder", cases[i].name);
        if (unfinished_is_file(cases[i].name, &process, &size) != cases[i].file)
            fail_msg("%s as a file", cases[i].name);
        if (cases[i].file) {
            assert_int_equal(process, cases[i].process);
            assert_int_equal(size, cases[i].size);
        }
    }
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(folder_in(name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static bool is_there(const char *name)
{
    struct stat info;
    return lstat(folder_in(name), &info) == 0;
}

static void folders_without_a_writer_go(void **state)
{
    static const char *const folders[] = {".m.1.tmp", ".other.99999.tmp", ".held.7.tmp", ".foreign.5.tmp", ".empty.6.tmp",
                                         "m.1.tmp"};
    char path[64], held[1024];
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        assert_int_equal(mkdir(folder_in(folders[i]), 0777), 0);
        snprintf(path, sizeof path, "%s/data", folders[i]);
        put(path, "numbers");
        snprintf(path, sizeof path, "%s/" FOLDER_LOCK_FILE, folders[i]);
        if (strncmp(folders[i], ".foreign", 8) != 0)
            put(path, strncmp(folders[i], ".empty", 6) == 0 ? "" : "1 host\n");
    }
    assert_int_equal(mkdir(folder_in(".other.99999.tmp/deeper"), 0777), 0);
    assert_int_equal(symlink("m.1.tmp", folder_in(".link.3.tmp")), 0);
    snprintf(held, sizeof held, "%s", folder_in(".held.7.tmp/" FOLDER_LOCK_FILE));
    const int fd = open(held, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    unfinished_remove(folder_in("new"));
    assert_false(is_there(".m.1.tmp") || is_there(".other.99999.tmp"));
    assert_true(is_there(".held.7.tmp/data") && is_there(".foreign.5.tmp/data") && is_there(".empty.6.tmp/data"));
    assert_true(is_there("m.1.tmp/data") && is_there(".link.3.tmp"));
    close(fd);
    unfinished_remove(folder_in("new"));
    assert_false(is_there(".held.7.tmp"));
}

static void files_of_the_name_go(void **state)
{
    (void)state;
    put(".m.gguf.1.0.tmp", "numbers");
    put(".m.gguf.2.0.tmp", "");
    put(".n.gguf.1.0.tmp", "numbers");
    put(".m.gguf.3.0.tmp", "numbers");
    const int fd = open(folder_in(".m.gguf.3.0.tmp"), O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    unfinished_remove(folder_in("m.gguf"));
    assert_false(is_there(".m.gguf.1.0.tmp"));
    assert_true(is_there(".m.gguf.2.0.tmp") && is_there(".n.gguf.1.0.tmp") && is_there(".m.gguf.3.0.tmp"));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_their_forms),
        cmocka_unit_test(folders_without_a_writer_go),
        cmocka_unit_test(files_of_the_name_go),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
