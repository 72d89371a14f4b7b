/* decode/terms.h: the terms of a glossary in the segments of a line, as phrases that their translations must contain. For
 * translate_text.c. */
#ifndef DECODE_TERMS_H
#define DECODE_TERMS_H

#include "decode/source_segments.h"
#include "rapt/glossary.h"
#include "rapt/io.h"
#include "search/phrases.h"

/* The terms of a segment; zeroed: none. */
typedef struct segment_terms {
    search_phrase *phrases; /* [count] */
    size_t count;
    bool lacks;             /* a term cannot be forced, or could not */
} segment_terms;

/* Finds the terms in `line`, whose segments are segments[count], and encodes their targets, into terms[count]. A term that lies
 * in no segment as a whole, that the model has no tokens for, or that is one too many makes a segment lack it.
 * RAPT_ERR_MEMORY. */
rapt_code terms_find(const rapt_model *m, const rapt_glossary *g, rapt_text line, const source_segment *segments, size_t count,
                     segment_terms *terms, rapt_error *err);
void terms_free(segment_terms *t);

#endif
