/* train/task/task.h: the interface of a task to a training run: where batches come from, what is computed from a batch, and what
 * the task writes into the model folder. Everything else in a run is the same for all tasks. */
#ifndef TRAIN_TASK_TASK_H
#define TRAIN_TASK_TASK_H

#include "rapt/recipe.h"
#include "rapt/tape.h"
#include "rapt/train.h"

#include <math.h>

typedef struct run run;

/* The input of one pass. Borrowed until the next batch is asked for. */
typedef struct train_batch {
    rapt_tokens source;         /* translation only: [batch, time] */
    const int32_t *source_lens; /* [batch] */
    rapt_tokens inputs, labels; /* [batch, time], the labels one position later */
    const int32_t *valid_lens;  /* [batch] labels that count, or NULL: all */
    const uint32_t *examples;   /* [batch] index in the data, which keys dropout */
    const rapt_real *reference; /* of preferences: log-probabilities by the reference, at that index; NULL: only counted */
    size_t tokens;              /* labels that the loss counts */
} train_batch;

/* Sums over pairs of answers; zeros without data.preferences. */
typedef struct reward_sums {
    double chosen, rejected; /* rewards: rapt_dpo_sums */
    uint64_t correct;        /* pairs whose chosen answer has the larger one */
} reward_sums;

static inline reward_sums reward_sums_add(reward_sums a, reward_sums b)
{
    return (reward_sums){a.chosen + b.chosen, a.rejected + b.rejected, a.correct + b.correct};
}

/* The sums of a pass. With data.preferences, `loss` has losses of pairs, and pairs in place of tokens. */
typedef struct pass_sums {
    rapt_loss_sums loss;
    reward_sums rewards;
} pass_sums;

#define TASK_MAX_FILES 4
#define TASK_MAX_INPUTS 4

/* What a task has read, or made of it; it must be the same on all processes that train together. */
typedef struct task_input {
    const char *name; /* for messages: the path, or a description; NULL: there is no such input */
    uint64_t hash;    /* hash of the contents */
} task_input;

/* Scores of translations of the validation set, and rewards of its preferences; NaN: none. */
typedef struct train_scores {
    double bleu, chrf;
    double bleu_book; /* with the book's reduction only */
    rapt_rewards rewards;
} train_scores;

#define TRAIN_NO_SCORES (train_scores){NAN, NAN, NAN, {NAN, NAN, NAN}}

typedef struct train_task {
    /* Reads the data, and makes the tokenizers, or loads a model with its own. */
    rapt_code (*open)(run *r, rapt_error *err);
    /* With a group, when all ranks have come: gives the others what only rank 0 has read in `open`; NULL: each rank reads
     * everything. */
    rapt_code (*share)(run *r, rapt_error *err);
    /* Lists what each rank has read. NULL: only what rank 0 gave. */
    void (*inputs)(const run *r, task_input list[TASK_MAX_INPUTS]);
    /* The data sets, and how many batches an epoch has. */
    rapt_code (*load)(run *r, rapt_error *err);
    /* Makes the model's parameters, unless a model was loaded; `seed` may be RAPT_SEED_SHAPES. Also checks what can only be
     * checked then. */
    rapt_code (*make)(run *r, uint64_t seed, rapt_error *err);
    /* Makes the memory into which batches are read, once memory is checked; may be NULL. */
    rapt_code (*start)(run *r, rapt_error *err);
    void (*close)(run *r);

    /* Batch `index` of the whole run; batch `index` of the validation set. */
    rapt_code (*batch)(run *r, uint64_t index, train_batch *out, rapt_error *err);
    rapt_code (*validation_batch)(run *r, size_t index, train_batch *out, rapt_error *err);
    /* The largest batch, of training or of the validation set, if train.batch (or train.batch_tokens, if set) were `size`. Its
     * elements mean nothing. */
    rapt_code (*sized)(run *r, size_t size, bool validation, train_batch *out, rapt_error *err);
    /* The loss of a batch on the run's tape; changes nothing. */
    rapt_tensor *(*loss)(const run *r, const train_batch *b, const rapt_loss_options *o, pass_sums *sums);

    uint64_t (*hash)(const run *r); /* hash of the data and of everything else that the recipe doesn't say */
    void (*describe)(const run *r, rapt_memory_plan *plan);
    /* Names of the files that `write` and a model of this task put into the folder, ended by NULL, without files that are made
     * again if they are damaged or out of date. */
    rapt_code (*files)(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err);
    rapt_code (*write)(const run *r, rapt_error *err);  /* writes files besides the model's own */
    char *(*sample)(run *r, rapt_error *err); /* a text that the model generates from the sample prompt; may be NULL */
    rapt_code (*score)(run *r, train_scores *scores, rapt_error *err); /* may be NULL */
} train_task;

extern const train_task train_translation, train_language_model, train_conversations, train_preferences;

#endif
