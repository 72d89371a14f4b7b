/* decode/markup/markup_core.h: the inside of rapt_markup: its tokens while it is read, then its segments with their tags. */
#ifndef DECODE_MARKUP_MARKUP_CORE_H
#define DECODE_MARKUP_MARKUP_CORE_H

#include "rapt/markup.h"

#include "base/buffer.h"
#include "decode/markup/markup_scan.h"

typedef enum markup_item_kind {
    ITEM_ATOM,    /* stands alone */
    ITEM_START,
    ITEM_END,
    ITEM_VERBATIM /* an element that is not translated, whose text the line has */
} markup_item_kind;

/* What stands within the text of a segment. */
typedef struct markup_item {
    size_t begin, end;      /* its bytes in the document, with white space that the line leaves out behind it */
    size_t at, until;       /* its place in the line; until: where the text of a verbatim element ends, else `at` */
    size_t partner;         /* of a start or end: the other's item, or MARKUP_NONE: it is not in this segment */
    markup_item_kind kind;
    bool after_space, before_space; /* whether the space beside it in the line is before, or behind it */
} markup_item;

/* A line with its items. */
typedef struct markup_segment {
    size_t begin, end;          /* the bytes of the document that its translation replaces */
    size_t line, line_size;     /* its bytes in `plain`, behind which is a NUL */
    size_t first, count;        /* items */
    size_t head;                /* white space before it: `begin` .. head - 1 */
    size_t tail_begin, tail_end; /* white space at its end */
} markup_segment;

struct rapt_markup {
    char *text;                 /* [size] the document */
    size_t size;
    bool xml;
    markup_segment *segments;   /* [count] */
    size_t count, capacity;
    rapt_text *lines;           /* [count], in `plain` */
    buffer plain;
    markup_item *items;         /* [item_count] */
    size_t item_count, item_capacity;
};

/* ---- markup_match.c -------------------------------------------------------------------------------------------------------- */

typedef struct markup_tokens {
    markup_token *list; /* [count] */
    size_t count, capacity;
} markup_tokens;

/* Finds the tokens of a document, and which start and end tags belong together: an end tag ends the last open element of its name
 * and all that were opened in it; of HTML some start tags end elements, too. The caller frees `list`, also after a failure. */
rapt_code markup_match(const rapt_markup *m, const rapt_markup_options *o, markup_tokens *tokens, rapt_error *err);

/* ---- markup_segments.c ----------------------------------------------------------------------------------------------------- */

/* Makes the segments of a document from its tokens. */
rapt_code markup_cut(rapt_markup *m, markup_tokens *tokens, rapt_error *err);

#endif
