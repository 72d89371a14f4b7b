/* tests/train/test_best_by.c: which number decides best/ and early stopping: the loss, BLEU or chrF; stopped and resumed, a run
 * finds the same best model.
 * labels: sanitized-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include <math.h>

/* Few words, the second of which can't be known: BLEU is best early, chrF and the loss late. */
#define TASK "task=translation data.text= data.pairs=pairs.tsv data.validation_fraction=0.3 tokenizer.type=words " \
             "train.batch=4 train.eval_bleu=true model.init=xavier train.lr=0.03 train.steps=80 train.report_every=5 " \
             "train.checkpoint_every=7 model.context=64 "
static const char by_loss[] = TASK, by_bleu[] = TASK "train.best_by=bleu", by_chrf[] = TASK "train.best_by=chrf";

static void put_pairs(void)
{
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++)
        fprintf(f, "w%d w%d\tx%d y%d\n", i % 7, i, i % 7, i % 5);
    fclose(f);
}

static void keep_progress(void *context, const rapt_progress *p)
{
    *(rapt_progress *)context = *p;
}

static rapt_progress train_to(const char *changes, const char *out, uint64_t max_steps, bool resume)
{
    rapt_progress last = {0};
    train(changes, (rapt_train_options){.out = out, .max_steps = max_steps, .resume = resume, .on_progress = keep_progress,
                                        .context = &last});
    return last;
}

/* The first step with the best number of this name, as the log has them. */
static uint64_t best_in(const char *folder, const char *name, bool low)
{
    size_t size;
    char *log = get(folder, "train.jsonl", &size), *rest = log;
    double best = low ? INFINITY : -INFINITY;
    uint64_t step = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        json_t *o = json_loads(line, 0, NULL);
        const double x = json_number_value(json_object_get(o, name));
        if (low ? x < best : x > best) {
            best = x;
            step = (uint64_t)json_integer_value(json_object_get(o, "step"));
        }
        json_decref(o);
    }
    free(log);
    return step;
}

/* best/ is the model that a run of so many steps ends with. */
static void best_is_of(const char *changes, const char *folder, uint64_t step)
{
    char best[64];
    snprintf(best, sizeof best, "%s/best", folder);
    train_to(changes, "short", step, false);
    assert_same_bytes("short", best, "model.safetensors", 0, 0);
    assert_int_equal(system("rm -r short"), 0);
}

static void each_number_has_its_best(void **state)
{
    (void)state;
    put_pairs();
    rapt_progress loss = train_to(by_loss, "loss", 0, false), bleu = train_to(by_bleu, "bleu", 0, false),
                  chrf = train_to(by_chrf, "chrf", 0, false);
    assert_same_log("loss", "bleu"); /* only what is kept differs */
    assert_same_log("loss", "chrf");
    assert_int_equal(loss.best_step, best_in("loss", "val_loss", true));
    assert_int_equal(bleu.best_step, best_in("bleu", "val_bleu", false));
    assert_int_equal(chrf.best_step, best_in("chrf", "val_chrf", false));
    print_message("%d %d %d\n", (int)loss.best_step, (int)bleu.best_step, (int)chrf.best_step);
    assert_true(bleu.best_step != loss.best_step && bleu.best_step != chrf.best_step && chrf.best_step != loss.best_step);
    assert_true(isnan(loss.best_score) && bleu.best_score > 0 && chrf.best_score > bleu.best_score);
    assert_true(bleu.best_val_loss > loss.best_val_loss);
    best_is_of(by_loss, "loss", loss.best_step);
    best_is_of(by_bleu, "bleu", bleu.best_step);
    best_is_of(by_chrf, "chrf", chrf.best_step);
}

static void the_best_is_known_after_a_stop(void **state)
{
    static const uint64_t stops[] = {3, 10, 11, 42, 77}; /* before the best one, at it, after it, ... */
    (void)state;
    put_pairs();
    const rapt_progress whole = train_to(by_bleu, "whole", 0, false);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        train_to(by_bleu, "parts", stops[i], false);
        const rapt_progress last = train_to(by_bleu, "parts", 0, true);
        assert_int_equal(last.best_step, whole.best_step);
        assert_true(last.best_score == whole.best_score && last.best_val_loss == whole.best_val_loss);
        assert_same_bytes("whole", "parts", "best/model.safetensors", 0, 0);
        assert_same_bytes("whole", "parts", "model.safetensors", 0, 0);
        assert_same_checkpoint("whole", "parts", 80);
        assert_same_log("whole", "parts");
        assert_int_equal(system("rm -r parts"), 0);
    }
}

static void patience_counts_it(void **state)
{
    (void)state;
    put_pairs();
    const rapt_progress loss = train_to(TASK "train.patience=3", "loss", 0, false),
                        bleu = train_to(TASK "train.patience=3 train.best_by=bleu", "bleu", 0, false);
    assert_true(bleu.early_stopped && bleu.step == bleu.best_step + 3 * 5);
    assert_true(loss.step > bleu.step);
    train_to(TASK "train.patience=3 train.best_by=bleu", "parts", bleu.best_step + 6, false);
    assert_int_equal(train_to(TASK "train.patience=3 train.best_by=bleu", "parts", 0, true).step, bleu.step);
    assert_same_bytes("bleu", "parts", "best/model.safetensors", 0, 0);
}

static void refused(const char *changes, rapt_train_options o, const char *message)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    rapt_code code = rapt_recipe_check(&r, "recipe", &err);
    o.size = sizeof o;
    o.recipe = &r;
    if (!code)
        code = rapt_train(&o, &err);
    assert_int_equal(code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, message));
    rapt_recipe_free(&r);
}

static void what_is_refused(void **state)
{
    (void)state;
    put_pairs();
    put_words("text.txt", 600);
    refused(TASK "train.best_by=bleu train.eval_bleu=false", (rapt_train_options){.out = "m"},
            "train.best_by is bleu; it needs train.eval_bleu to be true");
    refused("train.best_by=chrf", (rapt_train_options){.out = "m"},
            "train.best_by is chrf; that is for task translation only");
    train_to(by_bleu, "m", 5, false); /* what was the best number cannot be compared with another */
    refused(by_chrf, (rapt_train_options){.out = "m", .resume = true}, "train.best_by is \"chrf\", and \"bleu\" in");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(each_number_has_its_best),
        IN_FOLDER(the_best_is_known_after_a_stop),
        IN_FOLDER(patience_counts_it),
        IN_FOLDER(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
