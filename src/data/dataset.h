/* data/dataset.h: the inside of rapt_dataset, for the loader. */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include "rapt/data.h"

#include "base/arena.h"
#include "data/corpus_pass.h"

/* A pair, or without a source a text of a language model. */
typedef struct dataset_example {
    int32_t *source, *target; /* of a pair, each ends with <eos> unless it was truncated; target: the labels */
    int32_t *inputs;          /* [target_len]; NULL: <bos>, and the target without its last token */
    size_t source_len, target_len, counted; /* counted: labels that are not RAPT_NO_LABEL */
    size_t pair;                            /* index in the pairs; 0 without pairs */
} dataset_example;

/* What segments the sentences of a batch anew (dataset_dropout.c). */
typedef struct dataset_dropout {
    double p; /* 0: nothing is segmented anew, and the rest is not set */
    uint64_t seed;
    const rapt_pairs *pairs;
    const rapt_tokenizer *source, *target;
} dataset_dropout;

struct rapt_dataset {
    arena memory;
    rapt_dataset_options options;
    rapt_special_ids special;
    dataset_example *examples;
    dataset_example *rejected; /* of pairs of answers: the second row of each example, in `memory`; NULL: examples are rows */
    size_t count, dropped, empty;
    size_t cut; /* conversations, or pairs of answers; sentences are not counted */
    dataset_dropout dropout;
    corpus_pass pass; /* of corpora with weights; a packed set has none, nor have pairs of answers */
    bool packed; /* batches have nearly the same number of tokens, batch_tokens of the loader or up to twice as many */
};

/* Whether a pair is left out: it would teach that a sentence has no translation, or that nothing becomes a sentence. */
bool dataset_has_empty_side(const rapt_pairs *pairs, size_t i);
/* An empty data set for `most` examples, with options that have been checked; NULL with `err` set. */
rapt_dataset *dataset_begin(const rapt_dataset_options *o, size_t most, rapt_error *err);
/* The rows of all examples: if examples have two, example i has rows 2 i and 2 i + 1. */
size_t dataset_rows(const rapt_dataset *d);
const dataset_example *dataset_row(const rapt_dataset *d, size_t row);
/* Target tokens of an example, and of all of them. */
size_t dataset_tokens_of(const rapt_dataset *d, size_t example);
size_t dataset_target_tokens(const rapt_dataset *d);
/* The most target tokens that a row has. */
size_t dataset_longest(const rapt_dataset *d);
/* The number of batches of an epoch of a packed set if each should have `tokens`, which is not less than any example has. A batch
 * has less than the quotient of all tokens and this number, and the tokens of the longest example, together. */
size_t dataset_packed_batches(const rapt_dataset *d, size_t tokens);

/* ---- corpus_pass.c: weights of corpora. For the loader. */

/* From now on a pass has each example as often as the weight of its corpus says. Weight w of n examples, above 0 and at most
 * CORPUS_PASS_MOST, is n floor(w) entries, and n (w - floor(w)) more, to the nearest, which each pass draws anew. `weights`
 * has one for each corpus of `pairs`, of which the set was made. RAPT_ERR_VALUE: a corpus would have no entry, or a pass more
 * than 2^32 - 1; RAPT_ERR_MEMORY. */
rapt_code dataset_set_weights(rapt_dataset *d, const rapt_pairs *pairs, const double *weights, rapt_error *err);

/* ---- dataset_dropout.c: BPE dropout (text/bpe/bpe_encode.h) of the sentences of a batch. For the loader. */

/* From now on batches have sentences that are segmented with dropout p, above 0 and at most 0.9, as (seed, epoch, entry)
 * decide. Pairs and tokenizers are those that the set was made of, and must outlive it. RAPT_ERR_VALUE: a tokenizer is not
 * byte-level BPE. */
rapt_code dataset_set_dropout(rapt_dataset *d, const rapt_pairs *pairs, const rapt_tokenizer *source,
                              const rapt_tokenizer *target, double p, uint64_t seed, rapt_error *err);
/* Example `index` as entry `entry` of epoch `epoch` sees it, with ids in `memory`; without weights, an example's entry is its
 * index. A sentence that would be longer than max_len keeps its usual tokens. False: out of memory. */
bool dataset_segment(const rapt_dataset *d, size_t epoch, size_t index, size_t entry, arena *memory, dataset_example *out);

#endif
