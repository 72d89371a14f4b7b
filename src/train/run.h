/* train/run.h: one training run: what the set-up makes and the loop uses, and what a task is to both. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "rapt/data.h"
#include "rapt/io.h"
#include "rapt/train.h"

#include "base/lock.h"
#include "base/stop.h"
#include "train/checkpoint/checkpoint.h"

/* What one pass computes: sentence pairs, or windows of a text. Borrowed until the next one is asked for. */
typedef struct train_batch {
    const rapt_batch *pairs; /* translation */
    rapt_tokens inputs, labels;
    const int32_t *valid_lens; /* of the labels, or NULL */
    const uint32_t *examples;
    size_t tokens; /* labels that count */
} train_batch;

typedef struct run run;

/* What the task decides; everything else of a run is the same for all of them. Functions that give a batch return
 * false where memory is out. */
typedef struct train_task {
    /* Reads the data, and makes the tokenizers, or loads a model with its own. */
    rapt_code (*open)(run *r, rapt_error *err);
    /* The model's parameters, where none was loaded; `seed` may be RAPT_SEED_SHAPES. What only then can be checked. */
    rapt_code (*make)(run *r, uint64_t seed, rapt_error *err);
    void (*close)(run *r);
    /* The data sets, and how many batches an epoch has. */
    rapt_code (*load)(run *r, rapt_error *err);
    /* Makes what batches are read into, once the memory is checked; may be NULL. */
    rapt_code (*start)(run *r, rapt_error *err);
    bool (*batch)(run *r, uint64_t index, train_batch *out); /* number `index` of the whole run */
    bool (*held_out)(run *r, size_t index, train_batch *out);
    /* The largest batch that there would be if train.batch, or train.batch_tokens where that counts, were `size`: of training or
     * of what is held out. Its numbers mean nothing. */
    rapt_code (*sized)(run *r, size_t size, bool held_out, train_batch *out, rapt_error *err);
    rapt_tensor *(*loss)(run *r, const train_batch *b, const rapt_loss_options *o, rapt_loss_sums *parts);
    uint64_t (*hash)(const run *r); /* of the data and all else that the recipe doesn't say */
    void (*describe)(const run *r, rapt_memory_plan *plan);
    rapt_code (*write)(const run *r, rapt_error *err);  /* files beside the model's own */
    char *(*sample)(run *r, rapt_error *err); /* some text of the model as it is, behind its prompt; may be NULL */
    rapt_code (*score)(run *r, double *bleu, rapt_error *err); /* of translations of what is held out; may be NULL */
} train_task;

extern const train_task train_translation, train_language_model;

struct run {
    const rapt_train_options *options;
    const rapt_recipe *recipe; /* the caller's, or `own` */
    rapt_recipe own;           /* where init is: with what that model decides filled in */
    const char *init;          /* the folder of the model to start from, or NULL */
    const train_task *task;
    folder_lock lock; /* of the model folder, from the first look at it to the end */
    void *data; /* the task's own */
    rapt_model *model;
    rapt_tape *tape;
    rapt_adam *adam;
    size_t held_out_batches; /* 0: nothing is held out */
    uint64_t batches_per_epoch; /* a step takes train.accumulate of them, the next epoch's where need be */
    uint64_t steps; /* planned by the recipe */
    uint64_t newest; /* step of the newest checkpoint that the folder held at first, or 0 */
    checkpoint_state state;
    double val_bleu; /* at the last report, or NaN */
};

/* Reads data, checks the memory, makes or loads the model, prepares the folder; on resume loads the newest checkpoint.
 * Writes nothing before all input is checked. On failure the run still has to be freed. */
rapt_code run_set_up(run *r, const rapt_train_options *options, rapt_error *err);
void run_free(run *r);
/* Of the task, which has loaded the model that a run starts from: its recipe is one of that model from now on. */
rapt_code run_take_init(run *r, rapt_error *err);
/* Tells the caller something that is no failure. */
RAPT_PRINTF(2, 3)
void run_warn(const run *r, const char *format, ...);

/* The model of the recipe, with what it freezes; run_drop_model takes its parameters away again. */
rapt_code run_make_model(run *r, uint64_t seed, rapt_error *err);
void run_drop_model(run *r);

/* What losses of training are divided by: 0, the tokens of the batch, where a step has one; of several batches sums are
 * gathered. */
double run_normalizer(const rapt_recipe *recipe);

/* One forward (and, where it records, one backward) pass over a batch; adds up nll and tokens in `parts`. */
rapt_code run_pass(run *r, const train_batch *batch, rapt_pass pass, double normalizer, rapt_loss_sums *parts, rapt_error *err);

/* Tells the program what the run is doing where that may take long: `done` of `count` parts, count 0: not known. */
void run_phase(const run *r, const char *what, size_t done, size_t count);
/* What the program says whether the run should end; run_stop_asked asks. */
stop_check run_stop(const run *r);
bool run_stop_asked(const run *r);
/* RAPT_ERR_INTERRUPTED where it does. */
rapt_code run_stopped(const run *r, rapt_error *err);

/* Writes a file of the model's folder. */
rapt_code run_write(const run *r, const char *name, const char *text, size_t size, rapt_error *err);

#endif
