/* text/split/code_set.c: sets of code points. */
#include "text/split/code_set.h"

#include "text/unicode/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SURROGATE = 0xD800, END_SURROGATES = 0xE000 };

void code_set_free(code_set *s)
{
    free(s->ranges);
    *s = (code_set){0};
}

bool code_set_add(code_set *s, uint32_t first, uint32_t end)
{
    if (!ARRAY_RESERVE(&s->ranges, &s->capacity, s->count + 1))
        return false;
    s->ranges[s->count++] = (code_range){first, end};
    return true;
}

static int by_first(const void *a, const void *b)
{
    uint32_t x = ((const code_range *)a)->first, y = ((const code_range *)b)->first;
    return (x > y) - (x < y);
}

void code_set_tidy(code_set *s)
{
    size_t put = 0;
    if (s->count > 1)
        qsort(s->ranges, s->count, sizeof *s->ranges, by_first);
    for (size_t i = 0; i < s->count; i++) {
        code_range r = s->ranges[i];
        if (r.first >= r.end)
            continue;
        if (put > 0 && r.first <= s->ranges[put - 1].end)
            s->ranges[put - 1].end = r.end > s->ranges[put - 1].end ? r.end : s->ranges[put - 1].end;
        else
            s->ranges[put++] = r;
    }
    s->count = put;
}

bool code_set_add_all(code_set *s, const code_set *more)
{
    bool ok = true;
    for (size_t i = 0; ok && i < more->count; i++)
        ok = code_set_add(s, more->ranges[i].first, more->ranges[i].end);
    code_set_tidy(s);
    return ok;
}

typedef struct folding {
    const code_set *from;
    code_set folded, more;
    bool ok;
} folding;

static void note_folded(void *context, uint32_t code)
{
    folding *f = context;
    uint32_t folded = unicode_fold(code);
    f->ok = f->ok && (!code_set_has(f->from, code) || code_set_add(&f->folded, folded, folded + 1));
}

static void add_folded(void *context, uint32_t code)
{
    folding *f = context;
    f->ok = f->ok && (!code_set_has(&f->folded, unicode_fold(code)) || code_set_add(&f->more, code, code + 1));
}

bool code_set_add_folded(code_set *s)
{
    folding f = {.from = s, .ok = true};
    code_set_tidy(s);
    unicode_each_cased(note_folded, &f);
    code_set_tidy(&f.folded);
    unicode_each_cased(add_folded, &f);
    f.ok = f.ok && code_set_add_all(s, &f.more);
    code_set_free(&f.folded);
    code_set_free(&f.more);
    return f.ok;
}

bool code_set_complement(code_set *s)
{
    code_set all = {0};
    uint32_t from = 0;
    bool ok = code_set_add(s, FIRST_SURROGATE, END_SURROGATES);
    code_set_tidy(s);
    for (size_t i = 0; ok && i < s->count; i++) {
        ok = s->ranges[i].first <= from || code_set_add(&all, from, s->ranges[i].first);
        from = s->ranges[i].end;
    }
    ok = ok && (from >= UNICODE_END || code_set_add(&all, from, UNICODE_END));
    code_set_free(s);
    *s = all;
    return ok;
}

bool code_set_intersect(code_set *s, const code_set *other)
{
    code_set both = {0};
    bool ok = true;
    for (size_t i = 0, k = 0; ok && i < s->count && k < other->count;) {
        code_range a = s->ranges[i], b = other->ranges[k];
        uint32_t first = a.first > b.first ? a.first : b.first, end = a.end < b.end ? a.end : b.end;
        ok = first >= end || code_set_add(&both, first, end);
        i += a.end <= b.end;
        k += b.end <= a.end;
    }
    code_set_free(s);
    *s = both;
    return ok;
}

bool code_set_has(const code_set *s, uint32_t code)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code >= s->ranges[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && code >= s->ranges[low].first;
}

bool code_set_equal(const code_set *a, const code_set *b)
{
    return a->count == b->count && (a->count == 0 || memcmp(a->ranges, b->ranges, a->count * sizeof *a->ranges) == 0);
}
