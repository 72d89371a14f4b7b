/* recipe/recipe_seal.c: writes and checks the seal of a folder's recipe. recipe_compare.c compares the keys of two recipes. */
#include "recipe/recipe_seal.h"

#include "base/chars.h"
#include "base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define LINE "# rapt trained with this: run %016" PRIx64 ", checksum %016" PRIx64 "\n"
#define LINE_START "# rapt trained with this: run "
#define MAX_RECIPE ((size_t)1 << 20)

static uint64_t checksum(const char *yaml, size_t size, uint64_t run)
{
    return XXH3_64bits_withSeed(yaml, size, run);
}

char *recipe_sealed(const char *yaml, uint64_t run)
{
    return chars_print("%s" LINE, yaml, run, checksum(yaml, strlen(yaml), run));
}

/* A valid seal is exactly LINE with the values that it has, at the end of the file. */
static recipe_state state_of(const char *text, size_t size, uint64_t run)
{
    char again[sizeof LINE_START + 64];
    uint64_t own, sum;
    const char *line = strstr(text, "\n" LINE_START);
    if (!line || sscanf(++line, LINE_START "%" SCNx64 ", checksum %" SCNx64, &own, &sum) != 2)
        return RECIPE_UNSEALED;
    size_t above = (size_t)(line - text);
    snprintf(again, sizeof again, LINE, own, sum);
    if (strcmp(line, again) != 0 || above + strlen(again) != size || sum != checksum(text, above, own))
        return RECIPE_CHANGED;
    return run && own != run ? RECIPE_OF_ANOTHER : RECIPE_OF_THIS_RUN;
}

recipe_state recipe_state_in(const char *folder, uint64_t run)
{
    char *text, *path = file_join(folder, "recipe.yaml");
    size_t size;
    recipe_state state = RECIPE_MISSING;
    if (path && file_read_regular(path, MAX_RECIPE, &text, &size, NULL) == RAPT_OK) {
        state = state_of(text, size, run);
        free(text);
    }
    free(path);
    return state;
}
