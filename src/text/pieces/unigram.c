/* text/pieces/unigram.c: the best path through the pieces of a text, by Viterbi's algorithm. If several paths are equally good,
 * the rounding of sums decides; so they are added in the order of SentencePiece (unigram_model.cc, EncodeOptimized) and of the
 * package `tokenizers`, which is the same. */
#include "text/pieces/unigram.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define LARGE 100000.0

/* The best path to a place of the text, by its last piece. */
typedef struct unigram_path {
    double score;
    uint32_t start; /* NONE: no path */
    int32_t id;
} unigram_path;

void unigram_free(unigram *u)
{
    piece_trie_free(&u->trie);
    free(u->scores);
    *u = (unigram){0};
}

void unigram_paths_free(unigram_paths *p)
{
    free(p->list);
    *p = (unigram_paths){0};
}

/* The float nearest to the double sum of two floats is their float sum: a double has more than twice a float's bits. */
static double add_scores(const unigram *u, double a, double b)
{
    return u->single ? (float)(a + b) : a + b;
}

static bool is_better(const unigram_path *end, double score)
{
    return end->start == NONE || score > end->score;
}

static void offer_path(unigram_path *end, size_t start, int32_t id, double score)
{
    if (is_better(end, score))
        *end = (unigram_path){score, (uint32_t)start, id};
}

/* Takes the score at `start` from all that are in use, from there to `last`. */
static void begin_again(unigram_path *best, size_t start, size_t last)
{
    const double offset = best[start].score;
    for (size_t i = start; i <= last; i++)
        if (i == start || best[i].start != NONE)
            best[i].score = (float)(best[i].score - offset);
}

/* Offers paths that end with a piece from `start` on; *last: the last place to which one leads. */
static rapt_code find_paths(const unigram *u, const char *text, size_t size, size_t start, size_t character, unigram_path *best,
                            size_t *last)
{
    const double score = best[start].score;
    int32_t node = 0, id;
    bool whole = false; /* the character itself is a piece */
    *last = start;
    for (size_t at = start; at < size && piece_trie_step(&u->trie, &node, text[at], &id); at++) {
        if (id < 0)
            continue;
        offer_path(&best[at + 1], start, id, add_scores(u, u->scores[id], score));
        *last = at + 1;
        whole = whole || *last - start == character;
    }
    if (whole)
        return RAPT_OK;
    unigram_path *end = &best[start + character];
    const double with_unknown = add_scores(u, u->unknown_score, score);
    if (u->needs_unknown && u->unknown < 0 && is_better(end, with_unknown))
        return RAPT_ERR_VALUE;
    offer_path(end, start, u->unknown, with_unknown);
    *last = start + character > *last ? start + character : *last;
    return RAPT_OK;
}

/* The best paths to all places: best[0 .. size]. */
static rapt_code find_all_paths(const unigram *u, const char *text, size_t size, unigram_path *best)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i <= size; i++)
        best[i] = (unigram_path){0, NONE, u->unknown};
    for (size_t start = 0, last = 0, end, character; start < size && !code; start += character) {
        character = piece_character(text + start, size - start);
        if (u->single && (best[start].score < -LARGE || best[start].score > LARGE))
            begin_again(best, start, last);
        code = find_paths(u, text, size, start, character, best, &end);
        last = end > last ? end : last;
    }
    return code;
}

rapt_code unigram_cut(const unigram *u, const char *text, size_t size, unigram_paths *paths, piece_cuts *cuts)
{
    if (!ARRAY_RESERVE(&paths->list, &paths->capacity, size + 1))
        return RAPT_ERR_MEMORY;
    unigram_path *best = paths->list;
    rapt_code code = find_all_paths(u, text, size, best);
    if (code)
        return code;
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
    return ok ? RAPT_OK : RAPT_ERR_MEMORY;
}
