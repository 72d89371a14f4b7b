/* data/check/check_unspaced.h: whether the words between spaces are whole phrases, as in Chinese, Japanese and Thai: a vocabulary
 * of such words has hardly any word of a new sentence. For training, `rapt data check` and `rapt tokenizer train`. */
#ifndef DATA_CHECK_CHECK_UNSPACED_H
#define DATA_CHECK_CHECK_UNSPACED_H

#include "data/check/check.h"

/* The beginning of a warning about it; advice follows. */
#define CHECK_UNSPACED_WARNING "a word has %.1f characters on average: there are no spaces between words, which needs "

/* Mean characters per word if the text's script has no spaces and its words are not separated in another way; else 0. */
double check_unspaced_lines(const char *const *lines, size_t count);
double check_unspaced_side(const check_side *side);

#endif
