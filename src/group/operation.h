/* group/operation.h (inside this folder): an operation of a group as a state machine. The exchange (rank_exchange.c) carries it
 * on; the algorithms (halving.c, pairwise.c, gather.c, broadcast_ranks.c) say what is to be moved next. */
#ifndef GROUP_OPERATION_H
#define GROUP_OPERATION_H

#include "group/group_ops.h"
#include "group/shard_tree.h"

#include <stdatomic.h>

#define OPERATION_TRANSFERS 16 /* open at once, of one operation */

/* Up to two stretches of memory, in their order, to one rank or from it. Each is cut into messages of a portion. */
typedef struct transfer {
    bool open, receives;
    int peer;
    int request; /* the transport's, of the message under way; -1: none */
    char *data[2];
    size_t bytes[2]; /* that are still to be moved, the message under way included */
    size_t message;  /* bytes of the message under way */
} transfer;

typedef void operation_add_fn(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y);

/* Called when an operation begins, and whenever one of its transfers has ended: opens those that can begin now. If none is open
 * afterwards the operation is done. */
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
    /* what is moved */
    const size_t *bounds;    /* of ranges, in elements; NULL: range i is element i */
    size_t size_of;          /* bytes of an element */
    char *data;              /* gather, broadcast, collect */
    rapt_real *const *parts; /* reduce */
    uint32_t shards;         /* reduce */
    size_t bytes;            /* broadcast */
    int root;                /* broadcast */
    bool natural;            /* gather: range i is rank i's */
    /* from its beginning on: the exchange's */
    operation_add_fn *add;
    size_t scratch_bytes;
    char *scratch;
    int tag;
    transfer transfers[OPERATION_TRANSFERS];
    int open;
    size_t round;
    operation_cursor sends, receives;
    group_op *next;   /* of a list */
    atomic_bool done; /* nothing of it is read or written any more, by any other thread */
};

/* The first byte of range i; i == size: the end of the last. */
static inline size_t operation_at(const group_op *op, int i)
{
    return (op->bounds ? op->bounds[i] : (size_t)i) * op->size_of;
}

/* Opens a transfer; one of no bytes is none. At most OPERATION_TRANSFERS are open, of one direction and rank at most one, since
 * messages of one tag are told apart by their order only. */
void operation_move(group_op *op, bool receives, int peer, void *data, size_t bytes);
/* The same with a second stretch of memory. */
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
