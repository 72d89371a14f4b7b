/* decode/markup/markup_write.c: a document with the translations of its lines: rapt_markup_write. Spaces between words are the
 * translation's; a tag is on the side of a space on which it is in the document. */
#include "decode/markup/markup_tree.h"

#include "decode/markup/entities.h"

#include <stdlib.h>
#include <string.h>

/* Where a tag is in what is written between two units. */
typedef struct pending_tag {
    size_t item;
    bool after_space; /* a space that is written there comes before it */
} pending_tag;

/* One line while it is written. */
typedef struct line_writing {
    const rapt_markup *m;
    const markup_segment *segment;
    const markup_item *items;   /* of the segment */
    const markup_units *target;
    const markup_tree *tree;
    pending_tag *pending;       /* [pending_count] */
    size_t pending_count;
    size_t at;                  /* bytes of the translation that are written */
    bool owes_space;            /* after an element that has no place between words of its own */
    buffer_writer *out;
} line_writing;

static void write_text(line_writing *w, size_t from, size_t end)
{
    w->out->failed = !entities_append(&w->out->bytes, w->target->text.data + from, end - from, w->m->xml) || w->out->failed;
}

static void write_item(line_writing *w, size_t item)
{
    buffer_put(w->out, w->m->text + w->items[item].begin, w->items[item].end - w->items[item].begin);
}

/* Writes the pending tags, and among them a space: `bytes` as they are, or else the translation's up to byte `end`. */
static void write_gap(line_writing *w, rapt_text bytes, size_t end)
{
    size_t i = 0;
    for (; i < w->pending_count && !w->pending[i].after_space; i++)
        write_item(w, w->pending[i].item);
    if (bytes.size > 0)
        buffer_put(w->out, bytes.data, bytes.size);
    else if (end > w->at)
        write_text(w, w->at, end);
    for (; i < w->pending_count; i++)
        write_item(w, w->pending[i].item);
    w->pending_count = 0;
}

static void write_units(line_writing *w, size_t from, size_t end)
{
    for (size_t u = from; u < end; u++) {
        const markup_unit unit = w->target->list[u];
        const bool space = w->owes_space && unit.begin == w->at;
        write_gap(w, (rapt_text){" ", space}, unit.begin);
        w->owes_space = false;
        write_text(w, unit.begin, unit.end);
        w->at = unit.end;
    }
}

static void hold_tag(line_writing *w, size_t item)
{
    const markup_item *i = &w->items[item];
    const bool after = i->after_space || (i->kind == ITEM_START && !i->before_space);
    w->pending[w->pending_count++] = (pending_tag){item, after};
}

/* An element that is not translated, in place of units, or between two of them. */
static void write_verbatim(line_writing *w, const markup_node *n)
{
    const markup_item *item = &w->items[n->open];
    const bool between = n->a == n->b, last = n->a == w->target->count;
    const size_t begin = last ? w->at : w->target->list[n->a].begin;
    const bool spaced = begin > w->at;
    write_gap(w, (rapt_text){" ", between && !spaced && w->at > 0 && item->after_space}, begin);
    write_item(w, n->open);
    w->at = between ? begin : w->target->list[n->b - 1].end;
    w->owes_space = between && !last && (spaced || item->before_space);
}

static void write_node(line_writing *w, size_t node)
{
    const markup_node *n = &w->tree->list[node];
    size_t at = n->a;
    if (n->element && n->open != MARKUP_NONE)
        hold_tag(w, n->open);
    for (size_t c = n->first; c != MARKUP_NONE; c = w->tree->list[c].next) {
        const markup_node *child = &w->tree->list[c];
        write_units(w, at, child->a);
        if (child->verbatim)
            write_verbatim(w, child);
        else if (child->element)
            write_node(w, c);
        else
            hold_tag(w, child->open);
        at = child->b;
    }
    write_units(w, at, n->b);
    if (n->close != MARKUP_NONE)
        hold_tag(w, n->close);
}

/* ---- lines ---------------------------------------------------------------------------------------------------------------- */

