/* tests/train/test_moving_average.c: runs with train.ema: averages against the definition in double, computed of the parameters
 * in the checkpoints of all steps; training is as without; what is evaluated, saved and sampled is the average; the same bits
 * with any number of threads, stopped and resumed; the memory plan. Several processes: test_shards_group.c.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include "io/safetensors.h"

#include <math.h>

#define STEPS 24
#define EMA "train.ema=0.6 "
#define EACH EMA "train.checkpoint_every=1 train.keep=99 train.keep_untrained=true "

/* A sparse embedding, whose updates are deferred; shards; gradients that are released; frozen parameters. */
static const char *const recipes[] = {
    EMA "data.text=kinds.txt train.weight_decay=0.1",
    EMA "train.accumulate=3 train.shards=3 train.batch=1 train.precision=bf16",
    EMA "train.release_gradients=true train.optimizer=sgd train.sgd.momentum=0.9 train.freeze=*.bias",
};
#define RECIPES (sizeof recipes / sizeof *recipes)

static safetensors *open_file(const char *path)
{
    safetensors *file;
    rapt_error err = {0};
    safetensors_open(path, &file, &err);
    assert_string_equal(err.message, "");
    return file;
}

static safetensors *open_step(const char *folder, unsigned step)
{
    char path[96];
    snprintf(path, sizeof path, "%s/checkpoints/step-%08u.safetensors", folder, step);
    return open_file(path);
}

static const float *numbers(const safetensors *file, const char *prefix, const char *name, size_t *count)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s", prefix, name);
    const safetensors_entry *e = safetensors_find(file, text);
    if (!e)
        fail_msg("no %s", text);
    *count = e->bytes / sizeof(float);
    return e->data;
}

/* ---- the definition ------------------------------------------------------------------------------------------------- */

static void check_definition(const char *folder, const char *name, double decay)
{
    size_t count;
    char path[96];
    snprintf(path, sizeof path, "%s/untrained/model.safetensors", folder);
    safetensors *file = open_file(path);
    const float *first = numbers(file, "", name, &count);
    double *average = calloc(count, sizeof *average), worst = 0, moved = 0;
    assert_non_null(average);
    for (size_t i = 0; i < count; i++)
        average[i] = (double)first[i];
    safetensors_close(file);
    for (unsigned step = 1; step <= STEPS; step++) {
        const double d = fmin(decay, (1.0 + step) / (10.0 + step));
        file = open_step(folder, step);
        const float *p = numbers(file, "", name, &count), *found = numbers(file, "ema.", name, &count);
        for (size_t i = 0; i < count; i++) {
            average[i] += (1 - d) * ((double)p[i] - average[i]);
            worst = fmax(worst, fabs(average[i] - (double)found[i]));
            moved = fmax(moved, fabs((double)p[i] - (double)found[i]));
        }
        safetensors_close(file);
    }
    assert_true(worst < 1e-6 && moved > 1e-3);
    free(average);
}

static void averages_are_what_they_say(void **state)
{
    (void)state;
    put_texts();
    train(EACH, (rapt_train_options){.out = "m"});
    check_definition("m", "embedding.weight", 0.6);
    check_definition("m", "blocks.0.attention.q.weight", 0.6);
    check_definition("m", "blocks.0.norm1.bias", 0.6);
    train(EACH "train.ema=0.1", (rapt_train_options){.out = "small"}); /* below 2 / 11, the first one */
    check_definition("small", "output.weight", 0.1);
}

/* ---- what is made of them ------------------------------------------------------------------------------------------- */

static void assert_same_tensors(const safetensors *model, const char *folder, unsigned step, const char *prefix)
{
    static const char *const names[] = {"embedding.weight", "output.weight", "blocks.0.ffn.dense1.weight",
                                        "blocks.0.norm2.weight"};
    safetensors *file = open_step(folder, step);
    size_t n, m;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const float *a = numbers(model, "", names[i], &n), *b = numbers(file, prefix, names[i], &m);
        assert_true(n == m && memcmp(a, b, n * sizeof *a) == 0);
    }
    safetensors_close(file);
}

static double loss_of_model(const char *folder)
{
    char changes[64];
    double loss;
    rapt_error err = {0};
    snprintf(changes, sizeof changes, "train.init=%s", folder);
    rapt_recipe r = lm_recipe(changes);
    rapt_train_options o = rapt_train_options_default();
    o.recipe = &r, o.out = "evaluated";
    rapt_trainer *t = rapt_trainer_new(&o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_trainer_evaluate(t, &loss, &err), RAPT_OK);
    rapt_trainer_free(t);
    rapt_recipe_free(&r);
    assert_int_equal(system("rm -rf evaluated"), 0);
    return loss;
}

static void what_is_saved_and_evaluated(void **state)
{
    (void)state;
    put_texts();
    train(EACH, (rapt_train_options){.out = "m"});
    safetensors *model = open_file("m/model.safetensors"), *best = open_file("m/best/model.safetensors");
    assert_same_tensors(model, "m", STEPS, "ema.");
    assert_same_tensors(best, "m", STEPS, "ema."); /* the last report is the best one here */
    safetensors_close(model);
    safetensors_close(best);
    assert_true(fabs(last_figure("m", "val_loss") - loss_of_model("m")) < 1e-8); /* the log has 9 digits */
    train("train.checkpoint_every=1", (rapt_train_options){.out = "plain"});
    assert_true(fabs(last_figure("m", "val_loss") - last_figure("plain", "val_loss")) > 1e-4);
}

