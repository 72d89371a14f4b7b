/* text/words/words_prepare.h: the book's preparation of a sentence for the words tokenizer. */
#ifndef TEXT_WORDS_WORDS_PREPARE_H
#define TEXT_WORDS_WORDS_PREPARE_H

#include "rapt/base.h"

#define WORDS_SPACES " \t\r\n\v\f" /* what lies between the words of a prepared sentence */

/* No-break spaces (U+00A0, U+202F) become spaces, letters become lower case if `lowercase`, and a space is put before each of , .
 * ! ? that follows another character. `text` is valid UTF-8; the caller frees the result; NULL: out of memory. */
char *words_prepare_sentence(const char *text, bool lowercase);

/* For a text that is not prepared: the number of bytes at its beginning that become spaces; and the bytes of the word with which
 * it begins. */
size_t words_prepare_blank(const char *text, size_t size);
size_t words_prepare_word(const char *text, size_t size);

#endif
