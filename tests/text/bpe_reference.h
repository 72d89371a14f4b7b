/* bpe_reference.h: byte-level BPE as it is defined, word for word: everything is counted anew for each merge, in time that
 * grows with the square of the text. For test_bpe_train.c, which includes cmocka.h before. */
#ifndef TESTS_BPE_REFERENCE_H
#define TESTS_BPE_REFERENCE_H

#include "text/bpe/bpe_train.h"

#include <stdlib.h>

/* The text as tokens; cuts[i]: a piece begins at token i. */
typedef struct reference {
    int32_t *tokens;
    bool *cuts;
    size_t size;
} reference;

static reference reference_new(const char *text, size_t size, const char *pattern)
{
    reference r = {malloc(size * sizeof *r.tokens), calloc(size + 1, sizeof *r.cuts), size};
    split *cut = split_new(pattern, NULL);
    split_walk *walk = split_walk_new(cut, NULL);
    for (size_t i = 0; i < size; i++)
        r.tokens[i] = (unsigned char)text[i];
    for (size_t at = 0; at < size;) {
        r.cuts[at] = true;
        assert_int_equal(split_next(walk, text, size, at, &at, NULL), RAPT_OK);
    }
    split_walk_free(walk);
    split_free(cut);
    return r;
}

static bool is_pair(const reference *r, size_t i, bpe_merge m)
{
    return i + 1 < r->size && !r->cuts[i + 1] && r->tokens[i] == m.left && r->tokens[i + 1] == m.right;
}

static size_t count_pair(const reference *r, bpe_merge m)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < r->size; i++)
        n += is_pair(r, i, m);
    return n;
}

static bool is_smaller(bpe_merge a, bpe_merge b)
{
    return a.left != b.left ? a.left < b.left : a.right < b.right;
}

/* The count of the pair to merge next; 0 for none. */
static size_t best_pair(const reference *r, bpe_merge *best)
{
    size_t most = 0;
    for (size_t i = 0; i + 1 < r->size; i++) {
        bpe_merge m = {r->tokens[i], r->tokens[i + 1]};
        size_t n = r->cuts[i + 1] ? 0 : count_pair(r, m);
        if (n > most || (n && n == most && is_smaller(m, *best))) {
            *best = m;
            most = n;
        }
    }
    return most;
}

static void merge_everywhere(reference *r, bpe_merge m, int32_t token)
{
    size_t to = 0;
    for (size_t i = 0; i < r->size; to++) {
        bool both = is_pair(r, i, m);
        r->cuts[to] = r->cuts[i];
        r->tokens[to] = both ? token : r->tokens[i];
        i += 1 + both;
    }
    r->size = to;
}

static size_t reference_train(const char *text, size_t size, const char *pattern, const rapt_bpe_options *o, bpe_merge *merges)
{
    reference r = reference_new(text, size, pattern);
    size_t least = o->min_freq ? o->min_freq : 1, count = 0;
    while (count < o->vocab_size - 256 && best_pair(&r, &merges[count]) >= least) {
        merge_everywhere(&r, merges[count], (int32_t)(256 + count));
        count++;
    }
    free(r.tokens);
    free(r.cuts);
    return count;
}

#endif
