/* text/bpe/piece_counts.c: counts the pieces of a text, in parallel chunks. For the BPE trainer. It does not depend on the
 * pattern, and keeps no list of pieces.
 *
 * The end of a piece depends only on the text and on where the piece begins, not on earlier pieces: split_next always gets the
 * whole text, so that even a lookbehind sees the same. So two walks that begin a piece at the same byte have the same pieces from
 * there on. Each chunk is therefore walked from its first byte as if a piece began there, which is a guess. Afterwards the true
 * walk, from byte 0, goes through the chunks: the walk and a chunk's guess advance in turn, always the one at the earlier byte,
 * until they meet. The counts of the guess up to there are taken back, the pieces of the true walk are counted, and the rest of
 * the chunk is right. With usual patterns they meet after a piece or two. If they never meet, the true walk does all the work:
 * slower, with the same counts. Every step adds whole numbers, so the result does not depend on threads and chunks. */
#include "text/bpe/bpe_train.h"

#include "base/pool.h"
#include "base/stop.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { FORGOTTEN = 4 << 20, BEHIND = 4 }; /* bytes that are given back at a time; how often */

typedef struct counter {
    atomic_size_t long_from, long_to; /* the last piece longer than a chunk that this thread has found */
    split_walk *walk;
    token_counts pieces;
    bool no_memory;
} counter;

typedef struct counting {
    const char *text;
    const file_map *map; /* or NULL */
    size_t size, chunk, chunks;
    const text_special *specials;
    size_t special_count;
    stop_check stop;
    pool *pool;
    counter *counters; /* one a thread */
    size_t *stops;     /* for each chunk: where its guess ended; the piece that begins there isn't counted */
} counting;

/* A chunk begins at a character: in valid text, no walk begins a piece elsewhere. */
static size_t begin_of(const counting *c, size_t k)
{
    size_t at = k < c->chunks ? k * c->chunk : c->size;
    for (int i = 0; i < 3 && k > 0 && at < c->size && (c->text[at] & 0xC0) == 0x80; i++)
        at++;
    return at;
}

/* A piece far longer than a chunk would be matched once for each chunk that it covers, so these chunks are left to the true walk.
 * It does not matter when another thread sets the two numbers, or whether only one is set: that only moves work. */
static bool within_long_piece(counting *c, size_t from, size_t to)
{
    for (int i = 0; i < pool_threads(c->pool); i++)
        if (atomic_load(&c->counters[i].long_from) <= from && to <= atomic_load(&c->counters[i].long_to))
            return true;
    return false;
}

static void note_piece(const counting *c, counter *own, size_t from, size_t to)
{
    if (to - from <= c->chunk)
        return;
    atomic_store(&own->long_from, from);
    atomic_store(&own->long_to, to);
}

/* From time to time gives back the memory that was read up to chunk k and a little beyond it. That includes memory given back
 * before: a slower thread has read there since, and each read makes the kernel map more than a page. */
static void forget_chunks(const counting *c, size_t k)
{
    const size_t every = FORGOTTEN / c->chunk + 1, before = BEHIND * every;
    if (c->map && k % every == every - 1)
        file_map_forget(c->map, (k < before ? 0 : k - before) * c->chunk, (k + every) * c->chunk);
}

