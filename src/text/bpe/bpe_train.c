/* text/bpe/bpe_train.c: byte-level BPE (Sennrich et al. 2016): the most frequent pair of neighboring tokens becomes a token,
 * repeatedly. For the tokenizer; it does not encode and does not write files.
 *
 * Only distinct pieces are processed, each weighted by how often it occurs. A merge visits only the places of its pair; pairs
 * beside those places lose what the pairs with the new token gain. So the work is in proportion to the tokens that vanish. The
 * counts alone decide what is merged: the order of pieces doesn't matter.
 *
 * No two tokens have the same bytes. While no merge has crossed the ends of a stretch of a piece, its bytes have been merged as
 * they would be alone. This also holds for a run of one token, because a run that reaches over an end leaves that end uncrossed
 * only if it has an even number of tokens before it. So equal bytes that became one token became the same token. */
#include "text/bpe/bpe_train.h"

#include "base/sized.h"
#include "base/stop.h"
#include "text/bpe/bpe_train_parts.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 256 };

/* The changes by a merge to the pairs with one neighbor of its places. */
typedef struct neighbor {
    int64_t lost, gained;
    size_t uses;  /* places of the pair with the new token */
    size_t place; /* where the next place is noted */
    bool touched, kept;
} neighbor;

/* The tokens on one side of the places of a merge. */
typedef struct side {
    neighbor *of;    /* for each token */
    int32_t *touched; /* those that this merge has met */
    size_t count;
} side;

typedef struct trainer {
    token_rows rows;
    pair_queue queue;
    side before, after;
    int64_t min; /* pairs with smaller counts are never merged, so they are not kept either */
    bpe_merge *merges;
    size_t count, limit;
    const rapt_bpe_options *o;
} trainer;

/* ---- the first pairs -------------------------------------------------------------------------------------- */

/* The pair of bytes that begins at a slot; -1: none. */
static int32_t byte_pair(const token_rows *r, size_t at)
{
    int32_t left = r->slots[at].token, right = r->slots[at + 1].token;
    return left < 0 || right < 0 ? -1 : left * BYTES + right;
}

static bool add_byte_pairs(trainer *t, neighbor *pairs)
{
    for (size_t i = 0; i + 1 < t->rows.size; i++) {
        int32_t pair = byte_pair(&t->rows, i);
        if (pair >= 0) {
            pairs[pair].gained += token_rows_weight(&t->rows, i);
            pairs[pair].uses++;
        }
    }
    for (int32_t pair = 0; pair < BYTES * BYTES; pair++) {
        neighbor *n = &pairs[pair];
        n->kept = n->gained >= t->min;
        if (n->kept && !pair_queue_add(&t->queue, pair / BYTES, pair % BYTES, n->gained, n->uses, &n->place))
            return false;
    }
    return true;
}

static void note_byte_pairs(trainer *t, neighbor *pairs)
{
    for (size_t i = 0; i + 1 < t->rows.size; i++) {
        int32_t pair = byte_pair(&t->rows, i);
        if (pair >= 0 && pairs[pair].kept)
            t->queue.places[pairs[pair].place++] = (uint32_t)i;
    }
}

static rapt_code first_pairs(trainer *t, rapt_error *err)
{
    neighbor *pairs = calloc(BYTES * BYTES, sizeof *pairs);
    bool ok = pairs && add_byte_pairs(t, pairs);
    if (ok)
        note_byte_pairs(t, pairs);
    free(pairs);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the pairs of bytes");
}

/* ---- one merge -------------------------------------------------------------------------------------------- */

static neighbor *bpe_train_meet(side *s, int32_t token)
{
    neighbor *n = &s->of[token];
    if (!n->touched)
        s->touched[s->count++] = token;
    n->touched = true;
    return n;
}

/* Merges at every place that still holds the pair, from left to right, and keeps the list of these places. In a run like "aaaa"
 * the token before a place may already be the new one: its pair with `left` was lost a place earlier, as the pair of `right` and
 * the token after it. */
