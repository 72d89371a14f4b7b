/* decode/markup/markup_units.h: the words and punctuation marks of a line and of its translation, and which belong together. For
 * markup_place.c. */
#ifndef DECODE_MARKUP_MARKUP_UNITS_H
#define DECODE_MARKUP_MARKUP_UNITS_H

#include "decode/markup/markup_core.h"

/* A word, or a run of another character that is no space; in scripts without spaces, a character. */
typedef struct markup_unit {
    size_t begin, end; /* bytes of the text */
    bool is_word;
} markup_unit;

typedef struct markup_units {
    rapt_text text;
    markup_unit *list; /* [count] */
    size_t count;
} markup_units;

/* Units of a text; none reaches across the place of one of items[item_count], which are in order. False: out of memory. The
 * caller frees `list` in any case. */
bool markup_units_take(markup_units *u, rapt_text text, const markup_item *items, size_t item_count);
/* The first unit that begins at `at` or later. */
size_t markup_units_from(const markup_units *u, size_t at);

/* Which unit of its line each unit of a translation belongs to. */
typedef struct markup_links {
    size_t *of;             /* [target count] the unit of the line that a unit attends to most, or MARKUP_NONE */
    size_t *first, *last;   /* [source count] the first and the last unit of the translation that attend to a unit, or
                               MARKUP_NONE */
    size_t *rank;           /* [source count + 1] the units before a unit that count: each token has few */
    struct markup_masses {
        size_t at, count;   /* in `mass` */
        size_t window;      /* the unit of the line of the first one */
    } *masses;              /* [target count]; units of the same tokens have the same ones */
    double *mass;           /* attention to the units of the window that count before each of them, and to all */
} markup_links;

/* Links words with words, and other characters with others, with equal ones if there are some; so numbers, too. `t` has the
 * source's tokens, `h` the hypothesis. False: out of memory; the caller frees *l in any case. */
bool markup_links_find(markup_links *l, const markup_units *source, const markup_units *target, const rapt_translation *t,
                       const rapt_hypothesis *h);
void markup_links_free(markup_links *l);
/* The attention of target unit `unit` to the source units from .. end - 1. */
double markup_links_mass(const markup_links *l, size_t unit, size_t from, size_t end);

#endif
