/* tests/train/test_memory.c: what the set-up of a run counts of memory is what its passes then take: over models of both
 * tasks and all that changes what a step keeps; by the tape's own account, and by the pages that the process touches.
 * labels: not-raced not-emulated sanitized-late late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "train_input.h"

#include "tape/tape_core.h"
#include "train/run.h"
#include "train/step.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true /* it has pages of its own */
#else
#define SANITIZED false
#endif

/* Lines of a few words of a few kinds, of 2 to 10 words a side. */
static void put_pairs(int count)
{
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < 3 + i % 8; j++)
            fprintf(f, "%sw%d", j ? " " : "", (i * 7 + j * 3) % 40);
        fputc('\t', f);
        for (int j = 0; j < 2 + i % 9; j++)
            fprintf(f, "%sv%d", j ? " " : "", (i * 5 + j * 11) % 40);
        fputc('\n', f);
    }
    fclose(f);
}

#define PAIRS "task=translation data.pairs=pairs.tsv data.validation_fraction=0.1 data.max_len=16 model.layers=2 " \
              "model.d_model=32 model.heads=4 model.ffn=64 model.max_positions=20 train.epochs=1 train.batch=16 "
#define TEXT "task=language_model data.text=text.txt data.validation_fraction=0.1 tokenizer.type=characters model.init=gpt2 " \
             "model.layers=2 model.d_model=32 model.heads=4 model.ffn=64 model.context=16 train.epochs=1 train.batch=8 "

static void keep_plan(void *context, const rapt_memory_plan *plan)
{
    *(rapt_memory_plan *)context = *plan;
}

/* All batches of two epochs, and the validation set's batches, as steps and reports take them. */
static void take_all(run *r)
{
    rapt_error err = {0};
    pass_sums parts;
    train_batch batch;
    for (uint64_t i = 0; i < 2 * r->batches_per_epoch; i++) {
        assert_true(r->task->batch(r, i, &batch, &err) == RAPT_OK);
        step_pass(r, &batch, (rapt_pass){.record = true, .training = true, .step = i}, step_normalizer(r->recipe), &parts, &err);
        rapt_params_zero_grad(rapt_model_params(r->model));
    }
    for (size_t i = 0; i < r->validation_batches; i++) {
        assert_true(r->task->validation_batch(r, i, &batch, &err) == RAPT_OK);
        step_pass(r, &batch, (rapt_pass){0}, 0, &parts, &err);
    }
    assert_string_equal(err.message, "");
}

/* Target tokens of a step, in the mean over an epoch, from its batches. */
static double tokens_of_steps(run *r)
{
    rapt_error err = {0};
    train_batch batch;
    double sum = 0;
    for (uint64_t i = 0; i < r->batches_per_epoch; i++) {
        assert_true(r->task->batch(r, i, &batch, &err) == RAPT_OK);
        sum += (double)batch.tokens;
    }
    return sum * (double)r->recipe->train.accumulate / (double)r->batches_per_epoch;
}

/* Says how many hundredths of what was taken were counted. */
static void check_counted(const char *changes, int threads, double least, double most)
{
    run r;
    rapt_recipe k;
    rapt_memory_plan plan = {0};
    rapt_error err = {0};
    rapt_recipe_defaults(&k);
    set_all(&k, changes);
    rapt_train_options o = {.recipe = &k, .out = "m", .threads = threads, .on_plan = keep_plan, .context = &plan};
    run_set_up(&r, &o, &err);
    assert_string_equal(err.message, "");
    take_all(&r);
    size_t taken = rapt_tape_memory(r.tape);
    double part = (double)plan.activations / (double)taken;
    if (part < least || part > most)
        fail_msg("%s: %zu bytes counted, %zu taken", changes, plan.activations, taken);
    assert_true(plan.batches > 0);
    assert_int_equal(plan.parameter_count, rapt_params_size(rapt_model_params(r.model)));
    assert_float_equal(plan.step_tokens, tokens_of_steps(&r), 1e-6);
    run_free(&r);
    rapt_recipe_free(&k);
    assert_int_equal(system("rm -rf m"), 0);
}

/* Windows are alike: to the byte. */
static void language_models_are_counted(void **state)
{
    static const char *const changes[] = {
        "", "model.norm_place=pre model.ffn_kind=gelu model.positions=learned model.bias=true model.dropout=0.1",
        "model.norm_place=pre model.norm_kind=rms model.ffn_kind=swiglu model.positions=rotary model.kv_heads=2",
        "model.tied=true", "train.recompute=true model.layers=4 model.dropout=0.2", "train.accumulate=3", "train.precision=bf16",
        "model.context=150 train.batch=3", "train.batch=1 model.context=8", "data.validation_fraction=0",
        "train.freeze=embedding.*,blocks.0.*", "model.layers=5 model.ffn=150 train.gradients=bf16 train.optimizer=adam8bit",
        "model.layers=5 model.ffn=150 train.gradients=bf16 train.recompute=true"};
    (void)state;
    put_many_kinds("text.txt", 4000, 50);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char all[1024];
        snprintf(all, sizeof all, "%s%s", TEXT, changes[i]);
        check_counted(all, 1 + (int)i % 3, 1, 1);
    }
}

