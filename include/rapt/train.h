/* rapt/train.h: optimizer, schedules, and the training loop.
 */
#ifndef RAPT_TRAIN_H
#define RAPT_TRAIN_H

#include "rapt/io.h"
#include "rapt/recipe.h"
#include "rapt/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Adam (Kingma & Ba 2015, Algorithm 1) ------------------------------------------------------------------ */

typedef struct rapt_adam_options {
    double beta1, beta2;      /* decay rates of the first and second moment; 0: 0.9 and 0.999, as in the paper; negative: 0 */
    double eps;               /* added to the root of the second moment; 0: 1e-8; negative: 0 */
    double weight_decay;      /* decoupled (Loshchilov & Hutter 2019), on matrices only (2 dimensions or more); 0: none */
    bool lazy;                /* sparse parameters: moments and values change only in rows that a step uses, as PyTorch's
                                 SparseAdam; false: exactly as those of any other parameter, to the bit */
    bool bits8;               /* moments of matrices of 4096 elements or more are kept in 8 bits, not of sparse ones: a quarter
                                 of the memory, results that differ (docs/number-format.md, "Moments in 8 bits") */
} rapt_adam_options;

/* The first and second moments of all trainable parameters of a set, and the number of steps done. */
typedef struct rapt_adam rapt_adam;

/* An optimizer for the parameters that the set has now and that are not frozen; `set` must outlive it. Moments are zero.
 * `options` NULL, or zeroed: the paper's. NULL with `err` set (it may be NULL): out of memory; RAPT_ERR_VALUE: `bits8` in the
 * double build. */
RAPT_API rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err);
/* Applies what it has deferred, and frees `a`, which may be NULL. */
RAPT_API void rapt_adam_free(rapt_adam *a);
/* One step at learning rate `lr` with the gradients, as they are, times `grad_scale`. Parameters without a gradient, and sparse
 * ones of which no row was used, keep value and moments. Fails, and changes nothing, with the tape's failure (rapt_tape_status),
 * or with RAPT_ERR_VALUE where the set has more parameters than at rapt_adam_new.
 *
 * Rows of a sparse parameter that the step does not use move later, unless `lazy`: their updates are deferred, by up to 256
 * steps, until an operation, rapt_params_at or rapt_params_find reads them, and then made one by one, with the bits that they
 * would have had in time. There is nothing to call. Until they are made, reading changes the parameter: a set is trained by one
 * thread at a time, and nobody else reads it meanwhile. */
RAPT_API rapt_code rapt_adam_step(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err);
/* Steps done so far. */
RAPT_API uint64_t rapt_adam_steps(const rapt_adam *a);
/* Sets the number of steps done, after a program has written the moments that belong to it (bias correction depends on it). */
RAPT_API void rapt_adam_set_steps(rapt_adam *a, uint64_t steps);
/* The first moments of parameter `index` of the set (below its count at rapt_adam_new), of its shape; NULL for parameters that
 * were frozen then, for buffers, and for moments that are kept in 8 bits. They belong to `a`. Updates that are deferred are made
 * first. The moments may be written; rapt_adam_set_steps must follow. */
RAPT_API rapt_real *rapt_adam_first_moment(const rapt_adam *a, size_t index);
/* The second moments of parameter `index` of the set (below its count at rapt_adam_new), of its shape; NULL for parameters that
 * were frozen then, for buffers, and for moments that are kept in 8 bits. They belong to `a`. Updates that are deferred are made
 * first. The moments may be written; rapt_adam_set_steps must follow. */
RAPT_API rapt_real *rapt_adam_second_moment(const rapt_adam *a, size_t index);

/* sqrt of the sum of squares of all gradients (Pascanu et al. 2013); clipping to norm c multiplies gradients by
 * min(1, c / norm). */
RAPT_API double rapt_grad_norm(rapt_tape *t, const rapt_params *set);
/* The name of the first parameter (`of_grad`: or its gradient) with a value that is not finite, or NULL. */
RAPT_API const char *rapt_first_not_finite(rapt_tape *t, const rapt_params *set, bool of_grad);

/* The learning rate of step `step` (from 1) of `total`: linear warmup, then constant, falling with
 * sqrt(warmup / step) (Vaswani et al. 2017, eq. 3), or a cosine that would be down to lr_end one step behind the last
 * (Loshchilov & Hutter 2017). */
