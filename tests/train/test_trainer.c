/* tests/train/test_trainer.c: a run one step at a time gives the bytes of rapt_train, whatever a program does between the steps:
 * evaluates, generates text, saves, stops.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "train/train_folder.h"

#include "rapt/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEPS 24 /* of lm_recipe */

static rapt_trainer *new_trainer(const rapt_recipe *r, rapt_train_options o)
{
    rapt_error err = {0};
    o.size = sizeof o;
    o.recipe = r;
    rapt_trainer *t = rapt_trainer_new(&o, &err);
    assert_string_equal(err.message, "");
    return t;
}

static uint64_t step_of(const rapt_trainer *t)
{
    rapt_progress p;
    rapt_trainer_progress(t, &p);
    return p.step;
}

static void assert_same_run(const char *a, const char *b)
{
    assert_same_bytes(a, b, "model.safetensors", 0, 0);
    assert_same_bytes(a, b, "best/model.safetensors", 0, 0);
    assert_same_checkpoint(a, b, STEPS);
    assert_same_log(a, b);
}

/* What the model says to a prompt: it has the parameters of the step. */
static char *text_of(const rapt_model *m)
{
    rapt_generated out;
    rapt_error err = {0};
    const rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = 4, .sample.greedy = true, .compute.threads = 1};
    rapt_generate(m, "a", &o, &out, &err);
    assert_string_equal(err.message, "");
    char *text = strdup(out.text);
    rapt_generated_free(&out);
    return text;
}

/* Batches of this recipe have the same number of tokens, so the mean since the last report is a mean over steps. */
static void losses_of_steps_are_the_mean(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("");
    rapt_error err = {0};
    rapt_progress p;
    double sum = 0, count = 0;
    put_words("text.txt", 600);
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "losses"});
    rapt_trainer_progress(t, &p);
    assert_true(isnan(p.step_loss));
    for (int step = 1; step < 10; step++) {
        assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
        rapt_trainer_progress(t, &p);
        assert_true(p.step_loss > 0);
        if (step % 5 == 0) { /* a report: its sums begin anew */
            sum = count = 0;
            continue;
        }
        sum += p.step_loss;
        count++;
        assert_true(fabs(sum / count - p.loss) < 1e-9 * p.loss);
        assert_true(count > 1 || p.step_loss == p.loss);
    }
    rapt_trainer_free(t);
    rapt_recipe_free(&r);
}

static void steps_are_a_run(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("");
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "whole", .threads = 2});
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "steps", .threads = 1});
    rapt_error err = {0};
    for (uint64_t step = 1; !rapt_trainer_is_over(t); step++) {
        double loss = 0, again = 0;
        assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
        assert_int_equal(step_of(t), step);
        if (step % 3 == 0) {
            assert_int_equal(rapt_trainer_evaluate(t, &loss, &err), RAPT_OK);
            assert_int_equal(rapt_trainer_evaluate(t, &again, &err), RAPT_OK);
            assert_true(isfinite(loss) && loss == again);
        }
        if (step % 5 == 0) { /* a report: the same figure */
            rapt_progress p;
            rapt_trainer_progress(t, &p);
            assert_int_equal(rapt_trainer_evaluate(t, &loss, &err), RAPT_OK);
            assert_true(p.val_loss == loss);
        }
        if (step % 7 == 0)
            free(text_of(rapt_trainer_model(t, &err)));
    }
    assert_int_equal(step_of(t), STEPS);
    assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK); /* nothing is left */
    assert_int_equal(step_of(t), STEPS);
    assert_int_equal(rapt_trainer_finish(t, &err), RAPT_OK);
    assert_int_equal(rapt_trainer_finish(t, &err), RAPT_OK); /* changes nothing */
    assert_int_equal(rapt_trainer_save(t, NULL), RAPT_OK);
    rapt_trainer_free(t);
    assert_same_run("whole", "steps");
    rapt_recipe_free(&r);
}

