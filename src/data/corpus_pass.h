/* data/corpus_pass.h: how often a pass over the data has each example, if corpora have weights. For the loader, which orders and
 * batches what is listed here; not for validation, which evaluates each example once. */
#ifndef DATA_CORPUS_PASS_H
#define DATA_CORPUS_PASS_H

#include "rapt/base.h"

/* The weight of a corpus is above 0 and at most this. */
#define CORPUS_PASS_MOST 1000

/* The examples of a corpus. A pass has each of them `copies` times, and `drawn` of them once more. */
typedef struct corpus_share {
    size_t first, count, copies, drawn;
} corpus_share;

typedef struct corpus_pass {
    corpus_share *shares; /* NULL: each example once */
    size_t count;
    size_t entries; /* of a pass */
} corpus_pass;

void corpus_pass_free(corpus_pass *p);
/* The entries of a pass that are of this corpus. */
size_t corpus_share_entries(const corpus_share *s);

/* The rank of an example among those that may be drawn: those with the lowest are. */
typedef uint64_t corpus_rank_fn(void *context, size_t example);
typedef struct corpus_ranked {
    uint64_t rank;
    size_t example;
} corpus_ranked;

/* Lists the examples of a pass in entry[0 .. entries): all once, then what has weight 2 or more, and so on, each time in the
 * order of the data, as if the corpora's files had been joined so. `scratch` has room for all examples. */
void corpus_pass_list(const corpus_pass *p, corpus_rank_fn *rank, void *context, corpus_ranked *scratch, size_t *entry);

#endif
