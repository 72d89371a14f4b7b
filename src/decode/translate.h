/* decode/translate.h: the inside of rapt_translator, for its own files and for the engine: texts whose segments wait and run, and
 * the threads that compute them. Several texts may be in progress; a text's translations do not depend on the others. */
#ifndef DECODE_TRANSLATE_H
#define DECODE_TRANSLATE_H

#include "decode/model_tapes.h"
#include "decode/segment_runs.h"
#include "decode/translate_pace.h"

/* The segments that one thread computes together. Others read `segments` with the lane's lock held. */
typedef struct translate_worker {
    segment_runs runs;      /* in progress */
    translate_item **items; /* [item_count] that begin with its next step */
    size_t item_count, item_capacity;
    size_t segments;        /* of both, after its last step */
    translate_pace pace;
    uint64_t steps, tokens; /* since they were counted */
} translate_worker;

/* What a lane has and has done; times in seconds. */
typedef struct translate_counts {
    size_t waiting, running; /* texts */
    uint64_t steps;          /* decoding steps, of all threads */
    uint64_t source_tokens, tokens; /* tokens: positions that were searched */
    double busy;
} translate_counts;

/* A program that has other uses for the threads, and gets more texts while some are computed. Any thread that computes calls
 * these, except is_alone. */
typedef struct translate_host {
    void (*take)(void *context);                  /* adds the texts that were queued meanwhile (translate_lane_add) */
    void (*count)(void *context, const translate_counts *counts);
    void (*end)(void *context, translate_text *x); /* no segment of the text is left; it may be freed */
    bool (*is_alone)(void *context);              /* nobody else needs the threads, whatever comes */
    bool (*is_awaited)(void *context, bool own);  /* others wait for the threads; `own`: or texts wait to be taken */
    void (*wait)(void *context, double seconds);  /* for texts, others, or `wake`; at most so long */
    void (*wake)(void *context);
} translate_host;

/* Continuous batching: finished segments leave a thread's batch, and waiting ones take their place. */
typedef struct translate_lane {
    thread_mutex lock;         /* guards everything except what a worker computes: workers end texts and begin segments between
                                  their steps */
    const translate_host *host; /* NULL: texts are all there from the beginning, and nobody else needs the threads */
    void *context;             /* of host */
    queue waiting;             /* texts with items that no worker has taken, whose turn it is first */
    queue begun;               /* the others */
    size_t batch;              /* segments that a worker computes together */
    translate_worker *workers; /* [threads] */
    translate_item **picked;   /* [picked_max] that begin now */
    size_t picked_count, picked_max;
    double short_steps_until;  /* until then, short texts are expected during long ones */
    double deadline;           /* of the step */
    bool alone;                /* during the step: is_alone */
    double counted, checked;   /* until when its time is counted; when it was last looked for texts that are cancelled */
    atomic_int idle;           /* workers that have nothing to do */
    atomic_bool few;           /* few workers have work, so all threads compute together */
    atomic_bool ended;         /* a text has no item left */
    translate_counts counts;
} translate_lane;

struct rapt_translator {
    translate_setup setup;
    prefixes prefix;         /* the options', if any */
    model_tapes tapes;       /* one for each thread, and one for all of them */
    translate_lane lane;
    atomic_bool cancelled;   /* the run in progress */
};

/* Makes the lane of a translator that has its tapes. RAPT_ERR_MEMORY. Must be freed in any case. */
rapt_code translate_lane_init(rapt_translator *t, rapt_error *err);
void translate_lane_free(rapt_translator *t);
/* Adds an encoded text, which must last until host->end, or without a host until translate_lane_step returns false. Only for
 * host->take, and between steps for the thread that calls them. */
void translate_lane_add(rapt_translator *t, translate_text *x);
/* Ends texts, begins segments, and computes decoding steps until others wait, or with no host until no thread has work. False:
 * there was nothing to do. */
bool translate_lane_step(rapt_translator *t);

/* Chooses items that begin, and gives them to all workers (`only` NULL) or, up to its share, to the worker `only`. If out of
 * memory, the items fail. Under the lane's lock. */
void translate_admit(rapt_translator *t, translate_worker *only);

#endif
