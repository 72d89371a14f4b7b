/* data/check/check_same.c: finds repeated lines with a table of all sources and a table of all pairs. */
#include "data/check/check_lines.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct table {
    size_t *slots; /* index + 1 of a line, 0 empty */
    size_t mask;
    int kind; /* index of the hash: 0 sources, 1 pairs */
} table;

static rapt_code make_table(table *t, size_t lines, int kind, rapt_error *err)
{
    size_t slots = 64;
    while (slots < 2 * lines)
        slots *= 2;
    *t = (table){calloc(slots, sizeof *t->slots), slots - 1, kind};
    return t->slots ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a table of %zu lines", lines);
}

static bool texts_are_equal(const check_text *a, const check_text *b)
{
    return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

static bool lines_are_equal(const check_line *a, const check_line *b, int kind)
{
    return a->hash[kind] == b->hash[kind] && texts_are_equal(&a->side[0], &b->side[0]) &&
           (kind == 0 || texts_are_equal(&a->side[1], &b->side[1]));
}

/* Whether an earlier line is the same; if not, later lines are compared with this one. */
static bool seen_before(table *t, const check_line *lines, size_t i)
{
    size_t slot = lines[i].hash[t->kind] & t->mask;
    for (; t->slots[slot]; slot = (slot + 1) & t->mask)
        if (lines_are_equal(&lines[t->slots[slot] - 1], &lines[i], t->kind))
            return true;
    t->slots[slot] = i + 1;
    return false;
}

static void mark_line(table *sources, table *pairs, check_lines *lines, size_t i)
{
    check_line *line = &lines->line[i];
    line->hash[0] = XXH3_64bits(line->side[0].at, line->side[0].size);
    line->hash[1] = XXH3_64bits_withSeed(line->side[1].at, line->side[1].size, line->hash[0]);
    bool source_known = seen_before(sources, lines->line, i);
    if (seen_before(pairs, lines->line, i))
        line->found |= 1u << CHECK_DUPLICATE;
    else if (source_known)
        line->found |= 1u << CHECK_OTHER_TARGET;
}

rapt_code check_same(check_lines *lines, rapt_error *err)
{
    table sources, pairs = {0};
    rapt_code code = make_table(&sources, lines->count, 0, err);
    if (!code)
        code = make_table(&pairs, lines->count, 1, err);
    for (size_t i = 0; i < lines->count && !code; i++)
        if (check_line_is_pair(&lines->line[i]))
            mark_line(&sources, &pairs, lines, i);
    free(sources.slots);
    free(pairs.slots);
    return code;
}
