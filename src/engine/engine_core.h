/* engine/engine_core.h: the structs of an engine: its thread, models and jobs, and the interface of a lane, which computes the
 * jobs of a model step by step (lm_lane.c, translation_job.c). */
#ifndef ENGINE_ENGINE_CORE_H
#define ENGINE_ENGINE_CORE_H

#include "base/queue.h"
#include "base/thread.h"
#include "rapt/engine.h"

#include <stdatomic.h>

struct rapt_engine {
    thread_handle thread;
    long owner;                  /* the process that has the thread */
    int threads;                 /* threads that compute */
    thread_mutex lock;
    thread_condition work, done; /* there may be something to do; a job has ended */
    rapt_engine_model *models;
    atomic_bool ending;
};

/* The first member of each kind of job. */
struct rapt_engine_job {
    queue_link link;                    /* in the engine's queue, or in a lane's own list */
    rapt_engine_model *model;
    void (*free)(rapt_engine_job *job); /* frees all of it */
    rapt_stop_fn *stop;
    void *context;                      /* of stop */
    atomic_bool cancelled;
    bool is_call;                       /* made by rapt_engine_call */
    bool held;                          /* a caller has the handle, and frees it */
    bool done;                          /* under the engine's lock */
    double queued;                      /* clock_seconds */
};

/* The functions that compute a model's jobs. The engine's thread calls all of them, without its lock. */
typedef struct engine_lane {
    const char *kind; /* of model, for messages */
    /* Takes queued jobs (engine_take) and computes one step; false: there was nothing to do. Cancelled jobs (engine_stops) end
     * first. */
    bool (*step)(rapt_engine_model *m, void *lane);
    void (*free)(void *lane);
} engine_lane;

struct rapt_engine_model {
    rapt_engine *engine;
    rapt_engine_model *next;   /* next in the engine's list */
    rapt_model *model;
    const engine_lane *lane;   /* NULL: there are calls only */
    void *of_lane;
    rapt_embedder *embedder;   /* an encoder's embedder, for calls */
    rapt_reranker *reranker;   /* a cross-encoder's reranker, likewise */
    queue jobs, calls;         /* under the engine's lock: queued, not yet taken */
    size_t unfreed;            /* under the engine's lock: jobs that are not freed yet */
    bool removed;              /* under the engine's lock */
    rapt_engine_model_options faults; /* of the caller's: only fault, fault_free, fault_context, borrowed */
    rapt_engine_counts counts; /* under the engine's lock */
};

/* Makes a lane. NULL with `err` set. */
void *lm_lane_new(rapt_engine_model *m, const rapt_engine_model_options *o, int threads, rapt_error *err);
extern const engine_lane lm_lane_functions;
void *translations_new(rapt_engine_model *m, const rapt_engine_model_options *o, int threads, rapt_error *err);
extern const engine_lane translation_functions;
/* The tape of a translation model on which all threads compute, only for functions that rapt_engine_call runs. */
struct rapt_tape *engine_translation_tape(const rapt_engine_model *m);

/* False in a child of fork(), which has a copy of the engine without its thread: locks may be held for ever there, and no job
 * ends. Every function that would lock or wait asks this first. */
bool engine_is_here(const rapt_engine *e);
/* engine_is_here as a code, with `err` set. */
rapt_code engine_check_here(const rapt_engine *e, rapt_error *err);
/* What every request asks before it is made: that the engine is here, that the model has the lane that it is for (NULL: any),
 * which can do `what`, and that the model has no fault. */
rapt_code engine_check_request(const rapt_engine_model *m, const engine_lane *lane, const char *what, rapt_error *err);

/* Queues a job in which all members but link, model and queued are set; *handle gets it unless `handle` is NULL. May be called
 * from any thread. */
void engine_queue_job(rapt_engine_model *m, rapt_engine_job *job, rapt_engine_job **handle);

/* The next queued call of a model; NULL: there is none. */
rapt_engine_job *engine_take_call(rapt_engine_model *m);
/* Called with the engine's lock held: whether jobs or calls are queued, for any model. */
bool engine_has_queued(const rapt_engine *e);

/* ---- for lanes ---------------------------------------------------------------------------------------------------------- */

/* The next queued job; NULL: there is none. */
rapt_engine_job *engine_take(rapt_engine_model *m);
/* These four are of a translate_host, whose context is a rapt_engine_model.
 * Whether calls are queued, or jobs of another model (with `own`, also of this one): then a step that may end early does. May be
 * called from any thread that computes. */
bool engine_is_awaited(void *model, bool own);
/* Waits for jobs or calls of any model, or for engine_wake, at most `seconds`; it may return early. May be called from any thread
 * that computes. */
void engine_wait(void *model, double seconds);
void engine_wake(void *model);
/* Whether there is no other model, so that no jobs wait while this model's jobs are computed. */
bool engine_is_alone(void *model);
/* Whether a job must end: cancelled by a call or by its own `stop`, because the engine ends, or its model has a fault. */
bool engine_stops(rapt_engine_job *job);
/* Counts a job that ends so, before its on_done is called. */
void engine_job_ends(rapt_engine_job *job, rapt_code code);
/* Call it when a job's on_done has returned; the job must not be touched afterwards. */
void engine_job_done(rapt_engine_job *job);
/* Publishes the counts of a lane: all of rapt_engine_counts except done, cancelled and failed; `waiting` counts only jobs that
 * the lane has taken. */
void engine_publish(rapt_engine_model *m, const rapt_engine_counts *counts);

#endif
