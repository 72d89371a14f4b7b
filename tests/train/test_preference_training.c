/* tests/train/test_preference_training.c: runs of direct preference optimization on a tiny Llama (tools/make_hub.py): the first
 * loss is ln 2, rewards against log-probabilities of the saved model by hand, batches of different sizes, adapters, threads,
 * stopped and resumed, what is refused. The loss itself is in test_golden_preferences.c.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loading.h"
#include "train/train_folder.h"

#include "train/tuned_llama.h"

#include "data/conversation_set.h"
#include "data/dataset.h"
#include "io/model.h"
#include "io/model_core.h"
#include "rapt/tape.h"

#include <math.h>

#define DATA "data.preferences=p.jsonl"
#define ASK(question) "{\"prompt\": [" TURN("user", question) "], "
#define BOTH(chosen, rejected) "\"chosen\": [" TURN("assistant", chosen) "], \"rejected\": [" TURN("assistant", rejected) "]}\n"
enum { PAIRS = 5 };

static const char PREFERENCES[] =
    ASK("Hi") BOTH("Hello", "Go") ASK("A color?") BOTH("Blue", "Seven, or eight") ASK("Who?") BOTH("Me", "You?")
    "{\"chosen\": [" TURN("user", "a") ", " TURN("assistant", "b") "], \"rejected\": [" TURN("user", "a") ", "
    TURN("assistant", "cde") "]}\n"
    "{\"prompt\": \"2 + 2 =\", \"chosen\": \" 4\", \"rejected\": \" 5\"}\n";

/* p.jsonl: five preferences. */
static void put_all(void)
{
    put_llama("p.jsonl", PREFERENCES);
}

static void assert_near(double a, double b, double bound)
{
    if (!(fabs(a - b) <= bound))
        fail_msg("%.9g, and by hand %.9g", a, b);
}

/* Policy and reference are the same model, in batches of any kind, bit for bit: no pair has a reward. */
static void the_first_loss_is_ln_2(void **state)
{
    (void)state;
    put_all();
    static const char *const batches[] = {
        "train.batch=5", "train.batch=1 train.accumulate=5", "train.batch=2 train.accumulate=3", "data.pack=true",
        "data.pack=true train.batch=1 train.accumulate=2 model.context=64", "train.lora.rank=2",
        "train.lora.rank=2 train.lora.dora=true",
        "train.dpo.beta=5",
        "train.dpo.label_smoothing=0.3", "train.release_gradients=true", "train.recompute=true",
        "train.optimizer=muon"};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        tune_llama(DATA, batches[i], (rapt_train_options){.out = "a"});
        assert_near(last_figure("a", "loss"), log(2), 1e-8);
        assert_true(last_figure("a", "reward_accuracy") == 0 && last_figure("a", "reward_margin") == 0);
        assert_true(last_figure("a", "reward_chosen") == 0 && last_figure("a", "reward_rejected") == 0);
        assert_true(last_figure("a", "grad_norm") > 0);
        assert_int_equal(system("rm -r a"), 0);
    }
}

/* ---- rewards by hand ------------------------------------------------------------------------------------------------ */

