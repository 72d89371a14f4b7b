/* decode/translate_batch.h: segments that are translated in one batch, a decoding step at a time. For translate.c and the
 * engine, which share threads between batches in different ways. */
#ifndef DECODE_TRANSLATE_BATCH_H
#define DECODE_TRANSLATE_BATCH_H

#include "decode/translate_text.h"

/* Reused from batch to batch. */
typedef struct translate_batch {
    const rapt_model *m;
    translate_settings settings;
    searcher on; /* the model, KV caches, and the tape of the step that runs */
    arena memory;
    search_run *run;        /* NULL: there is no batch, or it is over */
    translate_item **items; /* [count]; NULL for one that was stopped */
    size_t count;
    search_result *results;
    bool *stopped;          /* [count] by this step */
    search_batch batch;
} translate_batch;

rapt_code translate_batch_init(translate_batch *b, const translate_setup *setup, rapt_error *err);
void translate_batch_free(translate_batch *b);

/* Encodes items[count], of texts with these settings; neither has to last, but the items have. Items that are to stop are left
 * out, and ended (translate_text_end), as they are in every step; all others end with the batch's last step. A batch that fails
 * is translated item by item: those that fail alone fail in their texts, the others are translated. */
void translate_batch_begin(translate_batch *b, rapt_tape *t, const translate_settings *settings, translate_item *const *items,
                           size_t count);
static inline bool translate_batch_is_over(const translate_batch *b)
{
    return !b->run;
}
/* One decoding step, on a tape that may be another one each time. The last one fills the items' translations. */
void translate_batch_step(translate_batch *b, rapt_tape *t);

#endif
