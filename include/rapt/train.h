/* rapt/train.h: optimizer, schedules, and the training loop; with the headers of data, recipes and groups, everything that
 * trains. It may change with each minor version.
 */
#ifndef RAPT_TRAIN_H
#define RAPT_TRAIN_H

#include "rapt/data.h"
#include "rapt/group.h"
#include "rapt/io.h"
#include "rapt/recipe.h"
#include "rapt/stream.h"
#include "rapt/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Adam (Kingma & Ba 2015, Algorithm 1) ------------------------------------------------------------------ */

typedef struct rapt_adam_options {
    size_t size;              /* of this struct; set by rapt_adam_options_default */
    double beta1, beta2;      /* decay rates of the first and second moment, 0 or more and below 1; default 0.9 and 0.999 */
    double eps;               /* added to the root of the second moment, 0 or more; default 1e-8 */
    double weight_decay;      /* decoupled (Loshchilov & Hutter 2019), on matrices only (2 dimensions or more); default 0 */
    bool lazy;                /* sparse parameters: moments and values change only in rows that a step uses, as in PyTorch's
                                 SparseAdam; false: the bits are the same as for a dense parameter */
    bool bits8;               /* keep moments in 8 bits for matrices of 4096 elements or more that are not sparse: a quarter of
                                 the memory, other results (docs/number-format.md, "Moments in 8 bits") */
    uint8_t reserved[6];      /* zeros, or else refused */
} rapt_adam_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_adam_options_init(rapt_adam_options *o, size_t size);
/* The paper's values, no weight decay. */
static inline rapt_adam_options rapt_adam_options_default(void)
{
    rapt_adam_options o;
    rapt_adam_options_init(&o, sizeof o);
    return o;
}

/* The first and second moments of all trainable parameters of a set, and the number of steps done. */
typedef struct rapt_adam rapt_adam;

/* Makes an optimizer for all parameters that the set has now and that are not frozen, with zero moments; `set` must outlive it.
 * `options` may be NULL: the defaults. NULL with `err` (which may be NULL) set: out of memory; RAPT_ERR_VALUE: options without a
 * size, a value out of range, `bits8` in the double build. */
RAPT_API rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err);
/* Applies deferred updates and frees `a`, which may be NULL. */
RAPT_API void rapt_adam_free(rapt_adam *a);
/* One step at learning rate `lr`; gradients are multiplied by `grad_scale`. Parameters without a gradient, and sparse ones of
 * which no row was used, keep value and moments. Fails, without any change, with the tape's failure (rapt_tape_status), or with
 * RAPT_ERR_VALUE if the set has more parameters than at rapt_adam_new.
 *
 * Unless `lazy`, the updates of rows of a sparse parameter that the step does not use are deferred, by up to 256 steps, until an
 * operation, rapt_params_at or rapt_params_find reads the rows. Then the updates are applied one by one, and give the bits that
 * immediate updates would have given. No call is needed for that, but reading a parameter may change it: only one thread at a
 * time may train a set, and no other thread may read it meanwhile. */
RAPT_API rapt_code rapt_adam_step(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err);
/* The number of steps done so far. */
RAPT_API uint64_t rapt_adam_steps(const rapt_adam *a);
/* Sets the number of steps done, on which bias correction depends, after a program has written the moments that belong to it. */
RAPT_API void rapt_adam_set_steps(rapt_adam *a, uint64_t steps);
/* The first moments of parameter `index` of the set (below its count at rapt_adam_new), in the parameter's shape. NULL for
 * buffers, for parameters that were frozen at rapt_adam_new, for moments in 8 bits, and with SGD without momentum. They belong to
 * `a`. Applies deferred
 * updates first. A program may write the moments, and must then call rapt_adam_set_steps. */
RAPT_API rapt_real *rapt_adam_first_moment(const rapt_adam *a, size_t index);
/* The second moments of parameter `index` of the set (below its count at rapt_adam_new), in the parameter's shape. NULL for
 * buffers, for parameters that were frozen at rapt_adam_new, for moments in 8 bits, for matrices that Muon moves, and with SGD.
 * They belong to `a`. Applies deferred updates first. A program may write the moments, and must then call rapt_adam_set_steps. */
