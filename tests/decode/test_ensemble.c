/* tests/decode/test_ensemble.c: several models translate by the mean of their log-probabilities. With equal models the result
 * is the model's own, to the bit, whatever the search, the batch and the threads; with others, each token of a greedy translation
 * is the best one, and a hypothesis has the mean of the log-probabilities, by passes of each model over it; what does not fit is
 * refused by name.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 5, MAX_LEN = 10 };

static const char *const lines[LINES] = {"w1 w2 w3", "w4", "w9 w8 w7 w6 w5", "", "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12"};

/* Weights that are another model's for each `kind` but 0. */
static rapt_model *model_of_kind(int kind)
{
    rapt_model *m = case_translation_model(MAX_LEN, (rapt_real)1.5);
    rapt_tensor *w = &m->translation.net->decoder.output.weight->value;
    for (size_t i = 0; kind && i < w->shape[0] * w->shape[1]; i++)
        w->data[i] += (rapt_real)(0.4 * sin((double)(i * (size_t)kind)));
    return m;
}

static rapt_translation *run(const rapt_model *m, rapt_translate_options o)
{
    rapt_error err = {0};
    rapt_translation *out = calloc(LINES, sizeof *out);
    o.tokens = true;
    assert_non_null(out);
    if (rapt_translate(m, lines, LINES, &o, out, &err))
        fail_msg("%s", err.message);
    return out;
}

static void assert_same(const rapt_translation *a, const rapt_translation *b)
{
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(a[i].count, b[i].count);
        for (size_t n = 0; n < a[i].count; n++) {
            const rapt_hypothesis *x = &a[i].hypotheses[n], *y = &b[i].hypotheses[n];
            assert_string_equal(x->text, y->text);
            assert_memory_equal(&x->score, &y->score, sizeof x->score);
            assert_memory_equal(&x->log_prob, &y->log_prob, sizeof x->log_prob);
            assert_int_equal(x->token_count, y->token_count);
            assert_memory_equal(x->tokens, y->tokens, x->token_count * sizeof *x->tokens);
            assert_memory_equal(x->log_probs, y->log_probs, x->token_count * sizeof *x->log_probs);
            assert_int_equal(x->alignment.targets, y->alignment.targets);
        }
    }
}

static void drop(rapt_translation *out)
{
    rapt_translations_free(out, LINES);
    free(out);
}

static void equal_models_are_one(void **state)
{
    (void)state;
    const rapt_translate_options options[] = {
        TRANSLATE(.beam = 1),
        TRANSLATE(.beam = 4, .n_best = 3, .length_penalty = 0.6, .alignment = true),
        TRANSLATE(.beam = 3, .no_repeat = 2, .prefix = "w5", .min_length = 3, .suppress = "w7"),
        TRANSLATE(.beam = 2, .sample = {SAMPLE_DEFAULTS, .repetition_penalty = 1.3}),
        TRANSLATE(.beam = 1, .sample = {SAMPLE_DEFAULTS, .temperature = 1.2, .top_k = 9, .seed = 4}),
        TRANSLATE(.beam = 2, .compute.type = RAPT_TYPE_BF16),
        TRANSLATE(.beam = 2, .compute.weights = "q8_0"),
    };
    for (int policy = 0; policy < 2; policy++) {
        rapt_model *m = model_of_kind(0), *again = model_of_kind(0);
        if (policy)
            m->search = (rapt_search_policy){.given = true, .beams = 3, .length_penalty = 1, .repetition_penalty = 1.2,
                                             .no_repeat_ngram = 3};
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const rapt_model *others[] = {again, m};
            rapt_translate_options o = options[i];
            rapt_translation *alone = run(m, o);
            o.others = others;
            for (o.other_count = 1; o.other_count <= 2; o.other_count++)
                for (o.batch = 1; o.batch <= 64; o.batch += 63)
                    for (o.compute.threads = 1; o.compute.threads <= 3; o.compute.threads += 2) {
                        rapt_translation *both = run(m, o);
                        assert_same(alone, both);
                        drop(both);
                    }
            drop(alone);
        }
        rapt_model_free(m);
        rapt_model_free(again);
    }
}

