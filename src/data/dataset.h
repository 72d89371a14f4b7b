/* data/dataset.h: the inside of rapt_dataset, for the loader. */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include "rapt/data.h"

#include "base/arena.h"

typedef struct dataset_example {
    int32_t *source, *target; /* each ends with <eos> unless it was truncated */
    size_t source_len, target_len;
} dataset_example;

struct rapt_dataset {
    arena memory;
    rapt_dataset_options options;
    rapt_special_ids special;
    dataset_example *examples;
    size_t count, dropped, empty;
};

/* Whether a pair is left out: it would teach that a sentence has no translation, or that nothing becomes a sentence. */
bool dataset_has_empty_side(const rapt_pairs *pairs, size_t i);
/* Target tokens of all examples. */
size_t dataset_target_tokens(const rapt_dataset *d);

#endif
