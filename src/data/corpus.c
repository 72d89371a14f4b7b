/* data/corpus.c: reads a corpus, and cuts its lines into pairs. */
#include "data/corpus.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/thread.h"
#include "data/check/check_rules.h"
#include "text/text_in.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES FILE_GIB(8)

/* The files of a corpus. */
typedef struct corpus_files {
    char *path[2], *text[2];
    check_input in;
} corpus_files;

static void files_free(corpus_files *f)
{
    for (size_t i = 0; i < 2; i++) {
        free(f->path[i]);
        free(f->text[i]);
    }
}

const char *corpus_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* One file, or if nothing has the whole name, two with a colon between them. */
static rapt_code name_files(const corpus *c, corpus_files *f, rapt_error *err)
{
    const size_t colon = disk_list_part(c->path, ":");
    f->in.count = c->two ? 2 : 1;
    f->path[0] = c->two ? chars_copy_part(c->path, colon) : chars_copy(c->path);
    f->path[1] = c->two ? chars_copy(c->path + colon + 1) : NULL;
    if (!f->path[0] || (c->two && !f->path[1]))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", c->path);
    for (size_t i = 0; i < f->in.count; i++)
        f->in.name[i] = corpus_name(f->path[i]);
    return RAPT_OK;
}

static bool is_pipe(const char *path)
{
    static const char descriptors[] = "/dev/fd/";
    disk_entry e;
    if (strcmp(path, "-") == 0)
        return true;
    return disk_look(path, &e) ? e.kind == DISK_OTHER : strncmp(path, descriptors, strlen(descriptors)) == 0;
}

/* A file that is being read. */
typedef struct reading {
    corpus_files *files;
    size_t i;
    rapt_error err;
} reading;

static void *read_file(void *context)
{
    reading *r = context;
    corpus_files *f = r->files;
    text_in_read(f->path[r->i], MAX_BYTES, &f->text[r->i], &f->in.size[r->i], &r->err);
    f->in.text[r->i] = f->text[r->i];
    return NULL;
}

/* Two pipes at once: their writer may open them in any order, and write to them by turns. */
static rapt_code read_files(corpus_files *f, rapt_error *err)
{
    reading r[2] = {{f, 0, {0}}, {f, 1, {0}}};
    thread_handle other;
    const bool both = f->in.count == 2 && is_pipe(f->path[0]) && is_pipe(f->path[1]);
    if (both && strcmp(f->path[0], f->path[1]) == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "%.300s is named twice, as source and as target", f->in.name[0]);
    if (both && !thread_start_without_signals(&other, read_file, &r[1]))
        return rapt_fail(err, RAPT_ERR_MEMORY, "no thread to read %.300s", f->in.name[1]);
    read_file(&r[0]);
    if (both)
        thread_join(other);
    else if (f->in.count == 2 && !r[0].err.code)
        read_file(&r[1]);
    for (size_t i = 0; i < f->in.count; i++)
        if (r[i].err.code)
            return rapt_fail(err, r[i].err.code, "%s", r[i].err.message);
    return RAPT_OK;
}

/* Leaves faulty lines out, and counts them. */
static rapt_code corpus_filter(corpus *c, corpus_files *f, const check_options *filter, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < f->in.count && !code && !(filter->rules >> CHECK_NOT_UTF8 & 1); i++)
        code = lines_check(f->in.name[i], 1, f->text[i], f->in.size[i], err); /* with the line's number in the whole file */
    code = code ? code : check_filter(&f->in, f->text, filter, &c->kept, err);
    for (unsigned k = 0; k < CHECK_REASON_COUNT && !code; k++)
        if (filter->rules >> k & 1)
            c->left_out[c->rules++] = (rapt_left_out){CHECK_KEYS[k], c->kept.report.found[k].newly};
    if (!code && c->kept.count == 0 && c->kept.report.lines > 0) /* of an empty file, the reader of pairs says that it is */
        code = rapt_fail(err, RAPT_ERR_VALUE, "%.300s: data.filter leaves out all of its %zu lines; rapt data check says why",
                         corpus_name(c->path), c->kept.report.lines);
    return code;
}

static rapt_code corpus_take_files(corpus *c, corpus_files *f, const check_options *filter, rapt_error *err)
{
    struct lines *const to[2] = {&c->lines, &c->targets};
    rapt_code code = name_files(c, f, err);
    code = code ? code : read_files(f, err);
    if (!code && filter)
        code = corpus_filter(c, f, filter, err);
    for (size_t i = 0; i < f->in.count && !code; i++) {
        code = lines_split(f->in.name[i], f->text[i], f->in.size[i], to[i], err);
        f->text[i] = NULL; /* the lines' now */
    }
    return code;
}

rapt_code corpus_read(const char *path, size_t size, const check_options *filter, corpus *out, rapt_error *err)
{
    bool there = true;
    corpus_files f = {{NULL}};
    *out = (corpus){.path = chars_copy_part(path, size)};
    if (!out->path)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%.*s: out of memory", size < 300 ? (int)size : 300, path);
    rapt_code code = out->path[disk_list_part(out->path, ":")] ? file_is_there(out->path, &there, err) : RAPT_OK;
    out->two = !there;
    code = code ? code : corpus_take_files(out, &f, filter, err);
    files_free(&f);
    return code;
}

bool corpus_is_piped(const char *path, size_t size)
{
    bool there = true, piped = false;
    char *copy = chars_copy_part(path, size);
    const size_t colon = copy ? disk_list_part(copy, ":") : 0;
    if (copy && copy[colon] && file_is_there(copy, &there, NULL) == RAPT_OK && !there) {
        copy[colon] = '\0';
        piped = is_pipe(copy + colon + 1);
    }
    piped = piped || (copy && is_pipe(copy));
    free(copy);
    return piped;
}

void corpus_free(corpus *c)
{
    lines_free(&c->lines);
    lines_free(&c->targets);
    check_filter_free(&c->kept);
    free(c->path);
    *c = (corpus){0};
}

/* The number of a line in its file. */
static size_t line_number(const corpus *c, size_t i)
{
    return c->kept.numbers ? c->kept.numbers[i] : i + 1;
}

/* Cuts the line in place at its tabs; the target, or NULL. */
static char *cut_line(const corpus *c, size_t i, rapt_error *err)
{
    char *tab = strchr(c->lines.line[i], '\t');
    if (!tab) {
        rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: no tab between source and target%s", corpus_name(c->path), line_number(c, i),
                  i == 0 ? "; two files are named SOURCE:TARGET" : "");
        return NULL;
    }
    *tab = '\0';
    tab[1 + strcspn(tab + 1, "\t")] = '\0';
    return tab + 1;
}

rapt_code corpus_walk(corpus *c, corpus_pair_fn *take, void *context, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    bool enough = false;
    if (c->two && c->lines.count != c->targets.count)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu and %zu lines; the files do not belong together", c->path, c->lines.count,
                         c->targets.count);
    for (size_t i = 0; i < c->lines.count && !code && !enough; i++) {
        if (c->lines.length[i] + (c->two ? c->targets.length[i] : 0) == 0)
            continue;
        char *target = c->two ? c->targets.line[i] : cut_line(c, i, err);
        code = target ? take(context, c->lines.line[i], target, line_number(c, i), &enough, err) : RAPT_ERR_FORMAT;
    }
    return code;
}