/* A trainer that is freed without an end leaves what was saved; the run resumes there. */
static void a_saved_run_resumes(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("");
    rapt_error err = {0};
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "whole"});
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "parts"});
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    assert_int_equal(rapt_trainer_save(t, &err), RAPT_OK);
    char *then = text_of(rapt_trainer_model(t, &err));
    assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK); /* is lost */
    rapt_trainer_free(t);
    rapt_model *m = rapt_model_load("parts", NULL, &err);
    char *now = text_of(m);
    assert_string_equal(then, now);
    free(then);
    free(now);
    rapt_model_free(m);
    t = new_trainer(&r, (rapt_train_options){.out = "parts", .resume = true});
    assert_int_equal(step_of(t), 10);
    while (!rapt_trainer_is_over(t))
        assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    assert_int_equal(rapt_trainer_finish(t, &err), RAPT_OK);
    rapt_trainer_free(t);
    assert_same_run("whole", "parts");
    rapt_recipe_free(&r);
}

static bool is_set(void *context)
{
    return *(const bool *)context;
}

/* A run that has ended leaves its folder to others, though the program keeps its model. */
static void an_ended_run_unlocks_its_folder(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("");
    rapt_error err = {0};
    put_words("text.txt", 600);
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "ended"});
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    rapt_train_options o = rapt_train_options_default();
    o.recipe = &r;
    o.out = "ended";
    o.resume = true;
    assert_null(rapt_trainer_new(&o, &err));
    assert_int_equal(err.code, RAPT_ERR_IO);
    assert_int_equal(rapt_trainer_finish(t, NULL), RAPT_OK);
    char *before = text_of(rapt_trainer_model(t, NULL));
    rapt_trainer *next = new_trainer(&r, (rapt_train_options){.out = "ended", .resume = true});
    assert_int_equal(rapt_trainer_step(next, NULL), RAPT_OK);
    assert_int_equal(step_of(next), 11);
    char *after = text_of(rapt_trainer_model(t, NULL));
    assert_string_equal(before, after);
    free(before);
    free(after);
    rapt_trainer_free(t); /* does not unlock the next run's */
    assert_null(rapt_trainer_new(&o, NULL));
    rapt_trainer_free(next);
    rapt_recipe_free(&r);
}

/* A run that is finished early has no more steps. */
static void the_end_is_the_end(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("");
    put_words("text.txt", 600);
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "early"});
    assert_int_equal(rapt_trainer_step(t, NULL), RAPT_OK);
    assert_int_equal(rapt_trainer_finish(t, NULL), RAPT_OK);
    assert_true(rapt_trainer_is_over(t));
    assert_int_equal(rapt_trainer_step(t, NULL), RAPT_OK);
    assert_int_equal(step_of(t), 1);
    rapt_trainer_free(t);
    rapt_recipe_free(&r);
}

/* A stop during an evaluation is not the run's; one within a report is, even if nobody asks again. */
static bool is_set_once(void *context)
{
    bool *stop = context, was = *stop;
    *stop = false;
    return was;
}

static void stops_of_one_moment(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("train.report_every=1");
    rapt_error err = {0};
    bool stop = false;
    double loss;
    put_words("text.txt", 600);
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "once", .stop = is_set_once, .context = &stop});
    assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    stop = true;
    assert_int_equal(rapt_trainer_evaluate(t, &loss, NULL), RAPT_ERR_INTERRUPTED);
    assert_true(isnan(loss));
    assert_false(rapt_trainer_is_over(t));
    assert_int_equal(rapt_trainer_evaluate(t, &loss, &err), RAPT_OK);
    assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    assert_int_equal(step_of(t), 2);
    rapt_trainer_free(t);
    rapt_recipe_free(&r);
}

static void a_stop_ends_the_run(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("");
    rapt_error err = {0};
    bool stop = false;
    put_words("text.txt", 600);
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "stopped", .stop = is_set, .context = &stop});
    assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    stop = true;
    assert_true(rapt_trainer_is_over(t));
    assert_int_equal(rapt_trainer_step(t, &err), RAPT_OK);
    assert_int_equal(step_of(t), 1);
    assert_int_equal(rapt_trainer_finish(t, &err), RAPT_ERR_INTERRUPTED);
    assert_non_null(strstr(err.message, "stopped after step 1 of 24"));
    rapt_trainer_free(t);
    rapt_recipe_free(&r);
}

