/* train/task/pair_data.c: reads, weighs and hashes the pairs of a run. */
#include "train/task/pair_data.h"

#include "base/rng.h"
#include "data/pairs.h"
#include "recipe/recipe_corpora.h"

#include <stdlib.h>

/* Keys that are for the files of a recipe, which the program's pairs replace. */
static rapt_code check_program_pairs(const run *r, rapt_error *err)
{
    const rapt_train_options *o = r->options;
    const rapt_recipe *k = r->recipe;
    if (!o->validation != !k->data.validation)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.validation is %s, and there are %s pairs to validate with",
                         k->data.validation ? k->data.validation : "not set", o->validation ? "" : "no");
    if (k->data.limit > 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.limit is %lld; it is for pairs of a file", (long long)k->data.limit);
    if (k->data.weights)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.weights is %.200s; it is for pairs of files", k->data.weights);
    if (k->data.filter.rules)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.filter.rules is %.200s; it is for pairs of files", k->data.filter.rules);
    return RAPT_OK;
}

static rapt_pairs *read_filtered(const rapt_recipe *k, rapt_error *err)
{
    char reason[RECIPE_REASON];
    check_options filter;
    if (recipe_filter(k, &filter, reason))
        return pairs_read_filtered(k->data.pairs, (size_t)k->data.limit, filter.rules ? &filter : NULL, err);
    rapt_fail(err, RAPT_ERR_VALUE, "%s", reason);
    return NULL;
}

static rapt_code pair_data_read_weights(const run *r, pair_data *d, rapt_error *err)
{
    char reason[RECIPE_REASON];
    d->count = pairs_corpora(d->pairs);
    d->weights = malloc((d->count + 1) * sizeof *d->weights);
    d->corpora = calloc(d->count + 1, sizeof *d->corpora);
    if (!d->weights || !d->corpora)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu corpora", d->count);
    return recipe_weights(r->recipe, d->weights, reason) ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "%s", reason);
}

rapt_code pair_data_read(const run *r, pair_data *d, rapt_error *err)
{
    const rapt_train_options *o = r->options;
    const rapt_recipe *k = r->recipe;
    if (!o->pairs && o->validation)
        return rapt_fail(err, RAPT_ERR_VALUE, "there are pairs to validate with, and none to train on");
    if (o->pairs && check_program_pairs(r, err) != RAPT_OK)
        return err->code;
    if (r->piped && r->ranks > 1)
        return rapt_fail(err, RAPT_ERR_VALUE, "the data come through a pipe, which one process alone can read: train in one "
                         "process, or from a file");
    d->pairs = o->pairs ? o->pairs : (d->own_pairs = read_filtered(k, err));
    if (d->pairs && k->data.validation)
        d->valid = o->pairs ? o->validation : (d->own_valid = rapt_pairs_read(k->data.validation, 0, err));
    if (!d->pairs || (!d->valid && k->data.validation))
        return err->code;
    return o->pairs ? RAPT_OK : pair_data_read_weights(r, d, err);
}

void pair_data_free(pair_data *d)
{
    rapt_pairs_free(d->own_pairs);
    rapt_pairs_free(d->own_valid);
    free(d->weights);
    free(d->corpora);
    *d = (pair_data){0};
}

rapt_code pair_data_weigh(const run *r, pair_data *d, rapt_dataset *train, rapt_error *err)
{
    rapt_code code = r->recipe->data.weights ? dataset_set_weights(train, d->pairs, d->weights, err) : RAPT_OK;
    for (size_t i = 0, at = 0; i < d->count && !code; i++) {
        const corpus *c = pairs_corpus(d->pairs, i);
        size_t pairs = 0;
        for (; at < train->count && train->examples[at].pair < c->first + c->count; at++)
            pairs++;
        d->corpora[i] = (rapt_corpus){.path = c->path, .weight = d->weights[i], .pairs = pairs, .lines = c->kept.report.lines,
                                      .left_out = c->left_out, .rule_count = c->rules,
                                      .pass = train->pass.shares ? corpus_share_entries(&train->pass.shares[i]) : pairs};
    }
    return code;
}

double pair_data_pass_tokens(const rapt_dataset *train)
{
    const corpus_pass *p = &train->pass;
    double sum = 0;
    if (!p->shares)
        return (double)dataset_target_tokens(train);
    for (size_t i = 0; i < p->count; i++) {
        const corpus_share *s = &p->shares[i];
        double tokens = 0;
        for (size_t k = s->first; k < s->first + s->count; k++)
            tokens += (double)dataset_tokens_of(train, k);
        sum += tokens * (double)corpus_share_entries(s) / (double)s->count;
    }
    return sum;
}

uint64_t pair_data_hash_all(const rapt_pairs *p, uint64_t hash)
{
    hash = rng_mix(hash, rapt_pairs_count(p));
    for (size_t i = 0; i < rapt_pairs_count(p); i++)
        hash = rng_mix(hash, rng_hash_text(rapt_pairs_source(p, i)) ^ rng_mix(1, rng_hash_text(rapt_pairs_target(p, i))));
    return hash;
}

uint64_t pair_data_hash(const run *r, const pair_data *d, uint64_t hash)
{
    hash = pair_data_hash_all(d->pairs, hash);
    for (size_t i = 0; r->recipe->data.weights && i < d->count; i++)
        hash = rng_mix(hash, pairs_corpus(d->pairs, i)->count);
    return hash;
}
