/* decode/markup/markup_place.c: which words of a translation an element gets. It is one piece: the run of words of which more
 * attend to the element's words than do not, as far as its parent and the elements beside it leave room. Elements with the
 * most such words come first. (Bergamot repeats an element for each run of its words; here a link stays one link.) */
#include "decode/markup/markup_tree.h"

#include <stdlib.h>
#include <string.h>

/* How far beside an item a word is looked for whose translation says its place. */
enum { NEIGHBORS = 16 };

static markup_node *node_at(const markup_places *p, size_t node)
{
    return &p->tree->list[node];
}

static bool attends_to(const markup_places *p, size_t unit, const markup_node *n)
{
    return p->links->of[unit] != MARKUP_NONE && p->links->of[unit] >= n->s0 && p->links->of[unit] < n->s1;
}

static long unit_weight(const markup_places *p, size_t unit)
{
    return p->target->list[unit].is_word ? 2 : 1;
}

static void place_at(markup_places *p, size_t node, size_t a, size_t b)
{
    markup_node *n = node_at(p, node);
    n->a = a;
    n->b = b;
    n->placed = true;
    for (size_t u = a; u < b; u++)
        p->owner[u] = node;
}

/* The units of the parent `in` between the first and the last that attend to a node. */
static markup_run attending(const markup_places *p, const markup_node *n, const markup_node *in)
{
    markup_run r = {.a = in->b, .b = in->a};
    for (size_t i = n->s0; i < n->s1; i++)
        if (p->links->first[i] != MARKUP_NONE) {
            r.a = p->links->first[i] < r.a ? p->links->first[i] : r.a;
            r.b = p->links->last[i] + 1 > r.b ? p->links->last[i] + 1 : r.b;
        }
    r.a = r.a > in->a ? r.a : in->a;
    r.b = r.b < in->b ? r.b : in->b;
    return r.a < r.b ? r : (markup_run){.a = in->a, .b = in->a};
}

/* The run of free units with the highest score: the weight of those that attend to the node minus the weight of the others; the
 * longest of several. `solid`: without others. */
static markup_run best_run(const markup_places *p, const markup_node *n, const markup_node *in, bool solid)
{
    const markup_run within = attending(p, n, in);
    markup_run best = {0}, run = {0};
    bool active = false;
    for (size_t u = within.a; u < within.b; u++) {
        const bool own = attends_to(p, u, n);
        if (p->owner[u] != MARKUP_NONE || (solid && !own))
            active = false;
        else if (own) {
            if (!active)
                run = (markup_run){.a = u, .b = u};
            active = true;
            run.b = u + 1;
            run.score += unit_weight(p, u);
            if (run.score > best.score || (run.score == best.score && run.b - run.a > best.b - best.a))
                best = run;
        } else if (active) {
            run.score -= unit_weight(p, u);
            active = run.score >= 0;
        }
    }
    return best;
}

/* ---- elements that are not translated -------------------------------------------------------------------------------------- */

/* Free units of the parent whose text is the element's text. */
static bool find_copy(const markup_places *p, const markup_node *n, const markup_node *in, markup_run *r)
{
    const markup_item *item = &p->items[n->open];
    const char *text = p->source->text.data + item->at;
    const size_t size = item->until - item->at;
    for (size_t a = in->a; a < in->b; a++) {
        const size_t begin = p->target->list[a].begin;
        if (p->target->text.size - begin < size || memcmp(p->target->text.data + begin, text, size) != 0)
            continue;
        size_t b = a;
        while (b < in->b && p->owner[b] == MARKUP_NONE && p->target->list[b].end <= begin + size)
            b++;
        if (b > a && p->target->list[b - 1].end == begin + size) {
            *r = (markup_run){.a = a, .b = b, .score = 1};
            return true;
        }
    }
    return false;
}

