/* data/corpus_pass.c: shares of corpora in a pass. The number of entries is the same in each pass, so that a pass has the same
 * number of batches, and a step's number tells its pass. */
#include "data/dataset.h"

#include "data/pairs.h"

#include <math.h>
#include <stdlib.h>

size_t corpus_share_entries(const corpus_share *s)
{
    return s->count * s->copies + s->drawn;
}

static rapt_code check_share(const rapt_pairs *pairs, size_t i, double weight, const corpus_share *s, size_t before,
                             rapt_error *err)
{
    const char *path = pairs_corpus(pairs, i)->path;
    if (corpus_share_entries(s) == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "%.300s: weight %g of %zu pairs is less than one pair in a pass", path, weight,
                         s->count);
    if (s->count > UINT32_MAX / (s->copies + 1) || corpus_share_entries(s) > UINT32_MAX - before)
        return rapt_fail(err, RAPT_ERR_VALUE, "%.300s: with weight %g a pass would have more than %u pairs", path, weight,
                         UINT32_MAX);
    return RAPT_OK;
}

rapt_code dataset_set_weights(rapt_dataset *d, const rapt_pairs *pairs, const double *weights, rapt_error *err)
{
    const size_t count = pairs_corpora(pairs);
    corpus_pass *p = &d->pass;
    rapt_code code = RAPT_OK;
    *p = (corpus_pass){malloc(count * sizeof *p->shares), count, 0};
    if (!p->shares)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu corpora", count);
    for (size_t i = 0, at = 0; i < count && !code; i++) {
        const corpus *c = pairs_corpus(pairs, i);
        corpus_share *s = &p->shares[i];
        *s = (corpus_share){.first = at, .copies = (size_t)weights[i]};
        while (at < d->count && d->examples[at].pair < c->first + c->count)
            at++;
        s->count = at - s->first;
        s->drawn = (size_t)floor((weights[i] - floor(weights[i])) * (double)s->count + 0.5);
        code = check_share(pairs, i, weights[i], s, p->entries, err);
        p->entries += corpus_share_entries(s);
    }
    return code;
}

void corpus_pass_free(corpus_pass *p)
{
    free(p->shares);
    *p = (corpus_pass){0};
}

static int corpus_by_rank(const void *a, const void *b)
{
    const corpus_ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->example < y->example ? -1 : x->example > y->example;
}

static int corpus_by_example(const void *a, const void *b)
{
    const corpus_ranked *x = a, *y = b;
    return x->example < y->example ? -1 : x->example > y->example;
}

static size_t *list_all(const corpus_share *s, size_t *at)
{
    for (size_t i = 0; i < s->count; i++)
        *at++ = s->first + i;
    return at;
}

static size_t *list_drawn(const corpus_share *s, corpus_rank_fn *rank, void *context, corpus_ranked *scratch, size_t *at)
{
    for (size_t i = 0; i < s->count; i++)
        scratch[i] = (corpus_ranked){rank(context, s->first + i), s->first + i};
    qsort(scratch, s->count, sizeof *scratch, corpus_by_rank);
    qsort(scratch, s->drawn, sizeof *scratch, corpus_by_example);
    for (size_t i = 0; i < s->drawn; i++)
        *at++ = scratch[i].example;
    return at;
}

void corpus_pass_list(const corpus_pass *p, corpus_rank_fn *rank, void *context, corpus_ranked *scratch, size_t *entry)
{
    const size_t *end = entry + p->entries;
    for (size_t copy = 0; entry < end; copy++)
        for (size_t i = 0; i < p->count; i++) {
            const corpus_share *s = &p->shares[i];
            if (copy < s->copies)
                entry = list_all(s, entry);
            else if (copy == s->copies && s->drawn > 0)
                entry = list_drawn(s, rank, context, scratch, entry);
        }
}
