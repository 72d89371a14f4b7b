/* decode/model_tapes.h: the tapes on which a model is run, and the packed weights that they read. For translators, generators,
 * embedders, lanes and scores. */
#ifndef DECODE_MODEL_TAPES_H
#define DECODE_MODEL_TAPES_H

#include "base/pool.h"
#include "rapt/io.h"
#include "tensor/packed_weights.h"

typedef struct model_tapes {
    pool *pool;
    int threads;            /* of the pool */
    rapt_tape **list;       /* [count] with MODEL_TAPES_EACH, the first ones are one for each thread */
    int count;
    rapt_tape *all;         /* one of them, which computes on all threads; NULL without MODEL_TAPES_ALL */
    packed_weights *packed; /* that all of them read; NULL: they read the model */
} model_tapes;

enum {
    MODEL_TAPES_EACH = 1,
    MODEL_TAPES_ALL = 2,
    MODEL_TAPES_PACK_IF_NEEDED = 4, /* packs only weights that have other types than the model's, because each is read rarely */
    MODEL_TAPES_PACK_LATER = 8      /* a language model's weights that are stored as blocks wait for model_tapes_complete */
};

/* Makes the tapes that `which` names, and applies deferred updates of the model, which may be in training: from here on it is
 * only read. RAPT_ERR_VALUE: the options are wrong; RAPT_ERR_MEMORY. Call model_tapes_free in any case. */
rapt_code model_tapes_make(model_tapes *s, const rapt_model *m, const rapt_compute *options, int which, rapt_error *err);
/* Packs another model for the same tapes, which read it with tape_use_packed; the caller frees it. NULL with `err` set. */
packed_weights *model_tapes_pack_other(const model_tapes *s, const rapt_model *m, rapt_error *err);
/* Packs the weights that wait, while no tape is in a pass. RAPT_ERR_MEMORY or RAPT_OK. */
rapt_code model_tapes_complete(model_tapes *s, rapt_error *err);
/* Zeroed: does nothing. */
void model_tapes_free(model_tapes *s);

#endif
