/* decode/translate.h: the inside of rapt_translator, for the engine: it computes batches of many requests with a translator's
 * tapes and packed weights. */
#ifndef DECODE_TRANSLATE_H
#define DECODE_TRANSLATE_H

#include "base/pool.h"
#include "decode/translate_batch.h"
#include "tensor/packed_weights.h"

struct rapt_translator {
    translate_setup setup;
    prefixes prefix;          /* the options', if any */
    pool *pool, *own_pool;    /* the same, unless it is borrowed */
    int threads, tape_count;
    rapt_tape **tapes;        /* [tape_count] one for each thread; of several threads, one more, which computes on all */
    translate_batch *batches; /* [tape_count] of runs */
    packed_weights *packed;   /* read by all tapes */
    atomic_bool cancelled;
};

/* rapt_translator_new, with a pool that others use between its runs; borrowed. NULL: a pool of its own. */
rapt_translator *translate_new_of_pool(const rapt_model *m, const rapt_translate_options *options, pool *shared, rapt_error *err);

#endif
