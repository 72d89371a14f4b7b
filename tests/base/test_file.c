/* test_file.c: whole files in and out, and the errors on the way.
 * For src/base/file.c and src/base/error.c.
 * Not a test of crashes: what a power cut leaves can't be shown here. */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "folder.h"

enum { MEGABYTE = 1 << 20 };

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char *data;
    size_t size;
    assert_int_equal(file_read(path, MEGABYTE, &data, &size, NULL), RAPT_OK);
    assert_int_equal(size, strlen(text));
    assert_string_equal(data, text);
    free(data);
}

static void assert_read_fails(const char *path, size_t max_bytes, rapt_code code, const char *reason)
{
    char *data = (char *)"";
    size_t size = 1;
    rapt_error err = {0};
    assert_int_equal(file_read(path, max_bytes, &data, &size, &err), code);
    assert_int_equal(err.code, code);
    assert_null(data);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, reason));
}

static void test_read_ends_in_nul(void **state)
{
    (void)state;
    const char *path = folder_in("plain");
    put(path, "one\ntwo");
    assert_holds(path, "one\ntwo");
}

static void test_read_limit_is_inclusive(void **state)
{
    (void)state;
    const char *path = folder_in("ten");
    put(path, "0123456789");
    char *data;
    size_t size;
    assert_int_equal(file_read(path, 10, &data, &size, NULL), RAPT_OK);
    assert_int_equal(size, 10);
    free(data);
    assert_read_fails(path, 9, RAPT_ERR_VALUE, "larger than 9 bytes");
    assert_read_fails(path, 0, RAPT_ERR_VALUE, "larger than 0 bytes");
}

static void test_read_names_path_and_reason(void **state)
{
    (void)state;
    assert_read_fails(folder_in("missing"), MEGABYTE, RAPT_ERR_NOT_FOUND, strerror(ENOENT));
    assert_read_fails(folder_path, MEGABYTE, RAPT_ERR_IO, strerror(EISDIR));
    assert_read_fails("", MEGABYTE, RAPT_ERR_NOT_FOUND, strerror(ENOENT));
}

static void test_long_path_keeps_its_reason(void **state)
{
    (void)state;
    char path[4001], *data;
    size_t size;
    rapt_error err = {0};
    memset(path, 'x', 4000);
    path[4000] = '\0';
    assert_int_equal(file_read(path, 1, &data, &size, &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, strerror(ENAMETOOLONG)));
}

static void test_read_empty_and_device(void **state)
{
    (void)state;
    const char *path = folder_in("empty");
    put(path, "");
    assert_holds(path, "");
    assert_holds("/dev/null", "");
    char *data;
    size_t size;
    assert_int_equal(file_read(path, 0, &data, &size, NULL), RAPT_OK);
    free(data);
}

/* Sends `total` bytes through a pipe that stands in for standard input. */
static void test_read_standard_input_from_a_pipe(void **state)
{
    (void)state;
    enum { TOTAL = 300001 };
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (int i = 0; i < TOTAL; i++)
            if (write(ends[1], &"0123456789"[i % 10], 1) != 1)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    char *data;
    size_t size;
    assert_int_equal(file_read("-", MEGABYTE, &data, &size, NULL), RAPT_OK);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    assert_int_equal(size, TOTAL);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(data[i], '0' + i % 10);
    free(data);
}

static void test_write_makes_and_replaces(void **state)
{
    (void)state;
    const char *path = folder_in("made");
    rapt_error err = {0};
    int before = folder_entries(folder_path);
    assert_int_equal(file_write_atomic(path, "first", 5, &err), RAPT_OK);
    assert_holds(path, "first");
    assert_int_equal(file_write_atomic(path, "2nd", 3, &err), RAPT_OK);
    assert_holds(path, "2nd");
    assert_int_equal(file_write_atomic(path, "", 0, &err), RAPT_OK);
    assert_holds(path, "");
    assert_int_equal(folder_entries(folder_path), before + 1);
}

static void test_written_file_has_the_usual_mode(void **state)
{
    (void)state;
    struct stat info;
    const char *path = folder_in("mode");
    mode_t mask = umask(022);
    assert_int_equal(file_write_atomic(path, "x", 1, NULL), RAPT_OK);
    umask(mask);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644);
}

static void test_write_here(void **state)
{
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder_path), 0);
    assert_int_equal(file_write_atomic("without-folder", "x", 1, NULL), RAPT_OK);
    assert_int_equal(chdir(before), 0);
    assert_holds(folder_in("without-folder"), "x");
}

