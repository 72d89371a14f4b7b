/* text/prose/sentences.h: where a line that a model does not take as a whole may be cut: at the ends of sentences,
 * clauses, words.
 * By punctuation, letter case and a list of abbreviations, for any language; not a parser, and it errs on the side of not
 * cutting. */
#ifndef TEXT_PROSE_SENTENCES_H
#define TEXT_PROSE_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum sentences_cut {
    CUT_SENTENCE, /* behind . ! ? and those of other scripts */
    CUT_SMALL,    /* CUT_SENTENCE of a text in lower case: sentences begin with lower case too, but not behind quotation marks */
    CUT_CLAUSE,   /* also behind , ; : and dashes */
    CUT_SPACE     /* before any space that is not a no-break space */
} sentences_cut;

/* The first place behind `from` where text[0 .. size) may be cut: behind the punctuation and closing quotes; spaces follow it,
 * or, where punctuation is as wide as a character (。), perhaps the next sentence. `size` where there is no such place.
 *
 * . ! ? end a sentence where spaces follow and then, perhaps behind opening quotes, a letter that is not lower case.
 * A full stop doesn't after a single letter (J. Smith), letters with dots (z.B. Wien), one of the abbreviations
 * that names and nouns follow (Dr. Who), I, V, X and numbers of one or two digits (3. Mai). A full stop between spaces, as
 * in tokenized text, does before lower case too. */
size_t sentences_end(const char *text, size_t size, size_t from, sentences_cut kind);

/* The first byte from `from` on that is no space. */
size_t sentences_skip_spaces(const char *text, size_t size, size_t from);

/* Whether more text follows the first sentence. */
bool sentences_are_several(const char *text, size_t size);

/* Whether a space goes behind `text` where another sentence follows: not behind Chinese and Japanese. */
bool sentences_want_space(const char *text, size_t size);

#endif
