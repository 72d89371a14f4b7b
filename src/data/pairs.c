/* data/pairs.c: reading sentence pairs and choosing the validation split. For training and evaluation. */
#include "data/pairs.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/rng.h"
#include "text/lines.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES FILE_GIB(8)

struct rapt_pairs {
    struct lines lines, targets; /* targets: if there are two files */
    bool two;                    /* files */
    char *memory;                /* texts that came from memory */
    char *path;
    char **source, **target;
    size_t *line;
    uint64_t *key; /* hashes of the sources, to choose the validation split */
    size_t count;
    size_t limit;                /* of `count`; 0: none */
};

static bool pairs_allocate(rapt_pairs *p, size_t lines)
{
    p->source = malloc((lines + 1) * sizeof *p->source);
    p->target = malloc((lines + 1) * sizeof *p->target);
    p->line = malloc((lines + 1) * sizeof *p->line);
    p->key = malloc((lines + 1) * sizeof *p->key);
    return p->path && p->source && p->target && p->line && p->key;
}

/* The validation split is chosen by the source without its letter case. */
static rapt_code make_key(const char *source, uint64_t *key, rapt_error *err)
{
    size_t size;
    char *lower = utf8_lowercase(source, strlen(source), &size);
    if (!lower)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sentence");
    *key = rng_hash_text(lower);
    free(lower);
    return RAPT_OK;
}

static rapt_code add_pair(rapt_pairs *p, char *source, char *target, size_t number, rapt_error *err)
{
    p->source[p->count] = source;
    p->target[p->count] = target;
    p->line[p->count] = number;
    return make_key(source, &p->key[p->count++], err);
}

static bool pairs_are_enough(const rapt_pairs *p)
{
    return p->limit > 0 && p->count == p->limit;
}

/* Cuts the line in place at its tabs. */
static rapt_code pairs_take_line(rapt_pairs *p, char *line, const char *path, size_t number, rapt_error *err)
{
    char *tab = strchr(line, '\t');
    if (!tab)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: no tab between source and target", path, number);
    *tab = '\0';
    char *target = tab + 1;
    target[strcspn(target, "\t")] = '\0';
    return add_pair(p, line, target, number, err);
}

static rapt_code pairs_take_lines(rapt_pairs *p, const char *path, rapt_error *err)
{
    if (!pairs_allocate(p, p->lines.count))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu pairs", path, p->lines.count);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && i < p->lines.count && !pairs_are_enough(p); i++)
        if (p->lines.length[i] > 0)
            code = pairs_take_line(p, p->lines.line[i], path, i + 1, err);
    return code;
}

/* ---- two files ------------------------------------------------------------------------------------------------ */

static rapt_code take_both(rapt_pairs *p, const char *path, rapt_error *err)
{
    size_t n = p->lines.count;
    if (n != p->targets.count)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu and %zu lines; the files do not belong together", path, n,
                         p->targets.count);
    if (!pairs_allocate(p, n))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu pairs", path, n);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && i < n && !pairs_are_enough(p); i++)
        if (p->lines.length[i] + p->targets.length[i] > 0)
            code = add_pair(p, p->lines.line[i], p->targets.line[i], i + 1, err);
    return code;
}

static rapt_code read_both(rapt_pairs *p, const char *path, rapt_error *err)
{
    const char *colon = path + disk_list_part(path, ":");
    char *source = chars_copy_part(path, (size_t)(colon - path));
    if (!source)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", path);
    rapt_code code = lines_read(source, MAX_BYTES, &p->lines, err);
    free(source);
    if (!code)
        code = lines_read(colon + 1, MAX_BYTES, &p->targets, err);
    return code ? code : take_both(p, path, err);
}

