/* recipe/recipe_corpora.h: the corpora of data.pairs, their weights, data.weights, and data.filter. A list of the recipe is one
 * text, with a line for each corpus, so that it has a place in the table of keys. For reading, checking and writing recipes, and
 * for training. */
#ifndef RECIPE_RECIPE_CORPORA_H
#define RECIPE_RECIPE_CORPORA_H

#include "data/check/check.h"
#include "recipe/recipe_keys.h"

/* What is between the items of a key's list, as a text: "\n", ":" or, if the key is no list, "". */
const char *recipe_list_between(const recipe_key *key);
/* The same if its items are corpora, each of which may be two files with : between them; else "". */
const char *recipe_corpora_between(const recipe_key *key);

/* A copy of the value of a key of paths, in which each corpus of a list, or else the whole value, is what `make` returns for it,
 * from malloc. NULL: out of memory, or `make` returned NULL. */
typedef char *recipe_path_fn(void *context, const char *path);
char *recipe_map_paths(const recipe_key *key, const char *value, recipe_path_fn *make, void *context);

/* The number of items of data.pairs. */
size_t recipe_corpora(const rapt_recipe *r);

/* A weight as a number; false, with a reason: it is none, or out of range. */
bool recipe_weight_read(const char *text, double *weight, char reason[RECIPE_REASON]);
/* Writes the weights of data.pairs into weights[0 .. recipe_corpora(r)), 1 each without data.weights. `weights` may be NULL, to
 * check them. False: with a reason. */
bool recipe_weights(const rapt_recipe *r, double *weights, char reason[RECIPE_REASON]);

/* data.filter as options of a check; rules 0: no line is left out. False: with a reason. */
bool recipe_filter(const rapt_recipe *r, check_options *out, char reason[RECIPE_REASON]);

#endif
