/* tests/train/test_draw_by.c: steps that are one large batch, however it is divided: with train.draw_by: step and as many shards,
 * 16 x 1, 8 x 2 and 4 x 4 train the same model, byte for byte, on windows and on pairs, with any threads and processes; and it is
 * what a step of one pass over all 16 trains, but for rounding.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train_folder.h"
#include "train_ranks.h"

#include <math.h>

#define STEPS "train.steps=10 train.report_every=5 train.checkpoint_every=5 model.dropout=0.2 model.d_model=24 model.ffn=40 " \
    "train.weight_decay=0.1 "
/* 161 sentences for training: the last batch of an epoch has one of 16, so that three shards have none. */
#define PAIRS STEPS "task=translation data.text= tokenizer.type=words data.pairs=pairs.tsv data.max_len=12 model.context=64 " \
    "data.validation_fraction=0 model.init=xavier model.max_positions=12 train.steps=14 "

static const char *const KINDS[][2] = {
    {STEPS "model.layers=2 ", "text.txt"},
    {STEPS "model.tied=true model.positions=alibi model.norm_place=pre train.clip=0.1 train.precision=bf16 ", "text.txt"},
    {STEPS "data.text=kinds.txt ", "kinds.txt"}, /* a sparse embedding */
    {PAIRS, "pairs.tsv"},
    {PAIRS "data.pad=fixed model.norm_place=pre model.norm_kind=rms train.label_smoothing=0.1 ", "pairs.tsv"},
};
enum { COUNT = sizeof KINDS / sizeof *KINDS };

static void put_inputs(void)
{
    put_words("text.txt", 900);
    put_many_kinds("kinds.txt", 3000, 1900);
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 161; i++) {
        for (int j = 0; j <= i % 7; j++)
            fprintf(f, "w%d ", (i * 5 + j * 3) % 11);
        fprintf(f, "%d\tv", i); /* no pair comes twice */
        for (int j = 0; j <= i % 5; j++)
            fprintf(f, " v%d", (i * 5 + j * 3) % 11);
        fprintf(f, "\n");
    }
    fclose(f);
}

/* A run of `ranks` processes with steps of accumulate x batch. */
static void train_divided(size_t kind, int batch, int accumulate, const char *more, int ranks, int threads, const char *out)
{
    char changes[1024];
    snprintf(changes, sizeof changes, "%s train.batch=%d train.accumulate=%d %s", KINDS[kind][0], batch, accumulate, more);
    train_with(ranks, changes, (rapt_train_options){.out = out, .threads = threads}, KINDS[kind][1]);
}

static void forget(const char *out)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", out);
    assert_int_equal(system(command), 0);
}

static void parts_are_the_whole(void **state)
{
    static const struct {
        int batch, accumulate, ranks, threads;
    } ways[] = {{8, 2, 1, 2}, {4, 4, 1, 1}, {4, 4, 2, 0}, {16, 1, 2, 0}, {8, 2, 3, 0}};
    (void)state;
    put_inputs();
    for (size_t i = 0; i < COUNT; i++) {
        train_divided(i, 16, 1, "train.shards=4", 1, 1, "whole"); /* one batch a step: drawn alike by batch and by step */
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            train_divided(i, ways[w].batch, ways[w].accumulate, "train.shards=4 train.draw_by=step", ways[w].ranks,
                          ways[w].threads, "parts");
            if (!same_parameters("whole", "parts"))
                fail_msg("recipe %zu: %d x %d of %d processes is another model", i, ways[w].batch, ways[w].accumulate,
                         ways[w].ranks);
            assert_same_checkpoint("whole", "parts", 10);
            assert_same_log("whole", "parts");
            forget("parts");
        }
        forget("whole");
    }
}

/* One pass over all rows adds in another order, and the draws of four small batches are other ones. */
static void one_pass_is_near(void **state)
{
    (void)state;
    put_inputs();
    for (size_t i = 0; i < COUNT; i++) {
        train_divided(i, 16, 1, "", 1, 2, "one");
        train_divided(i, 4, 4, "train.draw_by=step", 1, 2, "step");
        train_divided(i, 4, 4, "", 1, 2, "batch");
        const double near = fabs(last_figure("one", "loss") - last_figure("step", "loss"));
        const double far = fabs(last_figure("one", "loss") - last_figure("batch", "loss"));
        if (!(near < (i == 1 ? 2e-3 : 1e-4) && far > 4e-3))
            fail_msg("recipe %zu: losses differ by %g, and by %g with other draws", i, near, far);
        forget("one"), forget("step"), forget("batch");
    }
}

static void parts_resume(void **state)
{
    (void)state;
    put_inputs();
    for (size_t i = 0; i < COUNT; i += 3) {
        char changes[1024];
        snprintf(changes, sizeof changes, "%s train.batch=8 train.accumulate=2 train.shards=4 train.draw_by=step", KINDS[i][0]);
        train(changes, (rapt_train_options){.out = "whole"});
        train(changes, (rapt_train_options){.out = "parts", .max_steps = 7});
        train(changes, (rapt_train_options){.out = "parts", .resume = true, .threads = 3});
        assert_true(same_parameters("whole", "parts"));
        assert_same_log("whole", "parts");
        forget("whole"), forget("parts");
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(parts_are_the_whole),
        IN_A_FOLDER(one_pass_is_near),
        IN_A_FOLDER(parts_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
