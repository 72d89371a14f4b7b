/* tests/decode/translate_case.h: a translation model of words w0, w1, ... for the tests of translating. It checks nothing but
 * that its own steps succeed. */
#ifndef TESTS_DECODE_TRANSLATE_CASE_H
#define TESTS_DECODE_TRANSLATE_CASE_H

#include "nn/model.h"
#include "io/model_core.h"
#include "options.h"
#include "rapt/decode.h"

/* The words w0, w1, ...: MODEL_VOCAB entries with the special ones. */
static inline rapt_tokenizer *case_words(void)
{
    char text[MODEL_VOCAB * 4] = "";
    const char *line = text;
    rapt_error err = {0};
    for (int i = 0; i < MODEL_VOCAB - RAPT_SPECIALS; i++)
        sprintf(text + strlen(text), "w%d ", i);
    rapt_tokenizer *k = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(), &err);
    if (!k)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tokenizer_size(k), MODEL_VOCAB);
    return k;
}

/* A model with random weights, for sources of up to `max_len` tokens; `eos` is added to the bias of <eos>. */
static inline rapt_model *case_translation_model(size_t max_len, rapt_real eos)
{
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (rapt_model){.task = RAPT_TASK_TRANSLATION, .translation.special = RAPT_SPECIAL_IDS, .translation.max_len = max_len,
                      .translation.net = model_new(RAPT_NORM_PLACE_POST, false)};
    m->params = m->translation.net->params;
    m->translation.source = m->translation.target = case_words();
    m->translation.net->decoder.output.bias->value.data[RAPT_EOS] += eos;
    return m;
}

#endif
