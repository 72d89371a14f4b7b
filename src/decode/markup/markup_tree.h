/* decode/markup/markup_tree.h: the tags of a line as a tree of elements. For markup_place.c, which finds their places in the
 * translation, and markup_write.c. */
#ifndef DECODE_MARKUP_MARKUP_TREE_H
#define DECODE_MARKUP_MARKUP_TREE_H

#include "decode/markup/markup_units.h"

typedef enum markup_anchor { ANCHOR_NONE, ANCHOR_LEFT, ANCHOR_RIGHT } markup_anchor;

/* An element, or an item that stands alone. Node 0 is the whole line, without items. Indices are MARKUP_NONE if there is none. */
typedef struct markup_node {
    size_t open, close;         /* items; of what stands alone, `open` */
    size_t first, last, next;   /* nodes: children, and the next one of its parent */
    size_t s0, s1;              /* the units of the line that it has: s0 .. s1 - 1 */
    size_t a, b;                /* the units of the translation that it gets: a .. b - 1 */
    markup_anchor anchor;       /* LEFT: it began before the line, RIGHT: it ends behind it */
    bool element, verbatim;
    bool placed;                /* a and b are known */
} markup_node;

typedef struct markup_tree {
    markup_node *list; /* [count], each behind the start tag before it */
    size_t count;
} markup_tree;

/* Makes the tree of items[count], which are in order. No deeper than 2 * RAPT_MARKUP_DEPTH + 2. False: out of
 * memory; the caller frees `list` in any case. */
bool markup_tree_make(markup_tree *t, const markup_item *items, size_t first, size_t count, const markup_units *source);

/* A run of units for a node. */
typedef struct markup_run {
    size_t a, b;
    long score;  /* 0: there is none */
    size_t node;
} markup_run;

/* What nodes are placed with. */
typedef struct markup_places {
    markup_tree *tree;
    const markup_item *items;   /* of the segment */
    const markup_units *source, *target;
    const markup_links *links;
    size_t *owner;              /* [target count] the child that has a unit, of the parent whose children are placed */
    markup_run *runs;           /* [tree count] scratch memory */
} markup_places;

/* Sets `a` and `b` of all nodes: children lie within their parents and do not overlap; an element of words has at least one if
 * there is one left. In markup_place.c. */
void markup_place(markup_places *p);
/* Puts the children of all nodes into the order of the translation: those at one place without words come before those with. */
void markup_place_sort(markup_places *p);

#endif
