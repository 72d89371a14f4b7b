/* tests/decode/generate_case.h: a model and a tokenizer for the tests of generation, and a callback that checks what it gets.
 * It checks nothing else itself. */
#ifndef TESTS_DECODE_GENERATE_CASE_H
#define TESTS_DECODE_GENERATE_CASE_H

#include "nn/lm_model.h"

#include "decode/generator.h"
#include "io/model_core.h"
#include "options.h"
#include "text/utf8.h"

#define END_OF_TEXT "<|endoftext|>"
#define BYTES_VOCAB 257 /* all bytes, and the end of text */
#define MOST_TEXT 4096

/* MODEL_VOCAB characters of one to four bytes, the code of number i rising with i. */
static inline rapt_tokenizer *case_characters(void)
{
    char text[MODEL_VOCAB * 4];
    size_t size = 0;
    rapt_error err = {0};
    for (uint32_t i = 0; i < MODEL_VOCAB; i++)
        size += utf8_put(i < 20 ? 'a' + i : i < 35 ? 0xE0 + i : i < 45 ? 0x4E00 + i : 0x1F600 + i, text + size);
    rapt_tokenizer *k = rapt_tokenizer_train_characters(text, size, &err);
    if (!k)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tokenizer_size(k), MODEL_VOCAB);
    return k;
}

/* A token for each byte, none for pairs. */
static inline rapt_tokenizer *case_bytes(void)
{
    static const char *const specials[] = {END_OF_TEXT};
    rapt_error err = {0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = BYTES_VOCAB, .specials = specials, .special_count = 1, .threads = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("abc", 3, &o, &err);
    if (!k)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tokenizer_size(k), BYTES_VOCAB);
    return k;
}

static inline int32_t case_byte(const rapt_tokenizer *k, unsigned char byte)
{
    size_t size;
    for (int32_t id = 0; id < BYTES_VOCAB - 1; id++) {
        const char *token = rapt_tokenizer_token(k, id, &size);
        if (token && size == 1 && (unsigned char)token[0] == byte)
            return id;
    }
    fail_msg("no token for byte %d", byte);
    return -1;
}

/* A language model of these two, and of the end of text if it knows one; nothing in it is to be freed. */
static inline rapt_model case_model(rapt_lm *lm, rapt_tokenizer *k)
{
    rapt_model m = {.task = RAPT_TASK_LANGUAGE_MODEL, .params = lm->params, .language.net = lm, .language.tokenizer = k};
    int32_t end = rapt_tokenizer_special(k, END_OF_TEXT);
    m.language.end_of_text_count = end >= 0 && (size_t)end < lm->config.vocab;
    m.language.end_of_text[0] = end;
    return m;
}

/* One run of a generator on a tape. */
static inline rapt_code case_generate(rapt_tape *t, const rapt_model *m, const char *start, uint64_t sample,
                                      const rapt_generate_options *o, rapt_generated *result, rapt_error *err)
{
    *result = (rapt_generated){0};
    rapt_generator *g = generator_on_tape(m, t, o, err);
    rapt_code code = g ? rapt_generator_begin(g, start, strlen(start), err) : err->code;
    code = code ? code : rapt_generator_run(g, sample, result, err);
    rapt_generator_free(g);
    return code;
}

/* Text as it came. Each piece has to be whole characters; after `most` pieces it refuses. */
typedef struct case_text {
    char text[MOST_TEXT];
    size_t size, pieces, most;
} case_text;

static inline rapt_code case_take(void *context, const char *text, size_t size, rapt_error *err)
{
    case_text *c = context;
    assert_true(size > 0 && c->size + size < MOST_TEXT);
    assert_int_equal(utf8_valid_prefix(text, size), size);
    memcpy(c->text + c->size, text, size);
    c->size += size;
    c->text[c->size] = '\0';
    return ++c->pieces == c->most ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "enough") : RAPT_OK;
}

#endif
