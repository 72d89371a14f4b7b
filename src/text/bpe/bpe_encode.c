/* text/bpe/bpe_encode.c: a text to ids by byte-level BPE: special tokens, then pieces, then merges. For everything that encodes;
 * bpe_merge.c merges a piece. A thread that has encoded a text leaves its encoder, with the pieces that it keeps, to the next
 * text. */
#include "text/bpe/bpe_encode.h"

#include "base/spares.h"
#include "text/bpe/kept_pieces.h"

#include <stdlib.h>
#include <string.h>

enum { OUT = 4096, AHEAD = 16 };

typedef struct bpe_encoder {
    const byte_bpe *b;
    split_walk *walk;
    kept_pieces kept;
    rapt_ids_fn *sink;
    void *context;
    bpe_starts *starts; /* collects where pieces begin, or NULL */
    bpe_dropout *dropout; /* or NULL */
    rapt_error *err;
    size_t filled, flushed; /* ids in `out`, and those before them since the sink was given */
    int32_t out[OUT];
} encoder;

/* ---- ids out ------------------------------------------------------------------------------------------------ */

static rapt_code bpe_encode_flush(encoder *e)
{
    size_t count = e->filled;
    e->filled = 0;
    e->flushed += count;
    return count ? e->sink(e->context, e->out, count, e->err) : RAPT_OK;
}

/* Capacity for `count` ids, at most OUT, at e->out + e->filled. */
static inline rapt_code bpe_encode_reserve(encoder *e, size_t count)
{
    return e->filled + count > OUT ? bpe_encode_flush(e) : RAPT_OK;
}

static rapt_code put_ids(encoder *e, const int32_t *ids, size_t count)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && code == RAPT_OK; i++) {
        code = bpe_encode_reserve(e, 1);
        e->out[e->filled++] = ids[i];
    }
    return code;
}

/* ---- pieces ------------------------------------------------------------------------------------------------- */

static rapt_code encode_long(encoder *e, const char *piece, size_t size)
{
    size_t count;
    int32_t *ids = malloc(size * sizeof *ids);
    rapt_code code = ids ? bpe_merge_long(e->b, piece, size, e->dropout, ids, &count, e->err)
                         : rapt_fail(e->err, RAPT_ERR_MEMORY, "out of memory for a piece of %zu bytes", size);
    if (code == RAPT_OK)
        code = put_ids(e, ids, count);
    free(ids);
    return code;
}

static rapt_code encode_piece(encoder *e, const char *piece, size_t size)
{
    if (e->dropout)
        return encode_long(e, piece, size);
    int32_t whole = e->b->whole_pieces ? token_list_find(&e->b->tokens, piece, size) : -1;
    if (whole >= 0)
        return put_ids(e, &whole, 1);
    if (size > BPE_SHORT)
        return encode_long(e, piece, size);
    rapt_code code = bpe_encode_reserve(e, size);
    if (code == RAPT_OK)
        e->filled += bpe_merge_short(e->b, piece, size, e->out + e->filled);
    return code;
}

/* Bytes of a text, and where its ids are kept; NULL: too long for the table. */
typedef struct piece {
    size_t at, size;
    piece_key key;
    kept_set *set;
} piece;

static rapt_code encode_new(encoder *e, const piece *p, const char *text)
{
    const int32_t *out = e->out + e->filled;
    rapt_code code = encode_piece(e, text + p->at, p->size);
    const size_t count = (size_t)(e->out + e->filled - out);
    if (code == RAPT_OK && p->set && count <= KEPT_IDS)
        kept_piece_put(p->set, &p->key, out, count);
    return code;
}

static inline rapt_code encode_kept(encoder *e, const piece *p, const char *text)
{
    if (e->dropout)
        return encode_piece(e, text + p->at, p->size);
    const kept_piece *found = p->set ? kept_piece_find(p->set, &p->key) : NULL;
    rapt_code code = bpe_encode_reserve(e, KEPT_BYTES);
    if (code || !found)
        return code ? code : encode_new(e, p, text);
    int32_t *out = e->out + e->filled;
    memcpy(out, found->ids, sizeof found->ids);
    e->filled += 1 + (size_t)(out[1] >= 0) + (size_t)(out[2] >= 0) + (size_t)(out[3] >= 0);
    return RAPT_OK;
}

