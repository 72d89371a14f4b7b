/* train/shards/buckets.h: divides the array of gradients (gradient_layout.h) into buckets, which processes add and gather one by
 * one, and each bucket into a range for each process. A process owns the elements of its range: it adds them, makes Adam's step
 * for them, and has their moments. Limits of buckets and ranges are limits of the gradient norm's blocks, so that each block has
 * one owner; and the blocks of a matrix that Muon moves have the same one. */
#ifndef TRAIN_SHARDS_BUCKETS_H
#define TRAIN_SHARDS_BUCKETS_H

#include "train/optimizer/muon.h"
#include "train/optimizer/norm_blocks.h"
#include "train/shards/gradient_layout.h"

/* Elements first .. end - 1 of the array. Range i of it, which belongs to rank group_owner(i, ranks), is its elements
 * bounds[i] .. bounds[i + 1] - 1. Blocks, in the order of the array: first_block .. end_block - 1. */
typedef struct bucket {
    size_t first, end;
    size_t *bounds; /* [ranks + 1], from 0 to end - first */
    size_t first_block, end_block;
} bucket;

typedef struct buckets {
    int ranks;
    size_t count;
    bucket *list;
    norm_blocks blocks;   /* blocks of the gradient norm */
    uint32_t *block_at;   /* [blocks.count]: the number of a block, in the order of the array */
    size_t *block_first;  /* [blocks.count + 1]: where each block begins in the array; the last element is the size of the
                             array */
    uint8_t *joined;      /* [blocks.count + 1], in the order of the array: 1 if a block has the owner of the one before */
    uint16_t *range_of;   /* [blocks.count]: range of its bucket, by the number of a block */
    size_t *bounds;       /* memory of all buckets' */
} buckets;

/* The number of buckets for `size` elements, before limits are moved to limits of blocks. */
size_t buckets_wanted(size_t size);

/* `muon` NULL: no matrix is Muon's. RAPT_ERR_MEMORY: out of memory; there is nothing to free. */
rapt_code buckets_make(buckets *b, const rapt_params *set, const gradient_layout *layout, int ranks,
                       const rapt_muon_options *muon, rapt_error *err);
void buckets_free(buckets *b);

/* The bucket that has element `at` of the array. */
size_t buckets_find(const buckets *b, size_t at);

/* The elements of a parameter from `at` on that lie in one bucket: they end before what is returned. limits[i] .. limits[i + 1]
 * - 1 of them, [ranks + 1], lie in range i. `offset` is the parameter's place in the array, `size` its elements. */
size_t buckets_segment(const buckets *b, size_t offset, size_t size, size_t at, size_t *limits);

#endif
