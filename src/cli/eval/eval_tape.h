/* cli/eval/eval_tape.h: the tape that `rapt eval` computes a loss on, with the type of weights that was asked for. */
#ifndef CLI_EVAL_EVAL_TAPE_H
#define CLI_EVAL_EVAL_TAPE_H

#include "rapt/decode.h"
#include "rapt/io.h"

#include "tensor/packed_weights.h"

typedef struct eval_tape {
    rapt_tape *t;
    packed_weights *packed; /* weights of other types than the model's; otherwise NULL: packing does not pay, because a batch
                               reads every weight once */
} eval_tape;

/* Call eval_tape_free in any case, also after a failure. */
rapt_code eval_tape_make(eval_tape *e, const rapt_model *m, const rapt_translate_options *o, rapt_error *err);
void eval_tape_free(eval_tape *e);

#endif
