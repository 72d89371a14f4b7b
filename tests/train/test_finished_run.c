/* tests/train/test_finished_run.c: resuming a run that has nothing left to do: model and checkpoint stay the files that they
 * are, unless the model is not the checkpoint's. And which files of a folder a new run would write over. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train_folder.h"

#include <sys/stat.h>

#define MODEL "m/model.safetensors"
#define CHECKPOINT "m/checkpoints/step-00000006.safetensors"

/* A file that is written again has another inode: it appears whole, in place of the one before. */
static ino_t inode(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_ino;
}

/* A second name keeps the inode of the file from being used again. */
static ino_t keep_inode(const char *path, const char *name)
{
    assert_int_equal(link(path, name), 0);
    return inode(path);
}

static const char task[] = "train.steps=6 train.report_every=2";

static void nothing_is_written_again(void **state)
{
    (void)state;
    put_words("text.txt", 600);
    train(task, (rapt_train_options){.out = "m"});
    ino_t model = keep_inode(MODEL, "first.model"), checkpoint = keep_inode(CHECKPOINT, "first.checkpoint");
    train(task, (rapt_train_options){.out = "m", .resume = true});
    assert_true(model == inode(MODEL) && checkpoint == inode(CHECKPOINT));
    train(task, (rapt_train_options){.out = "m", .resume = true, .max_steps = 3});
    assert_true(model == inode(MODEL) && checkpoint == inode(CHECKPOINT));
}

/* A run that was stopped, and is asked for no further step. */
static void a_stopped_run_that_stays_stopped(void **state)
{
    (void)state;
    put_words("text.txt", 600);
    train(task, (rapt_train_options){.out = "m", .max_steps = 3});
    ino_t model = keep_inode(MODEL, "third.model");
    train(task, (rapt_train_options){.out = "m", .resume = true, .max_steps = 3});
    assert_true(model == inode(MODEL));
    train(task, (rapt_train_options){.out = "m", .resume = true});
    assert_true(model != inode(MODEL));
    train(task, (rapt_train_options){.out = "whole"});
    assert_same_model("whole", "m");
}

/* As a kill between the two files leaves it, and whoever deletes or replaces one. */
static void another_model_is_replaced(void **state)
{
    (void)state;
    put_words("text.txt", 600);
    train(task, (rapt_train_options){.out = "m"});
    train(task, (rapt_train_options){.out = "n"});
    train("train.steps=6 train.report_every=2 seed=9", (rapt_train_options){.out = "other"});
    train("train.steps=9 train.report_every=2", (rapt_train_options){.out = "longer"});
    assert_int_equal(unlink(MODEL), 0);
    train(task, (rapt_train_options){.out = "m", .resume = true});
    assert_same_bytes("m", "n", "model.safetensors", 0, 0);
    assert_int_equal(rename("other/model.safetensors", MODEL), 0);
    train(task, (rapt_train_options){.out = "m", .resume = true});
    assert_same_bytes("m", "n", "model.safetensors", 0, 0);
    assert_int_equal(rename("longer/model.safetensors", MODEL), 0);
    train(task, (rapt_train_options){.out = "m", .resume = true});
    assert_same_bytes("m", "n", "model.safetensors", 0, 0);
    put(MODEL, "no model");
    train(task, (rapt_train_options){.out = "m", .resume = true});
    assert_same_bytes("m", "n", "model.safetensors", 0, 0);
}

static rapt_code new_run(const char *changes, const char *file, rapt_error *err)
{
    rapt_recipe r = lm_recipe(changes);
    char path[64];
    *err = (rapt_error){0};
    mkdir("m", 0777);
    snprintf(path, sizeof path, "m/%s", file);
    put(path, "somebody's");
    rapt_code code = run(&r, (rapt_train_options){.out = "m", .max_steps = 1}, err);
    rapt_recipe_free(&r);
    unlink(path);
    return code;
}

static void each_task_names_its_files(void **state)
{
    static const char text[] = "data.validation_fraction=0.1", pairs[] = "task=translation data.text= data.pairs=pairs.tsv "
        "data.validation_fraction=0.3 tokenizer.type=words model.context=64 model.init=xavier";
    static const struct {
        const char *task, *file;
        bool refused;
    } cases[] = {{text, "config.json", true},     {text, "tokenizer.json", true}, {text, "best", true},
                 {text, "source.tokenizer.json", false},
                 {pairs, "validation.tsv", true}, {pairs, "target.tokenizer.json", true}};
    rapt_error err;
    (void)state;
    put_words("text.txt", 600);
    put("pairs.tsv", "a b\tc d\nb a\td c\na a b\tc c d\nb b a\td d c\na b a\tc d c\nb a b\td c d\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_code code = new_run(cases[i].task, cases[i].file, &err);
        assert_int_equal(code, err.code);
        assert_int_equal(code, cases[i].refused ? RAPT_ERR_VALUE : RAPT_OK);
        assert_true(!cases[i].refused || strstr(err.message, cases[i].file));
        if (!cases[i].refused)
            assert_int_equal(system("rm -r m"), 0);
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(nothing_is_written_again), IN_A_FOLDER(a_stopped_run_that_stays_stopped),
                                       IN_A_FOLDER(another_model_is_replaced), IN_A_FOLDER(each_task_names_its_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
