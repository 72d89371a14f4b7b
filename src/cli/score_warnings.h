/* cli/score_warnings.h: texts that are not what a metric is defined for. For `rapt score`. */
#ifndef CLI_SCORE_WARNINGS_H
#define CLI_SCORE_WARNINGS_H

#include "rapt/metrics.h"
#include "text/lines.h"

/* Warns on stderr where a text begins with a byte order mark, or looks like a subword tokenizer's pieces, or, if `cuts_words`,
 * like words that have been cut before. `name` is for the message. */
void score_warnings(const char *name, const struct lines *text, bool cuts_words);

/* Warns where references are in a script without spaces between words, and BLEU would be tokenized as `kind`, which leaves such
 * sentences whole. */
void score_warn_of_script(const char *name, const struct lines *references, rapt_tokenize kind);

#endif
