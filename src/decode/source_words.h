/* decode/source_words.h: the tokens of a segment of a line, and where each is in the line's text. For replace_unknown.c and
 * token_spans.c. */
#ifndef DECODE_SOURCE_WORDS_H
#define DECODE_SOURCE_WORDS_H

#include "decode/translate_text.h"

typedef struct source_words {
    const rapt_model *m;
    const source_segment *segment;
    rapt_text text;    /* of the segment; NULL data: it was given as tokens */
    int32_t *ids;
    rapt_span *spans;  /* [count] bytes of `text` */
    size_t count;
} source_words;

/* The caller frees *w, also after a failure. */
rapt_code source_words_read(source_words *w, const translate_item *item, rapt_error *err);
void source_words_free(source_words *w);
/* Where token `i` of the segment is in its text; false: nowhere. */
bool source_words_span(const source_words *w, size_t i, rapt_span *span);
/* The text of token `i`, without spaces around it; empty: it has none. */
rapt_text source_words_at(const source_words *w, size_t i);

#endif
