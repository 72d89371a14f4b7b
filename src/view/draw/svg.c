/* svg.c: names of elements that don't depend on what was drawn before.
 * For canvas.c.
 * Not an XML parser: it knows how cairo writes id="NAME", href="#NAME" and url(#NAME), and touches nothing else. */
#define _GNU_SOURCE
#include "view/draw/svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct names {
    span *all;
    size_t count, room;
} names;

static const char definition[] = " id=\"";

/* The length of the mark before a name that starts at `at`, or 0: no name starts here. */
static size_t mark_length(const char *at, size_t left)
{
    if (left > sizeof definition && memcmp(at, definition, sizeof definition - 1) == 0)
        return sizeof definition - 1;
    return left > 2 && (at[0] == '"' || at[0] == '(') && at[1] == '#' ? 2 : 0;
}

static span name_at(const char *at, size_t left)
{
    span name = {at, 0};
    while (name.length < left && !strchr("\")", at[name.length]))
        name.length++;
    return name;
}

static bool add(names *n, span name)
{
    if (n->count == n->room) {
        size_t room = 2 * n->room + 64;
        span *moved = realloc(n->all, room * sizeof *moved);
        if (!moved)
            return false;
        n->all = moved;
        n->room = room;
    }
    n->all[n->count++] = name;
    return true;
}

static bool collect(names *n, const char *text, size_t size)
{
    const char *end = text + size, *at = text;
    while ((at = memmem(at, (size_t)(end - at), definition, sizeof definition - 1))) {
        at += sizeof definition - 1;
        if (!add(n, name_at(at, (size_t)(end - at))))
            return false;
    }
    return true;
}

static void put_name(FILE *out, const names *n, span name)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->all[i].length == name.length && memcmp(n->all[i].text, name.text, name.length) == 0) {
            fprintf(out, "n%zu", i);
            return;
        }
    fwrite(name.text, 1, name.length, out);
}

static void copy_renamed(FILE *out, const names *n, const char *text, size_t size)
{
    size_t copied = 0;
    for (size_t at = 0; at < size; at++) {
        size_t mark = mark_length(text + at, size - at);
        if (!mark)
            continue;
        span name = name_at(text + at + mark, size - at - mark);
        fwrite(text + copied, 1, at + mark - copied, out);
        put_name(out, n, name);
        copied = at + mark + name.length;
        at = copied - 1;
    }
    fwrite(text + copied, 1, size - copied, out);
}

rapt_code svg_renumber(char **text, size_t *size, rapt_error *err)
{
    names n = {0};
    char *renamed = NULL;
    size_t length = 0;
    bool good = collect(&n, *text, *size);
    FILE *out = good ? open_memstream(&renamed, &length) : NULL;
    if (out) {
        copy_renamed(out, &n, *text, *size);
        good = !ferror(out);
        good = fclose(out) == 0 && good;
    }
    free(n.all);
    if (!out || !good) {
        free(renamed);
        return rapt_fail(err, RAPT_NO_MEMORY, "out of memory for a picture of %zu bytes", *size);
    }
    free(*text);
    *text = renamed;
    *size = length;
    return RAPT_OK;
}
