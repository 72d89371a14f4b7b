/* tests/train/test_ranks_folder.c: what runs of several processes leave is what one process leaves, byte for byte: model,
 * checkpoints, the best model, tokenizer and tokens, and the log but for speeds and times; also where they are stopped and
 * resumed by another number of processes. Only rank 0 sees the folder, and calls back.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train_folder.h"
#include "train_ranks.h"

#include <math.h>

#define SHARDS "train.accumulate=8 train.shards=8 train.batch=1 train.steps=12 train.report_every=3 train.checkpoint_every=4 "

static const char *const RECIPES[] = {
    SHARDS "train.keep_untrained=true",
    SHARDS "tokenizer.type=bpe tokenizer.vocab_size=300 model.dropout=0.1 train.weight_decay=0.1 train.freeze=*.bias",
    SHARDS "data.text=kinds.txt train.ema=0.9",
    SHARDS "train.optimizer=muon model.layers=3 model.d_model=32 model.ffn=600", /* matrices of several blocks */
    SHARDS "data.text=text.txt:kinds.txt train.precision=bf16 model.d_model=32", /* only rank 0 reads several files */
};

static const char *const FILES[] = {"text.txt", "text.txt", "kinds.txt", "text.txt", "text.txt"};

/* All that a run of 12 steps leaves. */
static void assert_same_run(const char *a, const char *b)
{
    assert_same_model(a, b);
    assert_same_checkpoint(a, b, 8);
    assert_same_checkpoint(a, b, 12);
}

static void folders_are_equal(void **state)
{
#ifdef __SANITIZE_THREAD__ /* each takes some ten times as long */
    static const int counts[] = {3};
#else
    static const int counts[] = {2, 3, 5, 8};
#endif
    (void)state;
    put_texts();
    for (size_t i = 0; i < sizeof RECIPES / sizeof *RECIPES; i++) {
        train_with(1, RECIPES[i], (rapt_train_options){.out = "one"}, FILES[i]);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            train_with(counts[k], RECIPES[i], (rapt_train_options){.out = "many"}, FILES[i]);
            assert_same_run("one", "many");
            assert_int_equal(system("rm -rf many"), 0);
        }
        assert_int_equal(system("rm -rf one"), 0);
    }
}

static void resumed_by_others(void **state)
{
    static const int counts[] = {4, 1, 3, 8};
    static const uint64_t ends[] = {3, 4, 8, 0};
    (void)state;
    put_texts();
    for (size_t i = 0; i < sizeof RECIPES / sizeof *RECIPES; i++) {
        train_with(1, RECIPES[i], (rapt_train_options){.out = "one"}, FILES[i]);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            train_with(counts[k], RECIPES[i],
                       (rapt_train_options){.out = "many", .resume = true, .max_steps = ends[k]}, FILES[i]);
        assert_same_run("one", "many");
        assert_int_equal(system("rm -rf one many"), 0);
    }
}

/* ---- translation ---------------------------------------------------------------------------------------------- */

static const char TRANSLATION[] =
    "task=translation data.text= tokenizer.type=words data.pairs=pairs.tsv data.max_len=12 data.validation_fraction=0.2 "
    "model.context=64 model.init=xavier model.max_positions=12 model.positions=sinusoidal train.batch=2 "
    "train.accumulate=6 train.shards=5 train.eval_bleu=true train.steps=6 train.report_every=1 train.checkpoint_every=3 "
    "train.best_by=bleu train.schedule=plateau train.plateau.patience=1 ";

static void put_pairs(void)
{
    FILE *f = fopen("pairs.tsv", "w");
    uint32_t x = 5;
    assert_non_null(f);
    for (int i = 0; i < 900; i++) {
        char source[64] = "", target[64] = "";
        for (int n = 1 + i % 5; n > 0; n--) {
            x = x * 1664525 + 1013904223;
            const int one = (int)(x >> 20) % 7, other = (int)(x >> 8) % 3;
            sprintf(source + strlen(source), "%s%c%c", *source ? " " : "", 'a' + one, 'a' + other);
            sprintf(target + strlen(target), "%s%c%c", *target ? " " : "", 'z' - one, 'n' + other);
        }
        fprintf(f, "%s\t%s\n", source, target);
    }
    fclose(f);
}

