/* decode/prompt.c: prompts of language models: encoded, and checked against the model's vocabulary. Not a tokenizer, and nothing
 * is computed. */
#include "decode/prompt.h"

#include "io/model_core.h"
#include "text/tokenizer.h"

#include <stdlib.h>

static size_t first_unknown(const rapt_model *m, const int32_t *ids, size_t count)
{
    size_t i = 0;
    while (i < count && ids[i] >= 0 && (size_t)ids[i] < m->language.net->config.vocab)
        i++;
    return i;
}

rapt_code prompt_check(const rapt_model *m, const int32_t *ids, size_t count, rapt_error *err)
{
    size_t i = first_unknown(m, ids, count);
    if (i == count)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "token %zu of the prompt is %d; the model knows %zu", i, (int)ids[i],
                     m->language.net->config.vocab);
}

/* Bytes of the tokens before `index`: its byte position in the text. */
static size_t bytes_before(const rapt_tokenizer *tokenizer, const prompt *p, size_t index)
{
    size_t sum = 0, size;
    for (size_t i = 0; i < index; i++)
        sum += rapt_tokenizer_token(tokenizer, p->ids[i], &size) ? size : 0;
    return sum;
}

static rapt_code check_known(const rapt_model *m, const prompt *p, rapt_error *err)
{
    size_t i = first_unknown(m, p->ids, p->count);
    if (i == p->count)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "token %zu, at byte %zu of the prompt, is %d; the model knows %zu", i,
                     bytes_before(m->language.tokenizer, p, i) + 1, (int)p->ids[i], m->language.net->config.vocab);
}

/* A text may begin after the end of another one. */
static rapt_code start_of_text(const rapt_model *m, prompt *p, rapt_error *err)
{
    if (m->language.end_of_text_count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "a prompt of at least one token is needed");
    p->ids[0] = m->language.end_of_text[0];
    p->count = 1;
    return RAPT_OK;
}

rapt_code prompt_encode(const rapt_model *m, const char *text, size_t size, prompt *p, rapt_error *err)
{
    rapt_error reason = {0};
    *p = (prompt){0};
    if (rapt_tokenizer_kind_of(m->language.tokenizer) == RAPT_TOKENIZER_WORDS)
        return rapt_fail(err, RAPT_ERR_VALUE, "a tokenizer of words cannot continue a text: its tokens are words without what "
                                              "stands between them");
    if (tokenizer_encode_bytes(m->language.tokenizer, text, size, true, &p->ids, &p->count, &reason) != RAPT_OK)
        return rapt_fail(err, reason.code, "the prompt: %s", reason.message);
    rapt_code code = p->count > 0 ? check_known(m, p, err) : start_of_text(m, p, err);
    if (code) {
        free(p->ids);
        *p = (prompt){0};
    }
    return code;
}
