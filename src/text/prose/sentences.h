/* text/prose/sentences.h: where a line that is too long for a model may be cut: at the ends of sentences, clauses, words. By
 * punctuation, letter case and a list of abbreviations, for any language; not a parser. In doubt it does not cut. */
#ifndef TEXT_PROSE_SENTENCES_H
#define TEXT_PROSE_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum sentences_cut {
    CUT_SENTENCE, /* after . ! ? and their equivalents in other scripts */
    CUT_SMALL,    /* CUT_SENTENCE for a text in lower case: sentences may begin with lower case, but not after quotation marks */
    CUT_CLAUSE,   /* also after , ; : and dashes */
    CUT_SPACE     /* before any space that is not a no-break space */
} sentences_cut;

/* The first place after `from` where text[0 .. size) may be cut: after the punctuation and closing quotes. Spaces follow it, or,
 * after punctuation as wide as a character (。), possibly the next sentence. `size` if there is no such place.
 *
 * . ! ? end a sentence if spaces follow and then, possibly after opening quotes, a letter that is not lower case. A full stop
 * does not end it after a single letter (J. Smith), letters with dots (z.B. Wien), an abbreviation before names and nouns (Dr.
 * Who), I, V, X and numbers of one or two digits (3. Mai). A full stop between spaces, as in tokenized text, also ends it before
 * lower case. */
size_t sentences_end(const char *text, size_t size, size_t from, sentences_cut kind);

/* The first byte from `from` on that is not a space. */
size_t sentences_skip_spaces(const char *text, size_t size, size_t from);

/* Whether more text follows the first sentence. */
bool sentences_are_several(const char *text, size_t size);

/* Whether a space separates `text` from a sentence that follows: not after Chinese and Japanese. */
bool sentences_want_space(const char *text, size_t size);

#endif