/* A copy is looked for among the units about those that attend to the element. */
static void place_verbatim(markup_places *p, size_t node, const markup_node *in)
{
    enum { AROUND = 256 };
    const markup_node *n = node_at(p, node);
    markup_run r = attending(p, n, in), found;
    markup_node near = *in;
    if (r.a < r.b || in->b - in->a > 2 * AROUND) {
        near.a = r.a > in->a + AROUND ? r.a - AROUND : in->a;
        near.b = in->b > r.b + AROUND ? r.b + AROUND : in->b;
    }
    if (!find_copy(p, n, &near, &found))
        found = best_run(p, n, in, true);
    if (found.score > 0)
        place_at(p, node, found.a, found.b);
}

/* ---- elements -------------------------------------------------------------------------------------------------------------- */

/* An element that began before the line begins where the line does, one that ends behind it ends where it does. */
static void place_anchored(markup_places *p, size_t node, const markup_node *in)
{
    const markup_node *n = node_at(p, node);
    const bool left = n->anchor == ANCHOR_LEFT;
    const markup_run within = attending(p, n, in);
    long score = 0, best = 0;
    size_t length = 0;
    for (size_t i = 0; within.a < within.b && i < in->b - in->a; i++) {
        const size_t u = left ? in->a + i : in->b - 1 - i;
        if (p->owner[u] != MARKUP_NONE || (left ? u >= within.b : u < within.a))
            break;
        const bool own = attends_to(p, u, n);
        score += own ? unit_weight(p, u) : -unit_weight(p, u);
        if (own && (length == 0 || score >= best)) {
            best = score;
            length = i + 1;
        }
    }
    place_at(p, node, left ? in->a : in->b - length, left ? in->a + length : in->b);
}

/* The free word of the parent that attends to an element most, in the segment of the element's first word. */
static markup_run nearest_word(const markup_places *p, const markup_node *n, const markup_node *in)
{
    const struct markup_masses *m = p->links->masses;
    double best = 0;
    markup_run r = {0};
    size_t from = in->a, end = in->b;
    while (from < end) { /* windows are in the order of the segments */
        const size_t middle = from + (end - from) / 2;
        if (m[middle].window <= n->s0)
            from = middle + 1;
        else
            end = middle;
    }
    for (size_t u = end; u > in->a && m[u - 1].window == m[end - 1].window; u--) {
        const double own = p->owner[u - 1] == MARKUP_NONE && p->target->list[u - 1].is_word
                               ? markup_links_mass(p->links, u - 1, n->s0, n->s1) : 0;
        if (own > 0 && own >= best) {
            best = own;
            r = (markup_run){u - 1, u, 1, 0};
        }
    }
    return r;
}