/* A loss that is not finite ends the run: every later call says so, and nothing is written. */
static void a_failure_stays(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("train.lr=10 train.clip=0 train.steps=4000 train.report_every=4000 train.checkpoint_every=4000");
    rapt_error first = {0}, err = {0};
    double loss;
    put_words("text.txt", 600);
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "failed"});
    assert_int_equal(rapt_trainer_step(t, &first), RAPT_OK);
    rapt_model *m = (rapt_model *)rapt_trainer_model(t, &err);
    rapt_params_at(rapt_model_params(m), 0)->value.data[0] = NAN;
    while (!rapt_trainer_is_over(t))
        rapt_trainer_step(t, &first);
    assert_int_equal(first.code, RAPT_ERR_NOT_FINITE);
    assert_int_equal(rapt_trainer_step(t, &err), RAPT_ERR_NOT_FINITE);
    assert_string_equal(err.message, first.message);
    assert_null(rapt_trainer_model(t, NULL));
    assert_int_equal(rapt_trainer_evaluate(t, &loss, NULL), RAPT_ERR_NOT_FINITE);
    assert_int_equal(rapt_trainer_finish(t, NULL), RAPT_ERR_NOT_FINITE);
    rapt_trainer_free(t);
    assert_false(file_exists("failed/model.safetensors"));
    rapt_recipe_free(&r);
}

static void what_cannot_be_set_up_is_refused(void **state)
{
    (void)state;
    rapt_recipe r = lm_recipe("data.text=missing.txt");
    rapt_error err = {0};
    rapt_train_options o = {.recipe = &r, .out = "none"};
    assert_null(rapt_trainer_new(&o, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "rapt_train_options_default()"));
    err = (rapt_error){0};
    o.size = sizeof o;
    assert_null(rapt_trainer_new(&o, &err));
    assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
    assert_false(file_exists("none"));
    rapt_recipe_free(&r);
    r = lm_recipe("data.validation_fraction=0");
    double loss;
    put_words("text.txt", 600);
    rapt_trainer *t = new_trainer(&r, (rapt_train_options){.out = "no_validation"});
    assert_int_equal(rapt_trainer_evaluate(t, &loss, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_trainer_step(t, NULL), RAPT_OK); /* it was no failure of the run */
    rapt_trainer_free(t);
    rapt_trainer_free(NULL);
    rapt_recipe_free(&r);
}

/* ---- pairs from memory -------------------------------------------------------------------------------------------- */

enum { PAIRS = 60 };

static rapt_pairs *pairs_in_memory(const char *file)
{
    char text[PAIRS][2][64];
    const char *sources[PAIRS + 1], *targets[PAIRS + 1];
    rapt_error err = {0};
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    for (size_t i = 0; i < PAIRS; i++) {
        snprintf(text[i][0], sizeof text[i][0], "w%zu w%zu", i % 7, i);
        snprintf(text[i][1], sizeof text[i][1], "x%zu é%zu", i % 7, i % 5);
        sources[i] = text[i][0];
        targets[i] = text[i][1];
        fprintf(f, "%s\t%s\n", sources[i], targets[i]);
    }
    fclose(f);
    sources[PAIRS] = targets[PAIRS] = ""; /* skipped, as in files */
    rapt_pairs *p = rapt_pairs_from_lines(sources, targets, PAIRS + 1, &err);
    if (!p)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_pairs_count(p), PAIRS);
    return p;
}

static void pairs_come_from_memory(void **state)
{
    (void)state;
    static const char *const line = "a", *const broken = "a\nb", *const bytes = "a\xff", *const none = "";
    rapt_pairs *p = pairs_in_memory("pairs.tsv"), *v = pairs_in_memory("valid.tsv");
    const char *changes = "task=translation data.text= data.pairs=pairs.tsv data.validation=valid.tsv data.validation_fraction=0 "
                          "tokenizer.type=words train.batch=4 model.context=64 model.init=xavier ";
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    train(changes, (rapt_train_options){.out = "files"});
    train(changes, (rapt_train_options){.out = "memory", .pairs = p, .validation = v});
    assert_same_run("files", "memory");
    assert_int_equal(run(&r, (rapt_train_options){.out = "half", .pairs = p}, &err), RAPT_ERR_VALUE);
    assert_int_equal(run(&r, (rapt_train_options){.out = "half", .validation = v}, NULL), RAPT_ERR_VALUE);
    rapt_pairs_free(p);
    rapt_pairs_free(v);
    assert_null(rapt_pairs_from_lines(&line, &broken, 1, &(rapt_error){0}));
    err = (rapt_error){0};
    assert_null(rapt_pairs_from_lines(&bytes, &line, 1, &err));
    assert_string_equal(err.message, "pair 1 is not UTF-8: byte 2");
    assert_null(rapt_pairs_from_lines(&none, &none, 1, NULL));
    assert_null(rapt_pairs_from_lines(NULL, NULL, 0, NULL));
    rapt_recipe_free(&r);
}

