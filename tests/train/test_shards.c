/* tests/train/test_shards.c: runs whose steps have several shards (train.shards), on one process: with any number of threads,
 * stopped and resumed. What the gradient of such a step is: test_shard_sums.c.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include "train/same_runs.h"

#include "train/shard_recipes.h"

#include <math.h>

static void the_same_bytes_with_any_threads(void **state)
{
    (void)state;
    assert_same_with_threads("model.d_model=44 model.ffn=83 model.context=23 train.batch=3 train.steps=6", shard_recipes,
                             SHARD_RECIPES, 3, 6);
}

static void resumed_is_never_stopped(void **state)
{
    (void)state;
    assert_same_resumed(shard_recipes, SHARD_RECIPES);
}

/* The number of shards decides bits; before the key existed it was 1. */
static void shards_decide_the_model(void **state)
{
    (void)state;
    static const char base[] = "train.accumulate=8 train.batch=1 train.steps=6 train.checkpoint_every=3 ";
    char changes[128];
    put_texts();
    train(base, (rapt_train_options){.out = "none"});
    for (int shards = 1; shards <= 8; shards *= 2) {
        char out[32];
        snprintf(changes, sizeof changes, "%strain.shards=%d", base, shards);
        snprintf(out, sizeof out, "shards%d", shards);
        train(changes, (rapt_train_options){.out = out});
    }
    assert_true(same_parameters("none", "shards1"));
    assert_false(same_parameters("shards1", "shards2"));
    assert_false(same_parameters("shards2", "shards8"));
    assert_same_log("none", "shards1");
    assert_true(fabs(last_figure("none", "loss") - last_figure("shards8", "loss")) < 1e-4);
    assert_true(fabs(last_figure("none", "grad_norm") - last_figure("shards8", "grad_norm")) < 1e-3);
}

static void other_shards_do_not_resume(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("train.accumulate=8 train.batch=1 train.shards=8");
    rapt_error err = {0};
    put_texts();
    train("train.accumulate=8 train.batch=1 train.shards=4", (rapt_train_options){.out = "m", .max_steps = 6});
    assert_int_equal(run(&r, (rapt_train_options){.out = "m", .resume = true}, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "train.shards is \"8\", and \"4\" in its recipe.yaml"));
    rapt_recipe_free(&r);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(the_same_bytes_with_any_threads),
        IN_A_FOLDER(resumed_is_never_stopped),
        IN_A_FOLDER(shards_decide_the_model),
        IN_A_FOLDER(other_shards_do_not_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
