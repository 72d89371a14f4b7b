/* tests/recipe/test_recipe_defaults.c: defaults that follow the task and other keys, wherever in a recipe these stand. For
 * src/recipe/recipe_defaults.c. The values are written down here once more. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "parsed.h"
#include "rapt/recipe.h"
#include "recipe/recipe_compare.h"
#include "recipe/recipe_defaults.h"

/* What rapt_recipe_check says of a recipe. */
static const char *checked(const char *text, rapt_error *err)
{
    rapt_recipe r = parsed(text);
    *err = (rapt_error){0};
    rapt_recipe_check(&r, "r", err);
    rapt_recipe_free(&r);
    return err->message;
}

/* The task and the data are enough. */
static void minimal_recipes_are_good(void **state)
{
    (void)state;
    rapt_error err;
    assert_string_equal(checked("task: language_model\ndata: {text: x}\n", &err), "");
    assert_string_equal(checked("task: translation\ndata: {pairs: x}\n", &err), "");
    assert_string_equal(checked("task: translation\ndata: {pairs: x, validation: y}\n", &err), "");
    assert_string_equal(checked("task: language_model\n", &err), "r: data.text is missing; it names the file to learn from");
    assert_string_equal(checked("task: translation\n", &err),
                        "r: data.pairs is missing; it names the file of sentence pairs");
}

static void assert_language_model(const rapt_recipe *r)
{
    assert_true(r->tokenizer.type == RAPT_RECIPE_TOKENIZER_BPE && r->tokenizer.vocab_size == 0);
    assert_true(r->model.layers == 4 && r->model.d_model == 128 && r->model.heads == 4 && r->model.ffn == 352);
    assert_true(r->model.ffn_kind == RAPT_FFN_SWIGLU && r->model.norm_kind == RAPT_NORM_KIND_RMS);
    assert_true(r->model.positions == RAPT_POSITIONS_ROTARY && r->model.norm_place == RAPT_NORM_PLACE_PRE &&
                r->model.context == 128);
    assert_true(r->model.init == RAPT_WEIGHT_INIT_GPT2 && r->model.tied && !r->model.bias && !r->model.scale_embedding);
    assert_true(r->train.batch == 16 && r->train.lr == 0.002 && r->train.beta2 == 0.99 && r->train.weight_decay == 0.1);
    assert_true(r->train.schedule == RAPT_RECIPE_SCHEDULE_COSINE && r->train.warmup == 100 && r->train.label_smoothing == 0);
    assert_true(r->data.validation_fraction == 0.05 && r->train.epochs == 10);
}

static void a_language_model_has_its_own(void **state)
{
    (void)state;
    rapt_recipe r = parsed("task: language_model\n"), later = parsed("data: {limit: 0}\ntask: language_model\n");
    assert_language_model(&r);
    assert_language_model(&later);
    assert_int_equal(rapt_recipe_set(&r, "task=translation", NULL), RAPT_OK);
    assert_true(r.model.layers == 2 && r.model.norm_place == RAPT_NORM_PLACE_POST && r.model.init == RAPT_WEIGHT_INIT_PYTORCH);
    assert_int_equal(rapt_recipe_set(&r, "task=language_model", NULL), RAPT_OK);
    assert_language_model(&r);
}

/* A key that is given stays, though it is at the other task's default. */
static void what_is_given_stays(void **state)
{
    (void)state;
    rapt_recipe r = parsed("model: {norm_place: post, layers: 2, ffn: 256}\ntrain: {batch: 32}\ntask: language_model\n");
    assert_true(r.model.norm_place == RAPT_NORM_PLACE_POST && r.model.layers == 2 && r.model.ffn == 256 && r.train.batch == 32);
    assert_true(r.model.context == 128);
    r = parsed("model: {preset: seed}\ntask: language_model\n"); /* what a preset sets is given */
    assert_true(r.model.layers == 1 && r.model.ffn == 256 && r.model.ffn_kind == RAPT_FFN_RELU && !r.model.tied);
    r.model.heads = 2; /* a program's own */
    assert_int_equal(rapt_recipe_set(&r, "task=translation", NULL), RAPT_OK);
    assert_int_equal(r.model.heads, 2);
}

static void defaults_follow_keys(void **state)
{
    (void)state;
    rapt_recipe r = parsed("data: {pairs: x}\n");
    assert_true(r.tokenizer.shared && r.model.tied && r.data.validation_fraction == 0.05);
    assert_int_equal(rapt_recipe_set(&r, "data.validation=y", NULL), RAPT_OK);
    assert_true(r.data.validation_fraction == 0);
    assert_int_equal(rapt_recipe_set(&r, "data.validation=", NULL), RAPT_OK);
    assert_true(r.data.validation_fraction == 0.05);
    assert_int_equal(rapt_recipe_set(&r, "tokenizer.shared=false", NULL), RAPT_OK);
    assert_false(r.model.tied);
    rapt_recipe_free(&r);
    r = parsed("tokenizer: {type: words}\n");
    assert_true(!r.tokenizer.shared && !r.model.tied);
    r = parsed("tokenizer: {type: words, shared: true}\nmodel: {tied: true}\n");
    assert_true(r.tokenizer.shared && r.model.tied);
    r = parsed("tokenizer: {type: characters}\n");
    assert_true(r.tokenizer.shared && r.model.tied && r.data.max_len == 200);
    r = parsed("data: {max_len: 80}\ntokenizer: {type: characters}\n");
    assert_int_equal(r.data.max_len, 80);
    r = parsed("tokenizer: {type: characters}\ntask: language_model\n");
    assert_int_equal(r.data.max_len, 50);
    r = parsed("task: language_model\nmodel: {output_bias: true}\n");
    assert_false(r.model.tied);
}

