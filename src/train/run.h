/* train/run.h: one training run: made by the set-up, used by the loop, with the task's own state. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "rapt/data.h"
#include "rapt/io.h"
#include "rapt/group.h"
#include "rapt/train.h"

#include "base/lock.h"
#include "base/stop.h"
#include "train/task/task.h"

/* The state that changes from step to step, besides parameters and moments. A checkpoint stores it. */
typedef struct run_counters {
    uint64_t step;        /* done */
    double nll, book;     /* sums since the last report */
    uint64_t tokens;      /* in those sums; of preferences: pairs */
    reward_sums rewards;  /* likewise */
    double grad_norm;     /* of the last step's gradients */
    double val_loss;      /* at the last report, or NaN */
    train_scores scores;  /* at the last report, or NaN */
    double best_val_loss; /* of the best model; infinite: there is none yet */
    double best_score;    /* of the best model, if train.best_by is a score; NaN: none yet, or it is the loss */
    uint64_t best_step;   /* step of the best model; 0: none */
    uint64_t waited;      /* reports since the best one */
    uint64_t stale;       /* plateau schedule: reports since the best one or the last reduction, after the warmup */
    uint64_t reductions;  /* plateau schedule: how often the learning rate was reduced */
    double seconds;       /* that earlier calls took */
    uint64_t adam_from;   /* the step after which the optimizer has last begun anew; 0: the run's beginning */
    uint64_t changed_after; /* the step after which --resume has last changed the learning rate or the like; 0: never */
} run_counters;

/* State of a rank that works on its own while the others wait for it (train/ranks/ranks_work.h). */
typedef struct run_word {
    uint8_t busy, stop;
} run_word;

typedef struct run_work {
    run *of;
    bool open;         /* from ranks_begin to ranks_end */
    uintptr_t thread;  /* thread_self of the one that works */
    double told;       /* clock_seconds when the others were last told */
    run_word *words;   /* [ranks], and */
    size_t *bounds;    /* [ranks + 1] scratch memory for messages; NULL without a group */
} run_work;

struct run {
    const rapt_train_options *options;
    const rapt_recipe *recipe; /* the caller's, or `own` */
    rapt_recipe own;           /* with `init`: the recipe completed with what that model decides */
    const char *init;          /* the folder of the model to start from, or NULL */
    rapt_group *group;         /* the processes that train together, or NULL */
    int rank, ranks;           /* rank of this process, and number of ranks; 0 and 1 without a group */
    bool stop_agreed;          /* with a group: all ranks stop here. Changes only when all of them know it */
    bool resumable;            /* the folder has a checkpoint */
    bool piped;                /* data come through a pipe, which must give the same bytes to a resumed run */
    bool checkpoint_wanted;    /* rank 0's clock asks for a checkpoint after the current step */
    bool checkpoint_agreed;    /* with a group: all ranks know that it will be written */
    run_work work;
    double waited_all;         /* with a group: seconds that all ranks together have waited for messages, as of the last step */
    rapt_memory_plan plan;     /* plan of this process, once it is counted */
    const train_task *task;
    void *data;                /* private to the task */
    folder_lock lock;          /* lock of the model folder, from the first look at it to the end */
    uint64_t newest;           /* step of the newest checkpoint that the folder held at first, or 0 */
    rapt_model *model;
    rapt_tape *tape;
    rapt_adam *adam;
    struct moving_average *average; /* if train.ema is set */
    struct grad_release *release; /* if train.release_gradients is set */
    struct step_shards *shards; /* if train.shards is above 1: gradients of a step's shards (train/shards) */
    size_t validation_batches;  /* 0: there is no validation set */
    uint64_t batches_per_epoch; /* a step takes step_draws of them, if need be from the next epoch */
    uint64_t steps;             /* planned by the recipe */
    uint64_t labels;            /* that this run has trained on, for the throughput */
    uint64_t vectors_hash;      /* hash of the embeddings that start from train.vectors; 0: none do */
    size_t base_count;          /* parameters that adapters are trained for, and */
    uint64_t base_hash;         /* their elements, or elements of the reference of preferences; 0: none */
    uint64_t recipe_hash;       /* hash that a checkpoint must share with this run */
    uint64_t fixed_hash;        /* the same without the keys that a resumed run may change (recipe_key_is_tuned) */
    char *yaml;                 /* the recipe that the folder keeps */
    run_counters counters;
};

/* Does everything that can fail because of the input (train.c), until the folder is written and the counters are set. On failure
 * the run must still be freed. */
rapt_code run_set_up(run *r, const rapt_train_options *options, rapt_error *err);
void run_free(run *r);

/* Loads the model to fine-tune, and completes the recipe with what it decides; for the task, which checks what its own data need.
 * Refuses types of Hugging Face models that cannot be trained. */
rapt_code run_load_init(run *r, rapt_task task, rapt_error *err);
/* What a resumed run adds to a message about data that came through a pipe; "" if they did not. */
const char *run_pipe_hint(const run *r);

/* Whether there is a validation set. */
bool run_validates(const run *r);

/* Calls on_warning with a formatted text. */
RAPT_PRINTF(2, 3)
void run_warn(const run *r, const char *format, ...);
/* Calls on_phase when something begins that may take long: `done` of `count` parts are done; count 0: unknown. */
void run_phase(const run *r, const char *what, size_t done, size_t count);

/* Whether this process writes the folder and calls the callbacks: rank 0, or the only one. */
bool run_is_first(const run *r);

/* The caller's request to stop, as a stop_check. */
stop_check run_stop(const run *r);
/* Whether the run must stop: the caller asks for it, or with a group, all ranks have agreed (run.stop_agreed). */
bool run_stop_asked(const run *r);
/* RAPT_ERR_INTERRUPTED if the caller asks the run to stop. */
rapt_code run_stopped(const run *r, rapt_error *err);

/* Writes a file of the model's folder. */
rapt_code run_write(const run *r, const char *name, const char *text, size_t size, rapt_error *err);

#endif