/* What a line is written with, to be freed. */
typedef struct line_parts {
    markup_units source, target;
    markup_links links;
    markup_tree tree;
    size_t *owner;
    markup_run *runs;
    pending_tag *pending;
} line_parts;

static void line_parts_free(line_parts *p)
{
    free(p->source.list);
    free(p->target.list);
    markup_links_free(&p->links);
    free(p->tree.list);
    free(p->owner);
    free(p->runs);
    free(p->pending);
}

/* Sets the places of the line's items in the translation. False: out of memory. */
static bool line_parts_make(line_parts *p, const rapt_markup *m, size_t line, const rapt_translation *t, const rapt_hypothesis *h)
{
    const markup_segment *s = &m->segments[line];
    const markup_item *items = m->items + s->first;
    *p = (line_parts){0};
    bool ok = markup_units_take(&p->source, m->lines[line], items, s->count) &&
              markup_units_take(&p->target, rapt_text_of(h->text), NULL, 0) &&
              markup_links_find(&p->links, &p->source, &p->target, t, h) &&
              markup_tree_make(&p->tree, items, s->first, s->count, &p->source);
    ok = ok && (p->owner = malloc((p->target.count + 1) * sizeof *p->owner)) &&
         (p->runs = malloc((p->tree.count + 1) * sizeof *p->runs)) &&
         (p->pending = malloc((s->count + 1) * sizeof *p->pending));
    if (!ok)
        return false;
    markup_places places = {&p->tree, items, &p->source, &p->target, &p->links, p->owner, p->runs};
    markup_place(&places);
    markup_place_sort(&places);
    return true;
}

static void write_markup_line(const rapt_markup *m, size_t line, const rapt_translation *t, const rapt_hypothesis *h,
                              buffer_writer *out)
{
    const markup_segment *s = &m->segments[line];
    line_parts parts;
    if (!line_parts_make(&parts, m, line, t, h))
        out->failed = true;
    else {
        line_writing w = {.m = m, .segment = s, .items = m->items + s->first, .target = &parts.target, .tree = &parts.tree,
                          .pending = parts.pending, .out = out};
        buffer_put(out, m->text + s->begin, s->head - s->begin);
        write_node(&w, 0);
        write_gap(&w, (rapt_text){m->text + s->tail_begin, s->tail_end - s->tail_begin}, w.at);
    }
    line_parts_free(&parts);
}

/* ---- documents ------------------------------------------------------------------------------------------------------------ */

static bool is_complete(const rapt_translation *t, const rapt_hypothesis *h)
{
    return !*h->text || (t->source_spans && h->spans && h->tokens && (h->alignment.rows || h->token_count == 0));
}

rapt_code rapt_markup_write(const rapt_markup *m, const rapt_translation *translations, size_t n, char **out, size_t *size,
                            rapt_error *err)
{
    static char empty[] = "";
    const rapt_hypothesis none = {.text = empty};
    buffer_writer to = {0};
    size_t at = 0;
    *out = NULL;
    for (size_t i = 0; i < m->count && !to.failed; i++) {
        const rapt_translation *t = &translations[i];
        const rapt_hypothesis *h = t->count ? &t->hypotheses[n < t->count ? n : t->count - 1] : &none;
        if (!is_complete(t, h)) {
            buffer_free(&to.bytes);
            return rapt_fail(err, RAPT_ERR_VALUE, "line %zu: a translation without alignment, tokens and spans", i + 1);
        }
        buffer_put(&to, m->text + at, m->segments[i].begin - at);
        write_markup_line(m, i, t, h, &to);
        at = m->segments[i].end;
    }
    buffer_put(&to, m->text + at, m->size - at);
    if (to.failed || !buffer_reserve(&to.bytes, 1)) {
        buffer_free(&to.bytes);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a document of %zu bytes", m->size);
    }
    to.bytes.data[to.bytes.size] = '\0';
    *out = to.bytes.data;
    if (size)
        *size = to.bytes.size;
    return RAPT_OK;
}