/* A program sees what the steps make, and at the end what the folder has. */
static void the_model_of_a_program(void **state)
{
    rapt_error err = {0};
    double loss[2];
    (void)state;
    put_texts();
    rapt_recipe r = lm_recipe(EACH);
    rapt_train_options o = rapt_train_options_default();
    o.recipe = &r, o.out = "m";
    rapt_trainer *t = rapt_trainer_new(&o, &err);
    assert_non_null(t);
    while (!rapt_trainer_is_over(t))
        assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    assert_int_equal(rapt_trainer_evaluate(t, &loss[0], &err), RAPT_OK);
    const rapt_param *p = rapt_params_find(rapt_model_params(rapt_trainer_model(t, &err)), "output.weight");
    const size_t bytes = rapt_tensor_size(&p->value) * sizeof *p->value.data;
    rapt_real *before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, p->value.data, bytes);
    assert_int_equal(rapt_trainer_finish(t, &err), RAPT_OK);
    assert_int_equal(rapt_trainer_evaluate(t, &loss[1], &err), RAPT_OK);
    assert_true(loss[0] == loss[1]);
    safetensors *model = open_file("m/model.safetensors"), *last = open_step("m", STEPS);
    size_t n;
    assert_memory_equal(p->value.data, numbers(model, "", "output.weight", &n), n * sizeof(float));
    assert_memory_equal(before, numbers(last, "", "output.weight", &n), n * sizeof(float));
    safetensors_close(model);
    safetensors_close(last);
    free(before);
    rapt_trainer_free(t);
    rapt_recipe_free(&r);
}

static void training_is_as_without(void **state)
{
    (void)state;
    put_texts();
    for (size_t i = 0; i < RECIPES; i++) {
        train(recipes[i], (rapt_train_options){.out = "with"});
        train(recipes[i] + strlen(EMA), (rapt_train_options){.out = "without"});
        safetensors *model = open_file("without/model.safetensors");
        assert_same_tensors(model, "with", STEPS, "");
        safetensors_close(model);
        assert_int_equal(system("rm -r with without"), 0);
    }
}

static void checkpoints_as_models(void **state)
{
    rapt_error err = {0};
    (void)state;
    put_texts();
    train(EACH, (rapt_train_options){.out = "m"});
    rapt_model *m = rapt_model_load_checkpoint("m", 7, &err);
    assert_string_equal(err.message, "");
    safetensors *file = open_step("m", 7);
    size_t n;
    const float *average = numbers(file, "ema.", "output.weight", &n);
    const rapt_param *p = rapt_params_find(rapt_model_params(m), "output.weight");
    assert_int_equal(n, rapt_tensor_size(&p->value));
    for (size_t i = 0; i < n; i++)
        assert_true((float)p->value.data[i] == average[i]);
    safetensors_close(file);
    rapt_model_free(m);
}

/* ---- the same bits -------------------------------------------------------------------------------------------------- */

static void the_same_bytes(void **state)
{
    (void)state;
    put_texts();
    for (size_t i = 0; i < RECIPES; i++) {
        char whole[16], parts[16];
        snprintf(whole, sizeof whole, "whole%zu", i);
        snprintf(parts, sizeof parts, "parts%zu", i);
        train(recipes[i], (rapt_train_options){.out = whole, .threads = 1});
        train(recipes[i], (rapt_train_options){.out = parts, .max_steps = 7, .threads = 3});
        train(recipes[i], (rapt_train_options){.out = parts, .max_steps = 18, .resume = true, .threads = 2});
        train(recipes[i], (rapt_train_options){.out = parts, .resume = true});
        assert_same_model(whole, parts);
        assert_same_checkpoint(whole, parts, 18);
        assert_same_checkpoint(whole, parts, 24);
    }
}

/* Nothing is left to do, so nothing is written. */
static void resumed_at_the_end(void **state)
{
    (void)state;
    put_texts();
    train(EMA, (rapt_train_options){.out = "m"});
    assert_int_equal(system("touch -d 2001-01-01 m/model.safetensors && cp -r m before"), 0);
    train(EMA, (rapt_train_options){.out = "m", .resume = true});
    assert_int_equal(system("test m/model.safetensors -ot m/config.json"), 0);
    assert_same_model("m", "before");
}

/* ---- memory, and what is refused ------------------------------------------------------------------------------------ */

static void the_plan_has_them(void **state)
{
    (void)state;
    put_texts();
    const rapt_memory_plan plain = plan_of(""), averaged = plan_of(EMA);
    assert_int_equal(averaged.moments - plain.moments, plain.moments / 2);
}

static void another_decay_does_not_resume(void **state)
{
    static const char *const changes[][2] = {{"", "train.ema is \"0\", and \"0.6\" in its recipe.yaml"},
                                             {"train.ema=0.7", "train.ema is \"0.7\""}};
    (void)state;
    put_texts();
    train(EMA, (rapt_train_options){.out = "m", .max_steps = 6});
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        rapt_recipe r = lm_recipe(changes[i][0]);
        rapt_error err = {0};
        assert_int_equal(run(&r, (rapt_train_options){.out = "m", .resume = true}, &err), RAPT_ERR_VALUE);
        if (!strstr(err.message, changes[i][1]))
            fail_msg("%s", err.message);
        rapt_recipe_free(&r);
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(averages_are_what_they_say),
        IN_A_FOLDER(what_is_saved_and_evaluated),
        IN_A_FOLDER(the_model_of_a_program),
        IN_A_FOLDER(training_is_as_without),
        IN_A_FOLDER(checkpoints_as_models),
        IN_A_FOLDER(the_same_bytes),
        IN_A_FOLDER(resumed_at_the_end),
        IN_A_FOLDER(the_plan_has_them),
        IN_A_FOLDER(another_decay_does_not_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
