/* decode/markup/markup_units.c: units of texts, and the attention between them: the attention of all tokens of a unit to all
 * tokens of another. Not an aligner: it reads the decoder's cross-attention (decode/align.c). */
#include "decode/markup/markup_units.h"

#include "text/prose/word_boundary.h"
#include "text/utf8.h"

/* ---- units ---------------------------------------------------------------------------------------------------------------- */

/* Whether the character at `at`, of `size` bytes, occurs again. */
static bool occurs_again(rapt_text text, size_t again, size_t at, size_t size)
{
    return text.size - again >= size && memcmp(text.data + again, text.data + at, size) == 0;
}

static bool next_unit(rapt_text text, const bool *cut, size_t *at, markup_unit *unit)
{
    uint32_t code = 0;
    size_t size = 0;
    while (*at < text.size && (size = utf8_decode(text.data + *at, text.size - *at, &code)) > 0 && utf8_is_space(code))
        *at += size;
    if (*at >= text.size)
        return false;
    size = size ? size : 1;
    *unit = (markup_unit){*at, *at + size, word_boundary_word(code)};
    while (unit->end < text.size && !cut[unit->end] &&
           (!word_boundary_is(text, unit->end) || (!unit->is_word && occurs_again(text, unit->end, *at, size))))
        unit->end += (size = utf8_decode(text.data + unit->end, text.size - unit->end, &code)) ? size : 1;
    *at = unit->end;
    return true;
}

bool markup_units_take(markup_units *u, rapt_text text, const markup_item *items, size_t item_count)
{
    *u = (markup_units){.text = text, .list = malloc((text.size + 1) * sizeof *u->list)};
    bool *cut = calloc(text.size + 1, sizeof *cut);
    for (size_t i = 0; cut && i < item_count; i++)
        cut[items[i].at] = cut[items[i].until] = true;
    const bool ok = cut && u->list;
    for (size_t at = 0; ok && next_unit(text, cut, &at, &u->list[u->count]);)
        u->count++;
    free(cut);
    return ok;
}

