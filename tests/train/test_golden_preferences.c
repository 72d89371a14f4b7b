/* tests/train/test_golden_preferences.c: ten pairs of answers against TRL's DPOTrainer and PyTorch, as
 * tools/make_hub_preferences.py wrote them down: the same tokens, labels where TRL has completions, log-probabilities, losses,
 * rewards, and the gradients, in batches that pad nothing and in packed ones. What runs do with preferences is in
 * test_preference_training.c.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loading.h"
#include "train/golden_numbers.h"

#include "data/conversation_set.h"
#include "data/dataset.h"
#include "io/model.h"
#include "io/model_core.h"
#include "rapt/tape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"
#define BETA 0.3
#define SMOOTHING 0.1
enum { PAIRS = 10, ROWS = 2 * PAIRS };

typedef struct setup {
    safetensors *expected;
    rapt_model *model;
    rapt_chat_template *chat;
    rapt_dataset *data;
    rapt_tape *tape;
} setup;

static void open_all(setup *s, bool packed)
{
    rapt_error err = {0};
    *s = (setup){0};
    assert_int_equal(safetensors_open(GOLDEN "preferences/expected.safetensors", &s->expected, &err), RAPT_OK);
    s->model = rapt_model_load(GOLDEN "hub/llama", NULL, &err);
    s->chat = rapt_chat_template_load(GOLDEN "conversations", &err);
    conversation_file *f = conversation_file_open(GOLDEN "preferences/pairs.jsonl", &err);
    assert_string_equal(err.message, "");
    assert_true(conversation_file_has_preferences(f));
    const conversation_set_options o = {.rule = {.tokenizer = s->model->language.tokenizer, .chat = s->chat,
                                                 .end = model_end_of_reply(s->model)},
                                        .context = 96, .too_long = RAPT_TOO_LONG_ERROR, .packed = packed, .preferences = true};
    s->data = conversation_set_new(f, &o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(s->data->count, PAIRS);
    conversation_file_close(f);
    s->tape = rapt_tape_new(NULL, NULL);
}

static void close_all(setup *s)
{
    rapt_tape_free(s->tape);
    rapt_dataset_free(s->data);
    rapt_chat_template_free(s->chat);
    rapt_model_free(s->model);
    safetensors_close(s->expected);
}

static void tokens_and_labels_are_trls(void **state)
{
    (void)state;
    setup s;
    size_t count, tokens, at = 0;
    open_all(&s, false);
    const int32_t *lengths = expected(s.expected, "lengths", &count), *ids = expected(s.expected, "ids", &tokens);
    const int32_t *labels = expected(s.expected, "labels", &tokens);
    assert_int_equal(count, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const dataset_example *e = dataset_row(s.data, i);
        if (e->target_len != (size_t)lengths[i])
            fail_msg("row %zu has %zu tokens, TRL's %d", i, e->target_len, lengths[i]);
        assert_memory_equal(e->inputs, ids + at, e->target_len * sizeof *ids);
        assert_memory_equal(e->target, labels + at, e->target_len * sizeof *labels);
        at += e->target_len;
    }
    assert_int_equal(at, tokens);
    close_all(&s);
}

static void log_probabilities_are_pytorchs(void **state)
{
    (void)state;
    setup s;
    size_t count;
    open_all(&s, false);
    const double *wanted = expected(s.expected, "log_probs", &count), bound = 2 * number(s.expected, "log_probs_error");
    assert_true(bound > 0 && bound < 2e-6);
    for (size_t i = 0; i < ROWS; i++) {
        const dataset_example *e = dataset_row(s.data, i);
        rapt_tape_begin(s.tape, (rapt_pass){0});
        const rapt_tensor *x = rapt_lm_log_probs(s.tape, s.model->language.net, (rapt_tokens){e->inputs, 1, e->target_len, NULL},
                                                 (rapt_tokens){e->target, 1, e->target_len, NULL}, NULL);
        if (!(fabs((double)x->data[0] - wanted[i]) <= bound * fabs(wanted[i])))
            fail_msg("row %zu has %.9g, PyTorch %.9g", i, (double)x->data[0], wanted[i]);
    }
    close_all(&s);
}

/* ---- the loss, its rewards and gradients, added up over the batches of an epoch ------------------------------------------- */