RAPT_API rapt_real *rapt_adam_second_moment(const rapt_adam *a, size_t index);

/* ---- Muon (Jordan et al. 2024; Liu et al. 2025), with Adam for the rest --------------------------------------- */

typedef struct rapt_muon_options {
    size_t size;           /* of this struct; set by rapt_muon_options_default */
    double lr_scale;       /* Muon's learning rate as a multiple of Adam's, the argument of rapt_adam_step, above 0; default 1 */
    double momentum;       /* decay rate of the momentum, 0 or more and below 1; default 0.95 */
    double weight_decay;   /* decoupled, times Muon's learning rate before it is adjusted; default 0 */
    const char *matrices;  /* a shell pattern: the matrices of 2 dimensions with such a name are Muon's. NULL, the default: the
                              weights of attention (each of q, k, v and o by itself) and of feed-forward networks in a model's
                              blocks. Sparse parameters and adapters (LoRA) are never Muon's. Must outlive the optimizer */
    size_t ns_steps;       /* Newton-Schulz iterations, 1 to 99; default 5 */
    rapt_muon_adjust adjust_lr; /* default RAPT_MUON_MATCH_RMS_ADAMW; torch.optim.Muon's is ORIGINAL */
    bool nesterov;         /* default true */
    uint8_t reserved[3];   /* zeros, or else refused */
} rapt_muon_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_muon_options_init(rapt_muon_options *o, size_t size);
static inline rapt_muon_options rapt_muon_options_default(void)
{
    rapt_muon_options o;
    rapt_muon_options_init(&o, sizeof o);
    return o;
}

/* rapt_adam_new for an optimizer that moves hidden matrices by Muon and all other parameters by Adam. It is used like Adam, with
 * the functions above. A matrix has one moment, the first: with g the gradient times its factor, mu the momentum, lr Muon's
 * learning rate:
 *
 *    m = mu m + (1 - mu) g;   u = mu m + (1 - mu) g if nesterov, else m;   x = u / max(|u|, 1e-7)
 *    ns_steps times: G = x x^T, F = 2.0315 G G - 4.7750 G, x = 3.4445 x + F x   (of x^T if there are more rows than columns)
 *    p = (1 - lr weight_decay) p - lr adjust x
 *
 * This is torch.optim.Muon, but in fp32; on a tape that computes in bf16, x and G are rounded to bf16, as in torch, and products
 * are in bf16. Either of the options may be NULL: the defaults. NULL with `err` (which may be NULL) set: as in rapt_adam_new;
 * RAPT_ERR_VALUE also if `adam` has bits8. */
RAPT_API rapt_adam *rapt_muon_new(rapt_params *set, const rapt_muon_options *muon, const rapt_adam_options *adam,
                                  rapt_error *err);

/* ---- stochastic gradient descent with momentum (torch.optim.SGD without dampening) ----------------------------- */

typedef struct rapt_sgd_options {
    size_t size;           /* of this struct; set by rapt_sgd_options_default */
    double momentum;       /* 0 or more and below 1; default 0: none, and the optimizer keeps no moments */
    double weight_decay;   /* times the parameter is added to its gradient (L2), of matrices only (2 dimensions or more);
                              default 0 */
    bool nesterov;         /* needs a momentum; default false */
    bool decay_vectors;    /* everything decays, as with torch.optim.SGD; default false */
    uint8_t reserved[6];   /* zeros, or else refused */
} rapt_sgd_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_sgd_options_init(rapt_sgd_options *o, size_t size);
static inline rapt_sgd_options rapt_sgd_options_default(void)
{
    rapt_sgd_options o;
    rapt_sgd_options_init(&o, sizeof o);
    return o;
}

/* rapt_adam_new for an optimizer that moves all parameters by gradient descent. It is used like Adam, with the functions above;
 * the momentum m is its first moment, and there is no second. With g the gradient times its factor:
 *
 *    g = g + weight_decay p;   m = momentum m + g;   p = p - lr (g + momentum m if nesterov, else m)
 *
 * Rows of a sparse parameter that a step does not use have a gradient of 0, as a dense parameter would: momentum and weight decay
 * move them. NULL with `err` (which may be NULL) set: as in rapt_adam_new; RAPT_ERR_VALUE also if nesterov has no momentum. */
