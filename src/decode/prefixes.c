/* decode/prefixes.c: encodes forced prefixes and checks their length. */
#include "decode/prefixes.h"

#include "io/model_core.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

#include <stdlib.h>

/* Trailing spaces are dropped: the token that follows begins with its space. */
static rapt_code encode_prefix(const rapt_model *m, rapt_text prefix, int32_t **ids, size_t *count, rapt_error *err)
{
    const char *text = prefix.data;
    size_t size = prefix.size, valid = utf8_valid_prefix(text, size);
    if (valid < size)
        return rapt_fail(err, RAPT_ERR_VALUE, "the prefix is not UTF-8: byte %zu", valid + 1);
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    return tokenizer_encode_bytes(m->translation.target, text, size, false, ids, count, err);
}

/* `forced`: tokens before the prefix. */
static rapt_code prefixes_check(const rapt_model *m, search_prefix p, size_t forced, rapt_error *err)
{
    size_t max = m->translation.net->config.max_positions;
    if (p.count > 0 && forced + p.count >= max)
        return rapt_fail(err, RAPT_ERR_VALUE, "a prefix of %zu tokens%s; the model has %zu positions", p.count,
                         forced ? " after the forced one" : "", max);
    for (size_t i = 0; i < p.count; i++)
        if (p.ids[i] == m->translation.special.unk)
            return rapt_fail(err, RAPT_ERR_VALUE, "the prefix has a %s that the model doesn't know",
                             rapt_tokenizer_kind_of(m->translation.target) == RAPT_TOKENIZER_CHARACTERS ? "character" : "word");
    return RAPT_OK;
}

rapt_code prefixes_encode(prefixes *p, const rapt_model *m, const rapt_search_policy *policy, const rapt_text *texts,
                          size_t count, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    *p = (prefixes){calloc(count + 1, sizeof *p->ids), calloc(count + 1, sizeof *p->prefix), count};
    if (!p->ids || !p->prefix)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu prefixes", count);
    for (size_t i = 0; i < count && !code; i++) {
        size_t length = 0;
        if (!texts[i].data)
            continue;
        code = encode_prefix(m, texts[i], &p->ids[i], &length, err);
        p->prefix[i] = (search_prefix){p->ids[i], code ? 0 : length};
        code = code ? code : prefixes_check(m, p->prefix[i], policy->forced_bos.count, err);
    }
    if (code)
        prefixes_free(p);
    return code;
}

void prefixes_free(prefixes *p)
{
    for (size_t i = 0; p->ids && i < p->count; i++)
        free(p->ids[i]);
    free(p->ids);
    free(p->prefix);
    *p = (prefixes){0};
}
