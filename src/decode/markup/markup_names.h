/* decode/markup/markup_names.h: what the elements of HTML are to a translation, by their names. For markup_scan.c and
 * markup_match.c. Not for XML, whose names mean nothing here. */
#ifndef DECODE_MARKUP_MARKUP_NAMES_H
#define DECODE_MARKUP_MARKUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Properties of an element, as bits. */
enum {
    NAME_VOID = 1,      /* has no end tag */
    NAME_SPLITS = 2,    /* text before and behind it is not of one sentence */
    NAME_VERBATIM = 4,  /* is not translated */
    NAME_HIDDEN = 8,    /* its content is no part of the sentence around it either */
    NAME_RAW = 16,      /* its content is text up to its end tag, without references */
    NAME_RCDATA = 32,   /* the same, with references */
    NAME_REST = 64,     /* its content is the rest of the document, as text */
    NAME_ENDS_P = 128   /* its start tag ends an open p */
};

/* The properties of an element; 0: none, as of all that the list does not have: they are in the text, like b and a. */
unsigned markup_name_bits(const char *name, size_t size);
/* Whether the start tag of `next` ends an open element `open`, whose end tag was left out: li ends li. The names end in NUL, in
 * lower case. */
bool markup_name_ends(const char *open, const char *next, unsigned next_bits);

#endif
