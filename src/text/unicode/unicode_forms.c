/* text/unicode/unicode_forms.c: Unicode's normalization forms.
 *
 * A text is taken in clusters: a character that no character before it can change, and all characters up to the next such
 * character. Most clusters are one character that stays unchanged, and are copied. Others are decomposed, their marks sorted by
 * class, and composed again. A cluster can be as long as the text: then marks are counted by class, not moved past each other. */
#include "text/unicode/compatible_table.h"
#include "text/unicode/compatible_texts_table.h"
#include "text/unicode/form_table.h"
#include "text/unicode/form_pairs_table.h"
#include "text/unicode/unicode.h"
#include "text/unicode/unicode_runs.h"
#include "text/utf8.h"

#include <string.h>

/* The bits of form_table.h for a character, above the rank of its combining class. */
enum { RANKS = 64, DECOMPOSES = 64, COMPATIBLE_ONLY = 128, NFC_CHANGES = 256, IS_SECOND = 512, FORM_BITS = 10 };
/* Hangul is computed: syllables from S on, made of L initials, V vowels and T finals (T itself means no final). */
enum { S = 0xAC00, L = 0x1100, V = 0x1161, T = 0x11A7, L_COUNT = 19, V_COUNT = 21, T_COUNT = 28 };
enum { S_COUNT = L_COUNT * V_COUNT * T_COUNT, FEW = 16, LONGEST = 32, FIRST_CHANGED = 0xA0 };

#define ROWS(table) (sizeof(table) / sizeof *(table))

static const unicode_runs FORMS = UNICODE_RUNS(FORM, FORM_BITS);

typedef struct form_code {
    uint32_t code;
    uint32_t rank;  /* rank of its combining class; 0: a starter */
    int32_t change; /* 1: it came out of the character before it; -n: n characters after it went into it */
} form_code;

typedef struct former {
    unicode_form form;
    form_code *list, *sorted; /* a cluster; scratch memory for its marks */
    size_t count, capacity, sorted_capacity;
} former;

static unsigned form_bits(uint32_t code)
{
    return FORM_RUNS[unicode_run_of(&FORMS, code)] & ((1u << FORM_BITS) - 1);
}

static bool is_compatible_form(unicode_form form)
{
    return form == UNICODE_NFKC || form == UNICODE_NFKD;
}

static bool is_composed_form(unicode_form form)
{
    return form == UNICODE_NFC || form == UNICODE_NFKC;
}

/* ---- decomposing -------------------------------------------------------------------------------------------- */

static bool put_code(former *f, uint32_t code)
{
    if (!ARRAY_RESERVE(&f->list, &f->capacity, f->count + 1))
        return false;
    f->list[f->count++] = (form_code){code, form_bits(code) & (RANKS - 1), 1};
    return true;
}

static bool put_hangul(former *f, uint32_t syllable)
{
    uint32_t final = syllable % T_COUNT;
    return put_code(f, L + syllable / (V_COUNT * T_COUNT)) && put_code(f, V + syllable / T_COUNT % V_COUNT) &&
           (final == 0 || put_code(f, T + final));
}

/* The row of PAIRS or SINGLES whose character is `code`; the number of rows if there is none. */
static size_t pair_row(const uint32_t *rows, size_t count, size_t width, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle * width] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && rows[low * width] == code ? low : count;
}

/* A pair's first may be a pair again; its last never is, and no single becomes one. */
static bool put_canonical(former *f, uint32_t code)
{
    uint32_t lasts[LONGEST];
    size_t count = 0, row;
    if (code - S < S_COUNT)
        return put_hangul(f, code - S);
    while (form_bits(code) & DECOMPOSES && count < LONGEST) {
        if ((row = pair_row(&PAIRS[0][0], ROWS(PAIRS), 3, code)) < ROWS(PAIRS)) {
            lasts[count++] = PAIRS[row][2];
            code = PAIRS[row][1];
        } else if ((row = pair_row(&SINGLES[0][0], ROWS(SINGLES), 2, code)) < ROWS(SINGLES)) {
            code = SINGLES[row][1];
        } else {
            break;
        }
    }
    bool ok = put_code(f, code);
    while (ok && count > 0)
        ok = put_canonical(f, lasts[--count]);
    return ok;
}

