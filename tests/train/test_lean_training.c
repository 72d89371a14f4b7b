/* tests/train/test_lean_training.c: runs that keep moments in 8 bits and gradients in bf16: with any number of threads, stopped
 * and resumed; how near their losses are; what is refused; planned memory. Several processes: test_shards_group.c. Gradients in
 * bf16 as such: test_gradients_bf16.c.
 * labels: not-raced sanitized-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include "train/same_runs.h"

#include <math.h>

#define LARGE "model.d_model=48 model.ffn=190 model.layers=4 " /* matrices of more than 4096 elements, none of an eighth of all */

static const char *const recipes[] = {
    LARGE "train.optimizer=adam8bit model.tied=true",
    LARGE "train.gradients=bf16 train.recompute=true",
    LARGE "train.optimizer=adam8bit train.gradients=bf16 data.text=kinds.txt train.weight_decay=0.1",
    LARGE "train.optimizer=adam8bit train.accumulate=2 train.batch=1 train.freeze=blocks.0.*",
};
#define RECIPES (sizeof recipes / sizeof *recipes)

static void the_same_bytes_with_any_threads(void **state)
{
    (void)state;
    assert_same_with_threads("train.steps=24", recipes, RECIPES, 3, 24);
}

static void resumed_is_never_stopped(void **state)
{
    (void)state;
    assert_same_resumed(recipes, RECIPES);
}

/* They decide the model, and hardly its loss. */
static void losses_are_near(void **state)
{
    (void)state;
    put_texts();
    train(LARGE, (rapt_train_options){.out = "plain"});
    train(LARGE "train.optimizer=adam8bit", (rapt_train_options){.out = "codes"});
    train(LARGE "train.gradients=bf16", (rapt_train_options){.out = "bf16"});
    assert_false(same_parameters("plain", "codes"));
    assert_false(same_parameters("plain", "bf16"));
    assert_true(fabs(last_figure("plain", "loss") - last_figure("codes", "loss")) < 0.05);
    assert_true(fabs(last_figure("plain", "loss") - last_figure("bf16", "loss")) < 0.05);
}

static void refuses(const char *changes, const char *out, rapt_code want, const char *reason)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    assert_int_equal(run(&r, (rapt_train_options){.out = out, .resume = true}, &err), want);
    if (!strstr(err.message, reason))
        fail_msg("%s", err.message);
    rapt_recipe_free(&r);
}

static void others_do_not_resume(void **state)
{
    (void)state;
    put_texts();
    train(LARGE "train.optimizer=adam8bit", (rapt_train_options){.out = "m", .max_steps = 6});
    refuses(LARGE, "m", RAPT_ERR_VALUE, "train.optimizer is \"adam\", and \"adam8bit\" in its recipe.yaml");
    refuses(LARGE "train.optimizer=adam8bit train.gradients=bf16", "m", RAPT_ERR_VALUE, "train.gradients is \"bf16\"");
}

static void sums_of_batches_are_not_in_bf16(void **state)
{
    rapt_recipe r = lm_recipe("train.gradients=bf16 train.accumulate=2");
    rapt_error err = {0};
    (void)state;
    assert_int_equal(rapt_recipe_check(&r, "r.yaml", &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "train.gradients is bf16 and train.accumulate 2"));
    rapt_recipe_free(&r);
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

/* The layers' matrices of 48 x 190 and 190 x 48 have 4096 elements or more, and blocks of 43 and of 170 rows; attention's
 * matrices have 48 x 48, too few. */
static void the_plan_says_what_is_saved(void **state)
{
    const size_t large = 2 * 48 * 190, exponents = 32 + (5 * 190 + 255) / 256 + 32 + (20 * 48 + 255) / 256;
    (void)state;
    put_texts();
    const rapt_memory_plan plain = plan_of(LARGE "model.layers=8");
    const rapt_memory_plan codes = plan_of(LARGE "model.layers=8 train.optimizer=adam8bit");
    const rapt_memory_plan bf16 = plan_of(LARGE "model.layers=8 train.gradients=bf16");
    assert_int_equal(plain.moments, 2 * plain.gradients);
    assert_int_equal(plain.moments - codes.moments, 8 * 2 * (large * (sizeof(rapt_real) - 1) - exponents));
    assert_int_equal(codes.gradients, plain.gradients);
    assert_int_equal(plain.gradients - bf16.gradients, 8 * large * (sizeof(rapt_real) - 2));
    assert_int_equal(bf16.moments, plain.moments);
    assert_true(codes.trained_count == plain.trained_count && plain.trained_count == plain.parameter_count);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(the_same_bytes_with_any_threads),
        IN_A_FOLDER(resumed_is_never_stopped),
        IN_A_FOLDER(losses_are_near),
        IN_A_FOLDER(others_do_not_resume),
        IN_A_FOLDER(sums_of_batches_are_not_in_bf16),
        IN_A_FOLDER(the_plan_says_what_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
