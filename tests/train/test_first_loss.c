/* tests/train/test_first_loss.c: the loss of the first step is about ln V, the one of a model that guesses evenly, for both
 * tasks, tied or not, with each tokenizer and each initialization; where it isn't, the run says so. For src/nn/embedding_std.c
 * and src/train/step.c.
 * labels: sanitized-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "train_folder.h"

#define TEXT RAPT_SOURCE_DIR "/docs/recipes.md"
#define PAIRS RAPT_SOURCE_DIR "/data/en-fr.tsv"

typedef struct told {
    size_t entries, warnings;
    char warning[600];
    double loss;
} told;

static void on_plan(void *context, const rapt_memory_plan *plan)
{
    ((told *)context)->entries = plan->target_vocab;
}

static void on_progress(void *context, const rapt_progress *p)
{
    ((told *)context)->loss = p->loss;
}

static void on_warning(void *context, const char *text)
{
    told *t = context;
    t->warnings++;
    snprintf(t->warning, sizeof t->warning, "%s", text);
}

/* The first step of a minimal recipe with `changes`. */
static told first_step(const char *data, const char *changes)
{
    told t = {0};
    rapt_recipe r;
    rapt_error err = {0};
    rapt_recipe_defaults(&r);
    set_all(&r, data);
    set_all(&r, changes);
    set_all(&r, "train.steps=1 train.warmup=0 data.validation_fraction=0");
    run(&r, (rapt_train_options){.out = "m", .on_plan = on_plan, .on_progress = on_progress, .on_warning = on_warning,
                                 .context = &t}, &err);
    assert_string_equal(err.message, "");
    rapt_recipe_free(&r);
    assert_int_equal(system("rm -r m"), 0);
    return t;
}

static void assert_even(const char *data, const char *changes)
{
    told t = first_step(data, changes);
    if (!(t.loss <= 1.1 * log((double)t.entries)))
        fail_msg("%s %s: the first loss is %.3f, ln %zu %.3f", data, changes, t.loss, t.entries, log((double)t.entries));
    assert_int_equal(t.warnings, 0);
}

static void every_pair(const char *data, const char *const *first, const char *const *second, const char *const *third)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++)
            for (size_t n = 0; n < 2; n++) {
                char changes[256];
                snprintf(changes, sizeof changes, "%s %s %s", first[i], second[k], third[n]);
                assert_even(data, changes);
            }
}

static const char *const TIED[] = {"model.tied=true", "model.tied=false"};

static void language_models(void **state)
{
    (void)state;
    static const char *const tokenizers[] = {"tokenizer.type=bpe", "tokenizer.type=characters"};
    static const char *const inits[] = {"model.init=gpt2", "model.init=pytorch"};
    static const char *const scaled[] = {"model.scale_embedding=true model.norm_place=post", "model.positions=learned"};
    const char *const data = "task=language_model train.batch=8 data.text=" TEXT;
    every_pair(data, TIED, tokenizers, inits);
    every_pair(data, TIED, scaled, inits);
}

static void translation(void **state)
{
    (void)state;
    static const char *const tokenizers[] = {"tokenizer.type=bpe", "tokenizer.type=words tokenizer.shared=true"};
    static const char *const inits[] = {"model.init=xavier", "model.init=pytorch"};
    static const char *const norms[] = {"model.norm_place=pre", "model.norm_place=post"};
    const char *const data = "task=translation data.limit=1000 data.pairs=" PAIRS;
    every_pair(data, TIED, tokenizers, inits);
    every_pair(data, TIED, norms, inits);
    static const char *const later[] = {"model.positions=rotary model.norm_kind=rms model.ffn_kind=swiglu model.norm_place=pre",
                                        "model.positions=learned model.ffn_kind=gelu"};
    static const char *const scaled[] = {"model.init=gpt2", "model.scale_embedding=false"};
    every_pair(data, TIED, later, scaled);
}

/* Embeddings that are too large are told of, with what the loss should be. */
static void large_embeddings_are_told_of(void **state)
{
    (void)state;
    told t = first_step("task=translation data.limit=500 data.pairs=" PAIRS, "model.embedding_std=1");
    assert_int_equal(t.warnings, 1);
    assert_true(t.loss > 2 * log((double)t.entries));
    assert_non_null(strstr(t.warning, "the first loss is "));
    assert_non_null(strstr(t.warning, "model.embedding_std is 1; 0 leaves it to rapt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(language_models),
        IN_FOLDER(translation),
        IN_FOLDER(large_embeddings_are_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
