/* decode/align.h: soft word alignments of a translation, from the decoder's cross-attention. For translate.c and
 * source_segments.c. */
#ifndef DECODE_ALIGN_H
#define DECODE_ALIGN_H

#include "rapt/decode.h"

/* Runs a pass over the whole translation of source[count], `length` tokens with or without <eos>. Fills *out, which align_free
 * frees; on failure there is nothing to free. */
rapt_code align_tokens(rapt_tape *t, const rapt_model *m, const int32_t *source, size_t count, const int32_t *target,
                       size_t length, rapt_alignment *out, rapt_error *err);

/* Joins the alignments of `count` consecutive segments: tokens of one segment are never aligned with tokens of another. False:
 * out of memory. */
bool align_join(const rapt_alignment *const *segments, size_t count, rapt_alignment *out);

void align_free(rapt_alignment *a);

#endif
