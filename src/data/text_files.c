/* data/text_files.c: folders and lists of text files as one file, for training language models on whole projects. The
 * order is that of names, byte by byte, so that it is the same everywhere. */
#define _GNU_SOURCE
#include "data/text_files.h"

#include "base/file.h"
#include "text/lines.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a path leads to, through whatever links. */
typedef struct place {
    dev_t device;
    ino_t number;
    bool there, folder;
} place;

typedef struct joining {
    file_writer out;
    place out_file, out_folder; /* as they were before: no part of the text, or a second run would read the first's */
    size_t bytes;
    rapt_error *err;
} joining;

static place place_of(const char *path)
{
    struct stat info;
    bool there = stat(path, &info) == 0;
    return there ? (place){info.st_dev, info.st_ino, true, S_ISDIR(info.st_mode)} : (place){0};
}

static bool same(place a, place b)
{
    return a.there && b.there && a.device == b.device && a.number == b.number;
}

bool text_files_are_several(const char *list)
{
    place whole = place_of(list);
    return whole.folder || (strchr(list, ':') && !whole.there);
}

static bool is_text(const file_map *m)
{
    return m->size == 0 || lines_check("", 1, m->data, m->size, NULL) == RAPT_OK;
}

/* `found` in a folder, not named: what is no text is passed over. */
static rapt_code add_file(joining *j, const char *path, bool found)
{
    file_map m;
    if (same(place_of(path), j->out_file))
        return rapt_fail(j->err, RAPT_VALUE, "%s: the joined texts would be written over it", path);
    rapt_code code = file_map_open(&m, path, j->err);
    if (!code && (!found || is_text(&m))) {
        code = file_writer_put(&j->out, m.data, m.size, j->err);
        j->bytes += m.size;
    }
    file_map_close(&m);
    return code;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static rapt_code add_folder(joining *j, const char *folder);

/* What goes while it is looked for is passed over, like a link. */
static rapt_code add_entry(joining *j, const char *folder, const char *name)
{
    struct stat info = {0};
    char *path = file_join(folder, name);
    rapt_code code = path ? RAPT_OK : rapt_fail(j->err, RAPT_NO_MEMORY, "%s: no memory", folder);
    bool there = path && lstat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        code = add_folder(j, path);
    else if (there && S_ISREG(info.st_mode))
        code = add_file(j, path, true);
    free(path);
    return code;
}

static rapt_code add_folder(joining *j, const char *folder)
{
    struct dirent **entries;
    if (same(place_of(folder), j->out_folder))
        return RAPT_OK;
    int count = scandir(folder, &entries, is_visible, by_bytes);
    if (count < 0)
        return rapt_fail(j->err, RAPT_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    rapt_code code = RAPT_OK;
    for (int i = 0; i < count; i++) {
        if (!code)
            code = add_entry(j, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static rapt_code add_path(joining *j, const char *path)
{
    return place_of(path).folder ? add_folder(j, path) : add_file(j, path, false);
}

static rapt_code add_list(joining *j, char *list)
{
    rapt_code code = RAPT_OK;
    if (!text_files_are_several(list) || place_of(list).folder) /* one path, which may hold a : */
        return add_path(j, list);
    for (char *path; !code && (path = strsep(&list, ":"));)
        if (*path)
            code = add_path(j, path);
    return code;
}

static place folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    place p = folder ? place_of(folder) : (place){0};
    free(folder);
    return p;
}

static rapt_code fill(joining *j, const char *list)
{
    char *copy = strdup(list);
    rapt_code code = copy ? add_list(j, copy) : rapt_fail(j->err, RAPT_NO_MEMORY, "no memory for a list of files");
    if (!code && j->bytes == 0)
        code = rapt_fail(j->err, RAPT_FORMAT, "%s: no text in there", list);
    free(copy);
    return code;
}

rapt_code text_files_join(const char *list, const char *path, rapt_error *err)
{
    joining j = {.out_file = place_of(path), .out_folder = folder_of(path), .err = err};
    rapt_code code = file_writer_open(&j.out, path, err);
    if (code)
        return code;
    code = fill(&j, list);
    if (!code)
        return file_writer_finish(&j.out, err);
    file_writer_discard(&j.out);
    return code;
}
