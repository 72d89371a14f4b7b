/* data/pairs.c: sentence pairs of one corpus or of several, and choosing the validation split. For training and evaluation. */
#include "data/pairs.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/disk.h"
#include "base/rng.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

struct rapt_pairs {
    corpus *corpora; /* NULL: from memory */
    size_t corpus_count, corpus_capacity;
    char *memory;    /* texts that came from memory */
    char *path;
    char **source, **target;
    size_t *line;
    uint64_t *key; /* hashes of the sources, to choose the validation split */
    size_t count;
    size_t limit;  /* of the pairs of a corpus; 0: none */
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

/* ---- from files ----------------------------------------------------------------------------------------------- */

static bool pairs_are_enough(const rapt_pairs *p, const corpus *c)
{
    return p->limit > 0 && p->count - c->first == p->limit;
}

typedef struct taking {
    rapt_pairs *p;
    const corpus *c;
} taking;

static rapt_code pairs_take(void *context, char *source, char *target, size_t number, bool *enough, rapt_error *err)
{
    const taking *t = context;
    rapt_code code = add_pair(t->p, source, target, number, err);
    *enough = pairs_are_enough(t->p, t->c);
    return code;
}

static rapt_code pairs_take_corpora(rapt_pairs *p, rapt_error *err)
{
    size_t lines = 0;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < p->corpus_count; i++)
        lines += p->corpora[i].lines.count;
    if (!pairs_allocate(p, lines))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%.380s: out of memory for %zu pairs", p->path, lines);
    for (size_t i = 0; i < p->corpus_count && !code; i++) {
        corpus *c = &p->corpora[i];
        c->first = p->count;
        code = corpus_walk(c, pairs_take, &(taking){p, c}, err);
        c->count = p->count - c->first;
    }
    return code;
}

static rapt_code pairs_read_corpora(rapt_pairs *p, const char *list, const check_options *filter, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t size; *list && !code; list += size + (list[size] != '\0')) {
        size = disk_list_part(list, PAIRS_BETWEEN);
        if (size == 0)
            continue;
        for (size_t i = 0; i < p->corpus_count && !code && size == 1 && *list == '-'; i++)
            if (strcmp(p->corpora[i].path, "-") == 0)
                return rapt_fail(err, RAPT_ERR_VALUE, "standard input is named twice");
        if (!ARRAY_RESERVE(&p->corpora, &p->corpus_capacity, p->corpus_count + 1))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "%.380s: out of memory", p->path);
        else
            code = corpus_read(list, size, filter, &p->corpora[p->corpus_count++], err);
    }
    if (!code && p->corpus_count == 0)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "no file of pairs is named");
    return code;
}

static rapt_pairs *pairs_read_any(const char *path, size_t limit, const check_options *filter, rapt_error *err)
{
    rapt_pairs *p = calloc(1, sizeof *p);
    rapt_code code = RAPT_ERR_MEMORY;
    if (p) {
        p->limit = limit;
        p->path = chars_copy(path);
    }
    if (p && p->path)
        code = pairs_read_corpora(p, path, filter, err);
    else
        rapt_fail(err, code, "%.380s: out of memory", path);
    if (!code)
        code = pairs_take_corpora(p, err);
    if (!code)
        return p;
    rapt_pairs_free(p);
    return NULL;
}

/* Each corpus must have a pair: one without would be a mistake that training hides. */
static rapt_code pairs_check_corpora(const rapt_pairs *p, rapt_error *err)
{
    for (size_t i = 0; i < p->corpus_count; i++)
        if (p->corpora[i].count == 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file%s empty", corpus_name(p->corpora[i].path),
                             p->corpora[i].two ? "s are" : " is");
    return RAPT_OK;
}

rapt_pairs *pairs_read_lines(const char *path, size_t limit, rapt_error *err)
{
    return pairs_read_any(path, limit, NULL, err);
}

rapt_pairs *pairs_read_filtered(const char *path, size_t limit, const check_options *filter, rapt_error *err)
{
    rapt_pairs *p = pairs_read_any(path, limit, filter, err);
    if (!p || !pairs_check_corpora(p, err))
        return p;
    rapt_pairs_free(p);
    return NULL;
}

rapt_pairs *rapt_pairs_read(const char *path, size_t limit, rapt_error *err)
{
    return pairs_read_filtered(path, limit, NULL, err);
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
    for (size_t i = 0; i < p->corpus_count; i++)
        corpus_free(&p->corpora[i]);
    free(p->corpora);
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
    const corpus *c = p->corpora;
    return p->count && (!c || pairs_are_enough(p, c)) ? p->line[p->count - 1] : c ? c->lines.count : 0;
}

bool pairs_are_piped(const char *path)
{
    bool piped = false;
    for (size_t size; *path && !piped; path += size + (path[size] != '\0')) {
        size = disk_list_part(path, PAIRS_BETWEEN);
        piped = size > 0 && corpus_is_piped(path, size);
    }
    return piped;
}

size_t pairs_corpora(const rapt_pairs *p)
{
    return p->corpus_count;
}

const corpus *pairs_corpus(const rapt_pairs *p, size_t i)
{
    return &p->corpora[i];
}

const char *pairs_path_of(const rapt_pairs *p, size_t pair)
{
    size_t i = 0;
    while (i < p->corpus_count && p->corpora[i].first + p->corpora[i].count <= pair)
        i++;
    return i < p->corpus_count ? corpus_name(p->corpora[i].path) : p->path;
}

const char *rapt_pairs_path(const rapt_pairs *p)
{
    return p->path;
}

bool rapt_pairs_in_validation(const rapt_pairs *p, size_t i, double fraction)
{
    return fraction > 0 && rng_uniform(p->key[i], 1) < fraction;
}
