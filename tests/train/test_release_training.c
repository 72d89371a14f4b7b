/* tests/train/test_release_training.c: runs of rapt_train with train.release_gradients: the same model, log and checkpoints as
 * without, clipped or not, with any number of threads, also where only a part of the run has it; what is refused; a memory plan
 * that says what is saved. The bits of single steps at every level: test_grad_release.c.
 * labels: raced-late sanitized-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include <math.h>

#define LARGE "model.d_model=48 model.ffn=190 model.layers=4 model.dropout=0.1 "
#define PAIRS "task=translation data.text= data.pairs=pairs.tsv model.context=64 model.init=xavier model.layers=2 train.batch=7 "

static const char *const recipes[] = {
    LARGE "train.clip=0",
    LARGE "model.tied=true train.clip=0.3 train.recompute=true",
    LARGE "train.optimizer=adam8bit train.clip=0 train.weight_decay=0.1 train.precision=bf16",
    LARGE "data.text=kinds.txt train.clip=1 train.schedule=cosine",
    LARGE "data.text=kinds.txt train.lazy=true train.clip=0 train.freeze=blocks.1.*",
    LARGE "data.text=kinds.txt model.tied=true train.clip=0 train.optimizer=adam8bit train.batch=1",
    LARGE "data.text=kinds.txt model.tied=true train.clip=0 train.batch=4",
    LARGE "data.text=kinds.txt model.tied=true train.clip=0.4 train.batch=8",
    LARGE "train.optimizer=sgd train.sgd.momentum=0.9 train.clip=0.5",
    LARGE "train.optimizer=muon train.clip=0.5 train.weight_decay=0.1",
    LARGE "data.text=kinds.txt model.tied=true train.optimizer=muon train.clip=0 train.recompute=true",
    PAIRS "tokenizer.type=words train.label_smoothing=0.1 train.clip=0.5",
    PAIRS "tokenizer.type=words tokenizer.shared=true model.tied=true train.clip=0 train.recompute=true",
    PAIRS "tokenizer.type=words train.clip=0 train.batch_tokens=90 data.pad=fixed",
};
#define RECIPES (sizeof recipes / sizeof *recipes)

static void put_data(void)
{
    put_words("text.txt", 600);
    put_many_kinds("kinds.txt", 9000, 4000); /* enough for the fused output and loss, and for sparse rows */
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 40; i++) {
        for (int side = 0; side < 2; side++)
            for (int j = 0; j < 5 + i / 2; j++)
                fprintf(f, "%sw%d", j ? " " : side ? "\t" : "", (i * (side + 1) + j) % 7);
        fputs("\n", f);
    }
    fclose(f);
}

static void train_with(const char *changes, bool release, rapt_train_options o)
{
    char all[512];
    snprintf(all, sizeof all, "%s train.release_gradients=%s", changes, release ? "true" : "false");
    train(all, o);
}

/* All but the recipes. */
static void assert_same_run(const char *a, const char *b)
{
    assert_true(same_parameters(a, b));
    assert_same_log(a, b);
    assert_same_checkpoint(a, b, 6);
    assert_same_checkpoint(a, b, 24);
}

static void the_same_run(void **state)
{
    (void)state;
    put_data();
    for (size_t i = 0; i < RECIPES; i++) {
        char kept[16], released[16], parts[16], changes[512];
        snprintf(kept, sizeof kept, "kept%zu", i);
        snprintf(released, sizeof released, "released%zu", i);
        snprintf(parts, sizeof parts, "parts%zu", i);
        snprintf(changes, sizeof changes, "%s train.keep=10", recipes[i]);
        print_message("%s\n", changes);
        train_with(changes, false, (rapt_train_options){.out = kept, .threads = 1});
        train_with(changes, true, (rapt_train_options){.out = released, .threads = 3});
        assert_same_run(kept, released);
        train_with(changes, true, (rapt_train_options){.out = parts, .max_steps = 7, .threads = 2});
        train_with(changes, false, (rapt_train_options){.out = parts, .max_steps = 11, .resume = true});
        train_with(changes, true, (rapt_train_options){.out = parts, .resume = true, .threads = 7});
        assert_same_run(kept, parts);
    }
}

static void adapters(void **state)
{
    (void)state;
    put_data();
    train(LARGE, (rapt_train_options){.out = "base", .max_steps = 6});
    static const char lora[] = "task=language_model seed=7 data.text=text.txt data.validation_fraction=0.1 train.init=base "
                               "train.lora.rank=4 train.lora.dropout=0.1 train.steps=12 train.batch=2 train.report_every=4 "
                               "train.checkpoint_every=6 train.keep=9 train.clip=0";
    for (int release = 0; release < 2; release++) {
        rapt_recipe r;
        rapt_error err = {0};
        rapt_recipe_defaults(&r);
        set_all(&r, lora);
        set_all(&r, release ? "train.release_gradients=true" : "");
        run(&r, (rapt_train_options){.out = release ? "released" : "kept"}, &err);
        assert_string_equal(err.message, "");
        rapt_recipe_free(&r);
    }
    assert_same_log("kept", "released");
    assert_same_checkpoint("kept", "released", 6);
    assert_same_checkpoint("kept", "released", 12);
}

static void refused(const char *changes, const char *reason)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    assert_int_equal(rapt_recipe_check(&r, "r.yaml", &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, reason))
        fail_msg("%s", err.message);
    rapt_recipe_free(&r);
}

static void what_keeps_gradients_is_refused(void **state)
{
    (void)state;
    refused("train.release_gradients=true train.accumulate=2", "train.release_gradients is true and train.accumulate 2");
    refused("train.release_gradients=true train.accumulate=4 train.shards=2",
            "train.release_gradients is true and train.shards 2");
    refused("train.release_gradients=true train.gradients=bf16", "train.release_gradients is true and train.gradients bf16");
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

/* Never more than the matrices and vectors of one operation: here the first layer of a feed-forward network. */
static void the_plan_says_what_is_saved(void **state)
{
    (void)state;
    put_data();
    const rapt_memory_plan kept = plan_of(LARGE "model.layers=8");
    const rapt_memory_plan released = plan_of(LARGE "model.layers=8 train.release_gradients=true");
    assert_int_equal(2 * kept.gradients, kept.moments);
    assert_int_equal(released.parameters, kept.parameters);
    assert_int_equal(released.moments, kept.moments);
    assert_true(released.gradients >= 48 * 190 * sizeof(rapt_real));
    assert_true(released.gradients <= (48 * 190 + 2 * 190) * sizeof(rapt_real));
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(the_same_run),
        IN_A_FOLDER(adapters),
        IN_A_FOLDER(what_keeps_gradients_is_refused),
        IN_A_FOLDER(the_plan_says_what_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
