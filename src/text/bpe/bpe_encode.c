/* text/bpe/bpe_encode.c: a text to ids by byte-level BPE: special tokens, then pieces, then merges. For everything that encodes;
 * bpe_merge.c merges a piece.
 *
 * Texts repeat themselves: nine pieces in ten have occurred before. The ids of short pieces are kept in a table that fits a cache
 * of the CPU, for this call only. */
#include "text/bpe/bpe_encode.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { OUT = 4096, KEPT_BYTES = 15, KEPT_IDS = 4, WAYS = 2, MAX_SETS = 32768, AHEAD = 8, MIN_TEXT = 1024, BYTES_A_SET = 32 };

/* The bytes of a piece with zeros after them, and its size in the last byte. */
typedef struct piece_key {
    uint64_t word[2];
} piece_key;

typedef struct kept {
    piece_key key; /* all zero: empty */
    int32_t ids[KEPT_IDS]; /* -1 after the last one */
} kept;

/* One cache line: the two newest pieces that belong here, the newer one first. */
typedef struct kept_set {
    kept way[WAYS];
} kept_set;

_Static_assert(sizeof(kept_set) == 64, "one cache line");

typedef struct bpe_encoder {
    const byte_bpe *b;
    split_walk *walk;
    kept_set *sets;
    size_t set_mask;
    rapt_ids_fn *sink;
    void *context;
    bpe_starts *starts; /* collects where pieces begin, or NULL */
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
    rapt_code code = ids ? bpe_merge_long(e->b, piece, size, ids, &count, e->err)
                         : rapt_fail(e->err, RAPT_ERR_MEMORY, "out of memory for a piece of %zu bytes", size);
    if (code == RAPT_OK)
        code = put_ids(e, ids, count);
    free(ids);
    return code;
}

static rapt_code encode_piece(encoder *e, const char *piece, size_t size)
{
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

/* The key of a piece with size <= KEPT_BYTES; `left` bytes can be read at `piece`. */
static inline piece_key bpe_encode_key_of(const char *piece, size_t size, size_t left)
{
    piece_key key = {{0, 0}};
    if (left < sizeof key) {
        memcpy(&key, piece, size);
    } else {
        memcpy(&key, piece, sizeof key);
        key.word[0] &= size < 8 ? ((uint64_t)1 << 8 * size) - 1 : UINT64_MAX;
        key.word[1] &= size < 8 ? 0 : ((uint64_t)1 << 8 * (size - 8)) - 1;
    }
    ((unsigned char *)&key)[sizeof key - 1] = (unsigned char)size;
    return key;
}

static inline kept_set *set_of(const encoder *e, const piece_key *key)
{
    uint64_t h = key->word[0] * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32 ^ key->word[1]) * 0xD6E8FEB86659FD93u;
    return &e->sets[h >> 40 & e->set_mask];
}

static inline bool is_of(const kept *k, const piece_key *key)
{
    return k->key.word[0] == key->word[0] && k->key.word[1] == key->word[1];
}

static void bpe_encode_keep(kept_set *set, const piece_key *key, const int32_t *ids, size_t count)
{
    set->way[1] = set->way[0];
    set->way[0].key = *key;
    for (size_t i = 0; i < KEPT_IDS; i++)
        set->way[0].ids[i] = i < count ? ids[i] : -1;
}

/* A piece, and its set in the table; NULL: too long for the table. */
typedef struct piece {
    const char *text;
    size_t size;
    piece_key key;
    kept_set *set;
} piece;

static rapt_code encode_kept(encoder *e, const piece *p)
{
    rapt_code code = bpe_encode_reserve(e, KEPT_BYTES);
    int32_t *out = e->out + e->filled;
    const kept *found = is_of(&p->set->way[0], &p->key) ? &p->set->way[0] : &p->set->way[1];
    if (code)
        return code;
    if (is_of(found, &p->key)) {
        memcpy(out, found->ids, sizeof found->ids);
        e->filled += 1 + (size_t)(out[1] >= 0) + (size_t)(out[2] >= 0) + (size_t)(out[3] >= 0);
        return RAPT_OK;
    }
    code = encode_piece(e, p->text, p->size);
    size_t count = (size_t)(e->out + e->filled - out);
    if (code == RAPT_OK && count <= KEPT_IDS)
        bpe_encode_keep(p->set, &p->key, out, count);
    return code;
}