/* Recipes that version 0.1 kept list all keys, with the defaults of then. */
static void kept_recipes_of_before(void **state)
{
    (void)state;
    rapt_error err;
    assert_string_equal(checked("task: translation\ndata: {pairs: x}\n"
                                "tokenizer: {type: words, vocab_size: 8000, lowercase: true, min_freq: 1, shared: false}\n"
                                "model: {kv_heads: 0, ffn_kind: relu, positions: sinusoidal, context: 64, tied: false}\n", &err),
                        "");
    assert_string_equal(checked("task: language_model\ndata: {text: x, limit: 0, max_len: 50, too_long: cut}\n"
                                "tokenizer: {type: characters, vocab_size: 8000, shared: false}\n"
                                "model: {max_positions: 1000, init: pytorch}\ntrain: {batch_tokens: 0}\n", &err),
                        "");
}

/* A recipe with each default of version 0.1 spelled out had the hash of an empty recipe, 0. The length of a run may change. */
static void hashes_are_those_of_before(void **state)
{
    (void)state;
    rapt_recipe r;
    recipe_defaults_first(&r);
    assert_true(recipe_hash_first(&r) == 0 && recipe_hash(&r) == 0);
    r.train.epochs = 20;
    assert_true(recipe_hash_first(&r) != 0 && recipe_hash(&r) == 0);
    r.train.steps = 7;
    assert_true(recipe_hash(&r) == 0);
    assert_int_equal(r.train.shards, 1); /* as before there was the key */
    r.train.lr = 0.5;
    assert_true(recipe_hash(&r) != 0);
    recipe_defaults_first(&r);
    r.train.shards = 2;
    assert_true(recipe_hash(&r) != 0);
}

/* What the model of train.init decides is compared in that model; version 0.1 counted such keys, and had no train.init. */
static void init_takes_keys_out(void **state)
{
    (void)state;
    char folder[] = "model";
    rapt_recipe r, other;
    recipe_defaults_first(&r);
    other = r;
    other.model.std = 0.5;
    other.tokenizer.min_freq = 3;
    assert_true(recipe_hash(&r) != recipe_hash(&other) && recipe_first_difference(&r, &other));
    r.train.init = other.train.init = folder;
    assert_true(recipe_hash(&r) == recipe_hash(&other) && !recipe_first_difference(&r, &other));
    assert_true(recipe_hash_first(&r) == 0 && recipe_hash_first(&other) != 0);
    other.model.dropout = 0.3;
    assert_true(recipe_hash(&r) != recipe_hash(&other));
    assert_string_equal(recipe_first_difference(&r, &other)->name, "model.dropout");
}

/* A checkpoint has the keys that a resumed run may change as a text. */
static void what_a_run_may_change(void **state)
{
    (void)state;
    static const char *const bad[] = {"train.lr", "train.lr=", "train.lr=-1", "train.lr=0.1 seed=3", "=", " ", "train.lrr=1"};
    char text[RECIPE_TUNED], reason[RECIPE_REASON];
    rapt_recipe r, other, same;
    rapt_recipe_defaults(&r);
    other = same = r;
    other.train.lr = 0.1 + 0.2;
    other.train.schedule = RAPT_RECIPE_SCHEDULE_PLATEAU;
    other.train.plateau.patience = 1000000;
    other.train.muon.lr = 1e-300 / 3;
    assert_true(recipe_hash(&r) != recipe_hash(&other) && recipe_hash_fixed(&r) == recipe_hash_fixed(&other));
    assert_string_equal(recipe_first_difference(&r, &other)->name, "train.lr");
    assert_null(recipe_first_fixed_difference(&r, &other));
    recipe_tuned_text(&other, text);
    assert_int_equal(recipe_tuned_take(text, &same, reason), RAPT_OK);
    assert_null(recipe_first_difference(&same, &other)); /* to the bit */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(recipe_tuned_take(bad[i], &same, reason), RAPT_ERR_VALUE);
    other.train.clip = 3;
    assert_true(recipe_hash_fixed(&r) != recipe_hash_fixed(&other));
    assert_string_equal(recipe_first_fixed_difference(&r, &other)->name, "train.clip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimal_recipes_are_good),     cmocka_unit_test(a_language_model_has_its_own),
        cmocka_unit_test(what_is_given_stays),          cmocka_unit_test(defaults_follow_keys),
        cmocka_unit_test(what_a_run_may_change),
        cmocka_unit_test(kept_recipes_of_before),       cmocka_unit_test(hashes_are_those_of_before),
        cmocka_unit_test(init_takes_keys_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
