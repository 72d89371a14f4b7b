/* tests/train/test_sgd_training.c: runs with SGD: with any number of threads, stopped and resumed; what a checkpoint and the
 * memory plan have of its momentum; its defaults; gradients that are released; adapters; what is refused. Several processes:
 * test_shards_group.c. The steps as such: test_sgd.c.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include "train/same_runs.h"

#include "io/safetensors.h"

#include <math.h>

#define SGD_RUN "train.optimizer=sgd train.lr=0.2 "
#define MOMENTUM "train.sgd.momentum=0.9 "

/* Sparse and tied embeddings; gradients in bf16, in several batches, with shards; frozen matrices. */
static const char *const recipes[] = {
    SGD_RUN "model.tied=true train.clip=0.1",
    SGD_RUN MOMENTUM "data.text=kinds.txt train.weight_decay=0.01 train.gradients=bf16 model.layers=2",
    SGD_RUN MOMENTUM "train.sgd.nesterov=true train.accumulate=3 train.batch=1 train.precision=bf16 model.ffn_kind=swiglu",
    SGD_RUN MOMENTUM "data.text=kinds.txt train.accumulate=4 train.shards=3 train.freeze=blocks.0.* train.schedule=cosine",
};
#define RECIPES (sizeof recipes / sizeof *recipes)

static void the_same_bytes_with_any_threads(void **state)
{
    (void)state;
    assert_same_with_threads("train.steps=24", recipes, RECIPES, 7, 24);
}

static void resumed_is_never_stopped(void **state)
{
    (void)state;
    assert_same_resumed(recipes, RECIPES);
}

/* As with gradients that are kept. */
static void gradients_that_are_released(void **state)
{
    (void)state;
    put_texts();
    train(SGD_RUN MOMENTUM "data.text=kinds.txt", (rapt_train_options){.out = "kept"});
    train(SGD_RUN MOMENTUM "data.text=kinds.txt train.release_gradients=true", (rapt_train_options){.out = "released"});
    assert_true(same_parameters("kept", "released"));
    assert_same_checkpoint("kept", "released", 24);
}

/* ---- its momentum --------------------------------------------------------------------------------------------------- */

static bool checkpoint_has(const char *folder, const char *name)
{
    char path[96];
    rapt_error err = {0};
    safetensors *file;
    snprintf(path, sizeof path, "%s/checkpoints/step-00000003.safetensors", folder);
    assert_int_equal(safetensors_open(path, &file, &err), RAPT_OK);
    const bool has = safetensors_find(file, name);
    safetensors_close(file);
    return has;
}

static void what_a_checkpoint_has(void **state)
{
    (void)state;
    put_texts();
    train(SGD_RUN MOMENTUM, (rapt_train_options){.out = "m", .max_steps = 3});
    train(SGD_RUN, (rapt_train_options){.out = "plain", .max_steps = 3});
    assert_true(checkpoint_has("m", "sgd.m.blocks.0.attention.q.weight") && checkpoint_has("m", "sgd.m.embedding.weight"));
    assert_false(checkpoint_has("m", "sgd.v.embedding.weight") || checkpoint_has("m", "adam.m.embedding.weight"));
    assert_true(checkpoint_has("plain", "embedding.weight"));
    assert_false(checkpoint_has("plain", "sgd.m.embedding.weight"));
}

static void the_plan_says_what_is_saved(void **state)
{
    (void)state;
    put_texts();
    const rapt_memory_plan adam = plan_of(""), momentum = plan_of(SGD_RUN MOMENTUM), plain = plan_of(SGD_RUN);
    assert_true(adam.moments > 0 && 2 * momentum.moments == adam.moments && plain.moments == 0);
    assert_true(adam.gradients == momentum.gradients && adam.activations == plain.activations);
}

/* ---- keys ------------------------------------------------------------------------------------------------------------ */