RAPT_API rapt_adam *rapt_sgd_new(rapt_params *set, const rapt_sgd_options *options, rapt_error *err);

/* ---- norms and schedules -------------------------------------------------------------------------------------- */

/* The global norm of all gradients, sqrt of the sum of squares (Pascanu et al. 2013). Clipping to norm c multiplies gradients by
 * min(1, c / norm). */
RAPT_API double rapt_grad_norm(rapt_tape *t, const rapt_params *set);
/* The name of the first parameter with a value (`of_grad`: with a gradient) that is not finite, or NULL. */
RAPT_API const char *rapt_first_not_finite(rapt_tape *t, const rapt_params *set, bool of_grad);

/* The learning rate of step `step` (from 1) of `total`: linear warmup, then constant, or falling with sqrt(warmup / step)
 * (Vaswani et al. 2017, eq. 3), or along a line or half a cosine (Loshchilov & Hutter 2017) that would reach lr_end one step
 * after the last. With schedule plateau, whose rate depends on the run's reports: the rate if it is never reduced. */
RAPT_API double rapt_learning_rate(const rapt_recipe *r, uint64_t step, uint64_t total);

/* ---- the training loop -------------------------------------------------------------------------------------- */

/* Rewards of answers, with data.preferences: means over pairs. A reward is train.dpo.beta times the difference of an answer's
 * log-probabilities by the model and by train.init. NaN: there are none. */
typedef struct rapt_rewards {
    double accuracy;         /* share of pairs whose chosen answer has the larger reward */
    double chosen, rejected;
} rapt_rewards;

/* The progress of a run. */
typedef struct rapt_progress {
    uint64_t step, steps;   /* done, and planned in all */
    uint64_t epoch, epochs; /* current (from 1), and planned in all */
    double epochs_done;     /* 2.5 in the middle of the third */
    double loss;            /* nats per target token, mean since the last report; with data.preferences, the loss of a pair */
    double step_loss;       /* likewise, of the last step alone; NaN: this call has made none, or it had no target token */
    double loss_book;       /* the book's figure, or NaN */
    double val_loss;        /* loss on the validation set at the last report, or NaN */
    double val_bleu;        /* BLEU of the validation set's greedy translations, with train.eval_bleu, or NaN */
    double val_chrf;        /* chrF of the same translations, likewise */
    double val_bleu_book;   /* the mean of the book's BLEU (rapt_bleu_book, k 2), with train.reduction book, or NaN */
    double best_val_loss;   /* val_loss of the model in best/: the lowest so far, unless train.best_by is a score; NaN: none */
    double best_score;      /* with train.best_by bleu or chrf: that score of the model in best/, the highest so far; else NaN */
    uint64_t best_step;     /* its step; 0: none */
    double lr, grad_norm;   /* of the last step */
    double tokens_per_s, seconds, seconds_left; /* tokens of all processes */
    int ranks;              /* processes that train together; 1: this one alone */
    double waited;          /* share of the processes' time, since the first step of this call, spent waiting for each other and
                               for the network; NaN: alone, or not known yet */
    uint64_t changed_after; /* the step after which a resumed run has last changed its learning rate, schedule or weight decay; 0:
                               never */
    rapt_rewards rewards;     /* mean since the last report, and */
    rapt_rewards val_rewards; /* of the validation set at the last report */
    bool report;            /* a line was written to train.jsonl */
    bool early_stopped;     /* train.patience ends the run here; without `report`, an earlier call had already ended it */
} rapt_progress;

/* A corpus of data.pairs: what a pass over the data (an epoch) has of it. */
typedef struct rapt_corpus {
    const char *path; /* as the recipe names it, from the working directory */
    double weight;    /* data.weights */
    size_t pairs;     /* in the training set */
    size_t pass;      /* in a pass: pairs times weight, to the nearest */
    const rapt_left_out *left_out; /* [rule_count] the rules of data.filter, in their order */
    size_t rule_count; /* 0: there is no filter */
    size_t lines;      /* with a filter: lines of the file */
} rapt_corpus;

