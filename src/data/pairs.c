/* data/pairs.c: reading sentence pairs and choosing the held-out part. For training and evaluation. */
#define _GNU_SOURCE /* strdup */
#include "rapt/data.h"

#include "base/rng.h"
#include "text/lines.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)8 << 30)

struct rapt_pairs {
    struct lines lines;
    char *path;
    char **source, **target;
    size_t *line;
    size_t count;
};

static bool allocate(rapt_pairs *p, size_t lines)
{
    p->source = malloc((lines + 1) * sizeof *p->source);
    p->target = malloc((lines + 1) * sizeof *p->target);
    p->line = malloc((lines + 1) * sizeof *p->line);
    return p->path && p->source && p->target && p->line;
}

/* Cuts the line in place at its tabs. */
static bool take_line(rapt_pairs *p, char *line, size_t number)
{
    char *tab = strchr(line, '\t');
    if (!tab)
        return false;
    *tab = '\0';
    char *target = tab + 1;
    target[strcspn(target, "\t")] = '\0';
    p->source[p->count] = line;
    p->target[p->count] = target;
    p->line[p->count++] = number;
    return true;
}

static rapt_code take_lines(rapt_pairs *p, const char *path, size_t limit, rapt_error *err)
{
    if (!allocate(p, p->lines.count))
        return rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for %zu pairs", path, p->lines.count);
    for (size_t i = 0; i < p->lines.count && (limit == 0 || p->count < limit); i++)
        if (p->lines.length[i] > 0 && !take_line(p, p->lines.line[i], i + 1))
            return rapt_fail(err, RAPT_FORMAT, "%s:%zu: no tab between source and target", path, i + 1);
    return p->count ? RAPT_OK : rapt_fail(err, RAPT_FORMAT, "%s: the file is empty", path);
}

rapt_pairs *rapt_pairs_read(const char *path, size_t limit, rapt_error *err)
{
    rapt_pairs *p = calloc(1, sizeof *p);
    if (!p) {
        rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", path);
        return NULL;
    }
    p->path = strdup(path);
    if (lines_read(path, MAX_BYTES, &p->lines, err) == RAPT_OK && take_lines(p, path, limit, err) == RAPT_OK)
        return p;
    rapt_pairs_free(p);
    return NULL;
}

void rapt_pairs_free(rapt_pairs *p)
{
    if (!p)
        return;
    lines_free(&p->lines);
    free(p->path);
    free(p->source);
    free(p->target);
    free(p->line);
    free(p);
}

size_t rapt_pairs_count(const rapt_pairs *p)
{
    return p->count;
}

const char *rapt_pairs_source(const rapt_pairs *p, size_t i)
{
    return p->source[i];
}

const char *rapt_pairs_target(const rapt_pairs *p, size_t i)
{
    return p->target[i];
}

size_t rapt_pairs_line(const rapt_pairs *p, size_t i)
{
    return p->line[i];
}

const char *rapt_pairs_path(const rapt_pairs *p)
{
    return p->path;
}

bool rapt_pairs_held_out(const rapt_pairs *p, size_t i, double fraction)
{
    size_t size;
    char *lower = fraction > 0 ? utf8_lowercase(p->source[i], strlen(p->source[i]), &size) : NULL;
    bool held_out = lower && rng_uniform(rng_hash_text(lower), 1) < fraction;
    free(lower);
    return held_out;
}