static void translations_are_equal(void **state)
{
    static const char *const names[] = {"model.safetensors", "best/model.safetensors", "validation.tsv", "config.json",
                                        "source.tokenizer.json", "recipe.yaml"};
    (void)state;
    put_pairs();
    train_with(1, TRANSLATION, (rapt_train_options){.out = "one"}, "pairs.tsv");
    for (int count = 2; count <= 5; count += 3) {
        train_with(count, TRANSLATION, (rapt_train_options){.out = "many"}, "pairs.tsv");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            assert_same_bytes("one", "many", names[i], 0, 0);
        assert_same_log("one", "many"); /* with BLEU */
        assert_same_checkpoint("one", "many", 6);
        assert_int_equal(system("rm -rf many"), 0);
    }
    assert_false(isnan(last_figure("one", "val_bleu")));
    assert_true(last_figure("one", "lr") < 0.01); /* all ranks have reduced it at the same reports */
}

/* ---- callbacks ------------------------------------------------------------------------------------------------ */

typedef struct heard {
    int plans, phases, progresses, samples;
    rapt_progress last;
} heard;

static void on_plan(void *context, const rapt_memory_plan *plan)
{
    ((heard *)context)->plans += plan->parameter_count > 0;
}

static void on_phase(void *context, const char *what, size_t done, size_t count)
{
    (void)what, (void)done, (void)count;
    ((heard *)context)->phases++;
}

static void on_progress(void *context, const rapt_progress *p)
{
    ((heard *)context)->progresses++;
    ((heard *)context)->last = *p;
}

static void on_sample(void *context, uint64_t step, const char *text)
{
    (void)step;
    ((heard *)context)->samples += *text != '\0';
}

static void rank_0_calls_back(void **state)
{
    heard of[3] = {{0}};
    (void)state;
    put_texts();
    train_ranks *t = ranks_make(3, SHARDS "train.sample_every=6", (rapt_train_options){.out = "m"}, "text.txt");
    for (int i = 0; i < 3; i++) {
        rapt_train_options *o = &t->list[i].options;
        o->on_plan = on_plan;
        o->on_phase = on_phase;
        o->on_progress = on_progress;
        o->on_sample = on_sample;
        o->context = &of[i];
    }
    ranks_run(t);
    ranks_end_alike(t, RAPT_OK, 1);
    ranks_free(t);
    assert_int_equal(of[0].plans, 1);
    assert_int_equal(of[0].progresses, 12);
    assert_int_equal(of[0].samples, 2);
    assert_true(of[0].phases > 0);
    assert_int_equal(of[0].last.ranks, 3);
    assert_true(of[0].last.waited >= 0 && of[0].last.waited <= 1);
    for (int i = 1; i < 3; i++)
        assert_int_equal(of[i].plans + of[i].phases + of[i].progresses + of[i].samples, 0);
}

/* ---- stops ---------------------------------------------------------------------------------------------------- */

/* Is asked after each batch at least: stops at the `context`th question. */
static bool stop_at_question(void *context)
{
    int *left = context;
    return --*left < 0;
}

/* One rank is asked to stop: all stop after the same step, and the run can be resumed to the same end. */
static void stopped_on_one(void **state)
{
    (void)state;
    put_texts();
    train_with(1, RECIPES[0], (rapt_train_options){.out = "one"}, "text.txt");
    for (int i = 0; i < 3; i++) {
        int left = 45 + 11 * i;
        train_ranks *t = ranks_make(3, RECIPES[0], (rapt_train_options){.out = "many"}, "text.txt");
        t->list[i].options.stop = stop_at_question;
        t->list[i].options.context = &left;
        ranks_run(t);
        ranks_end_alike(t, RAPT_ERR_INTERRUPTED, 1);
        ranks_free(t);
        train_with(2, RECIPES[0], (rapt_train_options){.out = "many", .resume = true}, "text.txt");
        assert_same_run("one", "many");
        assert_int_equal(system("rm -rf many"), 0);
    }
}

/* While they set up: nothing is left. */
static void stopped_before_the_first_step(void **state)
{
    (void)state;
    put_texts();
    for (int i = 0; i < 6; i++) {
        int left = 4 * (i / 3) + 2;
        train_ranks *t = ranks_make(3, RECIPES[1], (rapt_train_options){.out = "m"}, "text.txt");
        t->list[i % 3].options.stop = stop_at_question;
        t->list[i % 3].options.context = &left;
        ranks_run(t);
        assert_string_equal(t->list[0].err.message, "stopped before the first step; the folder is as it was");
        ranks_end_alike(t, RAPT_ERR_INTERRUPTED, 1);
        ranks_free(t);
        assert_false(file_exists("m"));
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(folders_are_equal), IN_A_FOLDER(resumed_by_others),
                                       IN_A_FOLDER(translations_are_equal), IN_A_FOLDER(rank_0_calls_back),
                                       IN_A_FOLDER(stopped_on_one), IN_A_FOLDER(stopped_before_the_first_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
