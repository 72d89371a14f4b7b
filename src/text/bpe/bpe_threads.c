/* text/bpe/bpe_threads.c: byte-level BPE of a long text on all threads. For token files; bpe_encode.c encodes.
 *
 * Special tokens cut a text into independent segments. Short segments are encoded in groups. A long segment is first normalized
 * into a temporary file if the tokenizer normalizes, and then encoded in chunks. The end of a piece depends only on the segment
 * and on where the piece begins, not on earlier pieces. So each chunk is walked from its first character as if a piece began
 * there, which is a guess. The true walk, which has come through the chunks before, encodes pieces until one begins where a piece
 * of the guess begins; from there on the guess is right. With usual patterns that takes a piece or two. If they don't meet, the
 * true walk encodes the chunk: slower, with the same ids. piece_counts.c does the same for learning. */
#include "text/bpe/bpe_encode.h"

#include "base/file.h"
#include "text/encode_run.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct bpe_run {
    const byte_bpe *b;
    const encode_run *r;
    bpe_encoder **encoders; /* one a thread */
    bpe_encoder *walker;    /* encoder of the true walk, which one thread does while others guess */
} bpe_run;

/* ---- a segment in chunks -------------------------------------------------------------------------------------- */

typedef struct chunks {
    const bpe_run *all;
    const char *text; /* a segment of the run's text, or the normalized segment */
    size_t size;
    const file_map *map;  /* the file with the normalized segment, or NULL */
    bool passes;          /* it is a segment of the run's text, */
    size_t first;         /* it begins here */
    size_t at;            /* position of the true walk */
    atomic_size_t passed; /* the end of a long piece that a guess has found */
} chunks;

/* Between two characters, unless the text is not UTF-8. */
static size_t chunk_end(void *context, size_t begin)
{
    const chunks *c = context;
    size_t chunk = c->all->r->chunk, at = begin + chunk;
    if (c->size - begin <= chunk)
        return c->size;
    for (int i = 0; i < 3 && at < c->size && (c->text[at] & 0xC0) == 0x80; i++)
        at++;
    return at;
}

static void note_long_piece(chunks *c, size_t end)
{
    size_t seen = atomic_load(&c->passed);
    while (seen < end && !atomic_compare_exchange_weak(&c->passed, &seen, end))
        continue;
}

