/* cli/score_warnings.h: texts that are not what a metric is defined for. For `rapt score`. */
#ifndef CLI_SCORE_WARNINGS_H
#define CLI_SCORE_WARNINGS_H

#include "text/lines.h"

/* Warns on stderr where a text looks like a subword tokenizer's pieces, or, if `cuts_words`, like words that have been cut
 * before. `name` is for the message. */
void score_warnings(const char *name, const struct lines *text, bool cuts_words);

#endif
