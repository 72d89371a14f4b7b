/* decode/markup/markup_tree.c: the elements of a line, nested as they are in the document. A tag whose other one is in another
 * line reaches to the end of this one. */
#include "decode/markup/markup_tree.h"

typedef struct tree_making {
    markup_tree *t;
    const markup_item *items;
    size_t first;   /* number of items[0] in the document, by which partners are named */
    const markup_units *source;
    size_t *stack;  /* [depth + 1] open nodes; the first is node 0 */
    size_t depth;
} tree_making;

static void put_child(markup_tree *t, size_t parent, size_t node)
{
    markup_node *p = &t->list[parent];
    if (p->first == MARKUP_NONE)
        p->first = node;
    else
        t->list[p->last].next = node;
    p->last = node;
}

static size_t new_node(tree_making *m, size_t item)
{
    const size_t unit = item == MARKUP_NONE ? 0 : markup_units_from(m->source, m->items[item].at);
    m->t->list[m->t->count] = (markup_node){.open = item, .close = MARKUP_NONE, .first = MARKUP_NONE, .last = MARKUP_NONE,
                                            .next = MARKUP_NONE, .s0 = unit, .s1 = unit};
    return m->t->count++;
}

static void add_alone(tree_making *m, size_t item)
{
    const size_t node = new_node(m, item);
    m->t->list[node].verbatim = m->items[item].kind == ITEM_VERBATIM;
    m->t->list[node].s1 = markup_units_from(m->source, m->items[item].until);
    put_child(m->t, m->stack[m->depth], node);
}

static void add_start(tree_making *m, size_t item)
{
    const size_t node = new_node(m, item);
    m->t->list[node].element = true;
    m->t->list[node].anchor = m->items[item].partner == MARKUP_NONE ? ANCHOR_RIGHT : ANCHOR_NONE;
    m->t->list[node].s1 = m->source->count;
    put_child(m->t, m->stack[m->depth], node);
    m->stack[++m->depth] = node;
}

/* An end tag whose start tag is before the line: its element has all that the line has so far. */
static void add_loose_end(tree_making *m, size_t item)
{
    const size_t node = new_node(m, item);
    markup_node *n = &m->t->list[node], *root = &m->t->list[0];
    *n = (markup_node){.open = MARKUP_NONE, .close = item, .first = root->first, .last = root->last, .next = MARKUP_NONE,
                       .s1 = n->s1, .anchor = ANCHOR_LEFT, .element = true};
    root->first = root->last = node;
}

static void add_end(tree_making *m, size_t item)
{
    const size_t partner = m->items[item].partner;
    if (partner == MARKUP_NONE && m->depth == 0)
        add_loose_end(m, item);
    else if (partner != MARKUP_NONE && m->t->list[m->stack[m->depth]].open == partner - m->first) {
        markup_node *n = &m->t->list[m->stack[m->depth--]];
        n->close = item;
        n->s1 = markup_units_from(m->source, m->items[item].at);
    } else
        add_alone(m, item);
}

bool markup_tree_make(markup_tree *t, const markup_item *items, size_t first, size_t count, const markup_units *source)
{
    *t = (markup_tree){.list = malloc((count + 1) * sizeof *t->list)};
    tree_making m = {.t = t, .items = items, .first = first, .source = source, .stack = malloc((count + 1) * sizeof *m.stack)};
    const bool ok = t->list && m.stack;
    if (ok) {
        m.stack[0] = new_node(&m, MARKUP_NONE);
        t->list[0].s1 = source->count;
        t->list[0].element = true;
    }
    for (size_t i = 0; i < count && ok; i++)
        switch (items[i].kind) {
        case ITEM_START: add_start(&m, i); break;
        case ITEM_END: add_end(&m, i); break;
        case ITEM_ATOM: case ITEM_VERBATIM: add_alone(&m, i); break;
        }
    free(m.stack);
    return ok;
}
