/* decode/prompt.c: prompts of language models: encoded, checked against the model's vocabulary, and what the model
 * expects after any of their tokens. For generate.c and `rapt generate --at`. Not a tokenizer, and nothing is drawn. */
#include "decode/prompt.h"

#include "decode/sampler.h"
#include "ops/tape_core.h"

#include <stdlib.h>

#define CHUNK ((size_t)64 << 10)

int32_t prompt_end_of_text(const rapt_lm *m, const rapt_tokenizer *k)
{
    int32_t id = rapt_tokenizer_special(k, "<|endoftext|>");
    return id >= 0 && (size_t)id < m->config.vocab ? id : -1;
}

/* Bytes of the tokens before `index`: where it stands in the text. */
static size_t bytes_before(const rapt_tokenizer *k, const prompt *p, size_t index)
{
    size_t sum = 0, size;
    for (size_t i = 0; i < index; i++)
        sum += rapt_tokenizer_token(k, p->ids[i], &size) ? size : 0;
    return sum;
}

static rapt_code check_known(const rapt_lm *m, const rapt_tokenizer *k, const prompt *p, rapt_error *err)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->ids[i] < 0 || (size_t)p->ids[i] >= m->config.vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "token %zu, at byte %zu of the prompt, is %d; the model knows %zu", i,
                             bytes_before(k, p, i) + 1, (int)p->ids[i], m->config.vocab);
    return RAPT_OK;
}

/* A text may begin after the end of another one. */
static rapt_code start_of_text(const rapt_lm *m, const rapt_tokenizer *k, prompt *p, rapt_error *err)
{
    int32_t end = prompt_end_of_text(m, k);
    if (end < 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "a prompt of at least one token is needed");
    p->ids[0] = end;
    p->count = 1;
    return RAPT_OK;
}

rapt_code prompt_encode(const rapt_lm *m, const rapt_tokenizer *k, const char *text, size_t size, prompt *p, rapt_error *err)
{
    rapt_error reason = {0};
    *p = (prompt){0};
    if (rapt_tokenizer_kind_of(k) == RAPT_TOKENIZER_WORDS)
        return rapt_fail(err, RAPT_ERR_VALUE, "a tokenizer of words cannot go on with a text: its tokens are words without what "
                                          "stands between them");
    if (rapt_tokenizer_encode_bytes(k, text, size, true, &p->ids, &p->count, &reason) != RAPT_OK)
        return rapt_fail(err, reason.code, "the prompt: %s", reason.message);
    rapt_code code = p->count > 0 ? check_known(m, k, p, err) : start_of_text(m, k, p, err);
    if (code) {
        free(p->ids);
        *p = (prompt){0};
    }
    return code;
}

const rapt_real *prompt_logits(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, const int32_t *ids, size_t count,
                               rapt_error *err)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *logits = rapt_lm_next(t, m, cache, ids, count, count);
    return rapt_tape_status(t, err) ? NULL : logits->data;
}

static rapt_code prompt_list_likeliest(rapt_tape *t, const rapt_real *logits, size_t vocab, size_t position, size_t n,
                                       int32_t *ids, double *probabilities, rapt_error *err)
{
    arena scratch;
    sampler_input in = {.logits = logits, .vocab = vocab, .position = position};
    arena_init(&scratch, CHUNK);
    rapt_code code = sampler_likeliest(t->k, &in, n, ids, probabilities, &scratch, err);
    arena_free(&scratch);
    return code;
}

rapt_code prompt_likeliest_next(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, const int32_t *tokens, size_t count,
                                size_t position, size_t n, int32_t *ids, double *probabilities, rapt_error *err)
{
    const rapt_real *logits = prompt_logits(t, m, cache, tokens, count, err);
    return logits ? prompt_list_likeliest(t, logits, m->config.vocab, position, n, ids, probabilities, err) : err->code;
}

rapt_code prompt_likeliest(rapt_tape *t, const rapt_lm *m, const prompt *p, size_t position, size_t n, int32_t *ids,
                           double *probabilities, rapt_error *err)
{
    if (position >= p->count)
        return rapt_fail(err, RAPT_ERR_VALUE, "position %zu: the prompt has %zu tokens, counted from 0", position, p->count);
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), err);
    rapt_code code = cache ? prompt_likeliest_next(t, m, cache, p->ids, position + 1, position, n, ids, probabilities, err)
                           : err->code;
    rapt_kv_cache_free(cache);
    return code;
}
