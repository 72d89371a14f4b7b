/* data/text_files.c: joins folders and lists of text files into one file, to train language models on whole projects. First all
 * files are found, then they are concatenated. They are in the order of names, byte by byte, or of the hashes of names, so that
 * the order is the same everywhere. */
#define _GNU_SOURCE
#include "data/text_files.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/rng.h"
#include "text/lines.h"
#include "text/text_in.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COPY_PORTION ((size_t)8 << 20) /* bytes */

/* The file that a path leads to, through links. */
typedef struct place {
    dev_t device;
    ino_t number;
    bool there, folder;
} place;

typedef struct text_file {
    char *path;
    bool found;     /* in a folder, not named */
    uint64_t order; /* rank of shuffled files */
    size_t index;   /* as it was found */
} text_file;

typedef struct joining {
    file_writer *out;
    char *names, *names_end; /* the patterns, each ended by a NUL; NULL: all files */
    bool shuffled;
    const char *separator; /* borrowed, or NULL */
    text_file *files;
    size_t count, capacity;
    size_t root; /* bytes of a path that lead to the folder that was named */
    place out_file, out_folder; /* the output as it was before: it must not become part of the text, or a second run would read
                                   the result of the first */
    size_t bytes;
    rapt_error *err;
} joining;

static rapt_code text_files_stat(const char *path, place *p, rapt_error *err)
{
    struct stat info;
    *p = (place){0};
    if (stat(path, &info) == 0)
        *p = (place){info.st_dev, info.st_ino, true, S_ISDIR(info.st_mode)};
    else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) /* the last of these errnos says that the name can't
                                                                              exist */
        return rapt_fail(err, RAPT_ERR_IO, "cannot access %.380s: %s", path, strerror(errno));
    return RAPT_OK;
}

static bool text_files_same(place a, place b)
{
    return a.there && b.there && a.device == b.device && a.number == b.number;
}

static bool are_several(const char *list, place whole)
{
    return whole.folder || (strchr(list, ':') && !whole.there);
}

rapt_code text_files_are_several(const char *list, bool *several, rapt_error *err)
{
    place whole;
    rapt_code code = text_files_stat(list, &whole, err);
    *several = are_several(list, whole);
    return code;
}

static bool text_files_is_text(const file_map *m)
{
    return m->size == 0 || lines_check("", 1, m->data, m->size, NULL) == RAPT_OK;
}

/* ---- what there is ---------------------------------------------------------------------------------------------- */

static rapt_code text_files_no_memory(joining *j, const char *path)
{
    return rapt_fail(j->err, RAPT_ERR_MEMORY, "%s: out of memory for a list of files", path);
}

/* The path below the named folder, or the name of a named file: it is the same wherever the folder is. */
static const char *own_path(const joining *j, const char *path, bool found)
{
    const char *slash = strrchr(path, '/');
    if (!found)
        return slash ? slash + 1 : path;
    return path + j->root + strspn(path + j->root, "/");
}

static rapt_code add_file(joining *j, const char *path, bool found)
{
    char *copy = strdup(path);
    if (!copy || !ARRAY_RESERVE(&j->files, &j->capacity, j->count + 1)) {
        free(copy);
        return text_files_no_memory(j, path);
    }
    uint64_t order = j->shuffled ? rng_hash_text(own_path(j, path, found)) : 0;
    j->files[j->count] = (text_file){copy, found, order, j->count};
    j->count++;
    return RAPT_OK;
}

