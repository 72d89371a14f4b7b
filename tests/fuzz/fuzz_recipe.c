/* tests/fuzz/fuzz_recipe.c: any bytes as a recipe, and any text as an assignment.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rapt/recipe.h"
#include "recipe/recipe_read.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_outcome(rapt_code code, const rapt_error *err)
{
    require((code == RAPT_OK) == (err->message[0] == '\0'));
    require(!strchr(err->message, '\n'));
}

/* What was accepted can be written, and reads back as the same. */
static void write_and_read(const rapt_recipe *recipe)
{
    rapt_recipe again;
    rapt_error err = {0};
    char *first, *second;
    require(rapt_recipe_format(recipe, &first, &err) == RAPT_OK);
    require(recipe_parse("again", first, strlen(first), false, &again, &err) == RAPT_OK);
    require(rapt_recipe_format(&again, &second, &err) == RAPT_OK);
    require(strcmp(first, second) == 0);
    check_outcome(rapt_recipe_check(recipe, "fuzz", &err), &err);
    free(first);
    free(second);
    rapt_recipe_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_recipe recipe;
    rapt_error err = {0};
    rapt_code code = recipe_parse("fuzz", (const char *)input, size, true, &recipe, &err);
    check_outcome(code, &err);
    if (code == RAPT_OK)
        write_and_read(&recipe);
    char *assignment = calloc(size + 1, 1);
    if (size > 0)
        memcpy(assignment, input, size);
    err = (rapt_error){0};
    code = rapt_recipe_set(&recipe, assignment, &err);
    check_outcome(code, &err);
    if (code == RAPT_OK)
        write_and_read(&recipe);
    free(assignment);
    rapt_recipe_free(&recipe);
    return 0;
}
