/* train/checkpoint/checkpoint.h: everything that a stopped run needs to be resumed as if it had never stopped. */
#ifndef TRAIN_CHECKPOINT_CHECKPOINT_H
#define TRAIN_CHECKPOINT_CHECKPOINT_H

#include "rapt/io.h"
#include "rapt/train.h"

#include "io/safetensors.h"
#include "recipe/recipe_compare.h"
#include "train/checkpoint/moments.h"

/* The state of a run that is not in tensors. The random stream and the order of data depend on (seed, step) alone. */
typedef struct checkpoint_state {
    uint64_t step;
    uint64_t recipe_hash; /* a checkpoint belongs to one recipe */
    double nll, book;     /* sums since the last report */
    uint64_t tokens;
    double grad_norm, best_val_loss, val_loss, seconds;
    uint64_t waited; /* reports since the best one */
    double best_score; /* of the best model, if a score decides; NaN: none, and then it is not written */
    double reward_chosen, reward_rejected; /* reward_sums since the last report; NaN: no preferences, and then not written */
    uint64_t reward_correct;
    uint64_t stale, reductions; /* of the plateau schedule; not written if they are 0 */
    uint64_t adam_from;     /* the step after which the optimizer has begun anew; not written if it is 0 */
    uint64_t changed_after; /* the step after which the keys of `tuned` have last changed; not written if it is 0 */
    uint64_t fixed_hash;    /* recipe_hash without those keys; 0: a checkpoint of an earlier version */
    char tuned[RECIPE_TUNED]; /* recipe_tuned_text, or empty */
} checkpoint_state;

typedef struct checkpoint_plan {
    size_t keep;    /* number of newest checkpoints to keep */
    uint64_t every; /* steps; 0: by time */
} checkpoint_plan;

/* Writes `folder`/checkpoints/step-N.safetensors (atomic), which carries a copy of the model's config.json, then deletes earlier
 * ones that are not at a multiple of plan.every, because a run was stopped there, and all but the newest plan.keep. It also fails
 * if these can't be listed or deleted. With a group all ranks call it, and rank 0 writes; it fails on all alike. */
rapt_code checkpoint_save(const char *folder, const rapt_model *m, const moments *of, const checkpoint_state *state,
                          checkpoint_plan plan, rapt_error *err);

/* What a checkpoint must be for a run to resume from it. */
typedef struct checkpoint_wanted {
    uint64_t step; /* the step of its name */
    uint64_t recipe_hash, first_hash; /* one of them; the second as version 0.1 counted it; */
    uint64_t fixed_hash;              /* or else this one: the recipe may have other keys of `tuned` */
} checkpoint_wanted;

/* A checkpoint that is open; zeroed on ranks other than 0. */
typedef struct checkpoint_file {
    safetensors *file;
    char *path;
} checkpoint_file;

/* Opens the checkpoint of step wanted.step and checks all of it. Takes its counters, in which recipe_hash becomes
 * wanted.recipe_hash, and the model's `run`. RAPT_ERR_VALUE: it has none of the hashes; RAPT_ERR_FORMAT: its counters are
 * impossible at this step, or its model has another config.json. Call checkpoint_close in any case. */
rapt_code checkpoint_open(const char *folder, checkpoint_wanted wanted, rapt_model *m, const moments *of,
                          checkpoint_state *state, checkpoint_file *f, rapt_error *err);
/* Parameters and moments from it, of an optimizer that has made `steps` steps; 0: it keeps the moments it begins with. With a
 * group all ranks call it, and get them from rank 0. */
rapt_code checkpoint_read(const checkpoint_file *f, uint64_t steps, const rapt_params *set, const moments *m, rapt_error *err);
void checkpoint_close(checkpoint_file *f);

#endif