rapt_pairs *pairs_read_lines(const char *path, size_t limit, rapt_error *err)
{
    rapt_pairs *p = calloc(1, sizeof *p);
    if (!p) {
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    bool there = true;
    p->limit = limit;
    p->path = chars_copy(path);
    rapt_code code = path[disk_list_part(path, ":")] ? file_is_there(path, &there, err) : RAPT_OK;
    p->two = !there;
    if (!code && there)
        code = lines_read(path, MAX_BYTES, &p->lines, err);
    if (!code)
        code = there ? pairs_take_lines(p, path, err) : read_both(p, path, err);
    if (!code)
        return p;
    rapt_pairs_free(p);
    return NULL;
}

rapt_pairs *rapt_pairs_read(const char *path, size_t limit, rapt_error *err)
{
    rapt_pairs *p = pairs_read_lines(path, limit, err);
    if (!p || p->count)
        return p;
    rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file%s empty", path, p->two ? "s are" : " is");
    rapt_pairs_free(p);
    return NULL;
}

/* ---- from memory ---------------------------------------------------------------------------------------------- */

/* Copies a sentence to *at, and moves *at behind it. */
static rapt_code copy_sentence(const char *text, size_t pair, char **at, rapt_error *err)
{
    const size_t size = strlen(text);
    if (utf8_valid_prefix(text, size) < size)
        return rapt_fail(err, RAPT_ERR_FORMAT, "pair %zu is not UTF-8: byte %zu", pair + 1, utf8_valid_prefix(text, size) + 1);
    if (strpbrk(text, "\n\r")) /* a pair is a line of a file, and written as one */
        return rapt_fail(err, RAPT_ERR_FORMAT, "pair %zu has a line break", pair + 1);
    memcpy(*at, text, size + 1);
    *at += size + 1;
    return RAPT_OK;
}

static rapt_code pairs_take_texts(rapt_pairs *p, const char *const *sources, const char *const *targets, size_t count,
                                  rapt_error *err)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(sources[i]) + strlen(targets[i]) + 2;
    p->memory = malloc(size);
    if (!p->memory || !pairs_allocate(p, count))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu pairs", count);
    char *at = p->memory;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++) {
        char *source = at, *target;
        if (!*sources[i] && !*targets[i])
            continue;
        code = copy_sentence(sources[i], i, &at, err);
        target = at;
        code = code ? code : copy_sentence(targets[i], i, &at, err);
        code = code ? code : add_pair(p, source, target, i + 1, err);
    }
    return code;
}

rapt_pairs *pairs_of_lines(const char *const *sources, const char *const *targets, size_t count, rapt_error *err)
{
    rapt_error own = {0};
    rapt_pairs *p = calloc(1, sizeof *p);
    if (p)
        p->path = chars_copy("the pairs");
    if (p && pairs_take_texts(p, sources, targets, count, &own) == RAPT_OK)
        return p;
    rapt_fail(err, p ? own.code : RAPT_ERR_MEMORY, "%s", p ? own.message : "out of memory for sentence pairs");
    rapt_pairs_free(p);
    return NULL;
}

rapt_pairs *rapt_pairs_from_lines(const char *const *sources, const char *const *targets, size_t count, rapt_error *err)
{
    rapt_pairs *p = pairs_of_lines(sources, targets, count, err);
    if (!p || p->count)
        return p;
    rapt_fail(err, RAPT_ERR_VALUE, "there are no pairs");
    rapt_pairs_free(p);
    return NULL;
}

void rapt_pairs_free(rapt_pairs *p)
{
    if (!p)
        return;
    lines_free(&p->lines);
    lines_free(&p->targets);
    free(p->memory);
    free(p->path);
    free(p->source);
    free(p->target);
    free(p->line);
    free(p->key);
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

size_t pairs_lines(const rapt_pairs *p)
{
    return p->count && (p->memory || pairs_are_enough(p)) ? p->line[p->count - 1] : p->lines.count;
}

const char *rapt_pairs_path(const rapt_pairs *p)
{
    return p->path;
}

bool rapt_pairs_in_validation(const rapt_pairs *p, size_t i, double fraction)
{
    return fraction > 0 && rng_uniform(p->key[i], 1) < fraction;
}
