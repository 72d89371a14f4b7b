/* text/bpe/bpe_merge.c: merges the tokens of a piece: the pair of lowest rank first, the leftmost of equal ones, until no pair
 * merges. For bpe_encode.c; it does not cut texts and does not know special tokens.
 *
 * Short pieces are searched as a whole before each merge; long pieces have their pairs in a heap. Both give the same tokens. */
#include "text/bpe/bpe_encode.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* ---- short -------------------------------------------------------------------------------------------------- */

/* Tokens are at the place of their first byte. A key is the rank of the pair that begins there, and the place, so that the lowest
 * key decides the next merge; NO_KEY if no pair begins there. */
enum { NO_KEY = INT32_MAX, PLACE_BITS = 7, BLOCK = 8 };

typedef struct row {
    int32_t keys[BPE_SHORT];
    int32_t ids[BPE_SHORT], merged[BPE_SHORT];
    uint8_t next[BPE_SHORT], before[BPE_SHORT];
    size_t size; /* places */
} row;

_Static_assert(BPE_SHORT == 1 << PLACE_BITS && BPE_SHORT % BLOCK == 0, "a place fits a key");
_Static_assert(PAIR_RANKS <= 1 << (31 - PLACE_BITS), "and so does a rank");

static void bpe_merge_look_up(const byte_bpe *b, row *r, size_t i)
{
    pair_merge m = {PAIR_NEVER, -1};
    if (r->next[i] < r->size)
        m = pair_table_find(&b->pairs, r->ids[i], r->ids[r->next[i]]);
    r->keys[i] = m.rank == PAIR_NEVER ? NO_KEY : (int32_t)(m.rank << PLACE_BITS | i);
    r->merged[i] = m.id;
}

static inline int32_t bpe_merge_lower(int32_t a, int32_t b)
{
    return b < a ? b : a;
}

/* In blocks, which compilers turn into vector instructions. */
static int32_t lowest_key(const row *r)
{
    int32_t best[BLOCK];
    memcpy(best, r->keys, sizeof best);
    for (size_t at = BLOCK; at < r->size; at += BLOCK)
        for (size_t i = 0; i < BLOCK; i++)
            best[i] = bpe_merge_lower(best[i], r->keys[at + i]);
    for (size_t half = BLOCK / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            best[i] = bpe_merge_lower(best[i], best[i + half]);
    return best[0];
}

static void merge_at(const byte_bpe *b, row *r, size_t i)
{
    size_t gone = r->next[i], after = r->next[gone];
    r->ids[i] = r->merged[i];
    r->keys[gone] = NO_KEY;
    r->next[i] = (uint8_t)after;
    if (after < r->size)
        r->before[after] = (uint8_t)i;
    if (i > 0)
        pair_table_fetch(&b->pairs, r->ids[r->before[i]], r->ids[i]);
    bpe_merge_look_up(b, r, i);
    if (i > 0)
        bpe_merge_look_up(b, r, r->before[i]);
}

static void start_row(const byte_bpe *b, row *r, const char *piece, size_t size)
{
    size = size < BPE_SHORT ? size : BPE_SHORT; /* tells compilers that no caller passes more */
    r->size = size;
    for (size_t i = 0; i < size; i++) {
        r->ids[i] = b->bytes[(unsigned char)piece[i]];
        r->next[i] = (uint8_t)(i + 1);
        r->before[i] = (uint8_t)(i - 1);
    }
    for (size_t i = 0; i + 1 < size; i++)
        pair_table_fetch(&b->pairs, r->ids[i], r->ids[i + 1]);
    for (size_t i = 0; i < size; i++)
        bpe_merge_look_up(b, r, i);
    for (size_t i = size; i % BLOCK != 0; i++)
        r->keys[i] = NO_KEY;
}

size_t bpe_merge_short(const byte_bpe *b, const char *piece, size_t size, int32_t *ids)
{
    row r;
    size_t count = 0;
    start_row(b, &r, piece, size);
    for (int32_t key; (key = lowest_key(&r)) != NO_KEY;)
        merge_at(b, &r, (size_t)key & (BPE_SHORT - 1));
    for (size_t i = 0; i < size; i = r.next[i])
        ids[count++] = r.ids[i];
    return count;
}

/* ---- long --------------------------------------------------------------------------------------------------- */

/* A pair as it was when it was found; it is out of date when one of its tokens has merged. */
typedef struct candidate {
    uint64_t key; /* rank, then place */
    int32_t left, right, merged;
} candidate;

typedef struct chain {
    const byte_bpe *b;
    int32_t *ids; /* by place, the first byte of the token; -1: merged away */
    uint32_t *next, *before;
    uint32_t size;
    candidate *heap; /* the lowest key first */
    size_t heap_size;
    bpe_dropout *dropout; /* or NULL, and */
    candidate *left_out;  /* the candidates that it has left out since the last merge */
    size_t left_out_count;
} chain;

static void bpe_merge_sift_up(chain *c, size_t i)
{
    candidate moving = c->heap[i];
    for (; i > 0 && moving.key < c->heap[(i - 1) / 2].key; i = (i - 1) / 2)
        c->heap[i] = c->heap[(i - 1) / 2];
    c->heap[i] = moving;
}

static candidate pop_candidate(chain *c)
{
    candidate top = c->heap[0], moving = c->heap[--c->heap_size];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < c->heap_size) {
        child += child + 1 < c->heap_size && c->heap[child + 1].key < c->heap[child].key;
        if (moving.key <= c->heap[child].key)
            break;
        c->heap[i] = c->heap[child];
        i = child;
    }
    c->heap[i] = moving;
    return top;
}

