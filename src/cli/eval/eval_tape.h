/* cli/eval/eval_tape.h: the tape that `rapt eval` computes a loss on, with the type of weights that was asked for. */
#ifndef CLI_EVAL_EVAL_TAPE_H
#define CLI_EVAL_EVAL_TAPE_H

#include "rapt/decode.h"
#include "rapt/io.h"

#include "tensor/packed_weights.h"

typedef struct eval_tape {
    rapt_tape *t;
    packed_weights *packed; /* of other types than those of the model, else NULL: every weight is read once for a batch */
} eval_tape;

/* With `err` set where there is none; eval_tape_free is right in any case. */
rapt_code eval_tape_make(eval_tape *e, const rapt_model *m, const rapt_translate_options *o, rapt_error *err);
void eval_tape_free(eval_tape *e);

#endif
