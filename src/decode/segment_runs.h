/* decode/segment_runs.h: segments that one thread translates at a time, one decoding step after the other. Segments may begin at
 * any step. For translate.c and the engine. */
#ifndef DECODE_SEGMENT_RUNS_H
#define DECODE_SEGMENT_RUNS_H

#include "search/sentence.h"
#include "decode/translate_text.h"

/* A segment in progress. */
typedef struct segment_run {
    sentence sentence;
    translate_item *item;  /* NULL: none */
    search_options again;  /* of its second search: it is searched again, among whole characters only */
    bool is_again;
} segment_run;

/* Zeroed, with `setup` set: none. */
typedef struct segment_runs {
    const translate_setup *setup;
    segment_run **runs;  /* [made] the first `count` are in progress; the others have memory for later ones */
    size_t count, made, capacity;
    sentence **step;       /* [made] scratch memory of a step */
    size_t step_capacity;
} segment_runs;

void segment_runs_free(segment_runs *r);

/* Begins items[count], except cancelled ones: encodes them together. The array need not last, but each item must, until it ends
 * (translate_text_end): in the step that completes its translation, or in the first step after it was cancelled. Items that fail,
 * fail in their texts. */
void segment_runs_begin(segment_runs *r, rapt_tape *t, translate_item *const *items, size_t count);
/* One decoding step of all segments in progress, at least one, all their rows together. The tape may be another one each time. */
void segment_runs_step(segment_runs *r, rapt_tape *t);
/* Rows of the next step. */
size_t segment_runs_rows(const segment_runs *r);

#endif
