/* tests/train/test_retune.c: a run that is resumed with another learning rate, schedule or weight decay: it says so, the log and
 * the folder's recipe have it, and from there on it is a run like others, stopped or not. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include <math.h>

typedef struct told {
    int warnings;
    char last[600];
} told;

static void keep_warning(void *context, const char *text)
{
    told *t = context;
    t->warnings++;
    snprintf(t->last, sizeof t->last, "%s", text);
}

static told resume(const char *changes, const char *out, uint64_t max_steps)
{
    told t = {0};
    train(changes, (rapt_train_options){.out = out, .resume = true, .max_steps = max_steps, .on_warning = keep_warning,
                                        .context = &t});
    return t;
}

/* With the recipe that the folder has. */
static told resume_own(const char *out, uint64_t max_steps)
{
    told t = {0};
    rapt_recipe r;
    rapt_error err = {0};
    assert_int_equal(rapt_recipe_load(out, &r, &err), RAPT_OK);
    assert_int_equal(run(&r, (rapt_train_options){.out = out, .resume = true, .max_steps = max_steps, .on_warning = keep_warning,
                                                  .context = &t}, &err), RAPT_OK);
    rapt_recipe_free(&r);
    return t;
}

/* The number of this name in the line of a step; NaN: there is none. */
static double at(const char *folder, uint64_t step, const char *name)
{
    size_t size;
    char *log = get(folder, "train.jsonl", &size), *rest = log;
    double found = NAN;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        json_t *o = json_loads(line, 0, NULL), *x = json_object_get(o, name);
        if ((uint64_t)json_integer_value(json_object_get(o, "step")) == step && x)
            found = json_number_value(x);
        json_decref(o);
    }
    free(log);
    return found;
}

static void assert_same_end(const char *a, const char *b)
{
    assert_same_bytes(a, b, "model.safetensors", 0, 0);
    assert_same_bytes(a, b, "best/model.safetensors", 0, 0);
    assert_same_checkpoint(a, b, 24);
    assert_same_recipe(a, b);
    assert_same_log(a, b);
}

static void another_rate_is_told(void **state)
{
    (void)state;
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "m", .max_steps = 12});
    told t = resume("train.lr=0.02 train.weight_decay=0.1", "m", 0);
    assert_int_equal(t.warnings, 1);
    assert_string_equal(t.last, "from step 13 on with train.lr 0.02 (was 0.01), train.weight_decay 0.1 (was 0): no recipe alone "
                                "gives this result");
    assert_true(at("m", 10, "lr") == 0.01 && isnan(at("m", 10, "changed_after")));
    assert_true(at("m", 15, "lr") == 0.02 && at("m", 15, "changed_after") == 12 && at("m", 24, "changed_after") == 12);
    rapt_recipe r;
    assert_int_equal(rapt_recipe_load("m", &r, NULL), RAPT_OK);
    assert_true(r.train.lr == 0.02 && r.train.weight_decay == 0.1);
    rapt_recipe_free(&r);
    train("", (rapt_train_options){.out = "same"});
    assert_false(same_parameters("m", "same"));
    t = resume_own("m", 0);
    assert_true(t.warnings == 1 && strstr(t.last, "the run is finished")); /* no change any more */
}

/* Stopped after the change, also before the first checkpoint that knows of it, as a kill does: the recipe of the folder has it,
 * and the checkpoint of before says what it was. */
static void stopped_and_resumed(void **state)
{
    static const char changed[] = "train.lr=0.003 train.schedule=linear train.warmup=4 train.lr_end=0.001";
    (void)state;
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "whole", .max_steps = 12});
    resume(changed, "whole", 0);
    train("", (rapt_train_options){.out = "parts", .max_steps = 12});
    assert_int_equal(resume(changed, "parts", 12).warnings, 2); /* nothing is trained, it says */
    told t = resume_own("parts", 13);
    assert_true(t.warnings == 1 && strstr(t.last, "train.lr 0.003 (was 0.01)"));
    assert_true(strstr(t.last, "train.schedule linear (was constant)") && strstr(t.last, "train.warmup 4 (was 0)"));
    for (uint64_t step = 16; step < 24; step += 3)
        assert_int_equal(resume_own("parts", step).warnings, 0);
    resume_own("parts", 0);
    assert_same_end("whole", "parts");
}

/* What was reduced before is not taken from the new rate. */
static void a_plateau_begins_anew(void **state)
{
    static const char plateau[] = "train.lr=0.3 train.schedule=plateau train.plateau.patience=1 train.report_every=2",
                      lower[] = "train.lr=0.01 train.schedule=plateau train.plateau.patience=1 train.report_every=2";
    (void)state;
    put_words("text.txt", 600);
    train(plateau, (rapt_train_options){.out = "m", .max_steps = 13});
    assert_true(at("m", 12, "lr") < 0.3);
    resume(lower, "m", 14);
    assert_true(at("m", 14, "lr") == 0.01);
}