/* ---- tokens from memory ------------------------------------------------------------------------------------------- */

/* A part of the tokens of a run, of a vocabulary of that size. */
static rapt_token_file *part_of(const rapt_token_file *f, double begin, double end, size_t vocab)
{
    const double count = (double)rapt_token_file_count(f);
    const size_t first = (size_t)(begin * count), last = (size_t)(end * count);
    rapt_error err = {0};
    int32_t *ids = malloc((last - first) * sizeof *ids);
    assert_non_null(ids);
    rapt_token_file_ids(f, first, last - first, ids);
    rapt_token_file *part = rapt_token_file_from_ids(ids, last - first, vocab, &err);
    assert_string_equal(err.message, "");
    free(ids);
    return part;
}

static void refuse_tokens(const char *changes, rapt_train_options o, const char *message)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    o.out = "refused";
    assert_int_equal(run(&r, o, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    rapt_recipe_free(&r);
    assert_int_equal(access("refused", F_OK), -1);
}

#define TOKENS "tokenizer.type=file tokenizer.path=files/tokenizer.json data.text="

static void tokens_come_from_memory(void **state)
{
    (void)state;
    rapt_error err = {0};
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "files"});
    rapt_token_file *file = rapt_token_file_open("files/text.tokens", &err);
    assert_non_null(file);
    const size_t vocab = rapt_token_file_vocab(file);
    rapt_token_file *all = part_of(file, 0, 1, vocab);
    rapt_token_file *first = part_of(file, 0, 0.9, vocab), *rest = part_of(file, 0.9, 1, vocab);
    train(TOKENS "none", (rapt_train_options){.out = "memory", .tokens = all});
    assert_true(same_parameters("files", "memory")); /* the header tells of the recipe */
    assert_same_log("files", "memory");
    assert_int_equal(access("memory/text.tokens", F_OK), -1);
    train(TOKENS "none", (rapt_train_options){.out = "half", .tokens = all, .max_steps = STEPS / 2});
    train(TOKENS "none", (rapt_train_options){.out = "half", .tokens = all, .resume = true});
    assert_same_run("memory", "half");
    const rapt_train_options two = {.out = "two", .tokens = first, .validation_tokens = rest};
    train(TOKENS "none data.validation_fraction=0", two);
    assert_true(same_parameters("files", "two")); /* the header tells of the recipe */
    assert_same_log("files", "two");
    refuse_tokens(TOKENS "n", (rapt_train_options){.tokens = first, .validation_tokens = rest},
                  "data.validation_fraction is 0.1, and there are tokens to validate with");
    refuse_tokens(TOKENS "n data.validation_fraction=0", (rapt_train_options){.validation_tokens = rest},
                  "there are tokens to validate with, and none to train on");
    refuse_tokens("", (rapt_train_options){.tokens = all},
                  "tokenizer.type is characters, which is learned from a text; for tokens from memory it must be a file");
    rapt_token_file_close(rest);
    rapt_token_file_close(first);
    rapt_token_file_close(all);
    rapt_token_file_close(file);
}

