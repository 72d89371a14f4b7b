/* text/split/kinds.h: kinds of characters that a pattern tells apart, numbered in one byte. All that a pattern can see of a text
 * are the kinds of its characters, so that it is matched in an array of them: one byte for each character, and no Unicode in the
 * library that matches. For split.c. */
#ifndef TEXT_SPLIT_KINDS_H
#define TEXT_SPLIT_KINDS_H

#include "text/split/code_set.h"

enum { KIND_NONE = 0, KINDS_MAX = 255 }; /* KIND_NONE is for a byte that is not a character: no set has it */

typedef struct kinds kinds;

/* The kinds for the sets of a pattern. NULL: out of memory, or more than KINDS_MAX kinds (RAPT_ERR_FORMAT). */
kinds *kinds_new(const code_set *sets, size_t count, rapt_error *err);
void kinds_free(kinds *k);

/* Sets has[kind] for each kind in a set. */
void kinds_of_set(const kinds *k, const code_set *set, bool has[KINDS_MAX + 1]);

/* The kinds of the characters of text[at .. size), at most `room`; *end gets where the last of them ends. */
size_t kinds_of_text(const kinds *k, const char *text, size_t size, size_t at, uint8_t *out, size_t room, size_t *end);

#endif
