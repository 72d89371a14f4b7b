/* data/text_files.c: joins folders and lists of text files into one file, to train language models on whole projects. First all
 * files are found, then they are concatenated. They are in the order of names, byte by byte, or of the hashes of names, so that
 * the order is the same everywhere. */
#include "data/text_files.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/pattern.h"
#include "base/rng.h"
#include "text/lines.h"
#include "text/text_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COPY_PORTION ((size_t)8 << 20) /* bytes */

/* The file that a path leads to, through links. */
typedef struct place {
    disk_entry entry;
    bool there;
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
    *p = (place){0};
    if (disk_look(path, &p->entry))
        p->there = true;
    else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) /* the last of these errnos says that the name can't
                                                                              exist */
        return rapt_fail(err, RAPT_ERR_IO, "cannot access %.380s: %s", path, strerror(errno));
    return RAPT_OK;
}

static bool text_files_same(place a, place b)
{
    return a.there && b.there && disk_is_same(&a.entry, &b.entry);
}

static bool is_folder(place p)
{
    return p.there && p.entry.kind == DISK_FOLDER;
}

static bool are_several(const char *list, place whole)
{
    return is_folder(whole) || (list[disk_list_part(list, ":")] && !whole.there);
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
    const char *slash = disk_last_slash(path);
    if (!found)
        return slash ? slash + 1 : path;
    for (path += j->root; disk_is_slash(*path); path++)
        continue;
    return path;
}

static rapt_code add_file(joining *j, const char *path, bool found)
{
    char *copy = chars_copy(path);
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
        if (pattern_fits(p + strspn(p, " "), name))
            return true;
    return !j->names;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder that do not begin with a dot, in order. */
typedef struct folder_names {
    char **name;
    size_t count, capacity;
} folder_names;

static void names_free(folder_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->name[i]);
    free(n->name);
}

static rapt_code names_read(joining *j, const char *folder, folder_names *n)
{
    disk_folder *f = disk_folder_open(folder);
    const char *name;
    bool kept = true;
    while (f && kept && (name = disk_folder_next(f)))
        if (name[0] != '.' && (kept = ARRAY_RESERVE(&n->name, &n->capacity, n->count + 1)))
            kept = (n->name[n->count++] = chars_copy(name)) != NULL;
    const int reason = errno;
    const bool read = f && (!kept || !reason);
    disk_folder_close(f);
    if (n->count && kept)
        qsort(n->name, n->count, sizeof *n->name, by_bytes);
    if (!kept)
        return text_files_no_memory(j, folder);
    return read ? RAPT_OK : rapt_fail(j->err, RAPT_ERR_IO, "cannot read the folder %s: %s", folder, strerror(reason));
}

static rapt_code add_folder(joining *j, const char *folder);

/* An entry that is removed meanwhile is passed over, like a link; one that cannot be examined is an error, because it may be
 * text. */
static rapt_code add_entry(joining *j, const char *folder, const char *name)
{
    disk_entry info = {.kind = DISK_OTHER};
    char *path;
    rapt_code code = file_path(folder, name, &path, j->err);
    if (code)
        return code;
    if (!disk_look_link(path, &info) && errno != ENOENT)
        code = rapt_fail(j->err, RAPT_ERR_IO, "cannot access %.380s: %s", path, strerror(errno));
    else if (info.kind == DISK_FOLDER)
        code = add_folder(j, path);
    else if (info.kind == DISK_FILE && is_wanted(j, name))
        code = add_file(j, path, true);
    free(path);
    return code;
}

static rapt_code add_folder(joining *j, const char *folder)
{
    folder_names names = {0};
    place p;
    rapt_code code = text_files_stat(folder, &p, j->err);
    if (code || text_files_same(p, j->out_folder))
        return code;
    code = names_read(j, folder, &names);
    for (size_t i = 0; i < names.count && !code; i++)
        code = add_entry(j, folder, names.name[i]);
    names_free(&names);
    return code;
}

static rapt_code add_path(joining *j, const char *path)
{
    place p;
    rapt_code code = text_files_stat(path, &p, j->err);
    if (code)
        return code;
    j->root = strlen(path);
    return is_folder(p) ? add_folder(j, path) : add_file(j, path, false);
}

static rapt_code add_list(joining *j, char *list)
{
    place whole;
    rapt_code code = text_files_stat(list, &whole, j->err);
    if (code || !are_several(list, whole) || is_folder(whole)) /* one path, which may contain a : */
        return code ? code : add_path(j, list);
    for (char *path = list, *end; !code && path; path = end) {
        end = path + disk_list_part(path, ":");
        end = *end ? (*end = '\0', end + 1) : NULL;
        if (*path)
            code = add_path(j, path);
    }
    return code;
}

static rapt_code stat_folder_of(const char *path, place *p, rapt_error *err)
{
    char *folder = file_folder(path);
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
    char *copy = chars_copy(list);
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
    j->names = chars_copy(choice->names);
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
