/* tests/base/test_lock.c: one holder at a time, whatever became of the one before; no file and no folder is left. For
 * src/base/lock.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/lock.h"
#include "folder.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LOCK(folder) folder "/" FOLDER_LOCK_FILE

static void takes(folder_lock *l, const char *folder)
{
    rapt_error err = {0};
    rapt_code code = folder_lock_take(l, folder, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
}

static void refused(const char *folder, const char *message)
{
    folder_lock l;
    rapt_error err = {0};
    assert_int_equal(folder_lock_take(&l, folder, &err), RAPT_ERR_IO);
    assert_string_equal(err.message, message);
    folder_lock_release(&l); /* nothing is held */
}

static void refused_for(const char *folder, long process)
{
    char host[65] = "", message[256];
    gethostname(host, 64);
    snprintf(message, sizeof message, "%s: process %ld on %s writes into this folder", folder, process, host);
    refused(folder, message);
}

static void one_at_a_time(void **state)
{
    (void)state;
    folder_lock first, second;
    takes(&first, "a/b");
    refused_for("a/b", (long)getpid()); /* the same process, too */
    takes(&second, "a");
    folder_lock_release(&second);
    folder_lock_release(&first);
    assert_false(file_exists("a")); /* it was empty, and made by this lock */
    takes(&first, "a/b");
    folder_lock_release(&first);
}

static void folders_that_hold_something_stay(void **state)
{
    (void)state;
    folder_lock l;
    assert_int_equal(file_make_dir("old/empty", NULL), RAPT_OK);
    takes(&l, "old/empty/new/m/");
    folder_lock_release(&l);
    assert_true(file_exists("old/empty"));
    assert_false(file_exists("old/empty/new"));
    takes(&l, "old/empty");
    folder_lock_release(&l);
    assert_int_equal(folder_entries("old/empty"), 0);
    takes(&l, "old/new/m");
    assert_int_equal(file_write_atomic("old/new/kept", "", 0, NULL), RAPT_OK);
    folder_lock_release(&l);
    assert_true(file_exists("old/new/kept"));
    assert_false(file_exists("old/new/m"));
}

/* A child that holds the lock until it is killed. */
static pid_t child_with(const char *folder)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        folder_lock l;
        if (folder_lock_take(&l, folder, NULL) != RAPT_OK || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void a_killed_holder_holds_nobody_up(void **state)
{
    (void)state;
    folder_lock l;
    pid_t child = child_with("m");
    refused_for("m", (long)child);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(file_exists(LOCK("m")));
    takes(&l, "m");
    folder_lock_release(&l);
    assert_int_equal(folder_entries("m"), 0);
}

static void what_the_file_says_is_not_believed(void **state)
{
    (void)state;
    pid_t child = child_with("m");
    assert_int_equal(file_write_atomic("text", "7 \x1b[31m", 6, NULL), RAPT_OK);
    assert_int_equal(system("cat text > " LOCK("m")), 0);
    refused("m", "m: another process writes into this folder");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void what_is_no_file(void **state)
{
    (void)state;
    assert_int_equal(mkdir("m", 0777), 0);
    assert_int_equal(file_write_atomic("victim", "mine", 4, NULL), RAPT_OK);
    assert_int_equal(symlink("../victim", LOCK("m")), 0);
    refused("m", "cannot lock the folder m: Too many levels of symbolic links");
    assert_int_equal(unlink(LOCK("m")), 0);
    assert_int_equal(mkdir(LOCK("m"), 0777), 0);
    refused("m", "cannot lock the folder m: Is a directory");
    refused("victim", "cannot make folder victim: Not a directory");
    refused("victim/m", "cannot make folder victim/m: Not a directory");
    char *text;
    size_t size;
    assert_int_equal(file_read("victim", 10, &text, &size, NULL), RAPT_OK);
    assert_string_equal(text, "mine");
    free(text);
}

/* Each round the folder is new, and its lock file made and removed: whoever gets it must be alone. */
static int take_turns(int rounds)
{
    int alone = 0;
    for (int i = 0; i < rounds;) {
        folder_lock l;
        if (folder_lock_take(&l, "new/m", NULL) != RAPT_OK)
            continue;
        int fd = open("inside", O_CREAT | O_EXCL | O_WRONLY, 0666);
        alone += fd >= 0;
        usleep(100);
        close(fd);
        unlink("inside");
        folder_lock_release(&l);
        i++;
    }
    return alone;
}

static void many_take_turns(void **state)
{
    (void)state;
    enum { CHILDREN = 4, ROUNDS = 150 };
    for (int i = 0; i < CHILDREN; i++)
        if (fork() == 0)
            _exit(take_turns(ROUNDS) == ROUNDS ? 0 : 1);
    for (int i = 0, status; i < CHILDREN; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_false(file_exists(LOCK("new/m"))); /* "new" itself may stay: who made it may not have been the last to go */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(one_at_a_time),
        IN_FOLDER(folders_that_hold_something_stay),
        IN_FOLDER(a_killed_holder_holds_nobody_up),
        IN_FOLDER(what_the_file_says_is_not_believed),
        IN_FOLDER(what_is_no_file),
        IN_FOLDER(many_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
