/* group/pairwise.c: the sum of a bucket for any number of ranks and shards. Each rank sends each of its subtrees' sums of a range
 * to the rank that owns the range, which keeps all of them and adds them in the order of the tree. If ranks have several
 * subtrees, this moves more bytes than halving.c. */
#include "group/operation.h"

#include <string.h>

/* At the beginning of the scratch memory: the subtrees of all ranks in order, rank r's from starts[r] on, and after the starts
 * the max number of subtrees of a rank. */
typedef struct pairwise_table {
    shard_node *nodes;
    uint32_t *starts;
    uint32_t most;
    char *pieces; /* this rank's range of each node */
} pairwise_table;

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t count_nodes(const group_op *op)
{
    shard_node unused[SHARD_MAX_SUBTREES];
    size_t count = 0;
    for (int r = 0; r < op->size; r++)
        count += shard_subtrees(r, op->size, op->shards, unused);
    return count;
}

static size_t own_bytes(const group_op *op)
{
    int range = group_range(op->rank, op->size);
    return operation_at(op, range + 1) - operation_at(op, range);
}

static size_t table_bytes(const group_op *op, size_t nodes)
{
    return whole_lines(((size_t)op->size + 2) * sizeof(uint32_t) + nodes * sizeof(shard_node));
}

static pairwise_table find_table(const group_op *op)
{
    pairwise_table t = {.starts = (uint32_t *)op->scratch};
    t.nodes = (shard_node *)(t.starts + op->size + 2);
    t.most = t.starts[op->size + 1];
    t.pieces = op->scratch + table_bytes(op, t.starts[op->size]);
    return t;
}

static void fill_pairwise_table(group_op *op)
{
    shard_node subtrees[SHARD_MAX_SUBTREES];
    uint32_t *starts = (uint32_t *)op->scratch;
    shard_node *nodes = (shard_node *)(starts + op->size + 2);
    starts[0] = starts[op->size + 1] = 0;
    uint32_t *most = starts + op->size + 1;
    for (int r = 0; r < op->size; r++) {
        uint32_t count = (uint32_t)shard_subtrees(r, op->size, op->shards, subtrees);
        memcpy(nodes + starts[r], subtrees, count * sizeof *nodes);
        starts[r + 1] = starts[r] + count;
        *most = count > *most ? count : *most;
    }
}

static uint32_t subtrees_of(const pairwise_table *t, int rank)
{
    return t->starts[rank + 1] - t->starts[rank];
}

/* The memory of a node's sum over this rank's range. */
static rapt_real *piece(const group_op *op, const pairwise_table *t, uint32_t node)
{
    uint32_t first = t->starts[op->rank];
    if (node >= first && node < t->starts[op->rank + 1])
        return op->parts[node - first] + operation_at(op, group_range(op->rank, op->size)) / op->size_of;
    return (rapt_real *)(t->pieces + node * whole_lines(own_bytes(op)));
}

static int peer_at(const group_op *op, const operation_cursor *at, bool receives)
{
    return (op->rank + (receives ? op->size - at->distance : at->distance)) % op->size;
}

/* Opens the transfer at the cursor; false: it must wait for another one to end. The cursor goes through ranks faster than through
 * subtrees, so that successive transfers have different ranks; both sides use the same order. */
static bool open_piece(group_op *op, const pairwise_table *t, const operation_cursor *at, bool receives)
{
    int peer = peer_at(op, at, receives);
    if (at->subtree >= subtrees_of(t, receives ? peer : op->rank))
        return true;
    if (!operation_has_room(op, receives, peer))
        return false;
    if (receives) {
        operation_move(op, true, peer, piece(op, t, t->starts[peer] + at->subtree), own_bytes(op));
    } else {
        int range = group_range(peer, op->size);
        size_t from = operation_at(op, range);
        operation_move(op, false, peer, (char *)op->parts[at->subtree] + from, operation_at(op, range + 1) - from);
    }
    return true;
}

/* Opens as many transfers as possible in one direction. */
static void open_pieces(group_op *op, const pairwise_table *t, operation_cursor *at, bool receives)
{
    while (at->subtree < t->most && open_piece(op, t, at, receives))
        if (++at->distance >= op->size)
            *at = (operation_cursor){at->subtree + 1, 1};
}

/* Computes the sum of a node; `next`, the first of its subtrees, moves past its last. */
static rapt_real *sum_node(const group_op *op, const pairwise_table *t, shard_node n, uint32_t *next, rapt_real *to)
{
    shard_node at = t->nodes[*next];
    if (at.first == n.first && at.end == n.end)
        return piece(op, t, (*next)++);
    uint32_t middle = shard_split(n);
    rapt_real *left = sum_node(op, t, (shard_node){n.first, middle}, next, NULL);
    rapt_real *right = sum_node(op, t, (shard_node){middle, n.end}, next, NULL);
    to = to ? to : left;
    op->add(own_bytes(op) / op->size_of, left, right, to);
    return to;
}

static void pairwise_advance(group_op *op)
{
    if (op->round == 0) {
        fill_pairwise_table(op);
        op->sends = op->receives = (operation_cursor){0, 1};
        op->round = 1;
    }
    pairwise_table t = find_table(op);
    open_pieces(op, &t, &op->receives, true);
    open_pieces(op, &t, &op->sends, false);
    if (op->open > 0)
        return;
    uint32_t next = 0;
    if (own_bytes(op) > 0)
        sum_node(op, &t, (shard_node){0, op->shards}, &next, piece(op, &t, t.starts[op->rank]));
}

void pairwise_prepare(group_op *op)
{
    size_t nodes = count_nodes(op);
    op->advance = pairwise_advance;
    op->scratch_bytes = table_bytes(op, nodes) + nodes * whole_lines(own_bytes(op));
}
