/* text/spm/unigram.c: the best path through the pieces of a text, by Viterbi's algorithm. For spm_encode.c. If several paths are
 * equally good, the rounding of sums decides; so they are added in the order of SentencePiece (unigram_model.cc,
 * EncodeOptimized), and, as there, begin at 0 again when they are large. */
#include "text/spm/unigram.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define LARGE 100000.0F

/* The best path to a place of the text, by its last piece. */
typedef struct path {
    float score;
    uint32_t start; /* NONE: no path */
    int32_t id;
} path;

void unigram_free(unigram *u)
{
    piece_trie_free(&u->trie);
    free(u->scores);
    *u = (unigram){0};
}

static void offer_path(path *end, size_t start, int32_t id, float score)
{
    if (end->start == NONE || score > end->score)
        *end = (path){score, (uint32_t)start, id};
}

/* Takes the score at `start` from all that are in use, from there to `last`. */
static void begin_again(path *best, size_t start, size_t last)
{
    const float offset = best[start].score;
    for (size_t i = start; i <= last; i++)
        if (i == start || best[i].start != NONE)
            best[i].score -= offset;
}

/* Offers paths that end with a piece from `start` on; returns the last place to which one leads. */
static size_t find_paths(const unigram *u, const char *text, size_t size, size_t start, size_t character, path *best)
{
    const float score = best[start].score;
    uint32_t node = 0;
    int32_t id;
    size_t last = start;
    bool whole = false; /* the character itself is a piece */
    for (size_t at = start; at < size && piece_trie_step(&u->trie, &node, text[at], &id); at++) {
        if (id < 0)
            continue;
        offer_path(&best[at + 1], start, id, u->scores[id] + score);
        last = at + 1;
        whole = whole || last - start == character;
    }
    if (whole)
        return last;
    offer_path(&best[start + character], start, u->unknown, u->unknown_score + score);
    return start + character > last ? start + character : last;
}

/* The best paths to all places: best[0 .. size]. */
static void find_all_paths(const unigram *u, const char *text, size_t size, path *best)
{
    for (size_t i = 0; i <= size; i++)
        best[i] = (path){0, NONE, u->unknown};
    for (size_t start = 0, last = 0, character; start < size; start += character) {
        character = piece_character(text + start, size - start);
        if (best[start].score < -LARGE || best[start].score > LARGE)
            begin_again(best, start, last);
        const size_t end = find_paths(u, text, size, start, character, best);
        last = end > last ? end : last;
    }
}

bool unigram_cut(const unigram *u, const char *text, size_t size, piece_cuts *cuts)
{
    path *best = malloc((size + 1) * sizeof *best);
    if (!best)
        return false;
    find_all_paths(u, text, size, best);
    /* The path is found from its end; links that lead back are turned round. */
    uint32_t next = NONE;
    for (uint32_t end = (uint32_t)size; end > 0;) {
        const uint32_t start = best[end].start;
        best[end].start = next;
        next = end;
        end = start;
    }
    bool ok = true;
    for (; ok && next != NONE; next = best[next].start)
        ok = piece_cuts_add(cuts, next, best[next].id);
    free(best);
    return ok;
}
