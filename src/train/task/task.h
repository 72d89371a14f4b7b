/* train/task/task.h: what a task is to a training run: where batches come from, what is computed from one, what the task writes
 * into the model folder. Everything else of a run is alike for all tasks. */
#ifndef TRAIN_TASK_TASK_H
#define TRAIN_TASK_TASK_H

#include "rapt/recipe.h"
#include "rapt/tape.h"
#include "rapt/train.h"

typedef struct run run;

/* What one pass computes. Borrowed until the next one is asked for. */
typedef struct train_batch {
    rapt_tokens source;         /* translation only: [batch, time] */
    const int32_t *source_lens; /* [batch] */
    rapt_tokens inputs, labels; /* [batch, time], the labels one position later */
    const int32_t *valid_lens;  /* [batch] labels that count, or NULL: all */
    const uint32_t *examples;   /* [batch] their index in the data, which keys dropout */
    size_t tokens;              /* labels that the loss counts */
} train_batch;

#define TASK_MAX_FILES 4
#define TASK_MAX_INPUTS 4

/* What a task has read, or made of it: processes that train together must have the same. */
typedef struct task_input {
    const char *name; /* for messages: the path, or what it is; NULL: there is no such input */
    uint64_t hash;    /* of the contents */
} task_input;

/* Of translations of the validation set; NaN: none. */
typedef struct train_scores {
    double bleu, bleu_book; /* the second with the book's reduction only */
} train_scores;

typedef struct train_task {
    /* Reads the data, and makes the tokenizers, or loads a model with its own. */
    rapt_code (*open)(run *r, rapt_error *err);
    /* With a group, once all ranks are there: gives the others what rank 0 alone has read in `open`; NULL: each reads all. */
    rapt_code (*share)(run *r, rapt_error *err);
    /* What each rank has read. NULL: nothing but what rank 0 gave. */
    void (*inputs)(const run *r, task_input list[TASK_MAX_INPUTS]);
    /* The data sets, and how many batches an epoch has. */
    rapt_code (*load)(run *r, rapt_error *err);
    /* The model's parameters, where none was loaded; `seed` may be RAPT_SEED_SHAPES. What only then can be checked. */
    rapt_code (*make)(run *r, uint64_t seed, rapt_error *err);
    /* Makes what batches are read into, once the memory is checked; may be NULL. */
    rapt_code (*start)(run *r, rapt_error *err);
    void (*close)(run *r);

    /* Batch `index` of the whole run; batch `index` of the validation set. */
    rapt_code (*batch)(run *r, uint64_t index, train_batch *out, rapt_error *err);
    rapt_code (*validation_batch)(run *r, size_t index, train_batch *out, rapt_error *err);
    /* The largest batch that there would be if train.batch, or train.batch_tokens where that counts, were `size`: of training or
     * of the validation set. Its elements mean nothing. */
    rapt_code (*sized)(run *r, size_t size, bool validation, train_batch *out, rapt_error *err);
    /* The loss of a batch on the run's tape; changes nothing. */
    rapt_tensor *(*loss)(const run *r, const train_batch *b, const rapt_loss_options *o, rapt_loss_sums *parts);

    uint64_t (*hash)(const run *r); /* of the data and all else that the recipe doesn't say */
    void (*describe)(const run *r, rapt_memory_plan *plan);
    /* Names of the files that `write` and a model of this task put into the folder, NULL behind the last one, but for those that
     * are made again where they are not as they should be. */
    rapt_code (*files)(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err);
    rapt_code (*write)(const run *r, rapt_error *err);  /* files beside the model's own */
    char *(*sample)(run *r, rapt_error *err); /* a text that the model generates from the sample prompt; may be NULL */
    rapt_code (*score)(run *r, train_scores *scores, rapt_error *err); /* may be NULL */
} train_task;

extern const train_task train_translation, train_language_model;

#endif
