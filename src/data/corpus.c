/* data/corpus.c: reads a corpus, and cuts its lines into pairs. */
#include "data/corpus.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES FILE_GIB(8)

static rapt_code read_both(corpus *c, rapt_error *err)
{
    const char *colon = c->path + disk_list_part(c->path, ":");
    char *source = chars_copy_part(c->path, (size_t)(colon - c->path));
    if (!source)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", c->path);
    rapt_code code = lines_read(source, MAX_BYTES, &c->lines, err);
    free(source);
    return code ? code : lines_read(colon + 1, MAX_BYTES, &c->targets, err);
}

rapt_code corpus_read(const char *path, size_t size, corpus *out, rapt_error *err)
{
    bool there = true;
    *out = (corpus){.path = chars_copy_part(path, size)};
    if (!out->path)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%.*s: out of memory", size < 300 ? (int)size : 300, path);
    rapt_code code = out->path[disk_list_part(out->path, ":")] ? file_is_there(out->path, &there, err) : RAPT_OK;
    out->two = !there;
    if (code)
        return code;
    return there ? lines_read(out->path, MAX_BYTES, &out->lines, err) : read_both(out, err);
}

void corpus_free(corpus *c)
{
    lines_free(&c->lines);
    lines_free(&c->targets);
    free(c->path);
    *c = (corpus){0};
}

/* Cuts the line in place at its tabs; the target, or NULL. */
static char *cut_line(const corpus *c, size_t i, rapt_error *err)
{
    char *tab = strchr(c->lines.line[i], '\t');
    if (!tab) {
        rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: no tab between source and target", c->path, i + 1);
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
        code = target ? take(context, c->lines.line[i], target, i + 1, &enough, err) : RAPT_ERR_FORMAT;
    }
    return code;
}