/* A piece that ends far beyond its chunk is left to the true walk: otherwise each chunk that it covers would encode it. */
static rapt_code guess_chunk(void *context, part *p, int worker, rapt_error *err)
{
    chunks *c = context;
    bpe_encoder *e = c->all->encoders[worker];
    size_t at = p->begin, far_end = 0;
    const bpe_range range = {c->text, c->size, p->end, p->end + c->all->r->chunk, &far_end};
    if (!buffer_reserve(&p->more, sizeof(bpe_starts)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to encode a text");
    bpe_starts *starts = (void *)p->more.data;
    starts->count = 0;
    p->stop = p->begin;
    if (p->end <= atomic_load(&c->passed))
        return RAPT_OK;
    bpe_encoder_begin(e, encode_run_keep, p, starts);
    if (bpe_encoder_range(e, &range, &at, NULL) != RAPT_OK)
        starts->count = 0; /* if the true walk comes there, it fails as well and reports why */
    note_long_piece(c, far_end);
    p->stop = at;
    return RAPT_OK;
}

/* If the true walk meets the guess, the rest of the part's ids is right. */
static rapt_code meet_guess(chunks *c, const part *p, bool *met, rapt_error *err)
{
    const bpe_starts *starts = (const void *)p->more.data;
    size_t low = 0, high = starts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (starts->list[middle].at < c->at)
            low = middle + 1;
        else
            high = middle;
    }
    *met = low < starts->count && starts->list[low].at == c->at;
    if (!*met)
        return RAPT_OK;
    c->at = p->stop;
    return encode_run_hand_on(c->all->r, p, starts->list[low].ids, err);
}

static rapt_code join_guess(chunks *c, const part *p, rapt_error *err)
{
    const bpe_starts *starts = (const void *)p->more.data;
    const encode_run *r = c->all->r;
    bool met = false;
    rapt_code code = RAPT_OK;
    bpe_encoder_begin(c->all->walker, r->sink, r->context, NULL);
    while (c->at < p->end && code == RAPT_OK) {
        bool behind = !met && starts->count > 0 && c->at <= starts->list[starts->count - 1].at;
        if (behind)
            code = meet_guess(c, p, &met, err);
        if (code == RAPT_OK && c->at < p->end) {
            const bpe_range next = {c->text, c->size, behind && !met ? c->at + 1 : p->end, SIZE_MAX, NULL};
            code = bpe_encoder_range(c->all->walker, &next, &c->at, err);
        }
    }
    return code;
}

static rapt_code take_chunk(void *context, part *p, rapt_error *err)
{
    chunks *c = context;
    const encode_run *r = c->all->r;
    rapt_code code = c->at < p->end ? join_guess(c, p, err) : RAPT_OK;
    if (c->map)
        file_map_forget(c->map, p->begin, p->end);
    else if (c->passes && r->passed)
        r->passed(r->context, c->first + p->begin, c->first + p->end);
    return code;
}

static rapt_code encode_chunks(chunks c, rapt_error *err)
{
    const bpe_run *all = c.all;
    const parts run = {.pool = all->r->pool, .begin = 0, .end = c.size, .stop = all->r->stop, .end_of = chunk_end,
                       .work = guess_chunk, .take = take_chunk, .context = &c};
    return stretches_run(&run, NULL, err);
}

/* ---- a segment that is normalized ----------------------------------------------------------------------------- */

typedef struct normalizing {
    const bpe_run *all;
    const char *text;
    size_t size, first;
    file_writer out;
} normalizing;

static size_t normal_end(void *context, size_t begin)
{
    const normalizing *n = context;
    size_t chunk = n->all->r->chunk;
    return n->size - begin <= chunk ? n->size : normalizer_cut(&n->all->b->normal, n->text, n->size, begin + chunk);
}

static rapt_code keep_text(void *context, const char *text, size_t size)
{
    part *p = context;
    return buffer_append(&p->out, text, size) ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code normalize_part(void *context, part *p, int worker, rapt_error *err)
{
    const normalizing *n = context;
    (void)worker;
    rapt_code code = normalizer_apply(&n->all->b->normal, n->text + p->begin, p->end - p->begin, keep_text, p, err);
    return code ? rapt_fail(err, code, "out of memory to normalize a text") : RAPT_OK;
}

static rapt_code write_part(void *context, part *p, rapt_error *err)
{
    normalizing *n = context;
    const encode_run *r = n->all->r;
    if (r->passed)
        r->passed(r->context, n->first + p->begin, n->first + p->end);
    return p->out.size ? file_writer_put(&n->out, p->out.data, p->out.size, err) : RAPT_OK;
}

/* Until the writer ends, the normalized text has a private path, at which it can be mapped. */
static rapt_code encode_draft(normalizing *n, rapt_error *err)
{
    file_map map;
    char *path = file_writer_draft(&n->out);
    rapt_code code = path ? file_map_open(&map, path, err)
                          : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text");
    if (code == RAPT_OK) {
        code = encode_chunks((chunks){.all = n->all, .text = map.data, .size = map.size, .map = &map}, err);
        file_map_close(&map);
    }
    free(path);
    return code;
}

static rapt_code normalize_to_file(const bpe_run *all, size_t begin, size_t end, rapt_error *err)
{
    normalizing n = {.all = all, .text = all->r->text + begin, .size = end - begin, .first = begin};
    const parts run = {.pool = all->r->pool, .begin = 0, .end = n.size, .stop = all->r->stop, .end_of = normal_end,
                       .work = normalize_part, .take = write_part, .context = &n};
    rapt_code code = file_writer_open(&n.out, all->r->beside, err);
    if (code)
        return code;
    code = stretches_run(&run, NULL, err);
    if (code == RAPT_OK)
        code = encode_draft(&n, err);
    file_writer_discard(&n.out);
    return code;
}

typedef struct normal_text {
    const bpe_run *all;
    rapt_error *err;
} normal_text;

static rapt_code encode_normal(void *context, const char *text, size_t size)
{
    const normal_text *n = context;
    return encode_chunks((chunks){.all = n->all, .text = text, .size = size}, n->err);
}

static rapt_code normalize_in_memory(const bpe_run *all, size_t begin, size_t end, rapt_error *err)
{
    const encode_run *r = all->r;
    normal_text n = {all, err};
    rapt_code code = normalizer_apply(&all->b->normal, r->text + begin, end - begin, encode_normal, &n, err);
    if (r->passed)
        r->passed(r->context, begin, end);
    return code;
}

/* ---- whether it is normalized --------------------------------------------------------------------------------- */

typedef struct scanning {
    const bpe_run *all;
    size_t end;
    bool changes;
} scanning;

static size_t scan_end(void *context, size_t begin)
{
    const scanning *s = context;
    size_t chunk = s->all->r->chunk;
    return s->changes ? begin : s->end - begin <= chunk ? s->end : begin + chunk;
}

static rapt_code scan_part(void *context, part *p, int worker, rapt_error *err)
{
    const scanning *s = context;
    (void)worker, (void)err;
    p->stop = normalizer_changes(&s->all->b->normal, s->all->r->text + p->begin, p->end - p->begin) ? p->begin : p->end;
    return RAPT_OK;
}

static rapt_code take_scanned(void *context, part *p, rapt_error *err)
{
    scanning *s = context;
    const encode_run *r = s->all->r;
    (void)err;
    s->changes = s->changes || p->stop < p->end;
    if (r->passed)
        r->passed(r->context, p->begin, p->end);
    return RAPT_OK;
}

/* A text that no step changes is encoded as it is. */
static rapt_code scan_segment(const bpe_run *all, size_t begin, size_t end, bool *changes, rapt_error *err)
{
    scanning s = {.all = all, .end = end};
    const parts run = {.pool = all->r->pool, .begin = begin, .end = end, .stop = all->r->stop, .end_of = scan_end,
                       .work = scan_part, .take = take_scanned, .context = &s};
    rapt_code code = all->b->normal.count > 0 ? stretches_run(&run, NULL, err) : RAPT_OK;
    *changes = s.changes;
    return code;
}

static rapt_code encode_segment(const bpe_run *all, size_t begin, size_t end, rapt_error *err)
{
    const char *text = all->r->text + begin;
    bool changes;
    rapt_code code = scan_segment(all, begin, end, &changes, err);
    if (code)
        return code;
    if (!changes)
        return encode_chunks((chunks){.all = all, .text = text, .size = end - begin, .passes = true, .first = begin}, err);
    return (all->r->beside ? normalize_to_file : normalize_in_memory)(all, begin, end, err);
}

/* ---- segments ------------------------------------------------------------------------------------------------- */

/* The special token that ends the segment from `from` on, if that has no more than a chunk; NULL: it is long, or the last. The
 * list begins with the longest one. */
static const special *near_special(const bpe_run *all, size_t from, size_t *at)
{
    const special_list *l = &all->b->specials;
    size_t reach = all->r->chunk + l->list[0].length, left = all->r->size - from;
    const special *s = special_list_next(l, all->r->text, from + (reach < left ? reach : left), from, all->r->specials, at);
    return s && *at - from <= all->r->chunk ? s : NULL;
}

/* A group of short segments; empty if a long one begins here. */
static size_t group_end(void *context, size_t begin)
{
    const bpe_run *all = context;
    size_t at = begin, place = 0;
    const special *s;
    while (at - begin < all->r->chunk && (s = near_special(all, at, &place)) != NULL)
        at = place + s->length;
    return at == begin && all->r->size - begin <= all->r->chunk ? all->r->size : at;
}

static rapt_code encode_group(void *context, part *p, int worker, rapt_error *err)
{
    const bpe_run *all = context;
    bpe_encoder_begin(all->encoders[worker], encode_run_keep, p, NULL);
    return bpe_encoder_text(all->encoders[worker], all->r->text + p->begin, p->end - p->begin, all->r->specials, err);
}

static rapt_code take_group(void *context, part *p, rapt_error *err)
{
    const encode_run *r = ((const bpe_run *)context)->r;
    if (r->passed)
        r->passed(r->context, p->begin, p->end);
    return encode_run_hand_on(r, p, 0, err);
}

static rapt_code encode_groups(bpe_run *all, size_t *at, rapt_error *err)
{
    const parts run = {.pool = all->r->pool, .begin = *at, .end = all->r->size, .stop = all->r->stop, .end_of = group_end,
                       .work = encode_group, .take = take_group, .context = all};
    return stretches_run(&run, at, err);
}

/* A long segment and the special token after it. */
static rapt_code encode_long_segment(const bpe_run *all, size_t *at, rapt_error *err)
{
    const encode_run *r = all->r;
    size_t end = r->size, begin = *at;
    const special *s = special_list_search(&all->b->specials, r->text, r->size, begin, r->specials, &end, r->passed, r->context);
    if (!s)
        end = r->size;
    *at = s ? end + s->length : end;
    rapt_code code = encode_segment(all, begin, end, err);
    if (code == RAPT_OK && s && r->passed)
        r->passed(r->context, end, *at);
    return code == RAPT_OK && s ? r->sink(r->context, &s->id, 1, err) : code;
}

static rapt_code encode_segments(bpe_run *all, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t at = 0; at < all->r->size && code == RAPT_OK;) {
        code = encode_groups(all, &at, err);
        if (code == RAPT_OK && at < all->r->size)
            code = encode_long_segment(all, &at, err);
    }
    return code;
}

rapt_code bpe_encode_run(const rapt_tokenizer *k, const encode_run *r, rapt_error *err)
{
    size_t threads = (size_t)pool_threads(r->pool);
    bpe_run all = {.b = byte_bpe_of(k), .r = r, .encoders = calloc(threads, sizeof *all.encoders)};
    all.walker = all.encoders ? bpe_encoder_new(all.b, r->chunk, err) : NULL;
    bool ok = all.walker != NULL;
    for (size_t i = 0; ok && i < threads; i++)
        ok = (all.encoders[i] = bpe_encoder_new(all.b, r->size, err)) != NULL;
    rapt_code code = ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to encode a text");
    if (code == RAPT_OK)
        code = (r->specials && all.b->specials.count > 0) || all.b->specials.always ? encode_segments(&all, err)
                                                                                    : encode_segment(&all, 0, r->size, err);
    for (size_t i = 0; all.encoders && i < threads; i++)
        bpe_encoder_free(all.encoders[i]);
    bpe_encoder_free(all.walker);
    free(all.encoders);
    return code;
}
