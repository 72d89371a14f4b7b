/* tests/train/test_set_up_stopped.c: a run that is stopped while it reads, learns a vocabulary, tokenizes or makes its model
 * ends with RAPT_ERR_INTERRUPTED and leaves no folder, or the one that was there as it was.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train_folder.h"

static bool stop, met, planned;

static bool stop_is_set(void *context)
{
    (void)context;
    return stop;
}

/* Stops when the run says that it does `context`. */
static void stop_at(void *context, const char *what, size_t done, size_t count)
{
    (void)done, (void)count;
    if (strcmp(what, context) == 0)
        stop = met = true;
}

static void note_plan(void *context, const rapt_memory_plan *plan)
{
    (void)context;
    planned = plan->parameter_count > 0;
}

static void check_stops(const rapt_recipe *r, const char *phase, bool plans)
{
    rapt_error err = {0};
    stop = met = planned = false;
    rapt_train_options o = {.out = "m", .stop = stop_is_set, .on_phase = stop_at, .on_plan = note_plan, .context = (void *)phase};
    assert_int_equal(run(r, o, &err), RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "stopped before the first step; the folder is as it was");
    assert_true(met);
    assert_int_equal(planned, plans);
    assert_int_equal(access("m", F_OK), -1);
}

static void language_model(void **state)
{
    static const char *const types[] = {"tokenizer.type=characters", "tokenizer.type=bpe tokenizer.vocab_size=300"};
    (void)state;
    put_words("text.txt", 2000);
    for (size_t i = 0; i < 2; i++) {
        rapt_recipe r = lm_recipe(types[i]);
        check_stops(&r, "reading the data", false);
        check_stops(&r, "learning a vocabulary", false);
        check_stops(&r, "tokenizing the text", false);
        check_stops(&r, "making the model", true);
        rapt_recipe_free(&r);
    }
}

static void translation(void **state)
{
    static const char *const types[] = {"tokenizer.type=words",
                                        "tokenizer.type=bpe tokenizer.vocab_size=300 tokenizer.shared=true"};
    (void)state;
    put("pairs.tsv", "a b\tc d\nb a\td c\na a b\tc c d\nb b a\td d c\na b a\tc d c\nb a b\td c d\n");
    for (size_t i = 0; i < 2; i++) {
        rapt_recipe r;
        rapt_recipe_defaults(&r);
        set_all(&r, "data.pairs=pairs.tsv data.max_len=9 model.layers=1 model.d_model=8 model.heads=2 model.ffn=8 "
                    "model.max_positions=9 model.tied=false data.validation_fraction=0 train.steps=1");
        set_all(&r, types[i]);
        check_stops(&r, "reading the data", false);
        check_stops(&r, "learning a vocabulary", false);
        check_stops(&r, "tokenizing the pairs", false);
        check_stops(&r, "making the model", true);
        rapt_recipe_free(&r);
    }
}

/* A run that is resumed loses nothing, either. */
static void resumed(void **state)
{
    rapt_error err = {0};
    (void)state;
    put_words("text.txt", 2000);
    rapt_recipe r = lm_recipe("");
    rapt_train_options o = {.out = "m", .max_steps = 6};
    assert_int_equal(run(&r, o, &err), RAPT_OK);
    o = (rapt_train_options){.out = "m", .resume = true, .stop = stop_is_set, .on_phase = stop_at, .context = "making the model"};
    stop = false;
    assert_int_equal(run(&r, o, &err), RAPT_ERR_INTERRUPTED);
    err = (rapt_error){0};
    stop = false;
    o = (rapt_train_options){.out = "m", .resume = true};
    assert_int_equal(run(&r, o, &err), RAPT_OK);
    assert_int_equal(run(&r, (rapt_train_options){.out = "n"}, &err), RAPT_OK);
    assert_same_bytes("m", "n", "model.safetensors", 0, 0);
    rapt_recipe_free(&r);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(language_model), IN_A_FOLDER(translation), IN_A_FOLDER(resumed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
