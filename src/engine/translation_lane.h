/* engine/translation_lane.h: the structs of a translation model's lane, for the files that share them: which sentences begin
 * (translation_admit.c), and steps (translation_lane.c). */
#ifndef ENGINE_TRANSLATION_LANE_H
#define ENGINE_TRANSLATION_LANE_H

#include "engine/translation_job.h"
#include "engine/translation_pace.h"

/* The sentences that one thread computes together. Others read `sentences` with the lane's lock held. */
typedef struct translation_worker {
    segment_runs runs;    /* in progress */
    translate_item **items; /* [item_count] that begin with its next step */
    size_t item_count, item_capacity;
    size_t sentences;       /* of both, after its last step */
    translation_pace pace;
    uint64_t steps, tokens; /* since they were counted */
} translation_worker;

typedef struct translation_lane {
    rapt_engine_model *model;
    rapt_translator *t;
    pthread_mutex_t lock;        /* guards everything except what a worker computes: workers end jobs and begin sentences between
                                    their steps */
    engine_queue waiting;        /* jobs with items that no batch has taken, whose turn it is first */
    engine_queue begun;          /* the others */
    translation_worker *workers; /* [t->threads] */
    translate_item **picked;     /* [picked_max] that begin now */
    size_t picked_count, picked_max;
    double short_steps_until;          /* until then, short requests are expected during long ones */
    double deadline;             /* of the step */
    bool alone;                  /* during the step: there is no other model */
    double counted, checked;     /* until when its time is counted; when it was last looked for jobs that stop */
    atomic_int idle;             /* workers that have nothing to do */
    atomic_bool few;             /* few workers have work, so all threads compute together */
    atomic_bool ended;           /* a job has no item left */
    rapt_engine_counts counts;
} translation_lane;

/* Chooses items that begin, and gives them to all workers (`only` NULL) or, up to its share, to the worker `only`. If out of
 * memory, the items fail. */
void translation_admit(translation_lane *l, translation_worker *only);

#endif