size_t markup_units_from(const markup_units *u, size_t at)
{
    size_t from = 0, end = u->count;
    while (from < end) {
        const size_t middle = from + (end - from) / 2;
        if (u->list[middle].begin < at)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* ---- links ---------------------------------------------------------------------------------------------------------------- */

typedef struct unit_range {
    size_t from, end;
} unit_range;

/* The units that a token may have, and all tokens of a row, but at least one each: of more, the first ones of each token count. A
 * word of a megabyte is one token to some vocabularies; and each unit is compared with all of its row. */
enum { UNITS_OF_TOKEN = 16, UNITS_OF_ROW = 512 };

/* What links are found with. */
typedef struct linking {
    markup_links *l;
    const markup_units *source, *target;
    const rapt_translation *t;
    const rapt_hypothesis *h;
    unit_range *units;  /* [source tokens] the source units of each that count, at most `most` */
    size_t most;
    size_t *counted;    /* [source units] those that count, by l->rank */
    size_t capacity;    /* of masses */
    size_t row_first, row_count;
    unit_range window;  /* the units of the tokens row_first .. row_first + row_count - 1 */
} linking;

void markup_links_free(markup_links *l)
{
    free(l->of);
    free(l->first);
    free(l->last);
    free(l->rank);
    free(l->masses);
    free(l->mass);
}

static unit_range units_of_span(const markup_units *u, rapt_span span, size_t most)
{
    unit_range r = {markup_units_from(u, span.begin), markup_units_from(u, span.end)};
    if (span.begin == span.end)
        return (unit_range){0, 0};
    if (r.from > 0 && u->list[r.from - 1].end > span.begin)
        r.from--;
    r.end = r.end - r.from > most ? r.from + most : r.end;
    return r;
}

/* Which source units each source token has, and which count. */
static void count_units(linking *s)
{
    size_t longest = 1, rank = 0;
    for (size_t i = 0; i < s->h->alignment.targets; i++)
        longest = s->h->alignment.rows[i].count > longest ? s->h->alignment.rows[i].count : longest;
    s->most = UNITS_OF_ROW / longest < UNITS_OF_TOKEN ? UNITS_OF_ROW / longest : UNITS_OF_TOKEN;
    s->most = s->most > 0 ? s->most : 1;
    memset(s->l->rank, 0, (s->source->count + 1) * sizeof *s->l->rank);
    for (size_t j = 0; j < s->t->source_count; j++) {
        s->units[j] = units_of_span(s->source, s->t->source_spans[j], s->most);
        for (size_t i = s->units[j].from; i < s->units[j].end; i++)
            s->l->rank[i] = 1;
    }
    for (size_t i = 0; i <= s->source->count; i++) {
        const bool counts = s->l->rank[i] > 0;
        s->l->rank[i] = rank;
        if (counts)
            s->counted[rank++] = i;
    }
}

/* The source units that the tokens of a row have, all rows of a segment the same ones. */
static void set_window(linking *s, const rapt_alignment_row *row)
{
    if (row->first == s->row_first && row->count == s->row_count && s->window.end > 0)
        return;
    s->row_first = row->first;
    s->row_count = row->count;
    s->window = (unit_range){s->source->count, 0};
    for (size_t j = row->first; j < row->first + row->count && j < s->t->source_count; j++)
        if (s->units[j].from < s->units[j].end) {
            s->window.from = s->units[j].from < s->window.from ? s->units[j].from : s->window.from;
            s->window.end = s->units[j].end > s->window.end ? s->units[j].end : s->window.end;
        }
    if (s->window.from > s->window.end)
        s->window = (unit_range){0, 0};
}

static void add_row(const linking *s, const rapt_alignment_row *row, double *mass)
{
    for (size_t j = 0; j < row->count && row->first + j < s->t->source_count; j++) {
        const unit_range units = s->units[row->first + j];
        for (size_t i = units.from; i < units.end; i++)
            if (i >= s->window.from && i < s->window.end)
                mass[s->l->rank[i] - s->l->rank[s->window.from]] += (double)row->weights[j];
    }
}

static bool is_number(char c)
{
    return c >= '0' && c <= '9';
}

static bool same_unit(const markup_units *a, size_t i, const markup_units *b, size_t j)
{
    const markup_unit x = a->list[i], y = b->list[j];
    const char *first = a->text.data + x.begin, *other = b->text.data + y.begin;
    return x.end - x.begin == y.end - y.begin && *first == *other && memcmp(first, other, x.end - x.begin) == 0;
}

/* Whether `other` is better than `best` although the attention is equal, as between units of one token: if only its text is the
 * unit's, else if it is the next one after the link of the unit before. */
static bool is_rather(const linking *s, size_t unit, size_t best, size_t other)
{
    const size_t before = unit > 0 ? s->l->of[unit - 1] : MARKUP_NONE;
    const bool same = same_unit(s->target, unit, s->source, best), other_same = same_unit(s->target, unit, s->source, other);
    return same != other_same ? other_same : before != MARKUP_NONE && best <= before && other > before;
}

/* The unit of the window with the most attention among those that a unit may be linked with. */
static size_t best_unit(const linking *s, size_t unit, const double *mass)
{
    const markup_unit *u = &s->target->list[unit];
    const bool exact = !u->is_word || is_number(s->target->text.data[u->begin]);
    const size_t *rank = s->l->rank, first = rank[s->window.from];
    size_t best = MARKUP_NONE;
    int best_kind = -1;
    for (size_t k = 0; k < rank[s->window.end] - first; k++) {
        const size_t i = s->counted[first + k];
        const double own = mass[k], most = best == MARKUP_NONE ? 0 : mass[rank[best] - first];
        const int kind = exact && same_unit(s->target, unit, s->source, i) ? 2 : u->is_word == s->source->list[i].is_word;
        const bool equal = best != MARKUP_NONE && kind == best_kind;
        if (own > 0 && (kind > best_kind || (equal && (own > most || (own == most && is_rather(s, unit, best, i)))))) {
            best = i;
            best_kind = kind;
        }
    }
    return best;
}

/* The masses of the tokens from .. end - 1, behind those that there are; false: out of memory. */
static bool take_masses(linking *s, size_t from, size_t end, struct markup_masses *m)
{
    markup_links *l = s->l;
    if (from < end)
        set_window(s, &s->h->alignment.rows[from]);
    const size_t units = from < end ? l->rank[s->window.end] - l->rank[s->window.from] : 0;
    *m = (struct markup_masses){m->at + m->count, units + 1, s->window.from};
    if (!ARRAY_RESERVE(&l->mass, &s->capacity, m->at + m->count))
        return false;
    memset(l->mass + m->at, 0, m->count * sizeof *l->mass);
    for (size_t i = from; i < end; i++)
        add_row(s, &s->h->alignment.rows[i], l->mass + m->at);
    return true;
}

static void add_up(double *mass, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) { /* the last is 0 */
        const double own = mass[i];
        mass[i] = sum;
        sum += own;
    }
}

/* Links the units first .. last - 1, whose tokens are from .. end - 1. Without tokens they are of the segment of the unit before
 * them. */
static bool link_units(linking *s, size_t first, size_t last, size_t from, size_t end)
{
    markup_links *l = s->l;
    struct markup_masses m = first > 0 ? l->masses[first - 1] : (struct markup_masses){0};
    if (!take_masses(s, from, end, &m))
        return false;
    for (size_t u = first; u < last; u++) {
        const bool linked = from < end && u - first < s->most;
        const size_t best = l->of[u] = linked ? best_unit(s, u, l->mass + m.at) : MARKUP_NONE;
        l->masses[u] = m;
        if (best == MARKUP_NONE)
            continue;
        l->first[best] = l->first[best] == MARKUP_NONE ? u : l->first[best];
        l->last[best] = u;
    }
    add_up(l->mass + m.at, m.count);
    return true;
}

/* The tokens of a unit, of which `from` is the first or before it. */
static unit_range tokens_of_unit(const linking *s, size_t unit, size_t from, size_t tokens)
{
    const markup_unit u = s->target->list[unit];
    while (from < tokens && s->h->spans[from].end <= u.begin)
        from++;
    size_t end = from;
    while (end < tokens && s->h->spans[end].begin < u.end)
        end++;
    return (unit_range){from, end};
}

static bool link_all(linking *s)
{
    const size_t tokens = s->h->token_count < s->h->alignment.targets ? s->h->token_count : s->h->alignment.targets;
    size_t from = 0;
    bool ok = true;
    count_units(s);
    for (size_t i = 0; i < s->source->count; i++)
        s->l->first[i] = s->l->last[i] = MARKUP_NONE;
    for (size_t u = 0, next; u < s->target->count && ok; u = next) {
        const unit_range own = tokens_of_unit(s, u, from, tokens);
        for (next = u + 1; next < s->target->count; next++) {
            const unit_range other = tokens_of_unit(s, next, own.from, tokens);
            if (other.from != own.from || other.end != own.end)
                break;
        }
        ok = link_units(s, u, next, own.from, own.end);
        from = own.from;
    }
    return ok;
}

bool markup_links_find(markup_links *l, const markup_units *source, const markup_units *target, const rapt_translation *t,
                       const rapt_hypothesis *h)
{
    linking s = {.l = l, .source = source, .target = target, .t = t, .h = h,
                 .units = malloc((t->source_count + 1) * sizeof *s.units),
                 .counted = malloc((source->count + 1) * sizeof *s.counted)};
    *l = (markup_links){.of = malloc((target->count + 1) * sizeof *l->of),
                        .first = malloc((source->count + 1) * sizeof *l->first),
                        .last = malloc((source->count + 1) * sizeof *l->last),
                        .rank = malloc((source->count + 1) * sizeof *l->rank),
                        .masses = malloc((target->count + 1) * sizeof *l->masses)};
    const bool ok = s.units && s.counted && l->of && l->first && l->last && l->rank && l->masses && link_all(&s);
    free(s.units);
    free(s.counted);
    return ok;
}

double markup_links_mass(const markup_links *l, size_t unit, size_t from, size_t end)
{
    const struct markup_masses m = l->masses[unit];
    const size_t first = l->rank[m.window], past = first + m.count - 1;
    from = l->rank[from] < first ? first : l->rank[from] < past ? l->rank[from] : past;
    end = l->rank[end] < first ? first : l->rank[end] < past ? l->rank[end] : past;
    return from < end ? l->mass[m.at + end - first] - l->mass[m.at + from - first] : 0;
}