static bool put_compatible(former *f, uint32_t code)
{
    size_t low = 0, high = ROWS(COMPATIBLE);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (COMPATIBLE[middle][1] < code)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < ROWS(COMPATIBLE) && code >= COMPATIBLE[low][0])
        return put_code(f, code - COMPATIBLE[low][0] + COMPATIBLE[low][2]);
    low = 0;
    high = ROWS(COMPATIBLE_TEXTS);
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (COMPATIBLE_TEXTS[middle] >> 18 <= code)
            low = middle;
        else
            high = middle;
    }
    uint64_t text = COMPATIBLE_TEXTS[low];
    bool ok = true;
    for (size_t i = 0; ok && i < (text & 31); i++)
        ok = put_code(f, COMPATIBLE_POOL[(text >> 5 & 0x1FFF) + i]);
    return ok;
}

static bool put_decomposed(former *f, uint32_t code, unsigned what)
{
    const size_t first = f->count;
    bool ok = what & COMPATIBLE_ONLY && is_compatible_form(f->form) ? put_compatible(f, code)
              : what & DECOMPOSES                                  ? put_canonical(f, code)
                                                                   : put_code(f, code);
    if (f->count > first)
        f->list[first].change = 0;
    return ok;
}

/* ---- ordering ----------------------------------------------------------------------------------------------- */

/* Sorts a few marks by moving each past marks of higher classes; equal ones keep their order. */
static void sort_few(form_code *marks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        form_code mark = marks[i];
        size_t to = i;
        for (; to > 0 && marks[to - 1].rank > mark.rank; to--)
            marks[to] = marks[to - 1];
        marks[to] = mark;
    }
}

static bool sort_many(former *f, form_code *marks, size_t count)
{
    size_t places[RANKS + 1] = {0};
    if (!ARRAY_RESERVE(&f->sorted, &f->sorted_capacity, count))
        return false;
    for (size_t i = 0; i < count; i++)
        places[marks[i].rank + 1]++;
    for (size_t k = 1; k < RANKS; k++)
        places[k] += places[k - 1];
    for (size_t i = 0; i < count; i++)
        f->sorted[places[marks[i].rank]++] = marks[i];
    memcpy(marks, f->sorted, count * sizeof *marks);
    return true;
}

static bool order_marks(former *f)
{
    bool ok = true;
    for (size_t at = 0, end; ok && at < f->count; at = end + 1) {
        for (end = at; end < f->count && f->list[end].rank > 0;)
            end++;
        if (end - at <= FEW)
            sort_few(f->list + at, end - at);
        else
            ok = sort_many(f, f->list + at, end - at);
    }
    return ok;
}

/* ---- composing ---------------------------------------------------------------------------------------------- */

/* The character composed of two; 0: there is none. */
static uint32_t compose(uint32_t first, uint32_t second)
{
    if (first - L < L_COUNT && second - V < V_COUNT)
        return S + ((first - L) * V_COUNT + (second - V)) * T_COUNT;
    if (first - S < S_COUNT && (first - S) % T_COUNT == 0 && second - T - 1 < T_COUNT - 1)
        return first + (second - T);
    size_t low = 0, high = ROWS(COMPOSED);
    while (low < high) {
        const uint32_t *row = PAIRS[COMPOSED[(low + high) / 2]];
        if (row[1] < first || (row[1] == first && row[2] < second))
            low = (low + high) / 2 + 1;
        else
            high = (low + high) / 2;
    }
    const uint32_t *row = low < ROWS(COMPOSED) ? PAIRS[COMPOSED[low]] : NULL;
    return row && row[1] == first && row[2] == second ? row[0] : 0;
}

/* A mark composes with the last starter unless a mark of its class or a higher class stays between them; a starter composes only
 * if it follows immediately. */
