/* cli/plot/plot_seeds.c: groups runs by their recipes, and averages them. */
#include "base/chars.h"
#include "cli/plot/cmd_plot.h"

#include "recipe/recipe_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plot_series_free(plot_series *s)
{
    free(s->name);
    free(s->x);
    free(s->y);
    free(s->low);
    free(s->high);
    *s = (plot_series){0};
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static rapt_code load_recipes(char *const *paths, size_t runs, rapt_recipe *recipes, rapt_error *err)
{
    rapt_error why = {0};
    for (size_t i = 0; i < runs; i++) {
        if (rapt_recipe_load(paths[i], &recipes[i], &why))
            return rapt_fail(err, RAPT_ERR_VALUE, "--group: %.200s is no folder of a run with its recipe.yaml: %s", paths[i],
                             why.message);
        recipes[i].seed = 1;
    }
    return RAPT_OK;
}

static void group_runs(const rapt_recipe *recipes, size_t runs, plot_settings *s)
{
    for (size_t i = 0; i < runs; i++) {
        size_t k = 0;
        while (k < i && recipe_first_difference(&recipes[k], &recipes[i]))
            k++;
        s->of[i] = k < i ? s->of[k] : s->count++;
    }
}

/* The length of the common beginning of a setting's names, without the digits and signs before the difference: 3 for "pre-1" and
 * "pre-2". */
static size_t common_length(const plot_settings *s, char *const *names, size_t runs, size_t setting, size_t *members)
{
    const char *first = NULL;
    size_t length = 0;
    *members = 0;
    for (size_t i = 0; i < runs; i++) {
        if (s->of[i] != setting)
            continue;
        size_t same = 0;
        while (first && same < length && names[i][same] == first[same])
            same++;
        length = first ? same : strlen(names[i]);
        first = first ? first : names[i];
        ++*members;
    }
    const size_t whole = length;
    while (*members > 1 && length > 0 && strchr("-_./ 0123456789", first[length - 1]))
        length--;
    return length > 0 ? length : whole > 0 ? whole : strlen(first);
}

static rapt_code name_settings(plot_settings *s, char *const *names, size_t runs, rapt_error *err)
{
    for (size_t setting = 0; setting < s->count; setting++) {
        size_t members, first = 0;
        while (s->of[first] != setting)
            first++;
        const int length = (int)common_length(s, names, runs, setting, &members);
        s->names[setting] = members > 1 ? chars_print("%.*s (%zu runs)", length, names[first], members)
                                        : chars_copy(names[first]);
        if (!s->names[setting])
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the names of curves");
    }
    return RAPT_OK;
}

rapt_code plot_settings_find(char *const *paths, char *const *names, size_t runs, plot_settings *s, rapt_error *err)
{
    rapt_recipe *recipes = calloc(runs, sizeof *recipes);
    *s = (plot_settings){.of = calloc(runs, sizeof *s->of), .names = calloc(runs, sizeof *s->names)};
    rapt_code code = recipes && s->of && s->names ? RAPT_OK
                                                  : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu recipes", runs);
    code = code ? code : load_recipes(paths, runs, recipes, err);
    if (!code) {
        group_runs(recipes, runs, s);
        code = name_settings(s, names, runs, err);
    }
    for (size_t i = 0; recipes && i < runs; i++)
        rapt_recipe_free(&recipes[i]);
    free(recipes);
    if (code)
        plot_settings_free(s);
    return code;
}

void plot_settings_free(plot_settings *s)
{
    for (size_t i = 0; s->names && i < s->count; i++)
        free(s->names[i]);
    free(s->names);
    free(s->of);
    *s = (plot_settings){0};
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

/* The y of a run at x, or NaN. The search starts at *at and moves it, because x grows from call to call. */
static double value_at(const plot_series *run, double x, size_t *at)
{
    while (*at < run->count && run->x[*at] < x)
        ++*at;
    return *at < run->count && run->x[*at] == x ? run->y[*at] : NAN;
}

rapt_code plot_series_mean(const plot_series *const *runs, size_t count, plot_series *to, rapt_error *err)
{
    const size_t most = runs[0]->count;
    size_t *at = calloc(count, sizeof *at);
    double **const parts[] = {&to->x, &to->y, &to->low, &to->high};
    bool ok = at != NULL;
    for (size_t i = 0; i < 4; i++)
        ok = (*parts[i] = malloc((most + 1) * sizeof **parts[i])) != NULL && ok;
    for (size_t i = 0; ok && i < most; i++) {
        double sum = 0, low = INFINITY, high = -INFINITY;
        for (size_t r = 0; r < count; r++) {
            const double y = value_at(runs[r], runs[0]->x[i], &at[r]);
            sum += y;
            low = fmin(low, y);
            high = fmax(high, y);
        }
        if (isnan(sum))
            continue;
        to->x[to->count] = runs[0]->x[i];
        to->y[to->count] = sum / (double)count;
        to->low[to->count] = low;
        to->high[to->count++] = high;
    }
    free(at);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a mean of %zu curves", count);
}
