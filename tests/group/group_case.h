/* tests/group/group_case.h: gradients of shards with wide exponents, their sum by the definition of the tree, and ranks as
 * threads. For the tests of this folder. */
#ifndef TESTS_GROUP_CASE_H
#define TESTS_GROUP_CASE_H

#include "group/group_ops.h"
#include "group/shard_tree.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Element i of shard s: of both signs, 40 powers of two wide, and now and then +0 or -0. Most sums of three of them depend on the
 * order of addition. */
static inline float case_leaf(uint32_t s, size_t i)
{
    uint64_t x = (s + 1) * 0x9E3779B97F4A7C15u ^ (i + 1) * 0xD1B54A32D192ED03u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    if (x % 16 == 0)
        return x & 16 ? -0.0f : 0.0f;
    float value = ldexpf((float)(x >> 40) + 1, (int)(x >> 20 & 31) - 40);
    return x & 32 ? -value : value;
}

/* The definition: node(lo, hi) = node(lo, m) + node(m, hi), m = lo + the largest power of two below hi - lo. */
static inline float case_sum(uint32_t lo, uint32_t hi, size_t i)
{
    if (hi - lo == 1)
        return case_leaf(lo, i);
    uint32_t half = 1;
    while (2 * half < hi - lo)
        half *= 2;
    volatile float left = case_sum(lo, lo + half, i), right = case_sum(lo + half, hi, i);
    return left + right;
}

/* What a rank brings to a reduce: its subtrees' sums over `count` elements. */
typedef struct case_parts {
    shard_node nodes[SHARD_MAX_SUBTREES];
    float *parts[SHARD_MAX_SUBTREES];
    size_t count;
} case_parts;

static inline void case_fill_parts(case_parts *p, int rank, int size, uint32_t shards, size_t elements)
{
    p->count = shard_subtrees(rank, size, shards, p->nodes);
    for (size_t k = 0; k < p->count; k++) {
        p->parts[k] = malloc(elements * sizeof(float) + 1);
        for (size_t i = 0; i < elements; i++)
            p->parts[k][i] = case_sum(p->nodes[k].first, p->nodes[k].end, i);
    }
}

static inline void case_free_parts(case_parts *p)
{
    for (size_t k = 0; k < p->count; k++)
        free(p->parts[k]);
}

/* Uneven ranges of `elements` elements, some of them empty: bounds[size + 1]. */
static inline void case_bounds(size_t *bounds, int size, size_t elements)
{
    for (int i = 0; i <= size; i++)
        bounds[i] = elements * (size_t)i / (size_t)size;
    for (int i = 1; i < size; i++)
        if (i % 3 == 1)
            bounds[i] = bounds[i - 1]; /* range i - 1 is empty, range i has both */
}

/* How many elements of a rank's range differ in a bit from the sum by the definition. */
static inline size_t case_wrong(const float *sum, int rank, int size, uint32_t shards, const size_t *bounds)
{
    size_t wrong = 0;
    int range = group_range(rank, size);
    for (size_t i = bounds[range]; i < bounds[range + 1]; i++) {
        float expected = case_sum(0, shards, i);
        wrong += memcmp(&expected, &sum[i], sizeof expected) != 0;
    }
    return wrong;
}

/* ---- ranks as threads ------------------------------------------------------------------------------------- */

typedef struct case_rank {
    rapt_transport transport;
    rapt_group_options options; /* zeroed: the defaults */
    rapt_group *g; /* NULL where it was not made */
    rapt_error err;
    void *context;
    void (*body)(struct case_rank *r);
    int failures; /* counted by the body: threads do not assert */
} case_rank;

#define CASE_CHECK(r, condition) ((condition) ? (void)0 : (void)((r)->failures++, \
    fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, (r)->g ? rapt_group_rank((r)->g) : -1, #condition)))

static void *case_thread(void *rank)
{
    case_rank *r = rank;
    r->g = rapt_group_new(&r->transport, r->options.size ? &r->options : NULL, &r->err);
    r->body(r);
    return NULL;
}

/* Runs the body of every rank, which ends its group. Returns how many checks failed. */
static inline int case_run(case_rank *ranks, int size, void (*body)(case_rank *r))
{
    pthread_t threads[64];
    int failures = 0;
    for (int i = 0; i < size; i++) {
        ranks[i].body = body;
        pthread_create(&threads[i], NULL, case_thread, &ranks[i]);
    }
    for (int i = 0; i < size; i++) {
        pthread_join(threads[i], NULL);
        failures += ranks[i].failures;
    }
    return failures;
}

#endif