/* Log-probabilities of the answers, by softmax in float64 of the logits of each row alone. */
static void log_probs_by_hand(const char *folder, double of[2 * PAIRS])
{
    rapt_error err = {0};
    rapt_model *m = rapt_model_load(folder, NULL, &err);
    rapt_chat_template *chat = rapt_chat_template_load("m", &err);
    conversation_file *f = conversation_file_open("p.jsonl", &err);
    assert_string_equal(err.message, "");
    const conversation_set_options o = {.rule = {m->language.tokenizer, chat, NULL, 257, false, {0}}, .context = 96,
                                        .preferences = true};
    rapt_dataset *d = conversation_set_new(f, &o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(dataset_rows(d), 2 * PAIRS);
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    for (size_t i = 0; i < 2 * PAIRS; i++) {
        const dataset_example *e = dataset_row(d, i);
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *logits = rapt_lm_forward(t, m->language.net, (rapt_tokens){e->inputs, 1, e->target_len, NULL});
        const size_t vocab = logits->shape[2];
        of[i] = 0;
        for (size_t j = 0; j < e->target_len; j++) {
            const rapt_real *x = logits->data + j * vocab;
            double all = 0;
            for (size_t k = 0; k < vocab; k++)
                all += exp((double)x[k]);
            of[i] += e->target[j] == RAPT_NO_LABEL ? 0 : (double)x[e->target[j]] - log(all);
        }
    }
    rapt_tape_free(t);
    rapt_dataset_free(d);
    conversation_file_close(f);
    rapt_chat_template_free(chat);
    rapt_model_free(m);
}

static void check_rewards(const char *changes)
{
    enum { STEPS = 30 };
    char all[256];
    double before[2 * PAIRS], after[2 * PAIRS], loss = 0, rewards[2] = {0}, correct = 0;
    const double beta = 0.5;
    snprintf(all, sizeof all, "train.steps=%d train.lr=0.003 train.dpo.beta=0.5 data.validation=p.jsonl %s", STEPS, changes);
    tune_llama(DATA, all, (rapt_train_options){.out = "o"});
    log_probs_by_hand("m", before);
    log_probs_by_hand("o", after);
    for (size_t i = 0; i < PAIRS; i++) {
        const double chosen = beta * (after[2 * i] - before[2 * i]), rejected = beta * (after[2 * i + 1] - before[2 * i + 1]);
        loss += log1p(exp(rejected - chosen)) / PAIRS;
        rewards[0] += chosen / PAIRS;
        rewards[1] += rejected / PAIRS;
        correct += (double)(chosen > rejected) / PAIRS;
    }
    assert_near(last_figure("o", "val_loss"), loss, 1e-5);
    assert_near(last_figure("o", "val_reward_chosen"), rewards[0], 1e-5);
    assert_near(last_figure("o", "val_reward_rejected"), rewards[1], 1e-5);
    assert_near(last_figure("o", "val_reward_margin"), rewards[0] - rewards[1], 2e-5);
    assert_near(last_figure("o", "val_reward_accuracy"), correct, 1e-8);
    assert_true(correct == 1 && loss < 0.3 && last_figure("o", "reward_accuracy") == 1); /* it has learned all five */
    assert_int_equal(system("rm -r o"), 0);
}

static void rewards_are_by_the_model_of_the_start(void **state)
{
    (void)state;
    put_all();
    check_rewards("");
    check_rewards("data.pack=true train.batch=1 model.context=64");
    check_rewards("train.lora.rank=4 train.lr=0.02");
}

/* Accumulated batches are weighted by pairs: the step is the large batch's, but for rounding. */
static void accumulation_is_weighted_by_pairs(void **state)
{
    (void)state;
    put_all();
    tune_llama(DATA, "train.clip=0", (rapt_train_options){.out = "whole"});
    tune_llama(DATA, "train.clip=0 train.batch=2 train.accumulate=3", (rapt_train_options){.out = "parts"});
    tune_llama(DATA, "train.clip=0 data.pack=true", (rapt_train_options){.out = "packed"});
    const double a = last_figure("whole", "grad_norm"), b = last_figure("parts", "grad_norm");
    const double c = last_figure("packed", "grad_norm");
    assert_true(a > 0 && fabs(a - b) < 1e-5 * a && fabs(a - c) < 1e-5 * a);
}

/* ---- same bytes ----------------------------------------------------------------------------------------------------- */

static void check_resumed(const char *changes, const char *weights)
{
    put_all();
    assert_llama_resumes(DATA, PREFERENCES, changes, weights);
    assert_true(last_figure("whole", "val_reward_margin") > 0);
    assert_true(last_figure("whole", "reward_accuracy") >= 0);
}

static void resumed_is_never_stopped(void **state)
{
    (void)state;
    check_resumed("", "model.safetensors");
}

static void packed_and_resumed_is_never_stopped(void **state)
{
    (void)state;
    check_resumed("data.pack=true train.batch=1 model.context=64", "model.safetensors");
}

static void adapters_resumed_are_never_stopped(void **state)
{
    (void)state;
    check_resumed("train.lora.rank=2", "adapter_model.safetensors");
    assert_int_equal(system("rm -r m whole parts"), 0);
    check_resumed("train.lora.rank=2 train.lora.dora=true", "adapter_model.safetensors");
}

/* The reference of a resumed run must be the model with which the run began. */
static void another_reference_is_another_run(void **state)
{
    (void)state;
    put_all();
    rapt_error err = {0};
    tune_llama(DATA, "train.steps=14", (rapt_train_options){.out = "o", .max_steps = 7});
    assert_int_equal(system("cp o/model.safetensors m/model.safetensors"), 0);
    rapt_recipe r = llama_recipe(DATA, "train.steps=14");
    assert_int_equal(run(&r, (rapt_train_options){.out = "o", .resume = true}, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "belongs to another model or data"));
    rapt_recipe_free(&r);
}

/* ---- refused -------------------------------------------------------------------------------------------------------- */

static void assert_refused(const char *changes, const char *reason)
{
    rapt_error err = {0};
    rapt_recipe r = llama_recipe(DATA, changes);
    assert_int_not_equal(run(&r, (rapt_train_options){.out = "refused"}, &err), RAPT_OK);
    if (!strstr(err.message, reason))
        fail_msg("%s", err.message);
    assert_false(file_exists("refused/config.json"));
    rapt_recipe_free(&r);
}

static void what_cannot_be_tuned_on_is_refused(void **state)
{
    (void)state;
    put_all();
    assert_refused("data.preferences=none.jsonl", "cannot read none.jsonl");
    assert_refused("model.context=22 data.too_long=error", "p.jsonl:1: a conversation of 26 tokens; model.context 22 allows 23");
    assert_refused("model.context=4 data.too_long=drop", "p.jsonl: no preference is left: 5, 5 of them left out as too long");
    assert_refused("data.validation_fraction=0.0001", "p.jsonl: no preference is left for validation: 0, 0 of them");
    put("p.jsonl", ASK("Hi") BOTH("a", "b") ASK("Hi") BOTH("a", "a"));
    assert_refused("", "p.jsonl:2: \"chosen\" and \"rejected\" are the same messages");
    put("p.jsonl", "{\"messages\": [" TURN("user", "Hi") ", " TURN("assistant", "Hello") "]}\n");
    assert_refused("", "p.jsonl:1: no \"chosen\"");
    assert_int_equal(system("rm m/chat_template.jinja"), 0);
    put("p.jsonl", PREFERENCES);
    assert_refused("", "p.jsonl:1: messages need a chat template: m: no chat template");
    put("p.jsonl", "{\"prompt\": \"2 + 2 =\", \"chosen\": \" 4\", \"rejected\": \" 5\"}\n"); /* which needs none */
    tune_llama(DATA, "", (rapt_train_options){.out = "o"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_first_loss_is_ln_2), IN_FOLDER(rewards_are_by_the_model_of_the_start),
        IN_FOLDER(accumulation_is_weighted_by_pairs), IN_FOLDER(resumed_is_never_stopped),
        IN_FOLDER(packed_and_resumed_is_never_stopped), IN_FOLDER(adapters_resumed_are_never_stopped),
        IN_FOLDER(another_reference_is_another_run), IN_FOLDER(what_cannot_be_tuned_on_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
