/* tests/train/test_muon_training.c: runs with Muon: with any number of threads, stopped and resumed; what a checkpoint and the
 * memory plan have of it; what its keys do; adapters, which are Adam's; what is refused. Several processes: test_shards_group.c.
 * The steps as such: test_muon.c.
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

#define MUON_RUN "train.optimizer=muon model.d_model=32 model.ffn=190 "

/* Sparse and tied embeddings; gradients in bf16, in several batches, with shards; frozen matrices; keys of Muon's own. */
static const char *const recipes[] = {
    MUON_RUN "model.layers=4 model.tied=true train.clip=0.1",
    MUON_RUN "model.layers=4 train.gradients=bf16 data.text=kinds.txt train.weight_decay=0.1",
    MUON_RUN "train.accumulate=3 train.batch=1 train.precision=bf16 model.ffn_kind=swiglu train.muon.nesterov=false",
    MUON_RUN "model.layers=2 train.accumulate=4 train.shards=3 train.freeze=blocks.0.* train.muon.lr=0.02 "
             "train.muon.momentum=0.9 train.muon.adjust_lr=original train.muon.weight_decay=0.01 "
             "train.muon.ns_steps=6 train.schedule=cosine",
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

/* ---- its one moment ------------------------------------------------------------------------------------------------- */

static void a_checkpoint_has_one_moment(void **state)
{
    rapt_error err = {0};
    safetensors *file;
    (void)state;
    put_texts();
    train(MUON_RUN, (rapt_train_options){.out = "m", .max_steps = 3});
    assert_int_equal(safetensors_open("m/checkpoints/step-00000003.safetensors", &file, &err), RAPT_OK);
    const safetensors_entry *e = safetensors_find(file, "muon.m.blocks.0.attention.q.weight");
    assert_non_null(e);
    assert_true(e->ndim == 2 && e->shape[0] == 32 && e->shape[1] == 32);
    assert_non_null(safetensors_find(file, "muon.m.blocks.0.ffn.dense2.weight"));
    assert_null(safetensors_find(file, "muon.v.blocks.0.attention.q.weight"));
    assert_null(safetensors_find(file, "adam.m.blocks.0.attention.q.weight"));
    assert_null(safetensors_find(file, "adam.v.blocks.0.attention.q.weight"));
    static const char *const others[] = {"embedding.weight", "output.weight", "blocks.0.attention.q.bias",
                                         "blocks.0.norm1.weight"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char name[64];
        snprintf(name, sizeof name, "adam.v.%s", others[i]);
        if (!safetensors_find(file, name))
            fail_msg("no %s", name);
    }
    safetensors_close(file);
}

/* A moment less for each matrix, and the memory of its iterations: each matrix of a block twice, two products of its smaller
 * side, a double for each block of 8192 elements or of a row, in units of 64 bytes. All of them fit at once. */
static void the_plan_says_what_is_saved(void **state)
{
    const size_t square = 32 * 32, wide = 32 * 190, unit = 64 / sizeof(rapt_real), layers = 3;
    const size_t room = layers * (4 * (4 * square + unit) + 2 * (2 * wide + 2 * square + unit));
    (void)state;
    put_texts();
    const rapt_memory_plan adam = plan_of("model.d_model=32 model.ffn=190 model.layers=3");
    const rapt_memory_plan muon = plan_of(MUON_RUN "model.layers=3");
    assert_int_equal(adam.moments + room * sizeof(rapt_real) - muon.moments,
                     layers * (4 * square + 2 * wide) * sizeof(rapt_real));
    assert_true(adam.gradients == muon.gradients && adam.activations == muon.activations);
}

/* ---- keys ------------------------------------------------------------------------------------------------------------ */

/* The defaults follow Adam's keys. */
static void keys_follow_adams(void **state)
{
    (void)state;
    put_texts();
    train(MUON_RUN "train.weight_decay=0.1", (rapt_train_options){.out = "plain"});
    train(MUON_RUN "train.weight_decay=0.1 train.muon.lr=0.01", (rapt_train_options){.out = "lr"});
    train(MUON_RUN "train.weight_decay=0.1 train.muon.weight_decay=0.1", (rapt_train_options){.out = "decay"});
    train(MUON_RUN "train.weight_decay=0.1 train.muon.lr=0.012", (rapt_train_options){.out = "other_lr"});
    train(MUON_RUN "train.weight_decay=0.1 train.muon.weight_decay=0", (rapt_train_options){.out = "no_decay"});
    assert_true(same_parameters("plain", "lr") && same_parameters("plain", "decay"));
    assert_false(same_parameters("plain", "other_lr") || same_parameters("plain", "no_decay"));
}

static void it_learns(void **state)
{
    (void)state;
    put_texts();
    train(MUON_RUN "train.steps=60", (rapt_train_options){.out = "muon"});
    train("model.d_model=32 model.ffn=190 train.steps=60", (rapt_train_options){.out = "adam"});
    const double muon = last_figure("muon", "loss"), adam = last_figure("adam", "loss");
    assert_true(muon < 3 && adam < 3); /* ln 28 is 3.33 */
}

/* Adapters are Adam's: all of the run is. */
static void adapters_are_left_to_adam(void **state)
{
    (void)state;
    put_texts();
    train("model.layers=2", (rapt_train_options){.out = "base"});
    train("train.init=base train.lora.rank=2 model.layers=2", (rapt_train_options){.out = "adam"});
    train("train.init=base train.lora.rank=2 model.layers=2 train.optimizer=muon", (rapt_train_options){.out = "muon"});
    assert_same_log("adam", "muon");
    assert_same_checkpoint("adam", "muon", 24);
}

/* ---- refused --------------------------------------------------------------------------------------------------------- */

static void refuses(const char *changes, const char *out, const char *reason)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    assert_int_equal(run(&r, (rapt_train_options){.out = out, .resume = true}, &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, reason))
        fail_msg("%s", err.message);
    rapt_recipe_free(&r);
}

