/* train/folder/lengthen.c: continues a finished run for more epochs, or gives a stopped run another length. A learning rate that
 * is constant, falls with 1/sqrt(step) or falls where reports become no better does not depend on the end: the result is
 * bit-identical to a run that had this length from the start. A cosine or linear schedule does depend on it. */
#include "train/folder/lengthen.h"

#include "recipe/recipe_compare.h"
#include "train/step_passes.h"

#include <stdlib.h>

uint64_t lengthen_steps(const run *r, const rapt_recipe *recipe)
{
    const uint64_t draws = step_draws(recipe);
    return recipe->train.steps ? (uint64_t)recipe->train.steps
                               : ((uint64_t)recipe->train.epochs * r->batches_per_epoch + draws - 1) / draws;
}

/* The run's recipe with the length of the one that its folder keeps, if there is one. Texts are the run's. */
static rapt_recipe with_length_of_before(const run *r, const rapt_recipe *recipe)
{
    rapt_recipe before, all = *recipe;
    if (r->options->resume && rapt_recipe_load(r->options->out, &before, NULL) == RAPT_OK) {
        all.train.epochs = before.train.epochs;
        all.train.steps = before.train.steps;
        rapt_recipe_free(&before);
    }
    return all;
}

uint64_t lengthen_first_hash(const run *r)
{
    rapt_recipe all = with_length_of_before(r, r->options->recipe);
    return recipe_hash_first(&all);
}

static void warn_of_decay(const run *r, uint64_t before)
{
    const uint64_t next = r->counters.step + 1, warmup = (uint64_t)r->recipe->train.warmup;
    if (r->counters.step <= warmup) /* learning rates of the warmup do not depend on the end either */
        return;
    const char *const names[] = {[RAPT_RECIPE_SCHEDULE_COSINE] = "cosine", [RAPT_RECIPE_SCHEDULE_LINEAR] = "linear",
                                 [RAPT_RECIPE_SCHEDULE_PLATEAU] = NULL};
    const char *name = names[r->recipe->train.schedule];
    if (before == r->steps || !name)
        return;
    run_warn(r, "train.schedule %s now ends at step %llu, not %llu: the learning rate of step %llu is %.3g, not %.3g; a run "
             "of this length from the start gives another model",
             name, (unsigned long long)r->steps, (unsigned long long)before, (unsigned long long)next,
             rapt_learning_rate(r->recipe, next, r->steps), rapt_learning_rate(r->recipe, next, before));
}

rapt_code lengthen_check(run *r, rapt_error *err)
{
    const uint64_t step = r->counters.step, limit = r->options->max_steps;
    const char *key = r->recipe->train.steps ? "train.steps" : "train.epochs";
    if ((uint64_t)r->recipe->train.warmup > r->steps)
        run_warn(r, "train.warmup is %lld, and the run has %llu steps: the learning rate ends at %.3g of %.3g",
                 (long long)r->recipe->train.warmup, (unsigned long long)r->steps,
                 rapt_learning_rate(r->recipe, r->steps, r->steps), r->recipe->train.lr);
    if (limit > r->steps)
        run_warn(r, "--max-steps %llu is past the last step of the recipe, %llu; to train longer, set %s higher",
                 (unsigned long long)limit, (unsigned long long)r->steps, key);
    if (step == 0)
        return RAPT_OK;
    if (step > r->steps)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: step %llu is done already, and %s plans %llu: set it higher", r->options->out,
                         (unsigned long long)step, key, (unsigned long long)r->steps);
    rapt_recipe before = with_length_of_before(r, r->recipe);
    warn_of_decay(r, lengthen_steps(r, &before));
    if ((limit > 0 || r->options->untrained) && limit <= step && step < r->steps)
        run_warn(r, "step %llu is done already, and --max-steps is %llu: nothing is trained", (unsigned long long)step,
                 (unsigned long long)limit);
    if (step == r->steps)
        run_warn(r, "the run is finished, at step %llu; to train longer, set %s higher", (unsigned long long)step, key);
    return RAPT_OK;
}
