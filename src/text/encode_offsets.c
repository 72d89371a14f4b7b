/* text/encode_offsets.c: ids with the places that they come from: the public function, and what the kinds of tokenizers share for
 * it. Each kind finds the places itself: tokenizer_ops.encode_offsets. */
#include "text/sources.h"
#include "text/tokenizer.h"

#include "text/utf8.h"

#include <stdlib.h>

bool sources_begin(buffer *from, const char *text, size_t size, size_t begin)
{
    bool ok = buffer_reserve(from, size * sizeof(rapt_span));
    uint32_t code;
    for (size_t at = 0, used; ok && at < size; at += used) {
        used = utf8_decode(text + at, size - at, &code);
        used = used ? used : 1;
        const rapt_span whole = {begin + at, begin + at + used};
        for (size_t i = 0; ok && i < used; i++)
            ok = buffer_append(from, &whole, sizeof whole);
    }
    return ok;
}

rapt_code placed_ids_put(placed_ids *p, int32_t id, rapt_span span, rapt_error *err)
{
    if (!ARRAY_RESERVE(&p->ids, &p->ids_capacity, p->count + 1) || !ARRAY_RESERVE(&p->spans, &p->spans_capacity, p->count + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu ids and their offsets", p->count + 1);
    p->ids[p->count] = id;
    p->spans[p->count++] = span;
    return RAPT_OK;
}

rapt_code rapt_tokenizer_encode_offsets(const rapt_tokenizer *k, const rapt_text *text, const rapt_encode_options *options,
                                        int32_t **ids, rapt_span **offsets, size_t *count, rapt_error *err)
{
    rapt_encode_options o;
    placed_ids out = {0};
    *ids = NULL, *offsets = NULL, *count = 0;
    rapt_code code = tokenizer_take_options(options, &o, err);
    if (!code && !ARRAY_RESERVE(&out.ids, &out.ids_capacity, text->size / 4 + 16))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the ids of %zu bytes", text->size);
    if (!code && !ARRAY_RESERVE(&out.spans, &out.spans_capacity, text->size / 4 + 16))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the ids of %zu bytes", text->size);
    if (!code)
        code = k->ops->encode_offsets(k, text->size > 0 ? text->data : "", text->size, o.specials, &out, err);
    if (!code) {
        *ids = out.ids, *offsets = out.spans, *count = out.count;
        return RAPT_OK;
    }
    free(out.ids);
    free(out.spans);
    return code;
}
