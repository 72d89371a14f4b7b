/* metrics/ngrams.c: n-grams counted as nodes of a trie, each one step below the n-gram without its last unit.
 * For BLEU and chrF.
 * Not for whole corpora: one segment at a time, so that all of it stays in the cache. */
#include "metrics/ngrams.h"

#include <stdlib.h>

struct ngram_count {
    uint32_t own;       /* in the translation */
    uint32_t best;      /* in the reference that has most of it */
    uint32_t here;      /* in the reference that was read last, */
    uint32_t reference; /* namely this one */
};

static bool counts_capacity(struct ngrams *grams, size_t nodes)
{
    if (nodes <= grams->capacity)
        return true;
    free(grams->counts);
    grams->counts = malloc(nodes * sizeof *grams->counts);
    grams->capacity = grams->counts ? nodes : 0;
    return grams->counts != NULL;
}

static void count_from(struct ngrams *grams, const uint32_t *unit, size_t longest)
{
    uint32_t node = TRIE_ROOT;
    for (size_t n = 0; n < longest; n++) {
        uint32_t before = grams->trie.nodes;
        node = trie_add(&grams->trie, node, unit[n]);
        if (node == before)
            grams->counts[node] = (struct ngram_count){0};
        grams->counts[node].own++;
    }
}

static size_t longest_from(const struct ngrams *grams, size_t at, size_t count)
{
    return count - at < grams->order ? count - at : grams->order;
}

rapt_code ngrams_load(struct ngrams *grams, const struct codes *units, size_t order, rapt_error *err)
{
    size_t nodes = units->count * order;
    if (nodes > TRIE_MAX_NODES)
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu n-grams in a segment are too many", nodes);
    if (!trie_clear(&grams->trie, nodes) || !counts_capacity(grams, nodes + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu n-grams", nodes);
    grams->order = order;
    grams->reference = 0;
    for (size_t i = 0; i < units->count; i++)
        count_from(grams, units->at + i, longest_from(grams, i, units->count));
    return RAPT_OK;
}

/* Counts one more occurrence of an n-gram in the reference: a match if the translation has as many and no earlier reference
 * had. */
static size_t ngrams_meet(struct ngram_count *count, uint32_t reference)
{
    if (count->reference != reference) {
        count->reference = reference;
        count->here = 0;
    }
    if (++count->here <= count->best)
        return 0;
    count->best = count->here;
    return count->best <= count->own;
}

void ngrams_match(struct ngrams *grams, const struct codes *units, size_t *matches)
{
    grams->reference++;
    for (size_t i = 0; i < units->count; i++) {
        size_t longest = longest_from(grams, i, units->count);
        uint32_t node = TRIE_ROOT;
        for (size_t n = 0; n < longest; n++) {
            node = trie_find(&grams->trie, node, units->at[i + n]);
            if (node == TRIE_ROOT)
                break; /* the translation also lacks longer n-grams that start with it */
            matches[n] += ngrams_meet(&grams->counts[node], grams->reference);
        }
    }
}

void ngrams_forget_matches(struct ngrams *grams)
{
    for (size_t node = 1; node < grams->trie.nodes; node++)
        grams->counts[node].best = 0;
}

size_t ngrams_total(size_t units, size_t n)
{
    return units >= n ? units - n + 1 : 0;
}

void ngrams_free(struct ngrams *grams)
{
    trie_free(&grams->trie);
    free(grams->counts);
    *grams = (struct ngrams){0};
}
