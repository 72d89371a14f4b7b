/* test_text_in.c: texts in gzip: what they may become, where they are expanded, and what is left of that.
 * For src/text/text_in.c and src/text/gzip.c; the files are made by zlib.
 * Not a test of encodings, nor of every command that reads a text: check_encodings.sh.
 * labels: not-emulated */
#define _GNU_SOURCE
#include "text/text_in.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include <cmocka.h>

#include "folder.h"

#define MIB ((size_t)1 << 20)

static void put_letters(const char *path, const char *mode, size_t count)
{
    static char letters[1 << 20];
    memset(letters, 'a', sizeof letters);
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    for (size_t n; count > 0; count -= n) {
        n = count < sizeof letters ? count : sizeof letters;
        assert_int_equal(gzwrite(file, letters, (unsigned)n), n);
    }
    assert_int_equal(gzclose(file), Z_OK);
}

static size_t size_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (size_t)info.st_size;
}

/* Both ways to read a text say the same. *size is what it expands to. */
static rapt_code read_both(const char *path, size_t *size, rapt_error *err)
{
    file_map m;
    char *data;
    rapt_error mapped = {0};
    rapt_code code = text_in_read(path, 1024 * MIB, &data, size, err);
    assert_int_equal(text_in_map(&m, path, path, &mapped), code);
    assert_string_equal(mapped.message, err->message);
    if (!code) {
        assert_int_equal(m.size, *size);
        assert_memory_equal(m.data, data, *size);
    }
    file_map_close(&m);
    free(data);
    assert_int_equal(folder_entries("temporary"), 0);
    return code;
}

static char before[4096]; /* TMPDIR, or nothing */

static int enter(void **state)
{
    const char *own = getenv("TMPDIR");
    snprintf(before, sizeof before, "%s", own ? own : "");
    return folder_enter(state) || mkdir("temporary", 0777) || setenv("TMPDIR", "temporary", 1) ? -1 : 0;
}

static int leave(void **state)
{
    return folder_leave(state) || (*before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR")) ? -1 : 0;
}

static void assert_expands(const char *path, size_t want)
{
    size_t size;
    rapt_error err = {0};
    assert_int_equal(read_both(path, &size, &err), RAPT_OK);
    assert_int_equal(size, want);
}

static void assert_refused(const char *path, const char *why)
{
    size_t size;
    rapt_error err = {0};
    assert_int_equal(read_both(path, &size, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, why));
}

static void what_expands_too_far_is_refused(void **state)
{
    (void)state;
    put_letters("small.gz", "wb9", 64 * MIB);
    assert_expands("small.gz", 64 * MIB); /* a thousand times its size, but it does no harm */
    put_letters("small.gz", "ab9", 1); /* another member; each is within the bound */
    assert_refused("small.gz", "expands to more than 100 times its size");
    assert_refused("small.gz", "and more than 67108864 bytes");
}

/* A member of stored bytes makes the file larger: the same 90 MiB are refused without it. */
static void the_bound_grows_with_the_file(void **state)
{
    (void)state;
    put_letters("a.gz", "wb9", 90 * MIB);
    assert_refused("a.gz", "and more than 67108864 bytes");
    put_letters("a.gz", "ab0", MIB);
    assert_true(size_of("a.gz") > 91 * MIB / 100);
    assert_expands("a.gz", 91 * MIB);
}

/* Ends in the middle of expanding, as if the disk were full: with an error, or killed by the signal. */
static void expand_into_little(bool killed)
{
    file_map m;
    rapt_error err = {0};
    const struct rlimit little = {3 * MIB, 3 * MIB};
    signal(SIGXFSZ, killed ? SIG_DFL : SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_FSIZE, &little);
    if (text_in_map(&m, "a.gz", "a.gz", &err) != RAPT_ERR_IO)
        _exit(1);
    _exit(strstr(err.message, "a.gz: no place to expand it: cannot write temporary/rapt-text-") &&
                  strstr(err.message, "File too large; TMPDIR names another place")
              ? 0
              : 2);
}

static void nothing_stays_where_it_ends_early(void **state)
{
    (void)state;
    put_letters("a.gz", "wb9", 8 * MIB);
    for (int killed = 0; killed < 2; killed++) {
        int status;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            expand_into_little(killed);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ : WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(folder_entries("temporary"), 0);
    }
}

static void a_place_that_is_not_there_is_named(void **state)
{
    (void)state;
    file_map m;
    rapt_error err = {0};
    put_letters("a.gz", "wb9", 5);
    assert_int_equal(setenv("TMPDIR", "nowhere", 1), 0);
    assert_int_equal(text_in_map(&m, "a.gz", "a.gz", &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, "cannot make the temporary file nowhere/rapt-text-"));
    assert_non_null(strstr(err.message, "TMPDIR names another place"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_expands_too_far_is_refused, enter, leave),
        cmocka_unit_test_setup_teardown(the_bound_grows_with_the_file, enter, leave),
        cmocka_unit_test_setup_teardown(nothing_stays_where_it_ends_early, enter, leave),
        cmocka_unit_test_setup_teardown(a_place_that_is_not_there_is_named, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
