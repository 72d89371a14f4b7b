/* group/shard_tree.c: the tree over shards. Arithmetic on numbers of shards; it adds no gradients. */
#include "group/shard_tree.h"

uint32_t shard_first(int rank, int size, uint32_t shards)
{
    return (uint32_t)((uint64_t)rank * shards / (uint64_t)size);
}

uint32_t shard_split(shard_node n)
{
    uint32_t half = 1;
    while (half < n.end - n.first - half)
        half *= 2;
    return n.first + half;
}

bool shard_is_node(shard_node n, uint32_t shards)
{
    shard_node at = {0, shards};
    if (n.first >= n.end || n.end > shards)
        return false;
    while (at.first != n.first || at.end != n.end) {
        uint32_t middle = at.end - at.first > 1 ? shard_split(at) : at.end;
        if (n.end <= middle && middle < at.end)
            at.end = middle;
        else if (n.first >= middle)
            at.first = middle;
        else
            return false;
    }
    return true;
}

/* The largest node that begins at `first` and ends at `end` or before. */
static shard_node largest_node(uint32_t first, uint32_t end, uint32_t shards)
{
    shard_node n = {0, shards};
    while (n.first != first || n.end > end) {
        uint32_t middle = shard_split(n);
        if (first < middle)
            n.end = middle;
        else
            n.first = middle;
    }
    return n;
}

size_t shard_subtrees(int rank, int size, uint32_t shards, shard_node nodes[SHARD_MAX_SUBTREES])
{
    uint32_t first = shard_first(rank, size, shards), end = shard_first(rank + 1, size, shards);
    size_t count = 0;
    while (first < end) {
        nodes[count] = largest_node(first, end, shards);
        first = nodes[count++].end;
    }
    return count;
}