static rapt_memory_plan plan_of(const char *changes)
{
    run r;
    rapt_recipe k;
    rapt_memory_plan plan = {0};
    rapt_error err = {0};
    rapt_recipe_defaults(&k);
    set_all(&k, changes);
    rapt_train_options o = {.recipe = &k, .out = "m", .threads = 1, .on_plan = keep_plan, .context = &plan};
    run_set_up(&r, &o, &err);
    assert_string_equal(err.message, "");
    run_free(&r);
    rapt_recipe_free(&k);
    assert_int_equal(system("rm -rf m"), 0);
    return plan;
}

/* A step that is drawn at once has all its windows in memory: ids and labels of 4 bytes, and 32 bytes a row. The passes take what
 * they took. */
static void drawn_steps_are_counted(void **state)
{
    (void)state;
    put_many_kinds("text.txt", 4000, 50);
    const rapt_memory_plan by_batch = plan_of(TEXT "train.accumulate=8"),
                           by_step = plan_of(TEXT "train.accumulate=8 train.draw_by=step"),
                           cut = plan_of(TEXT "train.accumulate=2 train.shards=4 train.draw_by=step");
    assert_int_equal(by_step.batches - by_batch.batches, 7 * 8 * (16 * 8 + 32));
    assert_int_equal(by_step.activations, by_batch.activations);
    assert_int_equal(by_batch.batches, 2 * 8 * (16 * 8 + 32)); /* and one of validation */
    assert_int_equal(cut.batches, (16 + 4) * (16 * 8 + 32));   /* passes of 4 rows */
}

/* The output matrix and its loss in one, sparse embeddings, and a gradient that is left for later. */
static void large_vocabularies_are_counted(void **state)
{
    (void)state;
    put_many_kinds("text.txt", 6000, 3500);
    check_counted(TEXT, 2, 1, 1);
    check_counted(TEXT "train.batch=1 model.context=8", 2, 1, 1);
    check_counted(TEXT "model.tied=true train.batch=3 train.recompute=true", 2, 1, 1);
}

/* The largest batch is about the largest. */
static void translation_is_counted(void **state)
{
    static const char *const changes[] = {
        "", "model.norm_place=pre model.dropout=0.1", "model.tied=true tokenizer.shared=true", "train.batch_tokens=200",
        "data.pad=fixed", "train.recompute=true model.layers=4", "train.accumulate=2 train.precision=bf16",
        "train.batch_tokens=60 train.batch=64", "train.reduction=book",
        "model.norm_place=pre model.norm_kind=rms model.ffn_kind=swiglu model.positions=rotary model.kv_heads=2",
        "model.norm_kind=rms model.ffn_kind=gelu model.positions=learned model.shared_norm=true"};
    (void)state;
    put_pairs(400);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char all[1024];
        snprintf(all, sizeof all, "%s%s", PAIRS, changes[i]);
        check_counted(all, 1 + (int)i % 3, 0.97, 1.1);
    }
}

/* ---- pages ---------------------------------------------------------------------------------------------------- */

static size_t peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

static size_t before;

static void measure(void *context, const rapt_memory_plan *plan)
{
    keep_plan(context, plan);
    before = peak_bytes();
}

/* In a process of its own, so that no earlier test has touched its pages. */
static void check_pages(const char *changes)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) {
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        assert_int_equal(system("rm -rf m"), 0);
        return;
    }
    rapt_recipe k;
    rapt_memory_plan plan = {0};
    rapt_error err = {0};
    rapt_recipe_defaults(&k);
    set_all(&k, changes);
    rapt_train_options o = {.size = sizeof o, .recipe = &k, .out = "m", .threads = 2, .max_steps = 2, .on_plan = measure,
                            .context = &plan};
    rapt_code code = rapt_train(&o, &err);
    size_t counted = plan.parameters + plan.gradients + plan.moments + plan.activations, taken = peak_bytes() - before;
    size_t reckoned = counted + counted / 32 + ((size_t)8 << 20); /* with what the check adds for small things */
    bool wrong = code || taken > reckoned || (double)counted > 1.1 * (double)taken;
    if (wrong)
        fprintf(stderr, "%s: %zu bytes counted, %zu taken %s\n", changes, counted, taken, err.message);
    _exit(wrong);
}

static void pages_are_counted(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    put_many_kinds("text.txt", 5000, 50);
    check_pages(TEXT "model.d_model=128 model.ffn=512 model.layers=4 model.context=128 train.batch=24 train.steps=2");
    check_pages(TEXT "model.d_model=512 model.ffn=2048 model.layers=4 model.context=16 train.batch=2"); /* most: parameters */
    check_pages(TEXT "model.d_model=512 model.ffn=2048 model.layers=6 model.context=64 train.batch=16 train.optimizer=muon");
    check_pages(TEXT "model.d_model=512 model.ffn=2048 model.layers=4 model.context=64 train.batch=48 train.gradients=bf16 "
                "train.optimizer=adam8bit");
    check_pages(TEXT "model.d_model=512 model.ffn=2048 model.layers=4 model.context=16 train.batch=2 train.accumulate=8 "
                "train.shards=8 train.steps=2"); /* most: four gradients */
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(pages_are_counted),
        IN_A_FOLDER(language_models_are_counted),
        IN_A_FOLDER(drawn_steps_are_counted),
        IN_A_FOLDER(large_vocabularies_are_counted),
        IN_A_FOLDER(translation_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