RAPT_API double rapt_learning_rate(const rapt_recipe *r, uint64_t step, uint64_t total);

/* ---- the training loop -------------------------------------------------------------------------------------- */

/* The progress of a run. */
typedef struct rapt_progress {
    uint64_t step, steps;   /* done, and planned in all */
    uint64_t epoch, epochs; /* current (from 1), and planned */
    double epochs_done;     /* 2.5 in the middle of the third */
    double loss;            /* nats a target token, mean since the last report */
    double loss_book;       /* the book's figure, or NaN */
    double val_loss;        /* on the validation set at the last report, or NaN */
    double val_bleu;        /* of its greedy translations, with train.eval_bleu, or NaN */
    double val_bleu_book;   /* likewise the book's (rapt_bleu_book, k 2, the mean), with train.reduction book, or NaN */
    double best_val_loss;   /* the lowest so far, which best/ has; NaN: none */
    uint64_t best_step;     /* its step; 0: none */
    double lr, grad_norm;   /* of the last step */
    double tokens_per_s, seconds, seconds_left; /* tokens of all processes */
    int ranks;              /* processes that train together; 1: this one alone */
    double waited;          /* share of their time since the first step of this call that they waited for each other and for
                               the network; NaN: alone, or not known yet */
    bool report;            /* a line was written to train.jsonl */
    bool early_stopped;     /* the run ends here, as train.patience says; without `report`, an earlier call has said so */
} rapt_progress;

/* The memory that training takes, in bytes, counted for the largest batch before it is allocated. Activations (with the scratch
 * memory of each thread), and so the sum, depend on the number of threads and the kernels. Of several processes that train
 * together: what each takes at most. */
typedef struct rapt_memory_plan {
    size_t parameters, gradients, moments, activations;
    size_t evaluation; /* during reports, with train.eval_bleu: a translator with its packed weights */
    size_t parameter_count;
    size_t trained_count; /* of those, elements that are not frozen */
    size_t frozen_count; /* beside them: of the model that adapters are trained for (train.lora.rank); else 0 */
    size_t examples, validation_examples; /* to train on, of the validation set: sentence pairs; of a text, tokens */
    size_t dropped, validation_dropped;   /* left out of the two because they are too long */
    size_t empty;                         /* left out of both because a side has no text */
    size_t source_vocab, target_vocab;
    bool shared_vocab; /* both are one tokenizer's */
    const char *gemm; /* what computes matrix products: rapt_tape_gemm */
    double step_tokens; /* target tokens whose loss a step adds up, in the mean over an epoch */
    size_t looked_up;   /* of parameter_count: embeddings whose rows are looked up, and which no matrix product reads */
    size_t sparse;      /* of looked_up: those that are updated row by row (rapt_param_make_sparse) */
} rapt_memory_plan;

/* What the run does between steps and before the first, where that may take long ("tokenizing the text"): `done` of `count`
 * parts, count 0 where that is not known. It lasts until the next callback of any kind. */
typedef void rapt_phase_fn(void *context, const char *what, size_t done, size_t count);
/* Called once, before the memory is allocated. */
typedef void rapt_plan_fn(void *context, const rapt_memory_plan *plan);
/* Called after each step, and at each report. */
typedef void rapt_progress_fn(void *context, const rapt_progress *progress);
/* For language models with train.sample_every: `text` is the prompt and the text that the model generates from it. */
typedef void rapt_sample_fn(void *context, uint64_t step, const char *text);
/* Called with one line of text where a run may not be what was intended. */
typedef void rapt_warning_fn(void *context, const char *text);

typedef struct rapt_group rapt_group;