static void it_learns(void **state)
{
    (void)state;
    put_texts();
    train(SGD_RUN MOMENTUM "train.steps=60", (rapt_train_options){.out = "m"});
    assert_true(last_figure("m", "loss") < 3); /* ln 28 is 3.33 */
}

static void its_defaults(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        rapt_recipe r;
        rapt_recipe_defaults(&r);
        set_all(&r, order ? "train.optimizer=sgd task=language_model" : "task=language_model train.optimizer=sgd");
        assert_true(r.train.lr == 0.1 && r.train.weight_decay == 0 && r.train.sgd.momentum == 0);
        set_all(&r, "train.optimizer=adam");
        assert_true(r.train.lr == 0.002 && r.train.weight_decay == 0.1);
        rapt_recipe_free(&r);
    }
}

static void adapters_move_by_it(void **state)
{
    (void)state;
    put_texts();
    train("", (rapt_train_options){.out = "base"});
    train(SGD_RUN MOMENTUM "train.init=base train.lora.rank=2", (rapt_train_options){.out = "tuned", .max_steps = 3});
    assert_true(checkpoint_has("tuned", "sgd.m.base_model.model.blocks.0.attention.q.lora_A.weight"));
    assert_false(checkpoint_has("tuned", "sgd.m.base_model.model.blocks.0.attention.q.weight"));
}

/* ---- refused --------------------------------------------------------------------------------------------------------- */

static void others_do_not_resume(void **state)
{
    static const char *const changes[][2] = {{"", "train.optimizer is \"adam\", and \"sgd\" in its recipe.yaml"},
                                             {SGD_RUN, "train.sgd.momentum is \"0\""},
                                             {SGD_RUN MOMENTUM "train.sgd.nesterov=true", "train.sgd.nesterov is \"true\""}};
    (void)state;
    put_texts();
    train(SGD_RUN MOMENTUM, (rapt_train_options){.out = "m", .max_steps = 6});
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        rapt_recipe r = lm_recipe(changes[i][0]);
        rapt_error err = {0};
        assert_int_equal(run(&r, (rapt_train_options){.out = "m", .resume = true}, &err), RAPT_ERR_VALUE);
        if (!strstr(err.message, changes[i][1]))
            fail_msg("%s", err.message);
        rapt_recipe_free(&r);
    }
}

static void idle_keys(void **state)
{
    static const char *const keys[][2] = {
        {"train.sgd.momentum=0.9", "r.yaml: train.sgd.momentum is 0.9; it needs train.optimizer to be sgd"},
        {"train.optimizer=adam8bit train.sgd.nesterov=true",
         "r.yaml: train.sgd.nesterov is true; it needs train.optimizer to be sgd"},
        {"train.optimizer=sgd train.sgd.nesterov=true",
         "r.yaml: train.sgd.nesterov is true; it needs a train.sgd.momentum above 0"},
        {"train.optimizer=sgd train.muon.lr=0.1", "r.yaml: train.muon.lr is 0.1; it needs train.optimizer to be muon"},
        {"train.optimizer=sgd train.lazy=true",
         "r.yaml: train.lazy is true; it needs train.optimizer to be adam: sgd moves all rows"}};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        rapt_recipe r = lm_recipe(keys[i][0]);
        rapt_error err = {0};
        assert_int_equal(rapt_recipe_check(&r, "r.yaml", &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, keys[i][1]);
        rapt_recipe_free(&r);
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(the_same_bytes_with_any_threads),
        IN_A_FOLDER(resumed_is_never_stopped),
        IN_A_FOLDER(gradients_that_are_released),
        IN_A_FOLDER(what_a_checkpoint_has),
        IN_A_FOLDER(the_plan_says_what_is_saved),
        IN_A_FOLDER(it_learns),
        cmocka_unit_test(its_defaults),
        IN_A_FOLDER(adapters_move_by_it),
        IN_A_FOLDER(others_do_not_resume),
        cmocka_unit_test(idle_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
