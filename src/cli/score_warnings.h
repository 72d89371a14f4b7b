/* cli/score_warnings.h: warns of texts for which a metric is not defined. For `rapt score`. */
#ifndef CLI_SCORE_WARNINGS_H
#define CLI_SCORE_WARNINGS_H

#include "rapt/metrics.h"
#include "text/lines.h"

/* Warns on stderr if a text begins with a byte order mark, or looks like a subword tokenizer's pieces, or, if `cuts_words`, like
 * a text whose words have already been separated. `name` is for the message. */
void score_warnings(const char *name, const struct lines *text, bool cuts_words);

/* Warns if references are in a script without spaces between words, and BLEU would be tokenized as `kind`, which leaves such
 * sentences whole. */
void score_warn_of_script(const char *name, const struct lines *references, rapt_tokenize kind);

#endif
