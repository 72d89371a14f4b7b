/* tests/folder.h: a folder of a test's own, for tests that write files. To be included after cmocka.h, with _GNU_SOURCE. A
 * group has folder_make as its setup and folder_remove as its teardown; or each test stands in a folder of its own, so that
 * paths are short, and is named IN_FOLDER(test). */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FOLDER_ROOM = 256 }; /* for a path in it */

static char folder_path[FOLDER_ROOM - 64];

static inline int folder_make(void **state)
{
    const char *above = getenv("TMPDIR");
    (void)state;
    snprintf(folder_path, sizeof folder_path, "%s/rapt-test-XXXXXX", above && *above ? above : "/tmp");
    return mkdtemp(folder_path) ? 0 : -1;
}

/* With all that is in it. */
static inline int folder_remove(void **state)
{
    char command[2 * FOLDER_ROOM + 32];
    (void)state;
    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -rf '%s'", folder_path, folder_path);
    return system(command);
}

/* For those who remove their own files: fails where another was left. */
static inline int folder_remove_empty(void **state)
{
    (void)state;
    return rmdir(folder_path);
}

/* A path in it, good until the call after the next. */
static inline const char *folder_in(const char *name)
{
    static char paths[2][FOLDER_ROOM];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder_path, name);
    return paths[turn];
}

/* Whether anything has this name. */
static inline bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* How many files and folders are in this one. */
static inline int folder_entries(const char *path)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int count = -2; /* for . and .. */
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* ---- standing in it ----------------------------------------------------------------------------------------- */

static char folder_before[4096];

static inline int folder_enter(void **state)
{
    return getcwd(folder_before, sizeof folder_before) && folder_make(state) == 0 && chdir(folder_path) == 0 ? 0 : -1;
}

static inline int folder_leave(void **state)
{
    return chdir(folder_before) == 0 && folder_remove(state) == 0 ? 0 : -1;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

#endif
