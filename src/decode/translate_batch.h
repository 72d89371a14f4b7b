/* decode/translate_batch.h: translates segments in one batch, one decoding step at a time. For translate.c and the engine, which
 * share threads between batches in different ways. */
#ifndef DECODE_TRANSLATE_BATCH_H
#define DECODE_TRANSLATE_BATCH_H

#include "decode/translate_text.h"

/* Reused from batch to batch. */
typedef struct translate_batch {
    const rapt_model *m;
    translate_settings settings;
    searcher on; /* the model, KV caches, and the tape of the step that runs */
    rapt_decoder_state *again; /* state for repeated searches besides the batch's; NULL: there was none yet */
    arena memory;
    search_run *run;        /* NULL: there is no batch, or it is over */
    translate_item **items; /* [count]; NULL for one that has ended */
    size_t count, left;     /* left: how many of them have not ended */
    search_result *results;
    bool *stopped, *over;   /* [count] as the search says */
    search_batch batch;
} translate_batch;

rapt_code translate_batch_init(translate_batch *b, const translate_setup *setup, rapt_error *err);
void translate_batch_free(translate_batch *b);

/* Encodes items[count], of texts with these settings. The arguments need not last, but each item must, until it ends
 * (translate_text_end): in the step that completes its translation, or in the first step after it was cancelled. If a batch
 * fails, its items are translated one by one, and only the items that fail alone fail in their texts. */
void translate_batch_begin(translate_batch *b, rapt_tape *t, const translate_settings *settings, translate_item *const *items,
                           size_t count);
static inline bool translate_batch_is_over(const translate_batch *b)
{
    return !b->run;
}
enum { TRANSLATE_TOGETHER = 32 };
/* One decoding step of batches[count] of one model, 1 to TRANSLATE_TOGETHER, that are not over: all their rows together, on a
 * tape that may be another one each time. */
void translate_batch_step(translate_batch *const *batches, size_t count, rapt_tape *t);

#endif