static bool is_wanted(const joining *j, const char *name)
{
    for (const char *p = j->names; p && p < j->names_end; p += strlen(p) + 1)
        if (fnmatch(p + strspn(p, " "), name, 0) == 0)
            return true;
    return !j->names;
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

/* An entry that is removed meanwhile is passed over, like a link; one that cannot be examined is an error, because it may be
 * text. */
static rapt_code add_entry(joining *j, const char *folder, const char *name)
{
    struct stat info = {0};
    char *path;
    rapt_code code = file_path(folder, name, &path, j->err);
    if (code)
        return code;
    if (lstat(path, &info) != 0 && errno != ENOENT)
        code = rapt_fail(j->err, RAPT_ERR_IO, "cannot access %.380s: %s", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        code = add_folder(j, path);
    else if (S_ISREG(info.st_mode) && is_wanted(j, name))
        code = add_file(j, path, true);
    free(path);
    return code;
}

static rapt_code add_folder(joining *j, const char *folder)
{
    struct dirent **entries;
    place p;
    rapt_code code = text_files_stat(folder, &p, j->err);
    if (code || text_files_same(p, j->out_folder))
        return code;
    int count = scandir(folder, &entries, is_visible, by_bytes);
    if (count < 0)
        return rapt_fail(j->err, RAPT_ERR_IO, "cannot read the folder %s: %s", folder, strerror(errno));
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
    place p;
    rapt_code code = text_files_stat(path, &p, j->err);
    if (code)
        return code;
    j->root = strlen(path);
    return p.folder ? add_folder(j, path) : add_file(j, path, false);
}

static rapt_code add_list(joining *j, char *list)
{
    place whole;
    rapt_code code = text_files_stat(list, &whole, j->err);
    if (code || !are_several(list, whole) || whole.folder) /* one path, which may contain a : */
        return code ? code : add_path(j, list);
    for (char *path; !code && (path = strsep(&list, ":"));)
        if (*path)
            code = add_path(j, path);
    return code;
}

static rapt_code stat_folder_of(const char *path, place *p, rapt_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    rapt_code code = folder ? text_files_stat(folder, p, err) : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", path);
    free(folder);
    return code;
}

/* ---- concatenation --------------------------------------------------------------------------------------------- */

static int by_order(const void *one, const void *other)
{
    const text_file *a = one, *b = other;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* In portions, so that memory does not grow with the file. */
static rapt_code append_bytes(joining *j, const file_map *m)
{
    rapt_code code = RAPT_OK;
    for (size_t at = 0, n; at < m->size && !code; at += n) {
        n = m->size - at < COPY_PORTION ? m->size - at : COPY_PORTION;
        code = file_writer_put(j->out, m->data + at, n, j->err);
        file_map_forget(m, at, at + n);
    }
    return code;
}

/* Appends one file. A file that is not text is skipped if it was found in a folder. */
static rapt_code append_file(joining *j, const text_file *p)
{
    file_map m;
    place where;
    rapt_code code = text_files_stat(p->path, &where, j->err);
    if (code)
        return code;
    if (text_files_same(where, j->out_file))
        return rapt_fail(j->err, RAPT_ERR_VALUE, "%s: the joined texts would be written over it", p->path);
    code = text_in_map(&m, p->path, p->path, j->err);
    if (!code && !p->found)
        code = text_in_check_map(p->path, &m, j->err);
    if (!code && (!p->found || text_files_is_text(&m))) {
        code = append_bytes(j, &m);
        if (!code && m.size > 0 && j->separator)
            code = file_writer_put(j->out, j->separator, strlen(j->separator), j->err);
        j->bytes += m.size;
    }
    file_map_close(&m);
    return code;
}

static rapt_code text_files_fill(joining *j, const char *list)
{
    char *copy = strdup(list);
    rapt_code code = copy ? add_list(j, copy) : text_files_no_memory(j, list);
    free(copy);
    if (!code && j->count)
        qsort(j->files, j->count, sizeof *j->files, by_order);
    for (size_t i = 0; i < j->count && !code; i++)
        code = append_file(j, &j->files[i]);
    if (!code && j->bytes == 0)
        code = rapt_fail(j->err, RAPT_ERR_FORMAT, "%s: no text in there%s", list,
                         j->names ? " in files of the wanted names" : "");
    return code;
}

static rapt_code text_files_choose(joining *j, const text_choice *choice)
{
    j->shuffled = choice && choice->shuffled;
    j->separator = choice ? choice->separator : NULL;
    if (!choice || !choice->names)
        return RAPT_OK;
    j->names = strdup(choice->names);
    if (!j->names)
        return text_files_no_memory(j, choice->names);
    j->names_end = j->names + strlen(j->names);
    for (char *comma = j->names; (comma = strchr(comma, ',')); comma++)
        *comma = '\0';
    return RAPT_OK;
}

static void free_files(joining *j)
{
    free(j->names);
    for (size_t i = 0; i < j->count; i++)
        free(j->files[i].path);
    free(j->files);
}

rapt_code text_files_join(const char *list, const text_choice *choice, const char *path, file_writer *out, rapt_error *err)
{
    joining j = {.out = out, .err = err};
    rapt_code code = text_files_stat(path, &j.out_file, err);
    if (!code)
        code = stat_folder_of(path, &j.out_folder, err);
    if (!code)
        code = file_writer_open(out, path, err);
    if (code)
        return code;
    code = text_files_choose(&j, choice);
    if (!code)
        code = text_files_fill(&j, list);
    free_files(&j);
    if (code)
        file_writer_discard(out);
    return code;
}
