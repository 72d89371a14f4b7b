/* tests/train/test_conversation_training.c: runs that tune a tiny Llama (tools/make_hub.py) on conversations: the loss against a
 * masked cross-entropy by hand, batches of different sizes, threads, stopped and resumed, what is refused.
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
#include "decode/score_watch.h"
#include "io/model_core.h"
#include "rapt/tape.h"

#include <math.h>

#define DATA "data.conversations=c.jsonl"

static const char TALKS[] =
    "{\"messages\": [" TURN("user", "Hi") ", " TURN("assistant", "Hello") "]}\n"
    "{\"messages\": [" TURN("system", "Short.") ", " TURN("user", "Who?") ", " TURN("assistant", "Me") ", " TURN("user", "And?")
    ", " TURN("assistant", "You") "]}\n"
    "{\"conversations\": [{\"from\": \"human\", \"value\": \"Name a color\"}, {\"from\": \"gpt\", \"value\": \"Blue\"}]}\n"
    "{\"prompt\": \"2 + 2 =\", \"completion\": \" 4\"}\n"
    "{\"text\": \"Plain text.\"}\n";

/* c.jsonl: five conversations. */
static void put_all(void)
{
    put_llama("c.jsonl", TALKS);
}

/* ---- the loss ----------------------------------------------------------------------------------------------------- */

/* The sum over the rows of a data set, each run alone, of -log softmax(logits)[label] in float64, by the labels that count. */
static double loss_by_hand(const rapt_dataset *d, const rapt_model *m)
{
    double sum = 0;
    size_t count = 0;
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    for (size_t i = 0; i < d->count; i++) {
        const dataset_example *e = &d->examples[i];
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *logits = rapt_lm_forward(t, m->language.net, (rapt_tokens){e->inputs, 1, e->target_len, NULL});
        const size_t vocab = logits->shape[2];
        for (size_t j = 0; j < e->target_len; j++) {
            const rapt_real *x = logits->data + j * vocab;
            double all = 0;
            if (e->target[j] == RAPT_NO_LABEL)
                continue;
            for (size_t k = 0; k < vocab; k++)
                all += exp((double)x[k]);
            sum += log(all) - (double)x[e->target[j]];
            count++;
        }
    }
    rapt_tape_free(t);
    return sum / (double)count;
}