/* Prefetches the set that encode_kept will read. */
static inline piece find_piece(const encoder *e, const char *text, size_t size, size_t left)
{
    piece p = {text, size, {{0, 0}}, NULL};
    if (e->sets && size <= KEPT_BYTES) {
        p.key = bpe_encode_key_of(text, size, left);
        p.set = set_of(e, &p.key);
        __builtin_prefetch(p.set);
    }
    return p;
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

/* The next pieces of a range from *at on, AHEAD of them at most. */
static rapt_code find_pieces(const encoder *e, const bpe_range *r, size_t *at, piece *pieces, size_t *count)
{
    rapt_code code = RAPT_OK;
    size_t end;
    for (*count = 0; *at < r->limit && *count < AHEAD && code == RAPT_OK; *at = end) {
        code = split_next(e->walk, r->text, r->size, *at, &end, e->err);
        if (code == RAPT_OK && end > r->far) {
            *r->far_end = end;
            return RAPT_OK;
        }
        if (code == RAPT_OK)
            pieces[(*count)++] = find_piece(e, r->text + *at, end - *at, r->size - *at);
    }
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
                note_start(e, (size_t)(pieces[i].text - r->text));
            code = pieces[i].set ? encode_kept(e, &pieces[i]) : encode_piece(e, pieces[i].text, pieces[i].size);
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

/* Short texts get a small table or none: clearing it takes time as well. */
static bool make_sets(encoder *e, size_t size)
{
    size_t count = MIN_TEXT / BYTES_A_SET;
    if (size < MIN_TEXT)
        return true;
    while (count < MAX_SETS && count < size / BYTES_A_SET)
        count *= 2;
    e->sets = memory_aligned(sizeof *e->sets, count * sizeof *e->sets);
    if (e->sets)
        memset(e->sets, 0, count * sizeof *e->sets);
    e->set_mask = count - 1;
    return e->sets != NULL;
}

/* ---- encoders ----------------------------------------------------------------------------------------------- */

static rapt_code bpe_encode_set_up(encoder *e, const byte_bpe *b, size_t size, rapt_error *err)
{
    e->b = b, e->sets = NULL, e->sink = NULL, e->context = NULL, e->starts = NULL, e->err = err, e->filled = e->flushed = 0;
    e->walk = split_walk_new(b->cut, err);
    return e->walk && make_sets(e, size) ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to encode a text");
}

static void bpe_encode_tear_down(encoder *e)
{
    split_walk_free(e->walk);
    memory_aligned_free(e->sets);
}

bpe_encoder *bpe_encoder_new(const byte_bpe *b, size_t size, rapt_error *err)
{
    encoder *e = malloc(sizeof *e);
    if (!e)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to encode a text");
    if (!e || bpe_encode_set_up(e, b, size, err) == RAPT_OK)
        return e;
    bpe_encoder_free(e);
    return NULL;
}

void bpe_encoder_free(bpe_encoder *e)
{
    if (e)
        bpe_encode_tear_down(e);
    free(e);
}

void bpe_encoder_begin(bpe_encoder *e, rapt_ids_fn *sink, void *context, bpe_starts *starts)
{
    e->sink = sink;
    e->context = context;
    e->starts = starts;
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
    encoder e;
    rapt_code code = bpe_encode_set_up(&e, byte_bpe_of(k), size, err);
    e.sink = sink, e.context = context;
    if (code == RAPT_OK && specials)
        code = put_ids(&e, e.b->before.ids, e.b->before.count);
    if (code == RAPT_OK)
        code = bpe_encode_text(&e, text, size, specials);
    if (code == RAPT_OK && specials)
        code = put_ids(&e, e.b->after.ids, e.b->after.count);
    if (code == RAPT_OK)
        code = bpe_encode_flush(&e);
    bpe_encode_tear_down(&e);
    return code;
}
