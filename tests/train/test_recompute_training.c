/* tests/train/test_recompute_training.c: runs of rapt_train with train.recompute: the same model, log and checkpoints as
 * without, also where only a part of the run has it; and a memory plan that says what it saves. The bits of single passes
 * are compared in tests/ops/test_recompute.c.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

static void keep_activations(void *context, const rapt_memory_plan *plan)
{
    *(size_t *)context = plan->activations;
}

/* Returns the activations of the memory plan. */
static size_t train_with(const char *task, bool recompute, rapt_train_options o)
{
    char changes[512];
    size_t activations = 0;
    o.on_plan = keep_activations;
    o.context = &activations;
    snprintf(changes, sizeof changes, "%s train.recompute=%s", task, recompute ? "true" : "false");
    train(changes, o);
    return activations;
}

#define LAYERS 6
#define D 32
#define SIZES "model.layers=6 model.d_model=32 model.dropout=0.2 train.steps=12 "
#define TEXT_TOKENS (8 * 48)  /* of a batch */
#define PAIRS_TOKENS (20 * 15) /* of the largest one: at least 15 words in each of the longer half of the sentences */
static const char text_task[] = SIZES "model.context=48 train.batch=8 train.accumulate=2 model.norm_place=pre",
                  pairs_task[] = SIZES "task=translation data.text= data.pairs=pairs.tsv tokenizer.type=words "
                                       "model.context=64 model.init=xavier train.batch=20 train.label_smoothing=0.1";

static void put_data(void)
{
    put_words("text.txt", 3000);
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 40; i++) {
        for (int side = 0; side < 2; side++)
            for (int j = 0; j < 5 + i / 2; j++)
                fprintf(f, "%sw%d", j ? " " : side ? "\t" : "", (i * (side + 1) + j) % 7);
        fputs("\n", f);
    }
    fclose(f);
}

/* All but the recipes. */
static void assert_same_run(const char *a, const char *b)
{
    assert_true(same_parameters(a, b));
    assert_same_log(a, b);
    assert_same_checkpoint(a, b, 12);
}

/* The memory plan says that all blocks but one do without what is kept of them at least, queries, keys, values and what the
 * heads give, for their input alone. */
static void compare(const char *task, size_t tokens)
{
    put_data();
    size_t without = train_with(task, false, (rapt_train_options){.out = "without", .threads = 1});
    size_t with = train_with(task, true, (rapt_train_options){.out = "with", .threads = 1});
    print_message("%zu KiB without, %zu with\n", without / 1024, with / 1024);
    assert_true(with > 0 && with + (LAYERS - 1) * 3 * tokens * D * sizeof(rapt_real) <= without);
    assert_same_checkpoint("without", "with", 6);
    assert_same_run("without", "with");
    train_with(task, true, (rapt_train_options){.out = "parts", .max_steps = 5});
    train_with(task, false, (rapt_train_options){.out = "parts", .max_steps = 7, .resume = true});
    train_with(task, true, (rapt_train_options){.out = "parts", .resume = true, .threads = 3});
    assert_same_run("without", "parts");
}

static void language_models(void **state)
{
    (void)state;
    compare(text_task, TEXT_TOKENS);
}

static void translation(void **state)
{
    (void)state;
    compare(pairs_task, PAIRS_TOKENS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(language_models),
        IN_FOLDER(translation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
