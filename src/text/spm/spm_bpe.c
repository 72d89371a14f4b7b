/* text/spm/spm_bpe.c: merges of neighbors, the best score first, the leftmost among equal ones. For spm_encode.c. As in
 * SentencePiece (bpe_model.cc): a pair merges if both together are a piece, user-defined pieces never merge, and an unused piece,
 * after it was made, is cut at the pair as which it was last looked up.
 *
 * Words are merged one after the other if no piece spans two of them: the merges are the same. Candidates wait in a heap; if the
 * halves of a candidate have merged otherwise meanwhile, its length differs, and it is dropped. */
#include "text/spm/spm_bpe.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX
enum { MAX_DEPTH = 100 }; /* depth of halves of halves: SentencePiece's limit */

typedef struct symbol {
    uint32_t previous, next, start, size; /* size 0: merged into the one before it */
    bool kept;
} symbol;

typedef struct candidate {
    float score;
    uint32_t left, right, size; /* size: of both together */
} candidate;

/* When a piece is taken apart, the right half, which waits for the left half. */
struct open_half {
    uint32_t end;
    int depth;
};

typedef struct merging {
    const spm *k;
    const char *text;
    symbol *symbols;
    size_t count, capacity;
    candidate *heap;
    size_t waiting, heap_capacity;
    uint32_t *halves; /* by id, if there are unused pieces: the size of the left half; 0: never looked up */
} merging;

/* Zeros have signs here: -0 is below 0. */
static bool merges_before(candidate a, candidate b)
{
    if (a.score != b.score || signbit(a.score) != signbit(b.score))
        return a.score > b.score || (a.score == b.score && signbit(b.score));
    return a.left < b.left;
}

static bool heap_put(merging *m, candidate c)
{
    if (!ARRAY_RESERVE(&m->heap, &m->heap_capacity, m->waiting + 1))
        return false;
    size_t at = m->waiting++;
    for (; at > 0 && merges_before(c, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
        m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = c;
    return true;
}

static candidate heap_take(merging *m)
{
    const candidate best = m->heap[0], last = m->heap[--m->waiting];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < m->waiting; at = child) {
        child += child + 1 < m->waiting && merges_before(m->heap[child + 1], m->heap[child]);
        if (!merges_before(m->heap[child], last))
            break;
        m->heap[at] = m->heap[child];
    }
    m->heap[at] = last;
    return best;
}

/* False on out-of-memory. */
static bool look_up(merging *m, uint32_t left, uint32_t right)
{
    if (left == NONE || right == NONE || m->symbols[left].kept || m->symbols[right].kept)
        return true;
    const symbol *s = &m->symbols[left];
    const uint32_t size = s->size + m->symbols[right].size;
    const int32_t id = token_list_find(&m->k->pieces, m->text + s->start, size);
    if (id < 0)
        return true;
    if (m->k->kinds[id] == SPM_UNUSED)
        m->halves[id] = s->size;
    return heap_put(m, (candidate){m->k->scores[id], left, right, size});
}

/* Whether a separate word begins at a place: no piece has a space after another character. */
static bool word_begins(const merging *m, size_t size, size_t at)
{
    const size_t space = strlen(SPM_SPACE);
    return m->k->words_apart && at >= space && size - at >= space && memcmp(m->text + at, SPM_SPACE, space) == 0 &&
           memcmp(m->text + at - space, SPM_SPACE, space) != 0;
}

/* The characters of the text, and the user-defined pieces, from a place to the end of the word, or of the text; *end. */
static bool split_symbols(merging *m, size_t size, size_t begin, size_t *end)
{
    size_t at = begin;
    m->count = 0;
    while (at < size && (at == begin || !word_begins(m, size, at))) {
        const size_t kept = piece_trie_longest(&m->k->kept, m->text + at, size - at);
        const size_t length = kept ? kept : piece_character(m->text + at, size - at);
        if (!ARRAY_RESERVE(&m->symbols, &m->capacity, m->count + 1))
            return false;
        const uint32_t i = (uint32_t)m->count++;
        m->symbols[i] = (symbol){i - 1, i + 1, (uint32_t)at, (uint32_t)length, kept > 0}; /* 0 - 1 is NONE */
        at += length;
    }
    m->symbols[m->count - 1].next = NONE;
    *end = at;
    return true;
}

static bool merge_symbols(merging *m)
{
    bool ok = true;
    for (uint32_t i = 1; ok && i < m->count; i++)
        ok = look_up(m, i - 1, i);
    while (ok && m->waiting) {
        const candidate c = heap_take(m);
        symbol *left = &m->symbols[c.left], *right = &m->symbols[c.right];
        if (!left->size || !right->size || left->size + right->size != c.size)
            continue;
        left->size = c.size;
        left->next = right->next;
        if (right->next != NONE)
            m->symbols[right->next].previous = c.left;
        right->size = 0;
        ok = look_up(m, left->previous, c.left) && look_up(m, c.left, left->next);
    }
    return ok;
}

/* Writes a symbol as pieces: unused pieces are cut, from left to right; pieces that are nested too deeply stay. */
static bool cut_symbol(const merging *m, const symbol *s, piece_cuts *cuts)
{
    struct open_half open[MAX_DEPTH + 1];
    size_t waiting = 0;
    uint32_t start = s->start, end = start + s->size;
    for (int depth = 0;;) {
        const int32_t id = spm_find(m->k, m->text + start, end - start);
        const bool unused = depth <= MAX_DEPTH && id >= 0 && m->k->kinds[id] == SPM_UNUSED;
        if (unused && m->halves[id] > 0) {
            open[waiting++] = (struct open_half){end, ++depth};
            end = start + m->halves[id];
            continue;
        }
        if (!piece_cuts_add(cuts, end, unused ? m->k->unknown : id))
            return false;
        if (waiting == 0)
            return true;
        start = end;
        end = open[--waiting].end;
        depth = open[waiting].depth;
    }
}

static bool prepare_unused(merging *m)
{
    if (!m->k->has_unused)
        return true;
    m->halves = calloc(m->k->pieces.size, sizeof *m->halves);
    return m->halves != NULL;
}

bool spm_bpe_cut(const spm *k, const char *text, size_t size, piece_cuts *cuts)
{
    merging m = {.k = k, .text = text};
    bool ok = prepare_unused(&m);
    for (size_t at = 0; ok && at < size;) {
        ok = split_symbols(&m, size, at, &at) && merge_symbols(&m);
        for (uint32_t i = 0; ok && i != NONE; i = m.symbols[i].next)
            ok = cut_symbol(&m, &m.symbols[i], cuts);
    }
    free(m.symbols);
    free(m.heap);
    free(m.halves);
    return ok;
}
