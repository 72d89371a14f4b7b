/* data/check/check_unspaced.h: whether words, which spaces set apart, are whole phrases, as in Chinese, Japanese and Thai: a
 * vocabulary of them learns nothing that a new sentence has. For training, `rapt data check` and `rapt tokenizer train`. */
#ifndef DATA_CHECK_CHECK_UNSPACED_H
#define DATA_CHECK_CHECK_UNSPACED_H

#include "data/check/check.h"

/* The beginning of a warning about it; what the text needs follows. */
#define CHECK_UNSPACED_WARNING "a word has %.1f characters on average: there are no spaces between words, which needs "

/* Characters per word, on average, of a text in a script without spaces whose words are not set apart otherwise; else 0. */
double check_unspaced_lines(const char *const *lines, size_t count);
double check_unspaced_side(const check_side *side);

#endif