static double masked_loss(bool all)
{
    rapt_error err = {0};
    rapt_model *m = rapt_model_load("m", NULL, &err);
    rapt_chat_template *chat = rapt_chat_template_load("m", &err);
    conversation_file *f = conversation_file_open("c.jsonl", &err);
    assert_string_equal(err.message, "");
    const conversation_set_options o = {.rule = {m->language.tokenizer, chat, NULL, 257, all, {0}}, .context = 96};
    rapt_dataset *d = conversation_set_new(f, &o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(d->count, 5);
    const double loss = loss_by_hand(d, m);
    const rapt_score_options scoring = rapt_score_options_default();
    rapt_score score;
    assert_int_equal(score_conversations(m, d, &scoring, NULL, &score, NULL), RAPT_OK); /* rapt eval */
    assert_int_equal(score.tokens, all ? 144 : 32);
    assert_true(fabs(score.loss - loss) < 1e-6 * loss);
    rapt_dataset_free(d);
    conversation_file_close(f);
    rapt_chat_template_free(chat);
    rapt_model_free(m);
    return loss;
}

static void the_loss_is_the_masked_cross_entropy(void **state)
{
    (void)state;
    put_all();
    const double answers = masked_loss(false), all = masked_loss(true);
    assert_true(fabs(answers - all) > 1e-3); /* or the comparison could not tell them apart */
    static const char *const batches[] = {"train.batch=5", "train.batch=1 train.accumulate=5",
                                          "train.batch=2 train.accumulate=3", "data.pack=true",
                                          "data.pack=true train.batch=1 train.accumulate=2 model.context=66"};
    for (size_t i = 0; i < 5; i++) {
        char changes[128];
        tune_llama(DATA, batches[i], (rapt_train_options){.out = "a"});
        assert_true(fabs(last_figure("a", "loss") - answers) < 1e-6 * answers);
        snprintf(changes, sizeof changes, "%s train.loss_on=all", batches[i]);
        tune_llama(DATA, changes, (rapt_train_options){.out = "b"});
        assert_true(fabs(last_figure("b", "loss") - all) < 1e-6 * all);
        assert_int_equal(system("rm -r a b"), 0);
    }
}

/* Accumulated batches are weighted by the labels that count: the step is the large batch's, but for rounding. */
static void accumulation_is_weighted_by_answers(void **state)
{
    (void)state;
    put_all();
    tune_llama(DATA, "train.lr=0.01 train.clip=0", (rapt_train_options){.out = "whole"});
    tune_llama(DATA, "train.lr=0.01 train.clip=0 train.batch=1 train.accumulate=5", (rapt_train_options){.out = "parts"});
    tune_llama(DATA, "train.lr=0.01 train.clip=0 data.pack=true", (rapt_train_options){.out = "packed"});
    const double a = last_figure("whole", "grad_norm"), b = last_figure("parts", "grad_norm");
    const double c = last_figure("packed", "grad_norm");
    assert_true(a > 0 && fabs(a - b) < 1e-5 * a && fabs(a - c) < 1e-5 * a);
}

static void it_learns_the_answers_and_their_ends(void **state)
{
    (void)state;
    put_all();
    tune_llama(DATA, "train.steps=60 train.lr=0.01", (rapt_train_options){.out = "o"});
    assert_true(last_figure("o", "loss") < 0.05);
    assert_true(file_exists("o/chat_template.jinja"));
}

/* ---- same bytes --------------------------------------------------------------------------------------------------- */

static void check_resumed(const char *changes)
{
    put_all();
    assert_llama_resumes(DATA, TALKS, changes, "model.safetensors");
    assert_true(last_figure("whole", "val_loss") > 0);
}

static void resumed_is_never_stopped(void **state)
{
    (void)state;
    check_resumed("");
}

/* Two packed batches an epoch: all texts have 144 tokens, the longest 65. */
static void packed_and_resumed_is_never_stopped(void **state)
{
    (void)state;
    check_resumed("data.pack=true train.batch=1 model.context=66");
}

static void other_conversations_are_another_run(void **state)
{
    (void)state;
    put_all();
    rapt_error err = {0};
    tune_llama(DATA, "train.steps=14", (rapt_train_options){.out = "o", .max_steps = 7});
    put("c.jsonl", "{\"text\": \"Other text.\"}\n");
    rapt_recipe r = llama_recipe(DATA, "train.steps=14");
    assert_int_equal(run(&r, (rapt_train_options){.out = "o", .resume = true}, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "data"));
    rapt_recipe_free(&r);
}

/* ---- a model of rapt's own ------------------------------------------------------------------------------------------ */

#define TUNES_BASE "train.init=base train.steps=60 train.lr=0.01 train.batch=1 model.context=32"

/* A run from `base` would write its template over one that somebody has there. */
static void assert_text_run_keeps_a_template(void)
{
    rapt_error err = {0};
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    set_all(&r, "task=language_model data.text=t.txt data.validation_fraction=0 train.init=base model.context=32 model.dropout=0 "
                "train.batch=2 train.steps=1");
    assert_int_equal(system("mkdir own && echo mine > own/chat_template.jinja"), 0);
    assert_int_equal(run(&r, (rapt_train_options){.out = "own"}, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "own holds chat_template.jinja"));
    rapt_recipe_free(&r);
}

/* tokenizer.chat gives a new model ChatML's special tokens and template, which everything that is made of it keeps. */
static void a_new_model_can_be_made_for_conversations(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_recipe r;
    put("t.txt", "All men by nature desire to know. All men by nature desire to know.\n");
    put("c.jsonl", "{\"messages\": [" TURN("user", "Hi") ", " TURN("assistant", "Hello") "]}\n");
    rapt_recipe_defaults(&r);
    set_all(&r, "task=language_model data.text=t.txt data.validation_fraction=0 tokenizer.vocab_size=270 tokenizer.chat=chatml "
                "model.layers=1 model.d_model=16 model.ffn=16 model.context=32 model.dropout=0 train.batch=2 train.steps=2 "
                "train.report_every=1");
    run(&r, (rapt_train_options){.out = "base"}, &err);
    assert_string_equal(err.message, "");
    rapt_recipe_free(&r);
    tune_llama(DATA, TUNES_BASE, (rapt_train_options){.out = "o"});
    assert_true(last_figure("o", "loss") < 0.05);
    assert_same_bytes("base", "o", "chat_template.jinja", 0, 0);
    assert_text_run_keeps_a_template();
    /* The recipe of the run records the model's tokenizer.chat. */
    tune_llama(DATA, TUNES_BASE, (rapt_train_options){.out = "parts", .max_steps = 7});
    tune_llama(DATA, TUNES_BASE, (rapt_train_options){.out = "parts", .resume = true});
    assert_same_bytes("o", "parts", "model.safetensors", 0, 0);
    rapt_model *m = rapt_model_load("o", NULL, &err);
    rapt_chat_template *chat = rapt_chat_template_load("o", &err);
    assert_string_equal(err.message, "");
    const rapt_chat_message hi = {"user", "Hi"};
    char *text;
    int32_t *ids;
    size_t size, count;
    assert_int_equal(rapt_chat_apply(chat, &hi, 1, NULL, &text, &size, &err), RAPT_OK);
    assert_string_equal(text, "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
    assert_int_equal(rapt_chat_encode(m->language.tokenizer, text, size, &ids, &count, &err), RAPT_OK);
    const int32_t start = rapt_tokenizer_special(m->language.tokenizer, "<|im_start|>");
    assert_true(start == 268 && ids[0] == start && m->language.end_of_text[1] == start + 1);
    free(ids);
    free(text);
    rapt_chat_template_free(chat);
    rapt_model_free(m);
}

/* ---- refused ------------------------------------------------------------------------------------------------------ */

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
    assert_refused("tokenizer.chat=chatml", "tokenizer.chat is chatml; the model in m has none, which fine-tuning keeps");
    assert_refused("data.conversations=none.jsonl", "cannot read none.jsonl");
    assert_refused("model.context=20 data.too_long=error", "c.jsonl:1: a conversation of 26 tokens; model.context 20 allows 21");
    assert_refused("data.validation_fraction=0.0001", "c.jsonl: no conversation is left for validation: 0, 0 of them");
    assert_refused("train.sample_every=1 train.sample_prompt=x model.context=97", "model.context is 97; the model in m has 96");
    put("c.jsonl", "{\"text\": \"a\"}\n{\"messages\": 1}\n");
    assert_refused("", "c.jsonl:2: \"messages\" is no list");
    put("c.jsonl", TALKS);
    put("m/chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}{{ messages | length }}");
    assert_refused("", "c.jsonl:1: the chat template cannot mark answers");
    assert_int_equal(system("rm m/chat_template.jinja"), 0);
    assert_refused("", "c.jsonl:1: messages need a chat template: m: no chat template");
    put("c.jsonl", "{\"prompt\": \"2 + 2 =\", \"completion\": \" 4\"}\n"); /* which needs none */
    tune_llama(DATA, "", (rapt_train_options){.out = "o"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_loss_is_the_masked_cross_entropy), IN_FOLDER(accumulation_is_weighted_by_answers),
        IN_FOLDER(it_learns_the_answers_and_their_ends), IN_FOLDER(resumed_is_never_stopped),
        IN_FOLDER(packed_and_resumed_is_never_stopped),
        IN_FOLDER(other_conversations_are_another_run), IN_FOLDER(a_new_model_can_be_made_for_conversations),
        IN_FOLDER(what_cannot_be_tuned_on_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
