/* train/shards/buckets.c: divides the array of gradients. The limits depend on the shapes of the parameters and the number of
 * processes. */
#include "train/shards/buckets.h"

#include "tensor/params.h"

#include <stdlib.h>

#define LARGE ((size_t)6 << 20)  /* bytes of a bucket at most: the first gather and the last sum are not hidden; */
#define SMALL ((size_t)16 << 10) /* and at least: each message has its price. */
#define WANTED 24                /* buckets of a model between both */

size_t buckets_wanted(size_t size)
{
    size_t bytes = size * sizeof(rapt_real), each = bytes / WANTED;
    each = each < SMALL ? SMALL : each > LARGE ? LARGE : each;
    return bytes > each ? (bytes + each - 1) / each : 1;
}

/* Number of the first block of a parameter. */
static size_t first_block_of(const norm_blocks *b, size_t param)
{
    size_t low = 0, high = b->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->list[middle].param < param)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The blocks in the order of the array. */
static void buckets_place_blocks(buckets *b, const rapt_params *set, const gradient_layout *l, const rapt_muon_options *muon)
{
    size_t count = 0;
    for (size_t i = 0; i < l->dense; i++) {
        size_t param = l->order[i], width = norm_block_width(params_at(set, param));
        const bool whole = muon && muon_takes(muon, params_at(set, param));
        for (size_t k = first_block_of(&b->blocks, param); k < b->blocks.count && b->blocks.list[k].param == param; k++) {
            b->joined[count] = whole && b->blocks.list[k].first > 0;
            b->block_at[count] = (uint32_t)k;
            b->block_first[count++] = l->offset[param] + b->blocks.list[k].first * width;
        }
    }
    b->block_first[count] = l->size;
}

/* The end of the blocks that have the same owner as block `at`, which is not joined to the one before. */
static size_t buckets_joined_end(const buckets *b, size_t at)
{
    do
        at++;
    while (b->joined[at]);
    return at;
}

/* The range of blocks at .. end - 1, from their place in their bucket. The place within the blocks that decides differs from
 * bucket to bucket, so that a few blocks do not all fall into the same ranges. */
static uint16_t buckets_range(const buckets *b, size_t index, size_t at, size_t end)
{
    const bucket *k = &b->list[index];
    double place = (double)(index * 40503 % 65536) / 65536; /* golden section */
    double middle = (double)(b->block_first[at] - k->first) + place * (double)(b->block_first[end] - b->block_first[at]);
    size_t range = (size_t)(middle * b->ranks / (double)(k->end - k->first));
    return (uint16_t)(range < (size_t)b->ranks ? range : (size_t)b->ranks - 1);
}

static void buckets_divide(buckets *b, size_t index)
{
    bucket *k = &b->list[index];
    size_t next = 0;
    for (size_t at = k->first_block, end; at < k->end_block; at = end) {
        end = buckets_joined_end(b, at);
        const uint16_t range = buckets_range(b, index, at, end);
        for (size_t i = at; i < end; i++)
            b->range_of[b->block_at[i]] = range;
        while (next <= range)
            k->bounds[next++] = b->block_first[at] - k->first;
    }
    while (next <= (size_t)b->ranks)
        k->bounds[next++] = k->end - k->first;
}

/* Bucket i ends with the first block that begins at (i + 1) / count of the array or after, and is not joined to others. */
static void buckets_cut(buckets *b, size_t size)
{
    size_t at = 0, count = b->count;
    b->count = 0;
    for (size_t i = 0; i < count; i++) {
        bucket *k = &b->list[b->count];
        *k = (bucket){.first = b->block_first[at], .first_block = at, .bounds = b->bounds + b->count * ((size_t)b->ranks + 1)};
        while (at < b->blocks.count && (i + 1 == count || b->joined[at] || b->block_first[at] < size / count * (i + 1)))
            at++;
        k->end = b->block_first[at];
        k->end_block = at;
        if (k->end == k->first)
            continue;
        buckets_divide(b, b->count++);
    }
}

rapt_code buckets_make(buckets *b, const rapt_params *set, const gradient_layout *layout, int ranks,
                       const rapt_muon_options *muon, rapt_error *err)
{
    *b = (buckets){.ranks = ranks, .count = buckets_wanted(layout->size)};
    rapt_code code = norm_blocks_make(&b->blocks, set, err);
    if (code)
        return code;
    b->list = calloc(b->count, sizeof *b->list);
    b->bounds = calloc(b->count * ((size_t)ranks + 1), sizeof *b->bounds);
    b->block_at = calloc(b->blocks.count + 1, sizeof *b->block_at);
    b->block_first = calloc(b->blocks.count + 1, sizeof *b->block_first);
    b->range_of = calloc(b->blocks.count + 1, sizeof *b->range_of);
    b->joined = calloc(b->blocks.count + 1, sizeof *b->joined);
    if (!b->list || !b->bounds || !b->block_at || !b->block_first || !b->range_of || !b->joined) {
        buckets_free(b);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for buckets of gradients");
    }
    buckets_place_blocks(b, set, layout, muon);
    buckets_cut(b, layout->size);
    return RAPT_OK;
}

void buckets_free(buckets *b)
{
    norm_blocks_free(&b->blocks);
    free(b->list);
    free(b->bounds);
    free(b->block_at);
    free(b->block_first);
    free(b->range_of);
    free(b->joined);
    *b = (buckets){0};
}

size_t buckets_find(const buckets *b, size_t at)
{
    size_t low = 0, high = b->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->list[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

size_t buckets_segment(const buckets *b, size_t offset, size_t size, size_t at, size_t *limits)
{
    const bucket *k = &b->list[buckets_find(b, offset + at)];
    size_t end = k->end - offset < size ? k->end - offset : size;
    for (int i = 0; i <= b->ranks; i++) {
        size_t limit = k->first + k->bounds[i];
        limits[i] = limit < offset + at ? at : limit > offset + end ? end : limit - offset;
    }
    return end;
}
