/* cli/plot/plot_paths.c: the names of folders in a picture: their paths without the folders that are common to all of them.
 * For the subcommands of `rapt plot`. */
#include "cli/plot/cmd_plot.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/ends.h"

#include <stdlib.h>
#include <string.h>

#define LOG "/train.jsonl"

/* Whether the last part of a path names nothing: "", "." or "..". */
static bool ends_nameless(const char *path)
{
    const char *slash = disk_last_slash(path), *last = slash ? slash + 1 : path;
    return !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

static void drop_end(char *path, size_t end)
{
    while (end > 1 && disk_is_slash(path[end - 1]))
        end--;
    path[end] = '\0';
}

/* The folder that a path means, with a name at its end: "runs/a" for "runs/a/train.jsonl", the absolute path for ".". */
static char *plot_paths_folder_of(const char *path)
{
    char *folder = chars_copy(path);
    if (!folder)
        return NULL;
    drop_end(folder, strlen(folder));
    size_t size = strlen(folder), log = strlen(LOG);
    if (size > log && ends_in(folder, LOG))
        drop_end(folder, size - log);
    char *whole = ends_nameless(folder) ? disk_real_path(folder) : NULL;
    if (!whole)
        return folder;
    free(folder);
    return whole;
}

static size_t common(const char *a, const char *b, size_t max)
{
    size_t i = 0;
    while (i < max && a[i] && a[i] == b[i])
        i++;
    return i;
}

/* Removes the folders that all paths begin with, but keeps the last part of each path. */
static void cut_common(char **names, size_t count)
{
    size_t same = strlen(names[0]);
    for (size_t i = 1; i < count; i++)
        same = common(names[0], names[i], same);
    while (same > 0 && !disk_is_slash(names[0][same - 1]))
        same--;
    for (size_t i = 0; i < count; i++)
        if (names[i][same])
            memmove(names[i], names[i] + same, strlen(names[i] + same) + 1);
}

rapt_code plot_name_paths(const char *const *paths, size_t count, char **names, rapt_error *err)
{
    for (size_t i = 0; i < count; i++)
        names[i] = NULL;
    for (size_t i = 0; i < count; i++)
        if (!(names[i] = plot_paths_folder_of(paths[i])))
            return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for its name", paths[i]);
    if (count > 0)
        cut_common(names, count);
    return RAPT_OK;
}