static void test_write_to_a_folder_leaves_nothing(void **state)
{
    (void)state;
    rapt_error err = {0};
    const char *path = folder_in("a-folder");
    assert_int_equal(mkdir(path, 0777), 0);
    int before = folder_entries(folder_path);
    assert_int_equal(file_write_atomic(path, "x", 1, &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(folder_entries(folder_path), before);
}

static void test_write_without_its_folder(void **state)
{
    (void)state;
    rapt_error err = {0};
    assert_int_equal(file_write_atomic(folder_in("no/such"), "x", 1, &err), RAPT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "no/such"));
    assert_non_null(strstr(err.message, strerror(ENOENT)));
}

/* A limit on file sizes stands in for a full disk: both refuse a write that began well. */
static void test_failing_write_keeps_the_old_file(void **state)
{
    (void)state;
    enum { LIMIT = 4096, WANTED = 3 * LIMIT };
    static char bytes[WANTED];
    const char *path = folder_in("kept");
    struct rlimit old, low;
    rapt_error err = {0};
    put(path, "old");
    int before = folder_entries(folder_path);
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){.rlim_cur = LIMIT, .rlim_max = old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    rapt_code written = file_write_atomic(path, bytes, sizeof bytes, &err);
    rapt_code appended = file_append(path, bytes, sizeof bytes, NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    assert_int_equal(written, RAPT_ERR_IO);
    assert_int_equal(appended, RAPT_ERR_IO);
    assert_non_null(strstr(err.message, strerror(EFBIG)));
    assert_int_equal(folder_entries(folder_path), before);
}

static void test_write_survives_a_left_over_temporary(void **state)
{
    (void)state;
    char name[64];
    snprintf(name, sizeof name, ".again.%ld.0.tmp", (long)getpid());
    put(folder_in(name), "left by a killed process");
    assert_int_equal(file_write_atomic(folder_in("again"), "new", 3, NULL), RAPT_OK);
    assert_holds(folder_in("again"), "new");
}

static void test_write_follows_a_link(void **state)
{
    (void)state;
    char target[PATH_MAX], link[PATH_MAX], read_back[PATH_MAX];
    snprintf(target, sizeof target, "%s", folder_in("behind-the-link"));
    snprintf(link, sizeof link, "%s", folder_in("link"));
    put(target, "old");
    assert_int_equal(symlink("behind-the-link", link), 0);
    assert_int_equal(file_write_atomic(link, "new", 3, NULL), RAPT_OK);
    assert_holds(target, "new");
    assert_int_equal(readlink(link, read_back, sizeof read_back), strlen("behind-the-link"));
}

static void test_write_refuses_what_is_no_file(void **state)
{
    (void)state;
    rapt_error err = {0};
    struct stat info;
    const char *pipe_path = folder_in("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(file_write_atomic(pipe_path, "x", 1, &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_int_equal(lstat(pipe_path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

static void test_an_unfinished_file_has_no_name(void **state)
{
    (void)state;
    file_writer w;
    rapt_error err = {0};
    int before = folder_entries(folder_path);
    assert_int_equal(file_writer_open(&w, folder_in("unfinished"), &err), RAPT_OK);
    assert_int_equal(file_writer_put(&w, "half", 4, &err), RAPT_OK);
    int during = folder_entries(folder_path), named = w.temporary != NULL;
    file_writer_discard(&w);
    assert_int_equal(folder_entries(folder_path), before);
    if (named)
        skip(); /* this file system knows no files without names */
    assert_int_equal(during, before);
}

/* A new file without a name, or, as where a file system has no such thing, under a name of its own. */
static void open_new(file_writer *w, bool named)
{
    rapt_error err = {0};
    assert_int_equal(file_writer_open(w, folder_in("new"), &err), RAPT_OK);
    assert_int_equal(file_writer_put(w, "ours", 4, &err), RAPT_OK);
    if (!named || w->temporary)
        return;
    char *draft = file_writer_draft(w);
    w->temporary = file_join("", folder_in(".new.tmp"));
    assert_int_equal(linkat(AT_FDCWD, draft, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW), 0);
    free(draft);
}

static void test_a_new_file_replaces_none(void **state)
{
    (void)state;
    const int before = folder_entries(folder_path);
    for (int named = 0; named < 2; named++) {
        file_writer w;
        rapt_error err = {0};
        open_new(&w, named);
        assert_int_equal(file_writer_finish_new(&w, &err), RAPT_OK);
        assert_holds(folder_in("new"), "ours");
        unlink(folder_in("new"));
        open_new(&w, named);
        assert_int_equal(file_write_atomic(folder_in("new"), "theirs", 6, &err), RAPT_OK);
        assert_int_equal(file_writer_finish_new(&w, &err), RAPT_ERR_IO);
        assert_non_null(strstr(err.message, strerror(EEXIST)));
        assert_holds(folder_in("new"), "theirs");
        unlink(folder_in("new"));
        assert_int_equal(folder_entries(folder_path), before);
    }
}

static void test_append(void **state)
{
    (void)state;
    rapt_error err = {0};
    const char *path = folder_in("log");
    assert_int_equal(file_append(path, "a\n", 2, &err), RAPT_OK);
    assert_int_equal(file_append(path, "b\n", 2, &err), RAPT_OK);
    assert_holds(path, "a\nb\n");
    assert_int_equal(file_append(folder_path, "x", 1, &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, folder_path));
}

static void test_append_to_a_full_disk(void **state)
{
    (void)state;
    rapt_error err = {0};
    if (!file_exists("/dev/full"))
        skip();
    assert_int_equal(file_append("/dev/full", "x", 1, &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, strerror(ENOSPC)));
}

static void test_make_dir_with_parents(void **state)
{
    (void)state;
    rapt_error err = {0};
    assert_int_equal(file_make_dir(folder_in("x/y//z/"), &err), RAPT_OK);
    assert_true(file_exists(folder_in("x/y/z")));
    assert_int_equal(file_make_dir(folder_in("x/y/z"), &err), RAPT_OK);
    assert_int_equal(file_make_dir("/", &err), RAPT_OK);
    assert_int_equal(file_make_dir("", &err), RAPT_ERR_NOT_FOUND);
}

static void test_make_dir_over_a_file(void **state)
{
    (void)state;
    put(folder_in("file"), "x");
    rapt_error err = {0};
    assert_int_equal(file_make_dir(folder_in("file"), &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, strerror(ENOTDIR)));
    err = (rapt_error){0};
    assert_int_equal(file_make_dir(folder_in("file/below"), &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, "file/below"));
    assert_holds(folder_in("file"), "x");
}

static void test_exists(void **state)
{
    (void)state;
    put(folder_in("here"), "");
    assert_true(file_exists(folder_in("here")));
    assert_true(file_exists(folder_path));
    assert_true(file_exists("/dev/null"));
    assert_false(file_exists(folder_in("not-here")));
    assert_false(file_exists(""));
}

static void assert_joined(const char *dir, const char *name, const char *want)
{
    char *path = file_join(dir, name);
    assert_non_null(path);
    assert_string_equal(path, want);
    free(path);
}

static void test_join(void **state)
{
    (void)state;
    assert_joined("a", "b", "a/b");
    assert_joined("a/", "b", "a/b");
    assert_joined("/", "b", "/b");
    assert_joined("", "b", "b");
    assert_joined("a/b", "", "a/b/");
}

static void test_path(void **state)
{
    (void)state;
    rapt_error err = {0};
    char *path = NULL;
    assert_int_equal(file_path("a", "b", &path, &err), RAPT_OK);
    assert_string_equal(path, "a/b");
    assert_int_equal(err.code, RAPT_OK);
    free(path);
}

static void test_fail_keeps_the_first_cause(void **state)
{
    (void)state;
    rapt_error err = {0};
    assert_int_equal(rapt_fail(&err, RAPT_ERR_SHAPE, "%d is not %d", 15, 16), RAPT_ERR_SHAPE);
    assert_int_equal(rapt_fail(&err, RAPT_ERR_IO, "later"), RAPT_ERR_IO);
    assert_int_equal(err.code, RAPT_ERR_SHAPE);
    assert_string_equal(err.message, "15 is not 16");
    assert_int_equal(rapt_fail(NULL, RAPT_ERR_VALUE, "nobody asks"), RAPT_ERR_VALUE);
}

static void test_fail_is_one_line_that_fits(void **state)
{
    (void)state;
    char large[2000];
    rapt_error err = {0};
    rapt_fail(&err, RAPT_ERR_IO, "a\nb\tc");
    assert_string_equal(err.message, "a?b?c");
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    err = (rapt_error){0};
    rapt_fail(&err, RAPT_ERR_IO, "%s", large);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(rapt_code_name(RAPT_OK), "ok");
    assert_string_equal(rapt_code_name(RAPT_ERR_NOT_FOUND), "not found");
    assert_non_null(rapt_code_name((rapt_code)999));
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", RAPT_VERSION_MAJOR, RAPT_VERSION_MINOR, RAPT_VERSION_PATCH);
    assert_memory_equal(rapt_version(), version, strlen(version)); /* behind it a suffix, "-dev", between releases */
    assert_true(rapt_version()[strlen(version)] == '\0' || rapt_version()[strlen(version)] == '-');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_ends_in_nul),
        cmocka_unit_test(test_read_limit_is_inclusive),
        cmocka_unit_test(test_read_names_path_and_reason),
        cmocka_unit_test(test_long_path_keeps_its_reason),
        cmocka_unit_test(test_read_empty_and_device),
        cmocka_unit_test(test_read_standard_input_from_a_pipe),
        cmocka_unit_test(test_write_makes_and_replaces),
        cmocka_unit_test(test_written_file_has_the_usual_mode),
        cmocka_unit_test(test_write_here),
        cmocka_unit_test(test_write_to_a_folder_leaves_nothing),
        cmocka_unit_test(test_write_without_its_folder),
        cmocka_unit_test(test_failing_write_keeps_the_old_file),
        cmocka_unit_test(test_write_survives_a_left_over_temporary),
        cmocka_unit_test(test_write_follows_a_link),
        cmocka_unit_test(test_write_refuses_what_is_no_file),
        cmocka_unit_test(test_an_unfinished_file_has_no_name),
        cmocka_unit_test(test_a_new_file_replaces_none),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_append_to_a_full_disk),
        cmocka_unit_test(test_make_dir_with_parents),
        cmocka_unit_test(test_make_dir_over_a_file),
        cmocka_unit_test(test_exists),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_fail_keeps_the_first_cause),
        cmocka_unit_test(test_fail_is_one_line_that_fits),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