/* The memory that training takes, in bytes (averages of train.ema count as moments), computed for the largest batch before it is
 * allocated. Activations (with the scratch memory of each thread) depend on the number of threads and the kernels. If several
 * processes train together: the most that any of them takes. */
typedef struct rapt_memory_plan {
    size_t parameters, gradients, moments, activations;
    size_t evaluation; /* during reports, with train.eval_bleu: a translator with its packed weights */
    size_t batches;    /* what is drawn from the data at once, with train.draw_by: step a whole step, and a batch of validation */
    size_t parameter_count;
    size_t trained_count; /* elements of parameter_count that are not frozen */
    size_t frozen_count; /* not in parameter_count: elements of the model for which adapters are trained (train.lora.rank); else
                            0 */
    size_t examples, validation_examples; /* sizes of training and validation set: pairs, conversations, preferences, or tokens of
                                             a text */
    size_t dropped, validation_dropped;   /* pairs, conversations or preferences left out because they are too long */
    size_t empty;                         /* pairs left out because a side has no text */
    size_t source_vocab, target_vocab;
    bool shared_vocab; /* source and target have the same tokenizer */
    const char *gemm; /* name of the GEMM kernels: rapt_tape_gemm */
    double step_tokens; /* target tokens in a step, mean over an epoch */
    size_t looked_up;   /* elements of parameter_count in embeddings whose rows are looked up and which no matrix product reads */
    size_t sparse;      /* elements of looked_up that are updated row by row (rapt_param_make_sparse) */
    const rapt_corpus *corpora; /* [corpus_count] of data.pairs, as long as the run lasts; NULL: there are none */
    size_t corpus_count;
} rapt_memory_plan;

/* What the run does before the first step and between steps, if that may take long ("tokenizing the text"): `done` of `count`
 * parts are done; count 0: unknown. It lasts until the next callback of any kind. */
typedef void rapt_phase_fn(void *context, const char *what, size_t done, size_t count);
/* Called once, before the memory is allocated. */
typedef void rapt_plan_fn(void *context, const rapt_memory_plan *plan);
/* Called after each step, and at each report. */
typedef void rapt_progress_fn(void *context, const rapt_progress *progress);
/* For language models with train.sample_every: `text` is the prompt and its continuation. */
typedef void rapt_sample_fn(void *context, uint64_t step, const char *text);
/* Called with one line of text if the run may not be what the user intended. */
typedef void rapt_warning_fn(void *context, const char *text);

