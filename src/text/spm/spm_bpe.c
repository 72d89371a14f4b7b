/* text/spm/spm_bpe.c: merges of neighbors, the best score first. For spm_encode.c. As in SentencePiece (bpe_model.cc): a pair
 * merges if both together are a piece, user-defined pieces never merge, and an unused piece, after it was made, is cut at the
 * pair as which it was last looked up.
 *
 * Words are merged one after the other if no piece spans two of them: the merges are the same. */
#include "text/spm/spm.h"

#include "text/pieces/piece_merge.h"

#include <stdlib.h>

enum { MAX_DEPTH = 100, KEPT = -1 }; /* depth of halves of halves: SentencePiece's limit */

/* When a piece is taken apart, the right half, which waits for the left half. */
struct open_half {
    uint32_t end;
    int depth;
};

typedef struct merging {
    const spm *k;
    const char *text;
    piece_merge_work work;
    uint32_t *halves; /* by id, if there are unused pieces: the size of the left half; 0: never looked up */
} merging;

/* A higher score has a lower key. The bits of positive floats are in the order of their values, the bits of negative ones in the
 * opposite order; zeros have signs here: -0 is below 0. */
static uint32_t key_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits >> 31 ? bits : ~bits & UINT32_MAX >> 1;
}

static bool look_up_both(void *context, const piece_symbol *left, const piece_symbol *right, uint32_t *key, int32_t *id)
{
    const merging *m = context;
    *id = token_list_find(&m->k->pieces, m->text + left->start, left->size + right->size);
    if (*id < 0)
        return false;
    if (m->k->kinds[*id] == SPM_UNUSED)
        m->halves[*id] = left->size;
    *key = key_of(m->k->scores[*id]);
    return true;
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
    m->work.count = 0;
    while (at < size && (at == begin || !word_begins(m, size, at))) {
        const size_t kept = piece_trie_longest(&m->k->kept, m->text + at, size - at);
        const size_t length = kept ? kept : piece_character(m->text + at, size - at);
        if (!piece_merge_add(&m->work, kept ? KEPT : 0, at, length))
            return false;
        at += length;
    }
    *end = at;
    return true;
}

/* Writes a symbol as pieces: unused pieces are cut, from left to right; pieces that are nested too deeply stay. */
static bool cut_symbol(const merging *m, const piece_symbol *s, piece_cuts *cuts)
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
    const piece_merge_rule rule = {look_up_both, &m};
    bool ok = prepare_unused(&m);
    for (size_t at = 0; ok && at < size;) {
        ok = split_symbols(&m, size, at, &at) && piece_merge_all(&m.work, &rule);
        for (uint32_t i = 0; ok && i != PIECE_MERGE_NONE; i = m.work.symbols[i].next)
            ok = cut_symbol(&m, &m.work.symbols[i], cuts);
    }
    piece_merge_free(&m.work);
    free(m.halves);
    return ok;
}
