/* decode/suppressed.c: encodes the texts that translations must not have. The search bans the token that would complete one. */
#include "decode/suppressed.h"

#include "io/model_core.h"
#include "text/lines.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Bounds what a step of a search looks through. */
enum { MAX_SUPPRESSED = 1024, MAX_SUPPRESSED_BYTES = 1 << 16 };

static bool suppressed_has(const suppressed *s, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->lists[i].count == count && memcmp(s->lists[i].ids, ids, count * sizeof *ids) == 0)
            return true;
    return false;
}

/* `number` counts lines from 1. */
static rapt_code suppressed_add(suppressed *s, const rapt_model *m, const char *text, size_t size, size_t number, rapt_error *err)
{
    rapt_error why = {0};
    int32_t *ids = NULL;
    size_t count = 0;
    rapt_code code = tokenizer_encode_bytes(m->translation.target, text, size, false, &ids, &count, &why);
    if (!code && count == 0)
        code = rapt_fail(&why, RAPT_ERR_VALUE, "it has no token");
    for (size_t i = 0; i < count && !code; i++)
        if (ids[i] == m->translation.special.unk)
            code = rapt_fail(&why, RAPT_ERR_VALUE, "the model doesn't know all of it");
    if (code)
        rapt_fail(err, code, "suppressed text %zu: %s", number, why.message);
    if (code || suppressed_has(s, ids, count))
        free(ids);
    else
        s->lists[s->count++] = (rapt_token_list){ids, count};
    return code;
}

/* A line, and behind a space, which some tokenizers make part of the token. */
static rapt_code suppressed_add_line(suppressed *s, const rapt_model *m, line_span line, char *spaced, size_t number,
                                     rapt_error *err)
{
    spaced[0] = ' ';
    memcpy(spaced + 1, line.at, line.size);
    rapt_code code = suppressed_add(s, m, line.at, line.size, number, err);
    return code ? code : suppressed_add(s, m, spaced, line.size + 1, number, err);
}

rapt_code suppressed_encode(suppressed *s, const rapt_model *m, const char *texts, rapt_error *err)
{
    *s = (suppressed){0};
    if (!texts)
        return RAPT_OK;
    const size_t size = strlen(texts), valid = utf8_valid_prefix(texts, size);
    if (valid < size)
        return rapt_fail(err, RAPT_ERR_VALUE, "the suppressed texts are not UTF-8: byte %zu", valid + 1);
    line_walk w = {texts, texts + size};
    const size_t count = lines_count(w);
    if (count > MAX_SUPPRESSED || size > MAX_SUPPRESSED_BYTES)
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu suppressed texts of %zu bytes: they are %d of %d bytes at most", count, size,
                         MAX_SUPPRESSED, MAX_SUPPRESSED_BYTES);
    char *spaced = malloc(size + 2);
    s->lists = calloc(2 * count + 1, sizeof *s->lists);
    rapt_code code = spaced && s->lists ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu texts", count);
    for (size_t i = 0; i < count && !code; i++)
        code = suppressed_add_line(s, m, lines_next(&w), spaced, i + 1, err);
    free(spaced);
    if (code)
        suppressed_free(s);
    return code;
}

void suppressed_free(suppressed *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->lists[i].ids);
    free(s->lists);
    *s = (suppressed){0};
}
