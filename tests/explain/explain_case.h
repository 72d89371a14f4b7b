/* tests/explain/explain_case.h: small models of both kinds with random weights and their tokenizers, for the tests of
 * explanations. It checks nothing itself. */
#ifndef TESTS_EXPLAIN_EXPLAIN_CASE_H
#define TESTS_EXPLAIN_EXPLAIN_CASE_H

#include "nn/lm_model.h"

#include "io/model_core.h"
#include "options.h"
#include "rapt/explain.h"

#define CASE_MAX_LEN 8
#define CASE_ALPHABET "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ " /* MODEL_VOCAB letters */

/* The words w0, w1, ..., with so many letters x behind each: MODEL_VOCAB entries with the special ones. */
static inline rapt_tokenizer *case_words_of(size_t letters)
{
    char *text = malloc(MODEL_VOCAB * (letters + 4) + 1), *to = text;
    const char *line = text;
    rapt_error err = {0};
    assert_non_null(text);
    for (int i = 0; i < MODEL_VOCAB - RAPT_SPECIALS; i++) {
        to += sprintf(to, "w%d", i);
        memset(to, 'x', letters);
        to += letters;
        to += sprintf(to, " ");
    }
    rapt_tokenizer *k = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(), &err);
    free(text);
    if (!k)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tokenizer_size(k), MODEL_VOCAB);
    return k;
}

static inline rapt_tokenizer *case_words(void)
{
    return case_words_of(0);
}

static inline rapt_model *case_translator_of(rapt_transformer_config config)
{
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (rapt_model){.task = RAPT_TASK_TRANSLATION, .translation.special = RAPT_SPECIAL_IDS, .translation.max_len = CASE_MAX_LEN,
                      .translation.net = model_of(config)};
    m->params = m->translation.net->params;
    m->translation.source = m->translation.target = case_words();
    return m;
}

static inline rapt_model *case_translator(void)
{
    return case_translator_of(model_config(RAPT_NORM_PLACE_POST, false));
}

/* Its target's tokens have long texts. */
static inline rapt_model *case_long_words(size_t letters)
{
    rapt_model *m = case_translator();
    m->translation.target = case_words_of(letters);
    return m;
}

static inline rapt_model *case_language_model_of(rapt_lm_config c)
{
    rapt_model *m = calloc(1, sizeof *m);
    rapt_error err = {0};
    assert_non_null(m);
    *m = (rapt_model){.task = RAPT_TASK_LANGUAGE_MODEL, .language.net = lm_model(&c)};
    m->params = m->language.net->params;
    m->language.tokenizer = rapt_tokenizer_train_characters(CASE_ALPHABET, strlen(CASE_ALPHABET), &err);
    if (!m->language.tokenizer)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tokenizer_size(m->language.tokenizer), MODEL_VOCAB);
    return m;
}

static inline rapt_model *case_language_model(void)
{
    return case_language_model_of(lm_variant(100));
}

/* The explanation of a text, to be freed. */
static inline rapt_explanation *case_explain(const rapt_model *m, const char *text, rapt_explain_options o)
{
    rapt_error err = {0};
    rapt_explanation *e = rapt_explanation_new(m, text, strlen(text), &o, &err);
    if (!e)
        fail_msg("%s", err.message);
    return e;
}

#endif
