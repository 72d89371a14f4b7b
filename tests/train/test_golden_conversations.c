/* tests/train/test_golden_conversations.c: twenty conversations against transformers and PyTorch, as
 * tools/make_hub_conversations.py wrote them down: the same tokens, labels where transformers marks answers, and the loss and its
 * gradients, in batches that pad nothing and in packed ones. What runs do with conversations is in test_conversation_training.c.
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

#define FOLDER RAPT_SOURCE_DIR "/tests/golden/conversations/"
enum { TALKS = 20 };

typedef struct setup {
    safetensors *expected;
    rapt_model *model;
    rapt_chat_template *chat;
    rapt_dataset *data;
} setup;

static void open_all(setup *s, bool packed)
{
    rapt_error err = {0};
    *s = (setup){0};
    assert_int_equal(safetensors_open(FOLDER "expected.safetensors", &s->expected, &err), RAPT_OK);
    s->model = rapt_model_load(RAPT_SOURCE_DIR "/tests/golden/hub/llama", NULL, &err);
    s->chat = rapt_chat_template_load(FOLDER, &err);
    conversation_file *f = conversation_file_open(FOLDER "talks.jsonl", &err);
    assert_string_equal(err.message, "");
    const conversation_set_options o = {.rule = {.tokenizer = s->model->language.tokenizer, .chat = s->chat,
                                                 .end = model_end_of_reply(s->model)},
                                        .context = 96, .too_long = RAPT_TOO_LONG_ERROR, .packed = packed};
    s->data = conversation_set_new(f, &o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(s->data->count, TALKS);
    conversation_file_close(f);
}

static void close_all(setup *s)
{
    rapt_dataset_free(s->data);
    rapt_chat_template_free(s->chat);
    rapt_model_free(s->model);
    safetensors_close(s->expected);
}

static void tokens_and_labels_are_those_of_transformers(void **state)
{
    (void)state;
    setup s;
    size_t count, tokens, at = 0;
    open_all(&s, false);
    const int32_t *lengths = expected(s.expected, "lengths", &count), *ids = expected(s.expected, "ids", &tokens);
    const int32_t *labels = expected(s.expected, "labels", &tokens);
    assert_int_equal(count, TALKS);
    for (size_t i = 0; i < TALKS; i++) {
        const dataset_example *e = &s.data->examples[i];
        assert_int_equal(e->target_len, lengths[i]);
        assert_memory_equal(e->inputs, ids + at, e->target_len * sizeof *ids);
        assert_memory_equal(e->target, labels + at, e->target_len * sizeof *labels);
        at += e->target_len;
    }
    assert_int_equal(at, tokens);
    close_all(&s);
}

/* ---- the loss ----------------------------------------------------------------------------------------------------- */

static void the_loss_of_each_is_pytorchs(void **state)
{
    (void)state;
    setup s;
    size_t count;
    open_all(&s, false);
    const double *nll = expected(s.expected, "nll", &count), bound = 2 * number(s.expected, "loss_error");
    assert_true(bound > 0 && bound < 1e-6);
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    for (size_t i = 0; i < TALKS; i++) {
        const dataset_example *e = &s.data->examples[i];
        rapt_loss_sums sums = {0};
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_loss(t, s.model->language.net, (rapt_tokens){e->inputs, 1, e->target_len, NULL},
                     (rapt_tokens){e->target, 1, e->target_len, NULL}, NULL, &sums);
        if (!(fabs(sums.nll - nll[i]) <= bound * nll[i]))
            fail_msg("conversation %zu has %.9g, PyTorch %.9g", i + 1, sums.nll, nll[i]);
    }
    rapt_tape_free(t);
    close_all(&s);
}

/* ---- gradients of an epoch, added up over its batches --------------------------------------------------------------- */

static void add_batch(const setup *s, rapt_tape *t, const rapt_batch *b, size_t labels, rapt_loss_sums *all)
{
    rapt_error err = {0};
    rapt_loss_sums sums = {0};
    const rapt_loss_options o = {.valid_lens = b->target_lens, .normalizer = (double)labels};
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *loss = rapt_lm_loss(t, s->model->language.net, b->inputs, b->labels, &o, &sums);
    assert_int_equal(rapt_backward(t, loss, &err), RAPT_OK);
    all->nll += sums.nll;
    all->tokens += sums.tokens;
}

static void check_epoch(bool packed, rapt_loader_options o, size_t batches)
{
    setup s;
    size_t labels = 0, checked = 0;
    rapt_loss_sums all = {0};
    rapt_error err = {0};
    open_all(&s, packed);
    for (size_t i = 0; i < TALKS; i++)
        labels += s.data->examples[i].counted;
    rapt_loader *l = rapt_loader_new(s.data, &o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_loader_batches(l), batches);
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    for (size_t i = 0; i < batches; i++)
        add_batch(&s, t, rapt_loader_batch(l, 0, i), labels, &all);
    const double loss = all.nll / (double)all.tokens, expected_loss = number(s.expected, "loss");
    assert_int_equal(all.tokens, labels);
    assert_true(fabs(loss - expected_loss) <= 2 * number(s.expected, "loss_error") * expected_loss);
    const rapt_params *set = rapt_model_params(s.model);
    for (size_t i = 0; i < rapt_params_count(set); i++)
        if (!rapt_params_at(set, i)->buffer) {
            check_gradient(s.expected, &rapt_params_at(set, i)->value, 2 * number(s.expected, "gradient_error"));
            checked++;
        }
    assert_int_equal(checked, safetensors_count(s.expected) - 7); /* the others are no gradients */
    rapt_tape_free(t);
    rapt_loader_free(l);
    close_all(&s);
}

static rapt_loader_options of_batches(size_t size, size_t tokens)
{
    rapt_loader_options o = rapt_loader_options_default();
    o.batch_size = size;
    o.batch_tokens = tokens;
    return o;
}

static void gradients_are_pytorchs(void **state)
{
    (void)state;
    check_epoch(false, of_batches(TALKS, 0), 1);
    check_epoch(false, of_batches(3, 0), 7);
}

/* All have 666 tokens. */
static void gradients_of_packed_batches_are_pytorchs(void **state)
{
    (void)state;
    check_epoch(true, of_batches(TALKS, 1000), 1);
    check_epoch(true, of_batches(TALKS, 100), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens_and_labels_are_those_of_transformers),
                                       cmocka_unit_test(the_loss_of_each_is_pytorchs), cmocka_unit_test(gradients_are_pytorchs),
                                       cmocka_unit_test(gradients_of_packed_batches_are_pytorchs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
