/* data/dataset.h: the inside of rapt_dataset, for the loader. */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include "rapt/data.h"

#include "base/arena.h"

/* A pair, or without a source a text of a language model. */
typedef struct dataset_example {
    int32_t *source, *target; /* of a pair, each ends with <eos> unless it was truncated; target: the labels */
    int32_t *inputs;          /* [target_len]; NULL: <bos>, and the target without its last token */
    size_t source_len, target_len, counted; /* counted: labels that are not RAPT_NO_LABEL */
} dataset_example;

struct rapt_dataset {
    arena memory;
    rapt_dataset_options options;
    rapt_special_ids special;
    dataset_example *examples;
    dataset_example *rejected; /* of pairs of answers: the second row of each example, in `memory`; NULL: examples are rows */
    size_t count, dropped, empty;
    size_t cut; /* conversations, or pairs of answers; sentences are not counted */
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

#endif
