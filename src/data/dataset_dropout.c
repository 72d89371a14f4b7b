/* data/dataset_dropout.c: BPE dropout: other tokens for the sentences of a batch in each epoch. For the loader; an example's
 * tokens depend on nothing but seed, epoch and its place in a pass. */
#include "data/dataset.h"

#include "base/rng.h"
#include "text/bpe/bpe_encode.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

rapt_code dataset_set_dropout(rapt_dataset *d, const rapt_pairs *pairs, const rapt_tokenizer *source,
                              const rapt_tokenizer *target, double p, uint64_t seed, rapt_error *err)
{
    const bool fits = rapt_tokenizer_kind_of(source) == RAPT_TOKENIZER_BYTE_BPE;
    if (!fits || rapt_tokenizer_kind_of(target) != RAPT_TOKENIZER_BYTE_BPE)
        return rapt_fail(err, RAPT_ERR_VALUE, "BPE dropout needs byte-level BPE, as tokenizer.type bpe makes it; the %s "
                         "tokenizer is of another kind", fits ? "target" : "source");
    d->dropout = (dataset_dropout){p, seed, pairs, source, target};
    return RAPT_OK;
}

/* The key of the draws of a side: 0 is the source, 1 the target. */
static uint64_t dropout_key(const dataset_dropout *d, size_t epoch, size_t entry, int side)
{
    const uint64_t key = rng_mix(rng_mix(d->seed, rng_hash_text("bpe dropout")), epoch);
    return rng_mix(key, 2 * (uint64_t)entry + (uint64_t)side);
}

/* Replaces ids of an example, unless the new ones and <eos> are more than max_len. */
static bool segment_side(const rapt_dataset *d, const rapt_tokenizer *k, const char *text, uint64_t key, arena *memory,
                         int32_t **ids, size_t *count)
{
    bpe_dropout draws = {d->dropout.p, key, 0};
    id_list list = {0};
    bool ok = bpe_encode_dropout(byte_bpe_of(k), text, strlen(text), d->options.specials_in_text, &draws, id_list_append, &list,
                                 NULL) == RAPT_OK;
    if (ok && list.count < d->options.max_len) {
        int32_t *own = arena_array(memory, list.count + 1, sizeof *own);
        ok = own != NULL;
        if (ok && list.count > 0)
            memcpy(own, list.ids, list.count * sizeof *own);
        if (ok)
            own[list.count] = d->special.eos, *ids = own, *count = list.count + 1;
    }
    free(list.ids);
    return ok;
}

bool dataset_segment(const rapt_dataset *d, size_t epoch, size_t index, size_t entry, arena *memory, dataset_example *out)
{
    const dataset_dropout *o = &d->dropout;
    *out = *dataset_row(d, index);
    if (o->p == 0)
        return true;
    const char *source = rapt_pairs_source(o->pairs, out->pair), *target = rapt_pairs_target(o->pairs, out->pair);
    if (!segment_side(d, o->source, source, dropout_key(o, epoch, entry, 0), memory, &out->source, &out->source_len) ||
        !segment_side(d, o->target, target, dropout_key(o, epoch, entry, 1), memory, &out->target, &out->target_len))
        return false;
    out->counted = out->target_len;
    return true;
}
