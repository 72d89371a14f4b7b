/* decode/score_tape.h: a tape that losses are computed on, with packed weights if their types differ from the model's. */
#ifndef DECODE_SCORE_TAPE_H
#define DECODE_SCORE_TAPE_H

#include "rapt/score.h"

#include "tensor/packed_weights.h"

typedef struct score_tape {
    rapt_tape *t;
    packed_weights *packed; /* weights of other types than the model's; otherwise NULL: packing does not pay, because a batch
                               reads every weight once */
} score_tape;

/* Copies the caller's options, which may be NULL, over the defaults. RAPT_ERR_VALUE: a size or reserved members of another
 * version. */
rapt_code score_options_take(const rapt_score_options *given, rapt_score_options *out, rapt_error *err);

/* Call score_tape_free in any case, also after a failure. */
rapt_code score_tape_make(score_tape *e, const rapt_model *m, const rapt_score_options *o, rapt_error *err);
void score_tape_free(score_tape *e);

#endif
