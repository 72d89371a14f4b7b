/* decode/segment_runs.h: segments that one thread translates at a time, one decoding step after the other. Segments may begin at
 * any step. For translate_lane.c. */
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
    bool is_unforced;      /* no translation contains its terms: it is searched without them */
    size_t beam;           /* the largest that it has had memory for */
} segment_run;

/* Zeroed, with `setup` set: none. */
typedef struct segment_runs {
    const translate_setup *setup;
    segment_run **runs;  /* [made] the first `count` are in progress; the others have memory for later ones */
    size_t count, made, capacity;
    sentence **step;       /* [made] scratch memory of a step */
    size_t step_capacity;
    sentence_scratch scratch;
} segment_runs;

void segment_runs_free(segment_runs *r);

/* Begins items[count], except cancelled ones and ones that nobody needs after a failure: encodes them together. The array need
 * not last, but each item must, until it ends (translate_text_end): in the step that completes its translation, or in the first
 * step after it was cancelled. Items that fail, fail in their texts. */
void segment_runs_begin(segment_runs *r, rapt_tape *t, translate_item *const *items, size_t count);
/* What a step has computed. */
typedef struct segment_work {
    size_t segments, rows; /* 0: nothing, as all segments were cancelled */
} segment_work;

/* Ends cancelled segments, and computes one decoding step of the others, all their rows together. The tape may be another one
 * each time. */
segment_work segment_runs_step(segment_runs *r, rapt_tape *t);

#endif
