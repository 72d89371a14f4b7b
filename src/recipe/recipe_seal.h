/* recipe/recipe_seal.h: the seal, a comment in the last line of a folder's recipe.yaml. It names the run and has a checksum of
 * the lines above, so that an edited copy does not pass for the recipe with which a model was trained. For run.c and `rapt
 * info`. */
#ifndef RECIPE_RECIPE_SEAL_H
#define RECIPE_RECIPE_SEAL_H

#include "rapt/base.h"

typedef enum recipe_state {
    RECIPE_MISSING,     /* or it can't be read */
    RECIPE_UNSEALED,    /* written by rapt 0.1, or the line was removed */
    RECIPE_CHANGED,     /* since the run */
    RECIPE_OF_ANOTHER,  /* run than the model */
    RECIPE_OF_THIS_RUN
} recipe_state;

/* A recipe as text with its seal; the caller frees it. NULL when out of memory. */
char *recipe_sealed(const char *yaml, uint64_t run);
/* The state of the recipe.yaml in a model folder. `run` is the model's run; 0, which no recipe has, if it is unknown. */
recipe_state recipe_state_in(const char *folder, uint64_t run);

#endif
