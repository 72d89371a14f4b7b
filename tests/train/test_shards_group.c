/* tests/train/test_shards_group.c: the model does not depend on how many processes there are: eight recipes with 8 and with 24
 * shards, any number of ranks from 2 to 8, of unequal shares too; model, best model, checkpoints and log of one process, byte for
 * byte but for times. What else a run of several ranks does is in test_ranks_folder.c and test_ranks_set_up.c.
 * labels: raced-late sanitized-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train_folder.h"
#include "train_ranks.h"

#define STEPS "train.steps=8 train.report_every=3 train.checkpoint_every=2 train.keep=9 model.layers=2 model.d_model=40 " \
    "model.ffn=60 model.dropout=0.1 "
#define PAIRS STEPS "task=translation data.text= tokenizer.type=words data.pairs=pairs.tsv data.max_len=12 " \
    "data.validation_fraction=0.2 model.context=64 model.init=xavier model.max_positions=12 train.batch=3 train.eval_bleu=true "
#define TEXT STEPS "train.batch=1 "

static const struct {
    const char *changes, *file;
} RECIPES[] = {
    {PAIRS "model.norm_place=post ", "pairs.tsv"},
    {PAIRS "model.norm_place=pre tokenizer.shared=true model.tied=true train.weight_decay=0.1 ", "pairs.tsv"},
    {TEXT "data.text=kinds.txt train.weight_decay=0.1 model.output_bias=true ", "kinds.txt"}, /* a sparse embedding */
    {TEXT "model.tied=true model.kv_heads=1 model.positions=rotary train.recompute=true model.norm_kind=rms "
          "model.ffn_kind=swiglu model.bias=false ", "text.txt"},
    {TEXT "train.precision=bf16 model.tied=true ", "text.txt"},
    {TEXT "train.optimizer=muon model.d_model=96 model.ffn=700 data.text=kinds.txt ", "kinds.txt"}, /* matrices of many blocks */
    {PAIRS "train.optimizer=muon train.muon.adjust_lr=original train.weight_decay=0.1 ", "pairs.tsv"},
    {TEXT "train.optimizer=sgd train.sgd.momentum=0.9 data.text=kinds.txt train.weight_decay=0.01 ", "kinds.txt"},
    {TEXT "train.optimizer=sgd ", "text.txt"}, /* which has no moments */
    {PAIRS "tokenizer.type=bpe tokenizer.vocab_size=290 data.max_len=40 model.max_positions=40 data.bpe_dropout=0.2 ",
     "pairs.tsv"},
    {TEXT "train.ema=0.9 data.text=kinds.txt train.weight_decay=0.1 ", "kinds.txt"},
    {TEXT "train.optimizer=adam8bit model.d_model=96 model.ffn=700 data.text=kinds.txt ", "kinds.txt"}, /* and codes of parts */
};

static const char *const SHARDS[] = {"train.accumulate=8 train.shards=8", "train.accumulate=25 train.shards=24"};

static void put_inputs(void)
{
    put_words("text.txt", 900);
    put_many_kinds("kinds.txt", 3000, 1900);
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 400; i++) {
        for (int j = 0; j <= i % 7; j++)
            fprintf(f, "w%d ", (i * 5 + j * 3) % 11);
        fprintf(f, "%d\tv", i); /* no pair comes twice */
        for (int j = 0; j <= i % 7; j++)
            fprintf(f, " v%d", (i * 5 + j * 3) % 11);
        fprintf(f, "\n");
    }
    fclose(f);
}

static void assert_same_training(const char *a, const char *b)
{
    assert_same_bytes(a, b, "model.safetensors", 0, 0);
    assert_same_bytes(a, b, "best/model.safetensors", 0, 0);
    for (unsigned step = 2; step <= 8; step += 2)
        assert_same_checkpoint(a, b, step);
    assert_same_log(a, b);
}

static void check_ranks(const char *changes, const char *file, const int *counts)
{
    train_with(1, changes, (rapt_train_options){.out = "one", .threads = 2}, file);
    for (; *counts; counts++) {
        train_with(*counts, changes, (rapt_train_options){.out = "many"}, file);
        assert_same_training("one", "many");
        assert_int_equal(system("rm -rf many"), 0);
    }
    assert_int_equal(system("rm -rf one"), 0);
}

static void any_number_of_ranks(void **state)
{
    static const int counts[2][2][5] = {{{2, 4, 7}, {3, 5, 8}}, {{3, 5, 7}, {2, 4, 8}}}; /* in turns: each run takes its time */
    (void)state;
    put_inputs();
    for (size_t i = 0; i < sizeof RECIPES / sizeof *RECIPES; i++)
        for (size_t s = 0; s < sizeof SHARDS / sizeof *SHARDS; s++) {
            char changes[1024];
            snprintf(changes, sizeof changes, "%s%s", RECIPES[i].changes, SHARDS[s]);
            check_ranks(changes, RECIPES[i].file, counts[s][i % 2]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_number_of_ranks, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
