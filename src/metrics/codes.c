/* metrics/codes.c: decodes segments into code points. For the metrics. Not a tokenizer: words are separated by white space. */
#include "metrics/codes.h"

#include "rapt/metrics.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

bool codes_reserve(struct codes *codes, size_t count)
{
    codes->count = 0;
    if (count <= codes->capacity)
        return true;
    free(codes->at);
    codes->at = malloc(count * sizeof *codes->at);
    codes->capacity = codes->at ? count : 0;
    return codes->at != NULL;
}

static rapt_code codes_decode(struct codes *codes, const char *text, size_t size, rapt_error *err)
{
    if (!codes_reserve(codes, size + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a segment of %zu bytes", size);
    for (size_t at = 0; at < size;) {
        size_t used = utf8_decode(text + at, size - at, &codes->at[codes->count]);
        if (used == 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "byte %zu of a segment is not valid UTF-8", at + 1);
        at += used;
        codes->count++;
    }
    if (codes->count > RAPT_METRIC_MAX_LENGTH)
        return rapt_fail(err, RAPT_ERR_VALUE, "a segment has %zu characters, more than %d", codes->count,
                         RAPT_METRIC_MAX_LENGTH);
    return RAPT_OK;
}

rapt_code codes_load(struct codes *codes, const rapt_text *text, bool lowercase, rapt_error *err)
{
    size_t size = text->size;
    if (!lowercase || utf8_valid_prefix(text->data, size) < size) /* decoding reports the error */
        return codes_decode(codes, text->data, size, err);
    char *lower = utf8_lowercase(text->data, size, &size);
    if (!lower)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a segment of %zu bytes", size);
    rapt_code code = codes_decode(codes, lower, size, err);
    free(lower);
    return code;
}

void codes_strip_end(struct codes *codes)
{
    while (codes->count > 0 && utf8_is_space(codes->at[codes->count - 1]))
        codes->count--;
}

void codes_strip_start(struct codes *codes)
{
    size_t start = 0;
    while (start < codes->count && utf8_is_space(codes->at[start]))
        start++;
    if (start > 0)
        memmove(codes->at, codes->at + start, (codes->count - start) * sizeof *codes->at);
    codes->count -= start;
}

void codes_drop_space(struct codes *codes)
{
    size_t kept = 0;
    for (size_t i = 0; i < codes->count; i++)
        if (!utf8_is_space(codes->at[i]))
            codes->at[kept++] = codes->at[i];
    codes->count = kept;
}

bool codes_next_word(const struct codes *codes, size_t from, struct word *word)
{
    while (from < codes->count && utf8_is_space(codes->at[from]))
        from++;
    word->start = from;
    while (from < codes->count && !utf8_is_space(codes->at[from]))
        from++;
    word->end = from;
    return word->end > word->start;
}

void codes_free(struct codes *codes)
{
    free(codes->at);
    *codes = (struct codes){0};
}
