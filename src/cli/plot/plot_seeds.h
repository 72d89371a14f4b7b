/* cli/plot/plot_seeds.h: runs of one setting, which differ only in their seed, as one curve: their mean, and a band from the
 * least to the greatest. For `rapt plot training --group`. */
#ifndef CLI_PLOT_PLOT_SEEDS_H
#define CLI_PLOT_PLOT_SEEDS_H

#include "rapt/base.h"

/* One curve, which owns its memory. */
typedef struct plot_series {
    char *name;
    double *x, *y;      /* [count] */
    double *low, *high; /* [count] the band of a mean of runs; otherwise NULL */
    size_t count;
} plot_series;

void plot_series_free(plot_series *s);

/* Which runs belong together. */
typedef struct plot_settings {
    size_t *of;   /* [runs]: the number of a run's setting */
    char **names; /* [count] each the common beginning of its runs' names, and their number */
    size_t count;
} plot_settings;

/* Two runs are of one setting if their recipes train the same model, except for the seed (recipe_first_difference).
 * RAPT_ERR_VALUE: a path is no folder with a recipe. On failure there is nothing to free. */
rapt_code plot_settings_find(char *const *paths, char *const *names, size_t runs, plot_settings *s, rapt_error *err);
void plot_settings_free(plot_settings *s);

/* *to: mean, least and greatest of the curves runs[count], at each x that all of them have. */
rapt_code plot_series_mean(const plot_series *const *runs, size_t count, plot_series *to, rapt_error *err);

#endif