/* The first special token that ends after `at`; special_count: none. */
static size_t special_behind(const counting *c, size_t at)
{
    size_t low = 0, high = c->special_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->specials[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* split_next between two special tokens. *counts is false if a special token ends at *end: it is no piece. */
static rapt_code next_piece(const counting *c, split_walk *walk, size_t at, size_t *end, bool *counts, rapt_error *err)
{
    const size_t i = special_behind(c, at), begin = i > 0 ? c->specials[i - 1].end : 0,
        stop = i < c->special_count ? c->specials[i].begin : c->size;
    *counts = at < stop;
    if (!*counts) {
        *end = c->specials[i].end;
        return RAPT_OK;
    }
    rapt_code code = split_next(walk, c->text + begin, stop - begin, at - begin, end, err);
    *end += begin;
    return code;
}

/* Also ends if the pattern fails: if the true walk comes there, it will fail there as well and report it. */
static void walk_chunk(void *context, size_t k, int worker)
{
    counting *c = context;
    counter *own = &c->counters[worker];
    size_t at = begin_of(c, k), limit = begin_of(c, k + 1), end = at;
    bool counts;
    split_walk_begin(own->walk); /* or the chunks that it walked before would count */
    if (!within_long_piece(c, at, limit) && !stop_asked(c->stop)) {
        while (at < limit && !own->no_memory && next_piece(c, own->walk, at, &end, &counts, NULL) == RAPT_OK) {
            own->no_memory = counts && !token_counts_add(&own->pieces, c->text + at, end - at, 1);
            note_piece(c, own, at, end);
            at = end;
        }
    }
    c->stops[k] = at;
    forget_chunks(c, k);
}

/* Adds `times` (1 or -1) to the count of the piece that begins at *at, and moves *at to its end. */
static rapt_code piece_counts_step(counting *c, size_t *at, int64_t times, rapt_error *err)
{
    counter *first = &c->counters[0];
    size_t end = 0;
    bool counts;
    rapt_code code = next_piece(c, first->walk, *at, &end, &counts, err);
    if (code)
        return code;
    if (counts && !token_counts_add(&first->pieces, c->text + *at, end - *at, times))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the pieces of the text");
    *at = end;
    return RAPT_OK;
}

/* Takes the true walk from *at to the end of a chunk. */
static rapt_code join_chunk(counting *c, size_t k, size_t *at, rapt_error *err)
{
    size_t guess = begin_of(c, k), stop = c->stops[k], limit = begin_of(c, k + 1);
    rapt_code code = RAPT_OK;
    split_walk_begin(c->counters[0].walk);
    while (!code && guess != *at && guess < stop)
        code = guess < *at ? piece_counts_step(c, &guess, -1, err) : piece_counts_step(c, at, 1, err);
    if (guess == *at)
        *at = stop;
    while (!code && *at < limit)
        code = piece_counts_step(c, at, 1, err);
    return code;
}

static bool add_all(token_counts *counts, const token_counts *other)
{
    bool ok = true;
    for (size_t i = 0, length; i < other->tokens.size && ok; i++) {
        const char *piece = token_list_at(&other->tokens, (int64_t)i, &length);
        ok = token_counts_add(counts, piece, length, other->counts[i]);
    }
    return ok;
}

static rapt_code piece_counts_join(counting *c, token_counts *counts, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    bool ok = true;
    size_t at = 0;
    for (int i = 0; i < pool_threads(c->pool); i++)
        ok = ok && !c->counters[i].no_memory;
    for (size_t k = 0; k < c->chunks && ok && !code; k++) {
        code = stop_asked(c->stop) ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped") : join_chunk(c, k, &at, err);
        forget_chunks(c, k);
    }
    for (int i = 0; i < pool_threads(c->pool) && ok && !code; i++) {
        ok = add_all(counts, &c->counters[i].pieces);
        code = stop_asked(c->stop) ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped") : RAPT_OK;
    }
    return ok ? code : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the pieces of the text");
}

static rapt_code piece_counts_set_up(counting *c, const split *cut, int threads, rapt_error *err)
{
    c->pool = pool_new(threads, err);
    if (!c->pool)
        return err ? err->code : RAPT_ERR_MEMORY;
    size_t n = (size_t)pool_threads(c->pool);
    c->counters = calloc(n, sizeof *c->counters);
    c->stops = calloc(c->chunks + 1, sizeof *c->stops);
    if (!c->counters || !c->stops)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to count the pieces of the text");
    for (size_t i = 0; i < n; i++)
        if (!(c->counters[i].walk = split_walk_new(cut, err)))
            return err ? err->code : RAPT_ERR_MEMORY;
    return RAPT_OK;
}

static void piece_counts_tear_down(counting *c)
{
    for (int i = 0; c->counters && i < pool_threads(c->pool); i++) {
        split_walk_free(c->counters[i].walk);
        token_counts_free(&c->counters[i].pieces);
    }
    free(c->counters);
    free(c->stops);
    pool_free(c->pool);
}

rapt_code piece_counts_take(learn_text text, const split *cut, int threads, size_t chunk, stop_check stop, token_counts *counts,
                            rapt_error *err)
{
    counting c = {.text = text.data, .map = text.map, .size = text.size, .chunk = chunk,
                  .chunks = text.size / chunk + (text.size % chunk != 0), .specials = text.specials,
                  .special_count = text.special_count, .stop = stop};
    rapt_code code = piece_counts_set_up(&c, cut, threads, err);
    if (!code) {
        pool_run(c.pool, c.chunks, SIZE_MAX, walk_chunk, &c);
        code = piece_counts_join(&c, counts, err);
    }
    piece_counts_tear_down(&c);
    return code;
}