/* log_probs[length][MODEL_VOCAB] of the tokens after each prefix of a translation: a pass over the whole of it. */
static void pass(const rapt_model *m, const int32_t *source, size_t count, const int32_t *target, size_t length,
                 double *log_probs)
{
    rapt_error err = {0};
    int32_t ids[64], inputs[64] = {RAPT_BOS}, source_len = (int32_t)count + 1;
    rapt_tape *t = rapt_tape_new(NULL, &err);
    assert_non_null(t);
    memcpy(ids, source, count * sizeof *ids);
    ids[count] = RAPT_EOS;
    memcpy(inputs + 1, target, (length - 1) * sizeof *inputs);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *x = rapt_transformer_forward(t, m->translation.net, (rapt_tokens){ids, 1, count + 1}, &source_len,
                                                    (rapt_tokens){inputs, 1, length});
    assert_int_equal(rapt_tape_status(t, &err), RAPT_OK);
    for (size_t i = 0; i < length; i++) {
        double sum = 0;
        for (size_t j = 0; j < MODEL_VOCAB; j++)
            sum += exp((double)x->data[i * MODEL_VOCAB + j]);
        for (size_t j = 0; j < MODEL_VOCAB; j++)
            log_probs[i * MODEL_VOCAB + j] = (double)x->data[i * MODEL_VOCAB + j] - log(sum);
    }
    rapt_tape_free(t);
}

/* Checks a hypothesis of a line of one segment. Returns how many tokens the models alone would not have chosen. */
static size_t check_hypothesis(rapt_model *const *models, size_t count, const rapt_translation *t, const rapt_hypothesis *h,
                               bool greedy)
{
    double each[3][32 * MODEL_VOCAB], sum = 0;
    int32_t tokens[64];
    size_t others = 0;
    const size_t length = h->token_count + 1;
    assert_true(length <= 32);
    memcpy(tokens, h->tokens, h->token_count * sizeof *tokens);
    tokens[h->token_count] = RAPT_EOS;
    for (size_t m = 0; m < count; m++)
        pass(models[m], t->source, t->source_count, tokens, length, each[m]);
    for (size_t i = 0; i < length; i++) {
        double best = -INFINITY, own = 0, first = -INFINITY;
        for (size_t j = 0; j < MODEL_VOCAB; j++) {
            double mean = 0;
            for (size_t m = 0; m < count; m++)
                mean += each[m][i * MODEL_VOCAB + j] / (double)count;
            best = fmax(best, mean);
            first = fmax(first, each[0][i * MODEL_VOCAB + j]);
            own = j == (size_t)tokens[i] ? mean : own;
        }
        if (greedy)
            assert_true(own > best - 1e-5);
        others += each[0][i * MODEL_VOCAB + (size_t)tokens[i]] < first;
        if (i < h->token_count)
            assert_true(fabs(h->log_probs[i] - own) < 1e-5);
        sum += own;
    }
    assert_true(fabs(h->log_prob - sum) < 1e-4);
    return others;
}

static void other_models_have_their_mean(void **state)
{
    (void)state;
    rapt_model *models[] = {model_of_kind(0), model_of_kind(1), model_of_kind(2)};
    size_t others = 0;
    for (size_t count = 1; count <= 3; count++)
        for (size_t beam = 1; beam <= 4; beam += 3) {
            rapt_translation *out = run(models[0], TRANSLATE(.beam = beam, .n_best = beam, .max_ratio = 1.5,
                                                             .others = (const rapt_model *const *)models + 1,
                                                             .other_count = count - 1));
            for (size_t i = 0; i < 3; i++)
                for (size_t n = 0; n < out[i].count; n++)
                    if (out[i].hypotheses[n].token_count + 1 < 10 + (size_t)(1.5 * (double)(out[i].source_count + 1)))
                        others += check_hypothesis(models, count, &out[i], &out[i].hypotheses[n], beam == 1);
            drop(out);
        }
    assert_true(others > 3);
    for (size_t i = 0; i < 3; i++)
        rapt_model_free(models[i]);
}

static void refused(const rapt_model *m, const rapt_model *other, size_t count, const char *says)
{
    rapt_error err = {0};
    const rapt_model *others[80];
    for (size_t i = 0; i < 80; i++)
        others[i] = other;
    const rapt_translate_options o = TRANSLATE(.others = others, .other_count = count);
    assert_null(rapt_translator_new(m, &o, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, says);
}

static void what_does_not_fit(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = model_of_kind(0), *other = model_of_kind(0);
    refused(m, other, 64, "an ensemble of 65 models: there may be 64");
    other->translation.max_len = MAX_LEN - 1;
    refused(m, other, 1, "model 2 of the ensemble takes 9 tokens at most, the first 10: name it first");
    other->translation.max_len = MAX_LEN;
    other->translation.special.bos = 7;
    refused(m, other, 1, "model 2 of the ensemble has other special tokens than the first, or more of them");
    other->translation.special.bos = RAPT_BOS;
    const char *line = "one two three";
    rapt_tokenizer *k = other->translation.target;
    other->translation.target = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(), &err);
    assert_non_null(other->translation.target);
    refused(m, other, 2, "model 2 of the ensemble has another target vocabulary than the first");
    rapt_tokenizer_free(other->translation.target);
    other->translation.target = k;
    rapt_model_free(other);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_models_are_one), cmocka_unit_test(other_models_have_their_mean),
                                       cmocka_unit_test(what_does_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