typedef struct rapt_train_options {
    size_t size;           /* of this struct; set by rapt_train_options_default */
    const rapt_recipe *recipe; /* which must be set, as `out` must */
    const char *out;       /* model folder, made if need be; refused if it holds files that this run would overwrite */
    const rapt_pairs *pairs, *validation; /* translation: sentence pairs in place of the files data.pairs and data.validation,
                              which the recipe must have nevertheless, as names in messages and in recipe.yaml. All of them:
                              data.limit must be 0. They must outlive the run; a call that resumes brings the same pairs again.
                              NULL: files. Both are refused with a language model, as tokens are with a translation */
    const rapt_token_file *tokens, *validation_tokens; /* language models: tokens (rapt_token_file_from_ids) in place of the text
                              data.text, which the recipe must name nevertheless; no text.tokens is written. The tokenizer is
                              a file, which must have all ids, or the one of `init`, not learned. validation_tokens, unless
                              NULL, are the validation set, and data.validation_fraction must be 0. Lifetime and resuming as
                              for `pairs` */
    const char *init;      /* start from this model's parameters, sizes and tokenizers; NULL: as the recipe's train.init says.
                              Keys that the recipe gives and that contradict the model are refused */
    bool resume;           /* resume from the newest checkpoint in `out`. Without one the run begins anew, unless `out` has a
                              trace of an earlier run: best/, a line in train.jsonl, or a model other than the one that
                              `untrained` writes (RAPT_ERR_VALUE) */
    uint64_t max_steps;    /* end after this step; 0: as the recipe says */
    bool untrained;        /* end before the first step: the folder gets the model with its initial parameters and everything else
                              that a run writes before its first step, but no checkpoint */
    int threads;           /* 1 to 256; 0: RAPT_THREADS, or else the number of CPUs that this process may use */
    rapt_group *group;     /* the processes that train together, at most train.shards; all call rapt_train with the same options.
                              Results do not depend on their number. Only rank 0 reads and writes `out`, which the others need not
                              see, and calls the callbacks (all ranks call `stop`). A failure that all ranks know of is
                              RAPT_ERR_INTERRUPTED, or its message begins with "rank R on HOST". After any other failure the
                              caller must call rapt_group_abort, because the other ranks wait for this one. NULL: this process
                              alone */
    rapt_stop_fn *stop;    /* true: after the current batch, or the current token of a sample, rapt_train writes a checkpoint and
                              returns RAPT_ERR_INTERRUPTED. The call that resumes does the unfinished step or report. NULL:
                              never */
    rapt_phase_fn *on_phase; /* each may be NULL; called by the thread that called rapt_train */
    rapt_plan_fn *on_plan;
    rapt_progress_fn *on_progress;
    rapt_sample_fn *on_sample;
    rapt_warning_fn *on_warning;
    void *context;         /* of `stop` and all callbacks */
    bool reset_optimizer;  /* with `resume`: the optimizer begins anew after the checkpoint, with moments of 0 and the bias
                              correction of its first step */
    uint8_t reserved[7];   /* zeros, or else refused */
} rapt_train_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_train_options_init(rapt_train_options *o, size_t size);
/* A new run without callbacks, on all threads; `recipe` and `out` are NULL. */
static inline rapt_train_options rapt_train_options_default(void)
{
    rapt_train_options o;
    rapt_train_options_init(&o, sizeof o);
    return o;
}

/* Trains as the recipe says and leaves a model folder: config.json, model.safetensors, tokenizers, recipe.yaml, train.jsonl,
 * checkpoints/, best/ (a model folder with the best val_loss, val_bleu or val_chrf: train.best_by), with train.keep_untrained
 * untrained/ (a model folder with the initial parameters), and with train.tensorboard events.out.tfevents.rapt (the reports for
 * TensorBoard). Translation adds validation.tsv. A language model adds text.tokens, and text.txt if the recipe names several
 * files; both are made again if they are damaged or out of date. A run that is stopped and resumed anywhere gives the same bytes
 * as one that is not.
 *
 * `out` is locked from the first look at it to the end: if another process or thread trains into it, the call fails at once
 * (RAPT_ERR_IO). A folder that cannot be read is an error (RAPT_ERR_IO), not an empty folder.
 *
 * If recipe, data or models are wrong, no folder and no new file is left. A run that fails later, because of values that are not
 * finite or a full disk, leaves its folder with the log and the checkpoints. Resuming a run that has nothing left to do leaves
 * model and checkpoints as they are.
 *
 * RAPT_OK: all steps up to max_steps are done, or early stopping ended the run. RAPT_ERR_INTERRUPTED: `stop` cancelled it. `err`,
 * which may be NULL, explains all other codes. Sets the floating-point environment of the calling thread, as rapt_tape_begin
 * does. */
RAPT_API rapt_code rapt_train(const rapt_train_options *options, rapt_error *err);

/* rapt_train, one step at a time: for programs that look at the model, evaluate or decide between steps. rapt_train is
 *
 *    t = rapt_trainer_new(options, &err);
 *    do
 *        rapt_trainer_step(t, &err);
 *    while (!rapt_trainer_is_over(t));
 *    rapt_trainer_finish(t, &err);
 *    rapt_trainer_free(t);
 *
 * so a run gives the same bytes either way, whatever is called between the steps, but rapt_trainer_finish. One thread at a time
 * may use a trainer; with options->group, the thread that made it, and all processes make the same calls in the same order. Each
 * call that computes sets the floating-point environment of the calling thread, as rapt_tape_begin does. */
typedef struct rapt_trainer rapt_trainer;

/* Sets up a run: reads the data, makes or loads the model and the optimizer, finds the newest checkpoint, and locks and writes
 * the folder. *options is copied; what it points to must outlive the trainer. NULL with `err` (which may be NULL) set, as
 * rapt_train fails. */
