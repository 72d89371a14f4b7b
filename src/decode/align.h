/* decode/align.h: soft word alignments of a translation, from the decoder's cross-attention. For translate.c and
 * source_segments.c. */
#ifndef DECODE_ALIGN_H
#define DECODE_ALIGN_H

#include "rapt/decode.h"

/* A pass over the whole translation, `length` tokens, <eos> among them or not, of source[count]. Fills *out, which align_free
 * frees; nothing is to be freed on failure. */
rapt_code align_tokens(rapt_tape *t, const rapt_model *m, const int32_t *source, size_t count, const int32_t *target,
                       size_t length, rapt_alignment *out, rapt_error *err);

/* One alignment from those of `count` segments, one behind the other: tokens of one are never aligned with those of another.
 * False when out of memory. */
bool align_join(const rapt_alignment *const *segments, size_t count, rapt_alignment *out);

void align_free(rapt_alignment *a);

#endif