static void bpe_merge_put(chain *c, candidate x)
{
    c->heap[c->heap_size] = x;
    bpe_merge_sift_up(c, c->heap_size++);
}

static void push_candidate(chain *c, uint32_t left)
{
    uint32_t right = c->next[left];
    if (right >= c->size)
        return;
    pair_merge m = pair_table_find(&c->b->pairs, c->ids[left], c->ids[right]);
    if (m.rank == PAIR_NEVER)
        return;
    bpe_merge_put(c, (candidate){(uint64_t)m.rank << 32 | left, c->ids[left], c->ids[right], m.id});
}

static bool is_up_to_date(const chain *c, const candidate *x)
{
    const uint32_t left = (uint32_t)x->key, right = c->next[left];
    return c->ids[left] == x->left && right < c->size && c->ids[right] == x->right;
}

static bool is_left_out(bpe_dropout *d)
{
    return d && rng_uniform(d->key, d->next++) < d->p;
}

static void merge_candidate(chain *c, const candidate *best)
{
    uint32_t left = (uint32_t)best->key, right = c->next[left];
    c->ids[left] = best->merged;
    c->ids[right] = -1;
    c->next[left] = c->next[right];
    if (c->next[left] < c->size)
        c->before[c->next[left]] = left;
    push_candidate(c, left);
    if (left > 0)
        push_candidate(c, c->before[left]);
}

static void merge_chain(chain *c, const char *piece)
{
    for (uint32_t i = 0; i < c->size; i++) {
        c->ids[i] = c->b->bytes[(unsigned char)piece[i]];
        c->next[i] = i + 1;
        c->before[i] = i - 1;
    }
    for (uint32_t i = 0; i < c->size; i++)
        push_candidate(c, i);
    while (c->heap_size > 0) {
        candidate best = pop_candidate(c);
        if (!is_up_to_date(c, &best))
            continue;
        if (is_left_out(c->dropout)) {
            c->left_out[c->left_out_count++] = best;
            continue;
        }
        merge_candidate(c, &best);
        while (c->left_out_count > 0)
            bpe_merge_put(c, c->left_out[--c->left_out_count]);
    }
}

/* Each merge takes one candidate off the heap and puts two on it at most, and there are fewer merges than bytes; what is left out
 * comes back. */
rapt_code bpe_merge_long(const byte_bpe *b, const char *piece, size_t size, bpe_dropout *dropout, int32_t *ids, size_t *count,
                         rapt_error *err)
{
    if (size > UINT32_MAX / 4)
        return rapt_fail(err, RAPT_ERR_VALUE, "a piece of %zu bytes that the pattern doesn't cut", size);
    chain c = {b, ids, malloc(size * sizeof *c.next), malloc(size * sizeof *c.before), (uint32_t)size,
               malloc(2 * size * sizeof *c.heap), 0, dropout, dropout ? malloc(2 * size * sizeof *c.left_out) : NULL, 0};
    bool ok = c.next && c.before && c.heap && (c.left_out || !dropout);
    *count = 0;
    if (ok)
        merge_chain(&c, piece);
    for (size_t i = 0; ok && i < size; i = c.next[i])
        ids[(*count)++] = ids[i];
    free(c.next);
    free(c.before);
    free(c.heap);
    free(c.left_out);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a piece of %zu bytes", size);
}
