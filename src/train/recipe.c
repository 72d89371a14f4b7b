/* train/recipe.c: recipes in memory: defaults, single assignments, and whether the keys fit each other.
 * For `rapt train` and for programs that make a recipe themselves.
 * Not the YAML side: see recipe_read.c and recipe_write.c. */
#include "rapt/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "train/recipe_keys.h"

void rapt_recipe_defaults(rapt_recipe *recipe)
{
    memset(recipe, 0, sizeof *recipe);
    for (size_t i = 0; i < recipe_key_count(); i++)
        recipe_key_reset(recipe_key_at(i), recipe);
}

void rapt_recipe_free(rapt_recipe *recipe)
{
    free(recipe->data.pairs);
    free(recipe->train.freeze);
    rapt_recipe_defaults(recipe);
}

static rapt_code assign(rapt_recipe *recipe, const char *assignment, char *reason)
{
    const char *equals = strchr(assignment, '=');
    char name[RECIPE_REASON];
    if (!equals) {
        snprintf(reason, RECIPE_REASON, "an assignment is KEY=VALUE");
        return RAPT_VALUE;
    }
    size_t length = (size_t)(equals - assignment);
    snprintf(name, sizeof name, "%.*s", length < RECIPE_REASON ? (int)length : RECIPE_REASON, assignment);
    const recipe_key *key = recipe_key_wanted(name, reason);
    return key ? recipe_key_set(key, recipe, equals + 1, reason) : RAPT_VALUE;
}

rapt_code rapt_recipe_set(rapt_recipe *recipe, const char *assignment, rapt_error *err)
{
    char reason[RECIPE_REASON];
    rapt_code code = assign(recipe, assignment, reason);
    return code == RAPT_OK ? code : rapt_fail(err, code, "--set %s: %s", quote(assignment).text, reason);
}

/* Keys that are each in their range and yet don't fit together. */
static rapt_code check_together(const rapt_recipe *r, char *reason)
{
    const long long heads = r->model.heads, d_model = r->model.d_model;
    const long long max_len = r->data.max_len, positions = r->model.max_positions;
    const size_t size = RECIPE_REASON;
    if (!r->data.pairs)
        snprintf(reason, size, "data.pairs is missing; it names the file of sentence pairs");
    else if (d_model % heads != 0)
        snprintf(reason, size, "model.heads is %lld; it must divide model.d_model, %lld", heads, d_model);
    else if (r->model.tied && !r->tokenizer.shared)
        snprintf(reason, size, "model.tied is true; it needs tokenizer.shared to be true as well");
    else if (max_len > positions)
        snprintf(reason, size, "data.max_len is %lld; it must be at most model.max_positions, %lld", max_len,
                 positions);
    else if (r->train.epochs == 0 && r->train.steps == 0)
        snprintf(reason, size, "train.epochs and train.steps are both 0; one of them must be above 0");
    else
        return RAPT_OK;
    return RAPT_VALUE;
}

rapt_code rapt_recipe_check(const rapt_recipe *recipe, const char *path, rapt_error *err)
{
    char reason[RECIPE_REASON];
    rapt_code code = RAPT_OK;
    for (size_t i = 0; code == RAPT_OK && i < recipe_key_count(); i++)
        code = recipe_key_check(recipe_key_at(i), recipe, reason);
    if (code == RAPT_OK)
        code = check_together(recipe, reason);
    return code == RAPT_OK ? code : rapt_fail(err, code, "%s: %s", path, reason);
}
