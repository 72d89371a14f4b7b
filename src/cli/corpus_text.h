/* cli/corpus_text.h: what `rapt train` and `rapt info` say about a corpus that was filtered. */
#ifndef CLI_CORPUS_TEXT_H
#define CLI_CORPUS_TEXT_H

#include "rapt/train.h"

enum { CORPUS_FILTER_TEXT = 512 };
/* "12 of 250 lines left out: duplicate 5, length_ratio 7", or "none of 250 lines left out". */
const char *corpus_filter_text(const rapt_corpus *c, char text[CORPUS_FILTER_TEXT]);

#endif