/* Zeroed but for `recipe` and `out`: a new run, without callbacks. */
typedef struct rapt_train_options {
    const rapt_recipe *recipe;
    const char *out;       /* model folder, made if need be; refused where it holds what this run would write over */
    const char *init;      /* start from this model's parameters, sizes and tokenizers; NULL: as the recipe's train.init says.
                              Keys of the recipe that are given and say otherwise are refused */
    bool resume;           /* resume from the newest checkpoint in `out`, or begin there where there is none, nor any trace of
                              one: a model other than that of `untrained`, best/ or a line in train.jsonl (RAPT_ERR_VALUE) */
    uint64_t max_steps;    /* stop after this step; 0: as the recipe says */
    bool untrained;        /* stop before the first step: the folder gets the model with the parameters that the run would start
                              from, all else that a run writes before its first step, and no checkpoint */
    int threads;           /* 1 to 256; 0: RAPT_THREADS, else the CPUs that this process may use */
    rapt_group *group;     /* the processes that train together, at most train.shards of them; all call rapt_train alike. What
                              is written does not depend on how many there are. Rank 0 alone reads and writes `out`, which the
                              others need not see, and calls the callbacks but for `stop`. A failure that all ranks know
                              of is RAPT_ERR_INTERRUPTED, or its message begins with "rank R on HOST"; after any other one
                              rapt_group_abort is due, since the others wait for this rank. NULL: this process alone */
    rapt_stop_fn *stop;    /* true: after the batch, or the token of a sample, at hand, a checkpoint is written and
                              RAPT_ERR_INTERRUPTED returned. A step or report that was not finished is made by the call that
                              resumes. NULL: never */
    rapt_phase_fn *on_phase; /* each may be NULL; called by the thread that called rapt_train */
    rapt_plan_fn *on_plan;
    rapt_progress_fn *on_progress;
    rapt_sample_fn *on_sample;
    rapt_warning_fn *on_warning;
    void *context;         /* of `stop` and all callbacks */
} rapt_train_options;

/* Trains as the recipe says and leaves a model folder: config.json, model.safetensors, tokenizers, recipe.yaml,
 * best/ (a model folder: lowest val_loss), untrained/ (another one: what the first step starts from) where the recipe keeps it,
 * train.jsonl, checkpoints/; of translation validation.tsv; of a language model text.tokens, and text.txt where the recipe names
 * several files (both are made again where they are not as they should be). Stopped and resumed anywhere, it gives the same bytes
 * as if never stopped.
 *
 * `out` is locked from the first look at it to the end: RAPT_ERR_IO, at once, where another process or thread trains into it.
 * A folder that cannot be read is an error (RAPT_ERR_IO) and does not count as empty.
 *
 * Where something is wrong with recipe, data or models, no folder and no new file is left. A run that fails later, by
 * values that are not finite or a full disk, leaves its folder with the log and the checkpoints that it had. A run that is
 * resumed where nothing is left to do leaves model and checkpoints as they are.
 *
 * RAPT_OK: all steps are done, up to max_steps, or early stopping ended the run. Other codes as `err`, which may be NULL, says;
 * RAPT_ERR_INTERRUPTED: `stop` ended it. Sets the floating-point environment of the calling thread, as rapt_tape_begin does. */
RAPT_API rapt_code rapt_train(const rapt_train_options *options, rapt_error *err);

/* The steps of the checkpoints that a model folder holds, ascending: train.keep says how many a run keeps. The caller frees
 * *steps, which is NULL, with a *count of 0, where there are none, or no such folder. RAPT_ERR_IO: the folder's checkpoints
 * cannot be listed; RAPT_ERR_MEMORY. `err` may be NULL. */
RAPT_API rapt_code rapt_checkpoint_steps(const char *folder, uint64_t **steps, size_t *count, rapt_error *err);
/* The model of a folder with the parameters of its checkpoint of one step. The caller frees it. NULL with `err` (which may be
 * NULL) set: as rapt_model_load; RAPT_ERR_IO where the checkpoint cannot be read (a run that is under way may have deleted it);
 * RAPT_ERR_VALUE where it is of another training run, or of adapters; RAPT_ERR_FORMAT where it is of another shape. */
RAPT_API rapt_model *rapt_model_load_checkpoint(const char *folder, uint64_t step, rapt_error *err);

/* Writes a model folder `out` with the mean of the parameters of the newest `count` checkpoints in the model folder `run`
 * (0: of all; train.keep says how many there are): each element the sum from the oldest to the newest in double, divided and
 * rounded. `err` may be NULL. RAPT_ERR_VALUE where there are fewer, or adapters, or `out` is `run`, its best or its checkpoints;
 * RAPT_ERR_FORMAT where one is of another shape; RAPT_ERR_IO where one can't be read (a run that is under way may have deleted
 * it), or another process writes into `out`. */
RAPT_API rapt_code rapt_average(const char *run, size_t count, const char *out, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
