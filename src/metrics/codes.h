/* metrics/codes.h: a segment of text as code points, and its words.
 * For the metrics: one form that characters and words can both be counted in.
 * Not a string type: made for one segment after the other in buffers that are kept. */
#ifndef METRICS_CODES_H
#define METRICS_CODES_H

#include "rapt/base.h"

/* Code points of one segment. Starts as {0}; freed by `codes_free`. */
struct codes {
    uint32_t *at; /* [count] */
    size_t count;
    size_t capacity;
};

/* Half-open range of indices into codes. */
struct word {
    size_t start, end;
};

/* Capacity for `count` code points; earlier contents are lost. False on out-of-memory. */
bool codes_reserve(struct codes *codes, size_t count);

/* Decodes UTF-8, in lower case if asked. RAPT_ERR_FORMAT, RAPT_ERR_VALUE above RAPT_METRIC_MAX_LENGTH,
 * RAPT_ERR_MEMORY. */
rapt_code codes_load(struct codes *codes, const rapt_text *text, bool lowercase, rapt_error *err);

/* Drops white space at the end. */
void codes_strip_end(struct codes *codes);

/* Drops white space at the start. */
void codes_strip_start(struct codes *codes);

/* Drops all white space. */
void codes_drop_space(struct codes *codes);

/* The next word, a span without white space, from index `from` on; false if there is none. */
bool codes_next_word(const struct codes *codes, size_t from, struct word *word);

void codes_free(struct codes *codes);

#endif