static void compose_list(former *f)
{
    size_t put = 0, starter = SIZE_MAX;
    uint32_t highest = 0; /* rank of the last mark that stays after the starter */
    for (size_t i = 0; i < f->count; i++) {
        form_code c = f->list[i];
        bool touches = starter != SIZE_MAX && (put == starter + 1 || (highest != 0 && highest < c.rank));
        uint32_t made = touches ? compose(f->list[starter].code, c.code) : 0;
        if (made) {
            f->list[starter].code = made;
            f->list[starter].change += c.change - 1;
            continue;
        }
        if (c.rank == 0)
            starter = put;
        highest = c.rank;
        f->list[put++] = c;
    }
    f->count = put;
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

/* Whether the form may change this character when it is alone. */
static bool form_changes(unicode_form form, unsigned what)
{
    unsigned changing = is_composed_form(form) ? NFC_CHANGES : DECOMPOSES;
    return what & (changing | (is_compatible_form(form) ? COMPATIBLE_ONLY : 0));
}

/* Whether a cluster can begin with the character: no character before it composes with it or moves behind it. The same must hold
 * for its decomposition; characters for which it does not are few, and are changed. */
static bool form_begins(unicode_form form, unsigned what)
{
    return (what & (RANKS - 1)) == 0 && !(what & IS_SECOND) && !form_changes(form, what);
}

/* Appends the places of a cluster's characters: each takes the next character of text[0 .. size), or shares the last one that was
 * taken. */
static bool put_places(const former *f, buffer *from, const char *text, const rapt_span *spans, size_t size)
{
    bool ok = true;
    char bytes[4];
    uint32_t code;
    for (size_t i = 0, at = 0, last = 0; ok && i < f->count; i++) {
        const size_t source = f->list[i].change <= 0 ? at : last;
        for (int32_t n = f->list[i].change; n <= 0 && at < size; n++) {
            last = at;
            at += utf8_decode(text + at, size - at, &code);
        }
        for (size_t used = utf8_put(f->list[i].code, bytes); ok && used > 0; used--)
            ok = buffer_append(from, spans + source, sizeof *spans);
    }
    return ok;
}

/* Takes the cluster that begins at `at`, up to its end. */
static bool take_cluster(former *f, buffer *out, buffer *places, const char *text, const rapt_span *spans, size_t size,
                         size_t *at)
{
    const size_t from = *at;
    uint32_t code;
    bool ok = true;
    f->count = 0;
    for (size_t used; ok && (used = utf8_decode(text + *at, size - *at, &code)) > 0; *at += used) {
        unsigned what = form_bits(code);
        if (*at > from && form_begins(f->form, what))
            break;
        ok = put_decomposed(f, code, what);
    }
    ok = ok && order_marks(f) && buffer_reserve(out, 4 * f->count);
    if (ok && is_composed_form(f->form))
        compose_list(f);
    for (size_t i = 0; ok && i < f->count; i++)
        out->size += utf8_put(f->list[i].code, out->data + out->size);
    if (ok)
        out->data[out->size] = '\0';
    return ok && (!spans || put_places(f, places, text + from, spans + from, *at - from));
}

/* From `at` on, where the last character begins that others of its cluster can follow: all characters before it stay
 * unchanged. */
static size_t form_kept(const former *f, const char *text, size_t size, size_t at)
{
    size_t last = at, used;
    uint32_t code;
    for (; at < size; at += used) {
        if ((unsigned char)text[at] < 0x80) {
            used = 1;
        } else {
            used = utf8_decode(text + at, size - at, &code);
            if (code >= FIRST_CHANGED && !form_begins(f->form, form_bits(code)))
                return last;
        }
        last = at;
    }
    return size;
}

bool unicode_append_form(buffer *out, const char *text, size_t size, unicode_form form)
{
    return unicode_append_form_from(out, NULL, text, NULL, size, form);
}

bool unicode_append_form_from(buffer *out, buffer *from, const char *text, const rapt_span *spans, size_t size,
                              unicode_form form)
{
    former f = {.form = form};
    bool ok = true;
    for (size_t at = 0, kept; ok && at < size;) {
        kept = form_kept(&f, text, size, at);
        ok = sources_copy(out, from, text + at, sources_at(spans, at), kept - at);
        at = kept;
        if (ok && at < size)
            ok = take_cluster(&f, out, from, text, spans, size, &at);
    }
    free(f.list);
    free(f.sorted);
    return ok;
}
