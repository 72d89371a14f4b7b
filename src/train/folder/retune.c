/* train/folder/retune.c: tells which keys a resumed run changes, and makes the plateau schedule begin with the new rate. */
#include "train/folder/retune.h"

#include "recipe/recipe_compare.h"

#include <stdio.h>
#include <string.h>

enum { CHANGES = 400 };

/* Appends "train.lr 0.02 (was 0.01)". */
static void add_change(const recipe_key *key, const rapt_recipe *now, const rapt_recipe *before, char text[CHANGES])
{
    char here[RECIPE_NUMBER], there[RECIPE_NUMBER];
    const size_t used = strlen(text);
    snprintf(text + used, CHANGES - used, "%s%s %s (was %s)", used > 0 ? ", " : "", key->name,
             recipe_key_value(key, now, here), recipe_key_value(key, before, there));
}

static rapt_code take_before(const run *r, const char *text, rapt_recipe *before, rapt_error *err)
{
    char reason[RECIPE_REASON];
    *before = *r->recipe;
    if (recipe_tuned_take(text, before, reason) == RAPT_OK)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the checkpoint of step %llu has a recipe that no run has: %s", r->options->out,
                     (unsigned long long)r->newest, reason);
}

rapt_code retune_check(run *r, const char *text, rapt_error *err)
{
    run_counters *c = &r->counters;
    char changes[CHANGES] = "";
    rapt_recipe before;
    rapt_code code = take_before(r, text, &before, err);
    for (size_t i = 0; i < recipe_key_count() && !code; i++) {
        const recipe_key *key = recipe_key_at(i);
        if (recipe_key_is_tuned(key) && !recipe_key_equal(key, r->recipe, &before))
            add_change(key, r->recipe, &before, changes);
    }
    if (r->options->reset_optimizer)
        snprintf(changes + strlen(changes), CHANGES - strlen(changes), "%sthe optimizer anew", *changes ? ", " : "");
    if (code || !*changes)
        return code;
    if (c->step >= r->steps)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: the run is finished, at step %llu, so that %s would change nothing; to train "
                         "longer, set %s higher", r->options->out, (unsigned long long)c->step, changes,
                         r->recipe->train.steps ? "train.steps" : "train.epochs");
    run_warn(r, "from step %llu on with %s: no recipe alone gives this result", (unsigned long long)c->step + 1, changes);
    c->changed_after = c->step;
    c->waited = 0; /* a run that stopped early continues with the change */
    c->adam_from = r->options->reset_optimizer ? c->step : c->adam_from;
    if (before.train.lr != r->recipe->train.lr || before.train.schedule != r->recipe->train.schedule)
        c->stale = c->reductions = 0; /* the new rate is what is meant, not a part of it */
    return RAPT_OK;
}