/* A run that stopped early continues with another rate. */
static void early_stopping_begins_anew(void **state)
{
    static const char wild[] = "train.lr=1 train.patience=1 train.report_every=2",
                      lower[] = "train.lr=0.001 train.patience=1 train.report_every=2";
    (void)state;
    put_words("text.txt", 600);
    train(wild, (rapt_train_options){.out = "m"});
    assert_true(isnan(at("m", 24, "lr"))); /* stopped before */
    resume(lower, "m", 0);
    double last = NAN;
    for (uint64_t step = 1; step <= 24; step++)
        last = isnan(at("m", step, "lr")) ? last : at("m", step, "lr");
    assert_true(last == 0.001);
}

/* The first step of Adam moves each parameter by the rate, whatever its gradient; a step with moments does so for few. Returns
 * the share that has moved by the rate, within 1 %. */
static double moved_by_the_rate(const char *a, const char *b, double rate)
{
    size_t size, sames, moved = 0, count = 0;
    char *x = get(a, "model.safetensors", &size), *y = get(b, "model.safetensors", &sames);
    const size_t from = header_size(a, "model.safetensors"), other = header_size(b, "model.safetensors");
    assert_int_equal(size - from, sames - other);
    for (size_t i = 0; i < (size - from) / sizeof(float); i++) {
        float p, q;
        memcpy(&p, x + from + i * sizeof p, sizeof p);
        memcpy(&q, y + other + i * sizeof q, sizeof q);
        const double by = fabs((double)p - q);
        count += by > 0;
        moved += by > 0.99 * rate && by < 1.01 * rate;
    }
    free(x);
    free(y);
    assert_true(count > 100);
    return (double)moved / (double)count;
}

static void the_optimizer_begins_anew(void **state)
{
    static const char *const kinds[] = {"", "train.optimizer=adam8bit", "train.optimizer=muon train.accumulate=2",
                                        "train.optimizer=sgd train.sgd.momentum=0.9"};
    (void)state;
    put_words("text.txt", 600);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        told t = {0};
        const rapt_train_options anew = {.resume = true, .reset_optimizer = true, .on_warning = keep_warning, .context = &t};
        rapt_train_options whole = anew, parts = anew, usual = {.resume = true, .max_steps = 13};
        whole.out = "whole", parts.out = "parts", parts.max_steps = 13;
        train(kinds[i], (rapt_train_options){.out = "whole", .max_steps = 12});
        assert_int_equal(system("cp -r whole parts && cp -r whole before && cp -r whole usual"), 0);
        usual.out = "usual";
        train(kinds[i], usual);
        train(kinds[i], parts);
        assert_string_equal(t.last, "from step 13 on with the optimizer anew: no recipe alone gives this result");
        if (i < 2) {
            const double share = moved_by_the_rate("before", "parts", 0.01), with = moved_by_the_rate("before", "usual", 0.01);
            print_message("%g %g\n", share, with);
            assert_true(share > 0.9 && with < 0.1);
        }
        train(kinds[i], (rapt_train_options){.out = "parts", .resume = true, .max_steps = 20}); /* it has begun anew once */
        train(kinds[i], (rapt_train_options){.out = "parts", .resume = true});
        train(kinds[i], whole);
        assert_same_end("whole", "parts");
        assert_int_equal(system("rm -r whole parts before usual"), 0);
    }
}

static void refused(const char *changes, const char *message)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    assert_int_equal(run(&r, (rapt_train_options){.out = "m", .resume = true}, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, message));
    rapt_recipe_free(&r);
}

static void other_keys_are_refused(void **state)
{
    (void)state;
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "m", .max_steps = 12});
    refused("train.beta1=0.8", "train.beta1 is \"0.8\", and \"0.9\" in its recipe.yaml");
    refused("train.lr=0.02 train.clip=0.5", "train.clip is \"0.5\", and \"1\" in its recipe.yaml"); /* not the rate */
    train("", (rapt_train_options){.out = "m", .resume = true});
    refused("train.lr=0.02", "m: the run is finished, at step 24, so that train.lr 0.02 (was 0.01) would change nothing; to "
                             "train longer, set train.steps higher");
    resume("train.lr=0.02 train.steps=30", "m", 0);
    assert_true(at("m", 30, "lr") == 0.02 && at("m", 30, "changed_after") == 24);
    refused("train.lr=0.02 train.steps=30 data.validation_fraction=0.2", "data.validation_fraction is \"0.2\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(another_rate_is_told),
        IN_FOLDER(stopped_and_resumed),
        IN_FOLDER(a_plateau_begins_anew),
        IN_FOLDER(early_stopping_begins_anew),
        IN_FOLDER(the_optimizer_begins_anew),
        IN_FOLDER(other_keys_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