static int by_score(const void *x, const void *y)
{
    const markup_run *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static bool is_free(const markup_places *p, const markup_run *r)
{
    for (size_t u = r->a; u < r->b; u++)
        if (p->owner[u] != MARKUP_NONE)
            return false;
    return true;
}

static void place_elements(markup_places *p, const markup_node *in)
{
    size_t count = 0;
    for (size_t c = in->first; c != MARKUP_NONE; c = node_at(p, c)->next) {
        const markup_node *n = node_at(p, c);
        if (!n->element || n->placed || n->s0 == n->s1)
            continue;
        markup_run run = best_run(p, n, in, false);
        if (n->s0 == in->s0 && n->s1 == in->s1)
            run = (markup_run){in->a, in->b, 1, 0};
        run.node = c;
        p->runs[count++] = run;
    }
    qsort(p->runs, count, sizeof *p->runs, by_score);
    for (size_t i = 0; i < count; i++) {
        const size_t node = p->runs[i].node;
        markup_run run = p->runs[i];
        if (run.score > 0 && !is_free(p, &run))
            run = best_run(p, node_at(p, node), in, false);
        if (run.score == 0)
            run = nearest_word(p, node_at(p, node), in);
        if (run.score > 0)
            place_at(p, node, run.a, run.b);
    }
}

/* ---- what has no words ---------------------------------------------------------------------------------------------------- */

/* The place behind the translation of unit `unit` of the line, or before it; false: it has none within the parent. */
static bool beside_unit(const markup_places *p, const markup_node *in, size_t unit, bool behind, size_t *at)
{
    const size_t target = behind ? p->links->last[unit] : p->links->first[unit];
    if (target == MARKUP_NONE || target < in->a || target >= in->b)
        return false;
    *at = target + behind;
    return true;
}

/* Beside the word that the item touches; else beside the one behind it; else beside the nearest that has a translation. */
static size_t place_of_item(const markup_places *p, const markup_node *in, const markup_node *n)
{
    const markup_item *item = &p->items[n->open != MARKUP_NONE ? n->open : n->close];
    size_t at = in->a;
    if (n->s0 == in->s0 || in->a == in->b)
        return in->a;
    if (n->s1 == in->s1)
        return in->b;
    const bool behind = !item->after_space;
    for (size_t i = 0; i < NEIGHBORS; i++)
        for (int side = 0; side < 2; side++) {
            const bool before = behind == (side == 0); /* the unit before the item */
            const size_t distance = before ? n->s0 - in->s0 : in->s1 - n->s1;
            if (i < distance && beside_unit(p, in, before ? n->s0 - 1 - i : n->s1 + i, before, &at))
                return at;
        }
    return in->a + (size_t)((double)(in->b - in->a) * (double)(n->s0 - in->s0) / (double)(in->s1 - in->s0));
}

/* Not within an element beside it. */
static void place_alone(markup_places *p, size_t node, const markup_node *in)
{
    size_t at = place_of_item(p, in, node_at(p, node));
    if (at > in->a && at < in->b && p->owner[at] != MARKUP_NONE && p->owner[at - 1] == p->owner[at])
        at = p->owner[at] > node ? node_at(p, p->owner[at])->a : node_at(p, p->owner[at])->b;
    place_at(p, node, at, at);
}

/* ---- all ------------------------------------------------------------------------------------------------------------------ */

/* Places what is in a node, which is placed itself. */
static void place_children(markup_places *p, size_t node)
{
    const markup_node parent = *node_at(p, node);
    for (size_t u = parent.a; u < parent.b; u++)
        p->owner[u] = MARKUP_NONE;
    for (size_t c = parent.first; c != MARKUP_NONE && parent.a < parent.b; c = node_at(p, c)->next)
        if (node_at(p, c)->verbatim)
            place_verbatim(p, c, &parent);
    for (int anchor = ANCHOR_LEFT; anchor <= ANCHOR_RIGHT; anchor++)
        for (size_t c = parent.first; c != MARKUP_NONE; c = node_at(p, c)->next)
            if ((int)node_at(p, c)->anchor == anchor)
                place_anchored(p, c, &parent);
    if (parent.a < parent.b)
        place_elements(p, &parent);
    for (size_t c = parent.first; c != MARKUP_NONE; c = node_at(p, c)->next)
        if (!node_at(p, c)->placed)
            place_alone(p, c, &parent);
    for (size_t c = parent.first; c != MARKUP_NONE; c = node_at(p, c)->next)
        if (node_at(p, c)->first != MARKUP_NONE)
            place_children(p, c);
}

static int by_place(const void *x, const void *y)
{
    const markup_run *a = x, *b = y;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if ((a->a == a->b) != (b->a == b->b))
        return a->a == a->b ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

void markup_place_sort(markup_places *p)
{
    for (size_t node = 0; node < p->tree->count; node++) {
        markup_node *n = node_at(p, node);
        size_t count = 0;
        for (size_t c = n->first; c != MARKUP_NONE; c = node_at(p, c)->next)
            p->runs[count++] = (markup_run){node_at(p, c)->a, node_at(p, c)->b, 0, c};
        qsort(p->runs, count, sizeof *p->runs, by_place);
        size_t *link = &n->first;
        for (size_t i = 0; i < count; i++) {
            *link = p->runs[i].node;
            link = &node_at(p, *link)->next;
        }
        *link = MARKUP_NONE;
    }
}

void markup_place(markup_places *p)
{
    place_at(p, 0, 0, p->target->count);
    place_children(p, 0);
}