/* A vocabulary of more than 2^16 gives each id 4 bytes; the ids are the same data. */
static void the_vocabulary_is_no_data(void **state)
{
    const char *changes = TOKENS "none data.validation_fraction=0";
    (void)state;
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "files"});
    rapt_token_file *file = rapt_token_file_open("files/text.tokens", NULL);
    assert_non_null(file);
    rapt_token_file *first = part_of(file, 0, 0.9, 29), *rest = part_of(file, 0.9, 1, 29);
    rapt_token_file *wide = part_of(file, 0, 0.9, 70000), *other = part_of(file, 0, 1, 70000);
    rapt_token_file *wide_rest = part_of(file, 0.9, 1, 70000);
    train(changes, (rapt_train_options){.out = "whole", .tokens = first, .validation_tokens = rest});
    const rapt_train_options half = {.out = "half", .tokens = first, .validation_tokens = rest, .max_steps = STEPS / 2};
    train(changes, half);
    rapt_recipe r = lm_recipe(changes);
    const rapt_train_options changed = {.out = "half", .tokens = other, .validation_tokens = wide_rest, .resume = true};
    assert_int_equal(run(&r, changed, NULL), RAPT_ERR_VALUE); /* other ids */
    train(changes, (rapt_train_options){.out = "half", .tokens = wide, .validation_tokens = wide_rest, .resume = true});
    assert_same_run("whole", "half");
    rapt_recipe_free(&r);
    rapt_token_file *const all[] = {first, rest, wide, wide_rest, other, file};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        rapt_token_file_close(all[i]);
}

/* With model.vocab: text the model is as large as the tokens need, and its tokenizer must have them all. */
static void tokens_that_no_text_can_have(void **state)
{
    (void)state;
    char message[128];
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "files"});
    rapt_token_file *file = rapt_token_file_open("files/text.tokens", NULL);
    assert_non_null(file);
    const size_t vocab = rapt_token_file_vocab(file);
    rapt_token_file *large = rapt_token_file_from_ids((int32_t[200]){(int32_t)vocab}, 200, vocab + 1, NULL);
    snprintf(message, sizeof message, "n: token %zu occurs; the tokenizer has %zu", vocab, vocab);
    for (int by_text = 0; by_text < 2; by_text++) {
        const char *changes = by_text ? TOKENS "n data.validation_fraction=0 model.vocab=text"
                                      : TOKENS "n data.validation_fraction=0";
        refuse_tokens(changes, (rapt_train_options){.tokens = large}, message);
        refuse_tokens(changes, (rapt_train_options){.tokens = file, .validation_tokens = large}, message);
    }
    snprintf(message, sizeof message, "n: token %zu occurs; the model knows %zu", vocab, vocab);
    refuse_tokens("data.text=n", (rapt_train_options){.tokens = large, .init = "files"}, message);
    rapt_token_file_close(large);
    rapt_token_file_close(file);
}

/* Neither would be read. */
static void data_of_the_other_task(void **state)
{
    static const char pairs[] = "task=translation data.text= data.pairs=pairs.tsv tokenizer.type=words model.context=64 "
                                "data.validation_fraction=0 ";
    (void)state;
    rapt_pairs *p = pairs_in_memory("pairs.tsv");
    rapt_token_file *f = rapt_token_file_from_ids((int32_t[200]){0}, 200, 29, NULL);
    assert_non_null(f);
    put_words("text.txt", 600);
    refuse_tokens(pairs, (rapt_train_options){.tokens = f},
                  "rapt_train_options.tokens is for language models; the task of the recipe is translation");
    refuse_tokens(pairs, (rapt_train_options){.validation_tokens = f},
                  "rapt_train_options.validation_tokens is for language models; the task of the recipe is translation");
    refuse_tokens("", (rapt_train_options){.pairs = p},
                  "rapt_train_options.pairs is for translation; the task of the recipe is language_model");
    refuse_tokens("", (rapt_train_options){.validation = p},
                  "rapt_train_options.validation is for translation; the task of the recipe is language_model");
    rapt_token_file_close(f);
    rapt_pairs_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(steps_are_a_run), IN_FOLDER(a_saved_run_resumes), IN_FOLDER(a_stop_ends_the_run),
                                       IN_FOLDER(an_ended_run_unlocks_its_folder), IN_FOLDER(the_end_is_the_end),
                                       IN_FOLDER(stops_of_one_moment), IN_FOLDER(losses_of_steps_are_the_mean),
                                       IN_FOLDER(a_failure_stays), IN_FOLDER(what_cannot_be_set_up_is_refused),
                                       IN_FOLDER(pairs_come_from_memory), IN_FOLDER(tokens_come_from_memory),
                                       IN_FOLDER(tokens_that_no_text_can_have), IN_FOLDER(data_of_the_other_task),
                                       IN_FOLDER(the_vocabulary_is_no_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
