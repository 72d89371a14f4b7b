/* tests/recipe/test_recipe_renamed.c: keys that version 0.1 had under other names: errors that name the new ones, but not in
 * the recipe that a model folder keeps, and the hashes of checkpoints stay. For src/recipe/recipe_keys.h, RECIPE_RENAMED. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parsed.h"
#include "rapt/recipe.h"
#include "recipe/recipe_compare.h"
#include "recipe/recipe_defaults.h"

static const struct {
    const char *former, *now, *text, *assignment;
} keys[] = {
    {"data.valid", "data.validation", "data: {valid: x}", "data.valid=x"},
    {"data.held_out", "data.validation_fraction", "data: {held_out: 0.1}", "data.held_out=0.1"},
    {"data.eval_tokens", "data.validation_tokens", "data: {eval_tokens: 5}", "data.eval_tokens=5"},
    {"model.norm", "model.norm_place", "model: {norm: pre}", "model.norm=pre"},
};
enum { COUNT = sizeof keys / sizeof *keys };

static void a_former_name_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_recipe r;
        rapt_error err = {0}, set = {0};
        char expected[200];
        snprintf(expected, sizeof expected, "r.yaml:1: %s is now %s", keys[i].former, keys[i].now);
        assert_int_equal(recipe_parse("r.yaml", keys[i].text, strlen(keys[i].text), false, &r, &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, expected);
        snprintf(expected, sizeof expected, "--set %s: %s is now %s", keys[i].assignment, keys[i].former, keys[i].now);
        assert_int_equal(rapt_recipe_set(&r, keys[i].assignment, &set), RAPT_ERR_VALUE);
        assert_string_equal(set.message, expected);
        rapt_recipe_free(&r);
    }
}

static void write_recipe(const char *folder, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/recipe.yaml", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_kept_recipe_may_have_either(void **state)
{
    (void)state;
    char folder[] = "/tmp/rapt-renamed-XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/recipe.yaml", folder);
    rapt_recipe r;
    rapt_error err = {0};
    write_recipe(folder, "task: language_model\ndata: {text: /x, held_out: 0.25, eval_tokens: 7}\nmodel: {norm: post}\n");
    assert_int_equal(rapt_recipe_load(folder, &r, &err), RAPT_OK);
    assert_true(r.data.validation_fraction == 0.25 && r.data.validation_tokens == 7);
    assert_int_equal(r.model.norm_place, RAPT_NORM_PLACE_POST);
    rapt_recipe_free(&r);
    write_recipe(folder, "data: {pairs: /x, valid: /y, validation_fraction: 0}\nmodel: {norm_place: pre}\n");
    assert_int_equal(rapt_recipe_load(folder, &r, &err), RAPT_OK);
    assert_string_equal(r.data.validation, "/y");
    assert_int_equal(r.model.norm_place, RAPT_NORM_PLACE_PRE);
    rapt_recipe_free(&r);
    write_recipe(folder, "model: {norm: pre,\n norm_place: pre}\n");
    assert_int_equal(rapt_recipe_load(folder, &r, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, ":2: model.norm_place comes twice; first in line 1"));
    unlink(path);
    rmdir(folder);
}

static void a_missing_one_is_named(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    assert_int_equal(rapt_recipe_load("/nowhere", &r, &err), RAPT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nowhere/recipe.yaml"));
}

/* The numbers are version 0.1's for the same values. */
static void hashes_count_the_former_names(void **state)
{
    (void)state;
    rapt_recipe r;
    recipe_defaults_first(&r);
    r.data.validation_fraction = 0.25;
    assert_true(recipe_hash_first(&r) == 0x691d1bb0a6ade208);
    recipe_defaults_first(&r);
    r.data.validation_tokens = 4096;
    assert_true(recipe_hash_first(&r) == 0x11e9372c591de94c);
    recipe_defaults_first(&r);
    r.model.norm_place = RAPT_NORM_PLACE_PRE;
    assert_true(recipe_hash_first(&r) == 0x41798774ecb5ac15);
    recipe_defaults_first(&r);
    r.task = RAPT_TASK_LANGUAGE_MODEL, r.tokenizer.type = RAPT_RECIPE_TOKENIZER_CHARACTERS, r.train.lr = 0.5;
    r.data.validation_fraction = 0.125, r.data.validation_tokens = 5;
    r.model.norm_place = RAPT_NORM_PLACE_PRE, r.model.norm_kind = RAPT_NORM_KIND_RMS, r.model.init = RAPT_WEIGHT_INIT_GPT2;
    assert_true(recipe_hash_first(&r) == 0x1565dc63102f0677);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_former_name_is_an_error),
        cmocka_unit_test(a_kept_recipe_may_have_either),
        cmocka_unit_test(a_missing_one_is_named),
        cmocka_unit_test(hashes_count_the_former_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
