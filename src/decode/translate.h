/* decode/translate.h: the inside of rapt_translator, for the engine: it computes batches of many requests with a translator's
 * tapes and packed weights. */
#ifndef DECODE_TRANSLATE_H
#define DECODE_TRANSLATE_H

#include "base/pool.h"
#include "decode/segment_runs.h"
#include "tensor/packed_weights.h"

struct rapt_translator {
    translate_setup setup;
    prefixes prefix;          /* the options', if any */
    pool *pool;
    int threads, tape_count;
    rapt_tape **tapes;        /* [tape_count] one for each thread; with several threads, one more, which computes on all of
                                 them */
    segment_runs *batches;  /* [tape_count] what each tape computes in a call */
    packed_weights *packed;   /* read by all tapes */
    atomic_bool cancelled;
};

#endif