static void add_batch(const setup *s, const rapt_batch *b, double smoothing, rapt_dpo_sums *all)
{
    rapt_error err = {0};
    rapt_real reference[ROWS];
    rapt_dpo_sums sums = {0};
    size_t count;
    const float *of = expected(s->expected, "reference", &count);
    const rapt_dpo_options o = {.beta = BETA, .label_smoothing = smoothing, .normalizer = PAIRS};
    assert_true(b->labels.batch <= ROWS && b->labels.batch % 2 == 0);
    for (size_t i = 0; i < b->labels.batch; i++)
        reference[i] = of[b->examples[i]];
    rapt_tape_begin(s->tape, (rapt_pass){.record = true, .training = true});
    rapt_tensor *x = rapt_lm_log_probs(s->tape, s->model->language.net, b->inputs, b->labels, b->target_lens);
    rapt_tensor *loss = rapt_op_dpo_loss(s->tape, x, reference, &o, &sums);
    assert_int_equal(rapt_backward(s->tape, loss, &err), RAPT_OK);
    *all = (rapt_dpo_sums){all->loss + sums.loss, all->chosen + sums.chosen, all->rejected + sums.rejected,
                           all->pairs + sums.pairs, all->correct + sums.correct};
}

static void check_sums(const setup *s, const rapt_dpo_sums *all, double smoothing)
{
    size_t count;
    const double loss = all->loss / PAIRS, wanted = number(s->expected, smoothing > 0 ? "smoothed" : "loss");
    const double *rewards = expected(s->expected, "rewards", &count);
    assert_int_equal(all->pairs, PAIRS);
    if (!(fabs(loss - wanted) <= 2 * number(s->expected, "loss_error") * wanted))
        fail_msg("the loss is %.9g, TRL's %.9g", loss, wanted);
    assert_true(fabs((double)all->correct / PAIRS - rewards[0]) < 1e-6);
    assert_true(fabs(all->chosen / PAIRS - rewards[1]) < 1e-5 && fabs(all->rejected / PAIRS - rewards[2]) < 1e-5);
}

static void check_epoch(bool packed, size_t size, size_t tokens, double smoothing, size_t batches)
{
    setup s;
    rapt_dpo_sums all = {0};
    rapt_error err = {0};
    size_t checked = 0;
    rapt_loader_options o = rapt_loader_options_default();
    o.batch_size = size;
    o.batch_tokens = tokens;
    open_all(&s, packed);
    rapt_loader *l = rapt_loader_new(s.data, &o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_loader_batches(l), batches);
    for (size_t i = 0; i < batches; i++)
        add_batch(&s, rapt_loader_batch(l, 0, i), smoothing, &all);
    check_sums(&s, &all, smoothing);
    const rapt_params *set = rapt_model_params(s.model);
    for (size_t i = 0; i < rapt_params_count(set) && smoothing == 0; i++)
        if (!rapt_params_at(set, i)->buffer) {
            check_gradient(s.expected, &rapt_params_at(set, i)->value, 2 * number(s.expected, "gradient_error"));
            checked++;
        }
    assert_int_equal(checked, smoothing > 0 ? 0 : safetensors_count(s.expected) - 11); /* the others are no gradients */
    rapt_loader_free(l);
    close_all(&s);
}

static void loss_and_gradients_are_trls(void **state)
{
    (void)state;
    check_epoch(false, PAIRS, 0, 0, 1);
    check_epoch(false, 3, 0, 0, 4);
    check_epoch(true, PAIRS, 150, 0, 3);
}

static void the_smoothed_loss_is_pytorchs(void **state)
{
    (void)state;
    check_epoch(false, PAIRS, 0, SMOOTHING, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens_and_labels_are_trls),
                                       cmocka_unit_test(log_probabilities_are_pytorchs),
                                       cmocka_unit_test(loss_and_gradients_are_trls),
                                       cmocka_unit_test(the_smoothed_loss_is_pytorchs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
