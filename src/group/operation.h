/* group/operation.h (inside this folder): an operation of a group as a state machine. rank_exchange.c advances it; the algorithms
 * (halving.c, pairwise.c, gather.c, broadcast_ranks.c) say what is moved next. */
#ifndef GROUP_OPERATION_H
#define GROUP_OPERATION_H

#include "group/group_ops.h"
#include "group/shard_tree.h"

#include <stdatomic.h>

#define OPERATION_TRANSFERS 16 /* max open transfers of an operation */

/* Up to two spans of memory, in order, to one rank or from it. Each is divided into messages of a portion. */
typedef struct transfer {
    bool open, receives;
    int peer;
    int request; /* the transport's request for the message in flight; -1: none */
    char *data[2];
    size_t bytes[2]; /* that are still to be moved, the message under way included */
    size_t message;  /* bytes of the message under way */
} transfer;

typedef void operation_add_fn(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y);

/* Called when an operation begins, and whenever one of its transfers has ended: opens the transfers that can begin now. If none
 * is open afterwards, the operation is done. */
typedef void operation_advance_fn(group_op *op);

/* A rank's place in a sequence of pieces: the k-th subtree of the rank at this distance. */
typedef struct operation_cursor {
    uint32_t subtree;
    int distance;
} operation_cursor;

struct group_op {
    operation_advance_fn *advance;
    int rank, size;
    bool small; /* begins at once, whatever else is in flight */
    /* the data that are moved */
    const size_t *bounds;    /* bounds of ranges, in elements; NULL: range i is element i */
    size_t size_of;          /* bytes of an element */
    char *data;              /* gather, broadcast, collect */
    rapt_real *const *parts; /* reduce */
    uint32_t shards;         /* reduce */
    size_t bytes;            /* broadcast */
    int root;                /* broadcast */
    bool natural;            /* gather: range i is rank i's */
    /* set by rank_exchange.c when the operation begins */
    operation_add_fn *add;
    size_t scratch_bytes;
    char *scratch;
    int tag;
    transfer transfers[OPERATION_TRANSFERS];
    int open;
    size_t round;
    operation_cursor sends, receives;
    group_op *next;   /* of a list */
    atomic_bool done; /* no other thread reads or writes the operation any more */
};

/* The first byte of range i; i == size: the end of the last. */
static inline size_t operation_at(const group_op *op, int i)
{
    return (op->bounds ? op->bounds[i] : (size_t)i) * op->size_of;
}

/* Opens a transfer; does nothing for 0 bytes. At most OPERATION_TRANSFERS are open, and at most one for each direction and rank,
 * because messages with the same tag are told apart only by their order. */
void operation_move(group_op *op, bool receives, int peer, void *data, size_t bytes);
/* operation_move with a second span of memory. */
void operation_move_two(group_op *op, bool receives, int peer, void *data, size_t bytes, void *more, size_t more_bytes);
/* Whether another transfer from (or to) this rank can be opened. */
bool operation_has_room(const group_op *op, bool receives, int peer);

/* ---- algorithms: each fills an operation that holds rank, size and what it moves ------------------------------ */
void halving_prepare(group_op *op);  /* reduce: size and shards powers of two */
void pairwise_prepare(group_op *op); /* reduce: any */
void gather_prepare(group_op *op);
void collect_prepare(group_op *op);
void broadcast_prepare(group_op *op);

#endif