/* Prefetches the set that encode_kept will read. */
static inline piece find_piece(const encoder *e, const char *text, size_t size, size_t at, size_t end)
{
    piece p = {.at = at, .size = end - at};
    if (p.size <= KEPT_BYTES) {
        p.key = piece_key_of(text, size, at, p.size);
        p.set = kept_set_of(&e->kept, &p.key);
        __builtin_prefetch(p.set);
    }
    return p;
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

/* The next pieces of a range from *at on, AHEAD of them at most; none: *at is behind the range, or the next one ends too far. */
static rapt_code find_pieces(const encoder *e, const bpe_range *r, size_t *at, piece *pieces, size_t *count)
{
    size_t ends[AHEAD], found;
    rapt_code code = split_some(e->walk, r->text, r->size, *at, r->limit, ends, AHEAD, &found, e->err);
    for (*count = 0; *count < found && ends[*count] <= r->far; *at = ends[(*count)++])
        pieces[*count] = find_piece(e, r->text, r->size, *at, ends[*count]);
    if (*count < found)
        *r->far_end = ends[*count];
    return code;
}

static void note_start(encoder *e, size_t at)
{
    bpe_starts *s = e->starts;
    if (s->count < BPE_STARTS)
        s->list[s->count++] = (bpe_start){at, e->flushed + e->filled};
}

static rapt_code encode_range(encoder *e, const bpe_range *r, size_t *at)
{
    piece pieces[AHEAD];
    rapt_code code = RAPT_OK;
    for (size_t count = 1; *at < r->limit && count > 0 && code == RAPT_OK;) {
        code = find_pieces(e, r, at, pieces, &count);
        for (size_t i = 0; i < count && code == RAPT_OK; i++) {
            if (e->starts)
                note_start(e, pieces[i].at);
            code = encode_kept(e, &pieces[i], r->text);
        }
    }
    return code;
}

static rapt_code encode_pieces(void *context, const char *text, size_t size)
{
    const bpe_range all = {text, size, size, SIZE_MAX, NULL};
    size_t at = 0;
    return encode_range(context, &all, &at);
}

static rapt_code bpe_encode_text(encoder *e, const char *text, size_t size, bool specials)
{
    rapt_code code = RAPT_OK;
    for (size_t at = 0; at < size && code == RAPT_OK;) {
        size_t end = size;
        const special *found = special_list_next(&e->b->specials, text, size, at, specials, &end);
        size_t plain = found ? end - at : size - at; /* bytes without special tokens */
        code = normalizer_apply(&e->b->normal, text + at, plain, encode_pieces, e, e->err);
        if (code == RAPT_OK && found)
            code = put_ids(e, &found->id, 1);
        at = found ? end + found->length : size;
    }
    return code;
}

/* ---- encoders ----------------------------------------------------------------------------------------------- */

static void bpe_encoder_delete(void *spare)
{
    encoder *e = spare;
    split_walk_free(e->walk);
    kept_pieces_free(&e->kept);
    free(e);
}

static encoder *encoder_make(const byte_bpe *b)
{
    encoder *e = malloc(sizeof *e);
    if (!e)
        return NULL;
    e->b = b;
    e->walk = NULL;
    e->kept = (kept_pieces){0};
    return e;
}

bpe_encoder *bpe_encoder_new(const byte_bpe *b, size_t size, rapt_error *err)
{
    encoder *e = spares_take(b->encoders);
    e = e ? e : encoder_make(b);
    if (e && kept_pieces_expect(&e->kept, size) && (e->walk = split_walk_new(b->cut, err)))
        return e;
    if (e && e->kept.sets)
        bpe_encoder_free(e); /* its pieces are still good */
    else if (e)
        bpe_encoder_delete(e);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to encode a text");
    return NULL;
}

/* A spare has no walk, whose stack may have 64 MB: a split keeps one itself. */
void bpe_encoder_free(bpe_encoder *e)
{
    if (e) {
        split_walk_free(e->walk);
        e->walk = NULL;
    }
    void *more = e ? spares_give(e->b->encoders, e) : NULL;
    if (more)
        bpe_encoder_delete(more);
}

void bpe_encoders_free(spares *s)
{
    spares_free(s, bpe_encoder_delete);
}

void bpe_encoder_begin(bpe_encoder *e, rapt_ids_fn *sink, void *context, bpe_starts *starts)
{
    e->sink = sink;
    e->context = context;
    e->starts = starts;
    e->dropout = NULL;
    e->filled = e->flushed = 0;
    split_walk_begin(e->walk);
}

rapt_code bpe_encoder_range(bpe_encoder *e, const bpe_range *range, size_t *at, rapt_error *err)
{
    e->err = err;
    rapt_code code = encode_range(e, range, at);
    return code == RAPT_OK ? bpe_encode_flush(e) : code;
}

rapt_code bpe_encoder_text(bpe_encoder *e, const char *text, size_t size, bool specials, rapt_error *err)
{
    e->err = err;
    rapt_code code = bpe_encode_text(e, text, size, specials);
    return code == RAPT_OK ? bpe_encode_flush(e) : code;
}

rapt_code bpe_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                        void *context, rapt_error *err)
{
    const byte_bpe *b = byte_bpe_of(k);
    encoder *e = bpe_encoder_new(b, size, err);
    if (!e)
        return RAPT_ERR_MEMORY;
    bpe_encoder_begin(e, sink, context, NULL);
    e->err = err;
    rapt_code code = specials ? put_ids(e, b->before.ids, b->before.count) : RAPT_OK;
    if (code == RAPT_OK)
        code = bpe_encode_text(e, text, size, specials);
    if (code == RAPT_OK && specials)
        code = put_ids(e, b->after.ids, b->after.count);
    if (code == RAPT_OK)
        code = bpe_encode_flush(e);
    bpe_encoder_free(e);
    return code;
}

rapt_code bpe_encode_dropout(const byte_bpe *b, const char *text, size_t size, bool specials, bpe_dropout *dropout,
                             rapt_ids_fn *sink, void *context, rapt_error *err)
{
    encoder *e = bpe_encoder_new(b, size, err);
    if (!e)
        return RAPT_ERR_MEMORY;
    bpe_encoder_begin(e, sink, context, NULL);
    e->dropout = dropout;
    rapt_code code = bpe_encoder_text(e, text, size, specials, err);
    bpe_encoder_free(e);
    return code;
}
