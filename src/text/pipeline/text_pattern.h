/* text/pipeline/text_pattern.h: the pattern of Split and Replace: a text, or a regular expression. For the steps of a
 * pipeline. */
#ifndef TEXT_PIPELINE_TEXT_PATTERN_H
#define TEXT_PIPELINE_TEXT_PATTERN_H

#include "text/hf/hf_read.h"

typedef struct text_pattern {
    char *text; /* owned; NULL: a regular expression */
    size_t length;
    split *regex; /* owned; NULL: a text */
} text_pattern;

void text_pattern_free(text_pattern *p);
/* Reads {"String": ...} or {"Regex": ...}. A pattern that tokenizers would read otherwise is refused, and so is, unless
 * `may_be_empty`, one that matches no text at all. */
rapt_code text_pattern_read(const hf_reading *r, const char *what, const json_t *pattern, bool may_be_empty, text_pattern *out);

/* Bytes that `size` bytes of text may become: files can ask for more than any memory holds. */
static inline size_t text_growth_limit(size_t size)
{
    enum { TIMES = 256, FREE = 1 << 20 };
    return size < (SIZE_MAX - FREE) / TIMES ? FREE + TIMES * size : SIZE_MAX;
}

/* RAPT_ERR_VALUE. */
rapt_code text_growth_fail(size_t limit, rapt_error *err);

/* Scratch memory of a regular expression, for one thread. */
typedef struct text_matcher {
    const text_pattern *pattern;
    split_walk *walk; /* NULL: a text */
} text_matcher;

rapt_code text_matcher_begin(text_matcher *m, const text_pattern *p, rapt_error *err);
void text_matcher_end(text_matcher *m);
/* The match that begins at `from` < size, or the text before the next match: *end gets its end, and *match which of the two it
 * is. */
rapt_code text_matcher_next(text_matcher *m, const char *text, size_t size, size_t from, size_t *end, bool *match,
                            rapt_error *err);

#endif
