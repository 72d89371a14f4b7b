/* tests/train/test_plateau.c: train.schedule plateau, by the loss and by BLEU: from the numbers of the log, torch's
 * ReduceLROnPlateau makes the same rates, and a run that is stopped and resumed has them too. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include <math.h>

#define PLATEAU "train.schedule=plateau train.plateau.factor=0.3 train.plateau.patience=2 train.report_every=2 " \
                "train.checkpoint_every=7 train.steps=80 train.lr_end=0.001 "
static const char by_loss[] = PLATEAU "train.lr=0.3", warm[] = PLATEAU "train.lr=0.3 train.warmup=31",
                  by_bleu[] = PLATEAU "task=translation data.text= data.pairs=pairs.tsv data.validation_fraction=0.3 "
                                      "tokenizer.type=words model.context=64 model.init=xavier train.batch=4 "
                                      "train.lr=0.05 train.eval_bleu=true train.best_by=bleu";

static void put_data(void)
{
    put_words("text.txt", 600);
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++)
        fprintf(f, "w%d w%d\tx%d y%d\n", i % 7, i, i % 7, i % 5);
    fclose(f);
}

/* ReduceLROnPlateau(mode, factor=0.3, patience=1, threshold=0, min_lr=0.001), whose patience of 1 bears one bad report, so that
 * the second reduces the rate: ours of 2. A line has the rate of its own step, before the report. Returns the reductions. */
static int follows_torch(const char *folder, const char *name, double lr, uint64_t warmup)
{
    size_t size;
    char *log = get(folder, "train.jsonl", &size), *rest = log;
    const bool low = strcmp(name, "val_loss") == 0;
    double best = low ? INFINITY : -INFINITY, rate = lr;
    int bad = 0, reductions = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        json_t *o = json_loads(line, 0, NULL);
        const double x = json_number_value(json_object_get(o, name)), told = json_number_value(json_object_get(o, "lr"));
        const uint64_t step = (uint64_t)json_integer_value(json_object_get(o, "step"));
        const double wanted = step < warmup ? lr * (double)step / (double)warmup : rate;
        if (!(fabs(told - wanted) <= 1e-8 * wanted))
            fail_msg("%s, step %d: %.9g, not %.9g", folder, (int)step, told, wanted);
        const bool better = low ? x < best : x > best;
        best = better ? x : best;
        bad = better || step < warmup ? 0 : bad + 1;
        if (bad == 2) {
            reductions += rate > 0.001;
            rate = fmax(rate * 0.3, 0.001);
            bad = 0;
        }
        json_decref(o);
    }
    free(log);
    return reductions;
}

static void torch_makes_the_same_rates(void **state)
{
    (void)state;
    put_data();
    train(by_loss, (rapt_train_options){.out = "loss"});
    train(warm, (rapt_train_options){.out = "warm"});
    train(by_bleu, (rapt_train_options){.out = "bleu"});
    assert_true(follows_torch("loss", "val_loss", 0.3, 0) >= 2);
    assert_true(follows_torch("warm", "val_loss", 0.3, 31) >= 2);
    assert_true(follows_torch("bleu", "val_bleu", 0.05, 0) >= 3);
    assert_true(last_figure("bleu", "lr") == 0.001);
}

static void stopped_anywhere(void **state)
{
    static const char *const recipes[] = {by_loss, warm, by_bleu};
    static const uint64_t stops[] = {7, 8, 20, 33, 34, 35, 61};
    (void)state;
    put_data();
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        train(recipes[i], (rapt_train_options){.out = "whole"});
        for (size_t k = 0; k < sizeof stops / sizeof *stops; k++)
            train(recipes[i], (rapt_train_options){.out = "parts", .max_steps = stops[k], .resume = k > 0});
        train(recipes[i], (rapt_train_options){.out = "parts", .resume = true});
        assert_same_bytes("whole", "parts", "model.safetensors", 0, 0);
        assert_same_bytes("whole", "parts", "best/model.safetensors", 0, 0);
        assert_same_checkpoint("whole", "parts", 80);
        assert_same_log("whole", "parts");
        assert_int_equal(system("rm -r whole parts"), 0);
    }
}

/* The length of a run does not decide its rates, so a longer one goes the same way. */
static void a_finished_run_is_continued(void **state)
{
    static const char short_one[] = PLATEAU "train.lr=0.3 train.steps=40";
    (void)state;
    put_data();
    train(by_loss, (rapt_train_options){.out = "whole"});
    train(short_one, (rapt_train_options){.out = "parts"});
    train(by_loss, (rapt_train_options){.out = "parts", .resume = true});
    assert_same_bytes("whole", "parts", "model.safetensors", 0, 0);
    assert_same_log("whole", "parts");
}

static void check_says(const char *changes, const char *message)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    assert_int_equal(rapt_recipe_check(&r, "recipe", &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    rapt_recipe_free(&r);
}

static void what_is_refused(void **state)
{
    (void)state;
    check_says("train.schedule=plateau data.validation_fraction=0",
               "recipe: train.schedule is plateau; it needs data.validation_fraction, or data.validation for "
               "pairs, conversations and preferences");
    check_says("train.plateau.patience=3", "recipe: train.plateau.patience is 3; it needs train.schedule to be plateau");
    check_says("train.schedule=cosine train.plateau.factor=0.7",
               "recipe: train.plateau.factor is 0.7; it needs train.schedule to be plateau");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(torch_makes_the_same_rates),
        IN_FOLDER(stopped_anywhere),
        IN_FOLDER(a_finished_run_is_continued),
        IN_FOLDER(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