static void merge_places(trainer *t, token_pair *pair, int32_t token)
{
    token_rows *r = &t->rows;
    uint32_t *places = t->queue.places + pair->first;
    int32_t left = token_pair_left(pair), right = token_pair_right(pair);
    size_t kept = 0;
    for (size_t i = 0; i < pair->uses; i++) {
        size_t at = places[i];
        if (!token_rows_has(r, at, left, right))
            continue;
        int32_t before = r->slots[token_rows_before(r, at)].token;
        token_rows_merge(r, at, token);
        int32_t after = r->slots[token_rows_next(r, at)].token;
        if (before >= 0 && before != token)
            bpe_train_meet(&t->before, before)->lost += token_rows_weight(r, at);
        if (after >= 0)
            bpe_train_meet(&t->after, after)->lost += token_rows_weight(r, at);
        places[kept++] = (uint32_t)at;
    }
    pair->uses = kept;
}

/* The neighbors of a place once all are merged. Two new tokens side by side are the right one's business. */
static neighbor *before_place(trainer *t, size_t at)
{
    int32_t before = t->rows.slots[token_rows_before(&t->rows, at)].token;
    return before >= 0 ? bpe_train_meet(&t->before, before) : NULL;
}

static neighbor *after_place(trainer *t, size_t at, int32_t token)
{
    int32_t after = t->rows.slots[token_rows_next(&t->rows, at)].token;
    return after >= 0 && after != token ? bpe_train_meet(&t->after, after) : NULL;
}

static void add_weight(neighbor *n, int64_t weight)
{
    if (n) {
        n->gained += weight;
        n->uses++;
    }
}

static void count_new_pairs(trainer *t, const token_pair *pair, int32_t token)
{
    for (size_t i = 0; i < pair->uses; i++) {
        size_t at = t->queue.places[pair->first + i];
        int64_t weight = token_rows_weight(&t->rows, at);
        add_weight(before_place(t, at), weight);
        add_weight(after_place(t, at, token), weight);
    }
}

static void note_place(trainer *t, neighbor *n, size_t at)
{
    if (n && n->kept)
        t->queue.places[n->place++] = (uint32_t)at;
}

static void note_new_pairs(trainer *t, const token_pair *pair, int32_t token)
{
    for (size_t i = 0; i < pair->uses; i++) {
        size_t at = t->queue.places[pair->first + i];
        note_place(t, before_place(t, at), token_rows_before(&t->rows, at));
        note_place(t, after_place(t, at, token), at);
    }
}

/* Brings the queue up to date with the changes on one side. */
static bool settle_before(trainer *t, int32_t left, int32_t token)
{
    for (size_t i = 0; i < t->before.count; i++) {
        int32_t other = t->before.touched[i];
        neighbor *n = &t->before.of[other];
        pair_queue_lose(&t->queue, other, left, n->lost);
        n->kept = n->gained >= t->min;
        if (n->kept && !pair_queue_add(&t->queue, other, token, n->gained, n->uses, &n->place))
            return false;
    }
    return true;
}

static bool settle_after(trainer *t, int32_t right, int32_t token)
{
    for (size_t i = 0; i < t->after.count; i++) {
        int32_t other = t->after.touched[i];
        neighbor *n = &t->after.of[other];
        pair_queue_lose(&t->queue, right, other, n->lost);
        n->kept = n->gained >= t->min;
        if (n->kept && !pair_queue_add(&t->queue, token, other, n->gained, n->uses, &n->place))
            return false;
    }
    return true;
}

static void bpe_train_forget(side *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->of[s->touched[i]] = (neighbor){0};
    s->count = 0;
}

static bool merge_pair(trainer *t, token_pair *pair)
{
    int32_t token = (int32_t)(BYTES + t->count), left = token_pair_left(pair), right = token_pair_right(pair);
    t->rows.lengths[token] = t->rows.lengths[left] + t->rows.lengths[right];
    t->merges[t->count++] = (bpe_merge){left, right};
    merge_places(t, pair, token);
    count_new_pairs(t, pair, token);
    bool ok = settle_before(t, left, token) && settle_after(t, right, token);
    if (ok)
        note_new_pairs(t, pair, token);
    bpe_train_forget(&t->before);
    bpe_train_forget(&t->after);
    return ok;
}

/* ---- all merges ------------------------------------------------------------------------------------------- */

/* Whether the bytes of a token are text[0 .. length of the token). */
static bool spells(const trainer *t, int32_t token, const char *text)
{
    if (token < BYTES)
        return (unsigned char)*text == token;
    bpe_merge m = t->merges[token - BYTES];
    return spells(t, m.left, text) && spells(t, m.right, text + t->rows.lengths[m.left]);
}

