/* text/bpe/bpe_offsets.c: the places that the ids of byte-level BPE come from. The bytes of the tokens, one after the other, are
 * the normalized text, so the places are found after the ids. For rapt_tokenizer_encode_offsets. */
#include "text/bpe/byte_bpe.h"

#include "text/sources.h"

#include <stdlib.h>

typedef struct bpe_placing {
    const byte_bpe *b;
    const int32_t *ids; /* [count] all of the text */
    size_t at, count;
    buffer from; /* the places of a stretch without special tokens */
    placed_ids *out;
    rapt_error *err;
} bpe_placing;

/* Places the next id. */
static rapt_code bpe_place_next(bpe_placing *p, rapt_span from)
{
    if (p->at >= p->count)
        return rapt_fail(p->err, RAPT_ERR_FORMAT, "a text has fewer tokens than places");
    return placed_ids_put(p->out, p->ids[p->at++], from, p->err);
}

/* Places `count` ids that the text as a whole gets. */
static rapt_code place_row(bpe_placing *p, size_t count)
{
    rapt_code code = RAPT_OK;
    for (; count > 0 && !code; count--)
        code = bpe_place_next(p, (rapt_span){0, 0});
    return code;
}

/* The ids of a stretch without special tokens, which begins at `begin` of the text. */
static rapt_code place_stretch(bpe_placing *p, const char *text, size_t size, size_t begin)
{
    rapt_code code = normalizer_places(&p->b->normal, text, size, begin, &p->from, p->err);
    const rapt_span *from = sources_of(&p->from);
    const size_t bytes = p->from.size / sizeof *from;
    for (size_t at = 0, length; at < bytes && !code; at += length) {
        const int32_t id = p->at < p->count ? p->ids[p->at++] : -1;
        length = 0;
        if (!token_list_at(&p->b->tokens, id, &length) || length == 0 || length > bytes - at)
            return rapt_fail(p->err, RAPT_ERR_FORMAT, "the tokens of a text are not its bytes");
        code = placed_ids_put(p->out, id, (rapt_span){from[at].begin, from[at + length - 1].end}, p->err);
    }
    return code;
}

static rapt_code place_text(bpe_placing *p, const char *text, size_t size, bool specials)
{
    rapt_code code = RAPT_OK;
    for (size_t at = 0; at < size && !code;) {
        size_t end = size;
        const special *found = special_list_next(&p->b->specials, text, size, at, specials, &end);
        end = found ? end : size;
        code = place_stretch(p, text + at, end - at, at);
        at = found ? end + found->length : size;
        if (!code && found)
            code = bpe_place_next(p, (rapt_span){end, at});
    }
    return code;
}

rapt_code bpe_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                             rapt_error *err)
{
    int32_t *ids;
    bpe_placing p = {.b = byte_bpe_of(k), .out = out, .err = err};
    rapt_code code = tokenizer_encode_bytes(k, text, size, specials, &ids, &p.count, err);
    p.ids = ids;
    code = code ? code : place_row(&p, specials ? p.b->before.count : 0);
    code = code ? code : place_text(&p, text, size, specials);
    code = code ? code : place_row(&p, specials ? p.b->after.count : 0);
    buffer_free(&p.from);
    free(ids);
    return code;
}
