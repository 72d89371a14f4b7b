/* tests/train/test_bpe_dropout_training.c: runs with data.bpe_dropout: with any number of threads, stopped and resumed the same
 * bytes; another model than without, the same validation set; what is refused. Several processes: test_shards_group.c.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#define PAIRS "task=translation data.text= tokenizer.type=bpe tokenizer.vocab_size=290 data.pairs=pairs.tsv data.max_len=24 " \
    "data.validation_fraction=0.2 model.context=64 model.init=xavier model.max_positions=24 train.batch=6 "
#define DROPOUT PAIRS "data.bpe_dropout=0.2 "

static void put_pairs(void)
{
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 200; i++) {
        for (int j = 0; j <= i % 5; j++)
            fprintf(f, "word%d ", (i * 5 + j * 3) % 11);
        fprintf(f, "%d\tsay%d", i, i); /* no pair comes twice */
        for (int j = 0; j <= i % 5; j++)
            fprintf(f, " wort%d", (i * 5 + j * 3) % 11);
        fprintf(f, "\n");
    }
    fclose(f);
}

static const char *const recipes[] = {
    DROPOUT "train.batch=10 ", /* 24 steps are more than an epoch */
    DROPOUT "train.batch_tokens=90 data.too_long=drop ",
    DROPOUT "train.accumulate=3 train.shards=2 data.pad=fixed tokenizer.shared=true model.tied=true ",
};

static void assert_same_translation(const char *a, const char *b)
{
    assert_same_bytes(a, b, "model.safetensors", 0, 0);
    assert_same_bytes(a, b, "best/model.safetensors", 0, 0);
    assert_same_log(a, b);
    assert_same_checkpoint(a, b, 24);
}

static void the_same_bytes(void **state)
{
    (void)state;
    put_pairs();
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        train(recipes[i], (rapt_train_options){.out = "whole", .threads = 1});
        train(recipes[i], (rapt_train_options){.out = "parts", .max_steps = 7, .threads = 3});
        train(recipes[i], (rapt_train_options){.out = "parts", .resume = true, .threads = 2});
        assert_same_translation("whole", "parts");
        assert_int_equal(system("rm -r whole parts"), 0);
    }
}

static void another_model(void **state)
{
    (void)state;
    put_pairs();
    train(PAIRS, (rapt_train_options){.out = "without"});
    train(DROPOUT, (rapt_train_options){.out = "with"});
    assert_false(same_parameters("without", "with"));
    train(DROPOUT "train.lr=1e-9", (rapt_train_options){.out = "still"});
    train(PAIRS "train.lr=1e-9", (rapt_train_options){.out = "still without"});
    assert_true(last_figure("still", "val_loss") - last_figure("still without", "val_loss") < 1e-5); /* sentences as they are */
    assert_true(last_figure("still", "val_loss") - last_figure("still without", "val_loss") > -1e-5);
}

static void refuses(const char *changes, const char *message)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    rapt_train_options o = rapt_train_options_default();
    o.recipe = &r, o.out = "m";
    rapt_code code = rapt_recipe_check(&r, "recipe", &err);
    assert_int_equal(code ? code : rapt_train(&o, &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, message))
        fail_msg("%s", err.message);
    rapt_recipe_free(&r);
}

static void refused(void **state)
{
    (void)state;
    put_words("text.txt", 600);
    put_pairs();
    refuses("data.bpe_dropout=0.1", "data.bpe_dropout is 0.1");
    refuses(DROPOUT "tokenizer.type=words tokenizer.vocab_size=0",
            "data.bpe_dropout is 0.2: BPE dropout needs byte-level BPE, as tokenizer.type bpe makes it; the source tokenizer is "
            "of another kind");
    rapt_recipe r = lm_recipe(PAIRS);
    rapt_error err = {0};
    assert_int_equal(rapt_recipe_set(&r, "data.bpe_dropout=0.95", &err), RAPT_ERR_VALUE);
    rapt_recipe_free(&r);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(the_same_bytes), IN_A_FOLDER(another_model), IN_A_FOLDER(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