RAPT_API rapt_trainer *rapt_trainer_new(const rapt_train_options *options, rapt_error *err);
/* Makes a step, and what is due after it: a report, a sample, a checkpoint. Does nothing if the run is over. After a failure,
 * each further call gives the same failure. A step or report that options->stop interrupts is no failure; rapt_trainer_finish
 * says so. */
RAPT_API rapt_code rapt_trainer_step(rapt_trainer *t, rapt_error *err);
/* Whether there is no step left: all are done, early stopping or options->stop has ended the run, or it has failed. */
RAPT_API bool rapt_trainer_is_over(const rapt_trainer *t);
/* The progress after the last step, as options->on_progress gets it; val_loss is the last report's. */
RAPT_API void rapt_trainer_progress(const rapt_trainer *t, rapt_progress *out);
/* The model as it is after the last step, only to be read; it belongs to the trainer, and its parameters change with the next
 * step. A translator, generator or explanation that is made from it must be freed before the next step, because it packs weights.
 * With train.ema its parameters are the averages after rapt_trainer_finish, and before it what the steps have made. NULL with
 * `err` set if the run has failed. */
RAPT_API const rapt_model *rapt_trainer_model(rapt_trainer *t, rapt_error *err);
/* The loss on the validation set, in nats per target token, as a report computes it, but without a report; NaN if it fails.
 * RAPT_ERR_VALUE: there is no validation set; RAPT_ERR_INTERRUPTED: options->stop. These two do not end the run. */
RAPT_API rapt_code rapt_trainer_evaluate(rapt_trainer *t, double *val_loss, rapt_error *err);
/* Writes the model and a checkpoint of the last step into the folder; nothing before the first step. */
RAPT_API rapt_code rapt_trainer_save(rapt_trainer *t, rapt_error *err);
/* Ends the run, after any step: writes the model, a checkpoint of the last step, and the last line of the log, and unlocks the
 * folder. There are no more steps then; a second call does nothing. RAPT_ERR_INTERRUPTED: options->stop ended it before its last
 * step. */
RAPT_API rapt_code rapt_trainer_finish(rapt_trainer *t, rapt_error *err);
/* Frees the trainer, and unlocks the folder unless rapt_trainer_finish has; NULL is fine. Without rapt_trainer_finish, the folder
 * has what was saved last. */
RAPT_API void rapt_trainer_free(rapt_trainer *t);

/* The steps of the checkpoints in a model folder, ascending (train.keep says how many a run keeps). The caller frees *steps. If
 * there are none, or no such folder, *steps is NULL and *count is 0. RAPT_ERR_IO: the folder's checkpoints cannot be listed;
 * RAPT_ERR_MEMORY. `err` may be NULL. */
RAPT_API rapt_code rapt_checkpoint_steps(const char *folder, uint64_t **steps, size_t *count, rapt_error *err);
/* Loads the model of a folder with the parameters, or with train.ema their averages, of its checkpoint of one step. The caller
 * frees it. NULL with `err` (which may be NULL) set: as rapt_model_load; RAPT_ERR_IO: the checkpoint cannot be read (a run in
 * progress may have deleted it); RAPT_ERR_VALUE: it belongs to another training run, or holds adapters; RAPT_ERR_FORMAT: its
 * shapes differ. */
RAPT_API rapt_model *rapt_model_load_checkpoint(const char *folder, uint64_t step, rapt_error *err);

/* Writes a model folder `out` with the mean of the parameters of the newest `count` checkpoints in the model folder `run` (0:
 * all; train.keep says how many there are). Each element is summed from the oldest to the newest checkpoint in double, divided
 * and rounded. `err` may be NULL. RAPT_ERR_VALUE: there are fewer checkpoints, they hold adapters, or `out` is `run`, its best/
 * or its checkpoints/; RAPT_ERR_FORMAT: shapes differ; RAPT_ERR_IO: a checkpoint cannot be read (a run in progress may have
 * deleted it), or another process writes into `out`. */
RAPT_API rapt_code rapt_average(const char *run, size_t count, const char *out, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
