/* text/prose/word_boundary.h: where words begin and end, without a dictionary. For glossaries and for the words of markup. */
#ifndef TEXT_PROSE_WORD_BOUNDARY_H
#define TEXT_PROSE_WORD_BOUNDARY_H

#include "rapt/base.h"

#include <stdint.h>

/* Whether a character is a part of words: a letter, number or mark of Unicode, or _. */
bool word_boundary_word(uint32_t code);
/* Whether `at`, which is between two characters of a text of any bytes, is a word boundary: not between two parts of words,
 * except in scripts without spaces (Han, Hiragana, Katakana, Bopomofo, Thai, Lao, Khmer, Myanmar), which have one beside each
 * character with its marks. The ends of a text are. */
bool word_boundary_is(rapt_text text, size_t at);

#endif
