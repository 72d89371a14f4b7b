/* text/detokenise.h: words with spaces between as people write them. The way back from the words tokenizer, and from text
 * that was tokenized before training, as Moses does it. Capitals do not come back. */
#ifndef TEXT_DETOKENISE_H
#define TEXT_DETOKENISE_H

#include <stdbool.h>

/* Whether there are rules for a language: de en es fr it nl pt. */
bool detokenise_knows(const char *language);

/* `text` without the spaces before , . ; : ! ? ) ] } and after ( [ { and inverted marks, within "quotes", and beside @-@,
 * which becomes a hyphen; entities such as &apos; become characters. French keeps the space before ; : ! ? and within
 * guillemets. An apostrophe joins what follows it in French and Italian (l' homme), and what comes before in English (the
 * dog 's). The caller frees the result; NULL: no memory. */
char *detokenise(const char *text, const char *language);

#endif
