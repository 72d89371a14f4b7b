/* text/prose/detokenize.h: detokenization: tokens with spaces between become raw text. For the output of the words
 * tokenizer, and of models trained on text that was tokenized beforehand, as Moses does it. */
#ifndef TEXT_PROSE_DETOKENIZE_H
#define TEXT_PROSE_DETOKENIZE_H

#include "rapt/text.h"

extern const char *const detokenize_codes[]; /* codes in the order of rapt_language; NULL ends them */

/* The language of a code; RAPT_LANGUAGE_NONE for "none"; false: there are no rules for it. */
bool detokenize_language(const char *code, rapt_language *language);

/* `text` without the spaces before , . ; : ! ? % ) ] } and after ( [ { and inverted marks, within "quotes", and beside @-@, which
 * becomes a hyphen; entities such as &apos; become characters. French keeps the space before ; : ! ? % and within guillemets. An
 * apostrophe joins the next word in French and Italian (l' homme), and the word before it in English (the dog 's); an apostrophe
 * alone stays alone. With `capitals`, sentences begin with a capital (capitalize.h). The caller frees the result; NULL: out of
 * memory. */
char *detokenize(const char *text, rapt_language language, bool capitals);

#endif