/* A token with the bytes of a special one could not be told from it in a file. */
static bool makes_special(const trainer *t, const token_pair *pair)
{
    int32_t left = token_pair_left(pair), right = token_pair_right(pair);
    size_t cut = t->rows.lengths[left], length = cut + t->rows.lengths[right];
    for (size_t i = 0; i < t->o->special_count; i++) {
        const char *text = t->o->specials[i];
        if (strlen(text) == length && spells(t, left, text) && spells(t, right, text + cut))
            return true;
    }
    return false;
}

static rapt_code merge_all(trainer *t, rapt_error *err)
{
    token_pair best;
    while (t->count < t->limit && pair_queue_pop(&t->queue, t->min, &best)) {
        if (stop_asked((stop_check){t->o->stop, t->o->stop_context}))
            return rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped");
        if (!makes_special(t, &best) && !merge_pair(t, &best))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the pairs of token %zu", BYTES + t->count - 1);
    }
    return RAPT_OK;
}

static rapt_code bpe_train_check(size_t size, const rapt_bpe_options *o, rapt_error *err)
{
    if (size == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "nothing to learn from: the text is empty");
    if (o->vocab_size < BYTES || o->vocab_size - BYTES < o->special_count)
        return rapt_fail(err, RAPT_ERR_VALUE, "a vocabulary of %zu is too small for 256 bytes and %zu special tokens",
                         o->vocab_size, o->special_count);
    if (SIZED_AS_MODEL(o->min_freq))
        return sized_refuse_as_model("min_freq", err);
    if (o->vocab_size > INT32_MAX)
        return rapt_fail(err, RAPT_ERR_VALUE, "a vocabulary of %zu is too large; at most %d are possible", o->vocab_size,
                         INT32_MAX);
    return RAPT_OK;
}

static rapt_code read_pieces(trainer *t, learn_text text, const split *cut, rapt_error *err)
{
    token_counts pieces = {0};
    rapt_code code = piece_counts_take(text, cut, t->o->threads, PIECE_COUNTS_CHUNK,
                                       (stop_check){t->o->stop, t->o->stop_context}, &pieces, err);
    if (!code)
        code = token_rows_build(&t->rows, &pieces, err);
    token_counts_free(&pieces);
    return code;
}

static int64_t min_count_of(const rapt_bpe_options *o)
{
    const size_t wanted = o->min_freq > 0 ? o->min_freq : 1;
    return (int64_t)(wanted < SIZE_MAX / 2 ? wanted : SIZE_MAX / 2);
}

static bool side_new(side *s, size_t tokens)
{
    s->of = calloc(tokens, sizeof *s->of);
    s->touched = malloc(tokens * sizeof *s->touched);
    return s->of && s->touched;
}

/* A merge makes at least one of the slots useless, so no more merges are possible than there are slots. */
static rapt_code reserve_tables(trainer *t, rapt_error *err)
{
    size_t wanted = t->o->vocab_size - BYTES - t->o->special_count;
    t->limit = wanted < t->rows.size ? wanted : t->rows.size;
    t->merges = malloc((t->limit + 1) * sizeof *t->merges);
    if (!t->merges || !side_new(&t->before, BYTES + t->limit) || !side_new(&t->after, BYTES + t->limit))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu merges", t->limit);
    return token_rows_reserve(&t->rows, BYTES + t->limit, err);
}

static rapt_code bpe_train_merge(trainer *t, learn_text text, const split *cut, rapt_error *err)
{
    rapt_code code = read_pieces(t, text, cut, err);
    if (!code)
        code = reserve_tables(t, err);
    if (!code)
        code = first_pairs(t, err);
    return code ? code : merge_all(t, err);
}

static void bpe_train_tear_down(trainer *t)
{
    token_rows_free(&t->rows);
    pair_queue_free(&t->queue);
    free(t->before.of);
    free(t->before.touched);
    free(t->after.of);
    free(t->after.touched);
}

rapt_code bpe_train(learn_text text, const split *cut, const rapt_bpe_options *o, bpe_merge **merges, size_t *count,
                    rapt_error *err)
{
    trainer t = {.o = o, .min = min_count_of(o)};
    *merges = NULL;
    *count = 0;
    rapt_code code = bpe_train_check(text.size, o, err);
    if (!code)
        code = bpe_train_merge(&t, text, cut, err);
    bpe_train_tear_down(&t);
    if (code) {
        free(t.merges);
        return code;
    }
    *merges = t.merges;
    *count = t.count;
    return RAPT_OK;
}