static void others_do_not_resume(void **state)
{
    (void)state;
    put_texts();
    train(MUON_RUN, (rapt_train_options){.out = "m", .max_steps = 6});
    refuses("model.d_model=32 model.ffn=190", "m", "train.optimizer is \"adam\", and \"muon\" in its recipe.yaml");
    refuses(MUON_RUN "train.muon.momentum=0.9", "m", "train.muon.momentum is \"0.9\"");
}

static void idle_keys(void **state)
{
    static const char *const keys[][2] = {
        {"train.muon.lr=0.02", "r.yaml: train.muon.lr is 0.02; it needs train.optimizer to be muon"},
        {"train.muon.nesterov=false", "r.yaml: train.muon.nesterov is false; it needs train.optimizer to be muon"},
        {"train.optimizer=adam8bit train.muon.adjust_lr=original",
         "r.yaml: train.muon.adjust_lr is original; it needs train.optimizer to be muon"},
        {"train.optimizer=muon train.lora.rank=2 train.muon.lr=0.02", "r.yaml: train.muon.lr is 0.02; it needs train.optimizer "
         "to be muon and train.lora.rank 0: Adam moves adapters"},
        {"train.optimizer=muon train.muon.weight_decay=-0.5",
         "r.yaml: train.muon.weight_decay is -0.5; it must be 0 or more, or -1: train.weight_decay"}};
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
        IN_A_FOLDER(a_checkpoint_has_one_moment),
        IN_A_FOLDER(the_plan_says_what_is_saved),
        IN_A_FOLDER(keys_follow_adams),
        IN_A_FOLDER(it_learns),
        IN_A_FOLDER(adapters_are_left_to_adam),
        IN_A_FOLDER(others_do_not_resume),
        cmocka_unit_test(idle_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
