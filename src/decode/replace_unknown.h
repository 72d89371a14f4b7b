/* decode/replace_unknown.h: unknown words of translations, replaced by words of the source. For segment_runs.c. */
#ifndef DECODE_REPLACE_UNKNOWN_H
#define DECODE_REPLACE_UNKNOWN_H

#include "decode/translate_text.h"

/* Replaces each <unk> of h->text, which is the text of `found`, by the text of the source token that it attends to most. *h keeps
 * the alignment that it has; without one, a pass computes it, if there is an <unk>. */
rapt_code replace_unknown(rapt_tape *t, const translate_item *item, const search_hypothesis *found, rapt_hypothesis *h,
                          rapt_error *err);

#endif
