/* examples/learn.c: small language models of the English sentences of data/en-fr.tsv, for the programs of chapter 17. */
#include "learn.h"

#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEARN_FILE "data/en-fr.tsv"

double learn_clock(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* The first side of all pairs, a line each; NULL when out of memory. */
static char *join_lines(const rapt_pairs *pairs, size_t *size)
{
    size_t room = 1, count = rapt_pairs_count(pairs);
    for (size_t i = 0; i < count; i++)
        room += strlen(rapt_pairs_source(pairs, i)) + 1;
    char *text = malloc(room), *at = text;
    for (size_t i = 0; text && i < count; i++) {
        size_t length = strlen(rapt_pairs_source(pairs, i));
        memcpy(at, rapt_pairs_source(pairs, i), length);
        at[length] = '\n';
        at += length + 1;
    }
    *size = room - 1;
    return text;
}

static rapt_token_file *learn_read(learn_text *x, rapt_error *err)
{
    size_t size = 0, count = 0;
    rapt_pairs *pairs = rapt_pairs_read(LEARN_FILE, 0, err);
    if (!pairs)
        return NULL;
    char *text = join_lines(pairs, &size);
    rapt_pairs_free(pairs);
    if (!text)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the sentences"), NULL;
    x->tokenizer = rapt_tokenizer_train_characters(text, size, err);
    x->vocabulary = x->tokenizer ? rapt_tokenizer_size(x->tokenizer) : 0;
    bool read = x->tokenizer && rapt_tokenizer_encode_bytes(x->tokenizer, text, size, NULL, &x->ids, &count, err) == RAPT_OK;
    free(text);
    return read ? rapt_token_file_from_ids(x->ids, count, x->vocabulary, err) : NULL;
}

bool learn_open(learn_text *x)
{
    rapt_error err = {0};
    *x = (learn_text){0};
    x->tokens = learn_read(x, &err);
    if (x->tokens)
        return true;
    fprintf(stderr, "%s (programs that learn from it run in the root of the sources)\n", err.message);
    show_check("there are sentences to learn from", false);
    learn_close(x);
    return false;
}

void learn_close(learn_text *x)
{
    rapt_token_file_close(x->tokens);
    rapt_tokenizer_free(x->tokenizer);
    free(x->ids);
}

rapt_lm_config learn_config(const learn_text *x)
{
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    c.vocab = x->vocabulary;
    c.layers = 2;
    c.context = LEARN_TRAINED;
    c.block = (rapt_block_config){.d_model = LEARN_FEATURES, .heads = LEARN_HEADS, .ffn = 4 * LEARN_FEATURES, .bias = true,
                                  .ffn_kind = RAPT_FFN_GELU_TANH, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .init = RAPT_WEIGHT_INIT_GPT2, .std = 0.125};
    return c;
}

static bool learn_steps(rapt_tape *t, rapt_lm *m, rapt_windows *windows, size_t steps)
{
    rapt_adam *adam = rapt_adam_new(m->params, NULL, NULL);
    for (size_t step = 0; adam && step < steps; step++) {
        const rapt_window_batch *batch = rapt_windows_random(windows, step);
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .step = step});
        rapt_tensor *at = rapt_lm_loss(t, m, batch->inputs, batch->labels, NULL, NULL);
        rapt_params_zero_grad(m->params);
        if (rapt_backward(t, at, NULL) != RAPT_OK)
            break;
        double rate = 0.005 * fmin(1, fmin((double)(step + 1) / 20, (double)(steps - step) / (double)steps * 2));
        rapt_adam_step(adam, t, rate, fmin(1, 1 / rapt_grad_norm(t, m->params)), NULL);
    }
    rapt_adam_free(adam);
    return adam && show_ready(t, m->params);
}

rapt_lm *learn_train(rapt_tape *t, const learn_text *x, const rapt_lm_config *config, size_t steps, double *seconds)
{
    rapt_error err = {0};
    rapt_token_range range = rapt_token_range_training(x->tokens, 0.9);
    rapt_windows *windows = rapt_windows_new(x->tokens, &range, LEARN_TRAINED, LEARN_BATCH, 1, &err);
    rapt_lm *m = windows ? rapt_lm_new(config, 1, &err) : NULL;
    double begin = learn_clock();
    bool ok = m && learn_steps(t, m, windows, steps);
    if (seconds)
        *seconds = (learn_clock() - begin) / (double)steps;
    rapt_windows_free(windows);
    if (ok)
        return m;
    if (!m)
        fprintf(stderr, "%s\n", err.message);
    show_check("a model learns", false);
    rapt_lm_free(m);
    return NULL;
}

double learn_loss(rapt_tape *t, const learn_text *x, const rapt_lm *m, size_t first, size_t last)
{
    enum { ROWS = 16 };
    rapt_token_range range = rapt_token_range_validation(x->tokens, 0.9);
    rapt_windows *windows = rapt_windows_new(x->tokens, &range, last, ROWS, 1, NULL);
    int32_t *ids = calloc(ROWS * last, sizeof *ids);
    double nats = 0, count = 0;
    for (size_t i = 0; windows && ids && i < rapt_windows_batches(windows); i++) {
        const rapt_window_batch *batch = rapt_windows_at(windows, i);
        rapt_loss_options options = {.valid_lens = batch->valid_lens};
        rapt_tokens labels = batch->labels;
        rapt_loss_sums sums;
        for (size_t k = 0; k < labels.batch * last; k++)
            ids[k] = k % last < first ? RAPT_NO_LABEL : labels.ids[k];
        labels.ids = ids;
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_loss(t, m, batch->inputs, labels, &options, &sums);
        if (!show_ready(t, m->params))
            break;
        nats += sums.nll;
        count += (double)sums.tokens;
    }
    free(ids);
    rapt_windows_free(windows);
    return nats / count;
}
