/* group/group_ops.h: what the ranks of a group do together: sums, gathers, and small operations. For src/train and the program's
 * benchmark; rank_exchange.h moves the data.
 *
 * All ranks begin the same operations in the same order; they may wait for them in any order. The communication thread advances a
 * few operations at a time; the others are queued in order. A failure belongs to the group and stays: every later call fails with
 * it. The memory of operations that were not waited for stays in use until group_halt, rapt_group_abort or rapt_group_free. */
#ifndef GROUP_GROUP_OPS_H
#define GROUP_GROUP_OPS_H

#include "rapt/group.h"

typedef struct group_op group_op;

/* The rank that owns range i (of `size` ranges) of a bucket: if size is a power of two, the rank with the bits of i reversed, so
 * that halves are first swapped with the nearest rank; else rank i. group_range is its inverse. */
int group_owner(int range, int size);
int group_range(int rank, int size);

/* The sum over all shards of a bucket of elements. parts[k]: this rank's sum over its k-th subtree (shard_subtrees),
 * [bounds[size]] elements each, which the operation may overwrite; parts[0] holds the sum over the whole tree in this rank's own
 * range when it is done: elements bounds[i] .. bounds[i + 1] - 1, i = group_range(rank, size). `bounds` [size + 1], ascending
 * from 0, and parts are borrowed until then. `size` <= shards. NULL with `err` set: out of memory, or the group has failed. */
group_op *group_reduce(rapt_group *g, uint32_t shards, const size_t *bounds, rapt_real *const *parts, rapt_error *err);
/* All ranges of `data` from their owners, in place; `size_of` bytes an element. Memory and result as above. */
group_op *group_gather(rapt_group *g, void *data, const size_t *bounds, size_t size_of, rapt_error *err);
/* Waits until it is done, and frees it. */
rapt_code group_wait(rapt_group *g, group_op *op, rapt_error *err);
/* Whether the operation is done, so that group_wait would return at once. */
bool group_done(const group_op *op);
/* Drops all operations, so that their memory can be freed, for a rank that fails with operations in flight. The group has then
 * failed with the caller's `err`, and only rapt_group_abort is allowed. Operations need not be waited for any more, and must not
 * be used. False: the communication thread has not returned from a call of the message layer, which may still read and write
 * memory of operations: that memory must stay allocated until the process ends. A later call tells whether it has returned. */
bool group_halt(rapt_group *g);

/* Whether the group has failed: a rank does not answer, the transport failed, or group_halt was called. A failure on which ranks
 * agree is not a failure of the group. */
bool group_broken(const rapt_group *g);

/* ---- small ones: they wait until they are done, and pass those in flight ------------------------------------------- */
/* Gathers `mine` of all ranks: rank r's is at all[r * bytes]. */
rapt_code group_share(rapt_group *g, const void *mine, size_t bytes, void *all, rapt_error *err);
/* group_share with unequal sizes: *all (the caller frees it) has the ranks' data one after the other, sizes[r] bytes each. */
rapt_code group_share_all(rapt_group *g, const void *mine, size_t bytes, char **all, size_t *sizes, rapt_error *err);
/* `data` of rank `root` to all; any number of bytes, the same on every rank. */
rapt_code group_broadcast(rapt_group *g, int root, void *data, size_t bytes, rapt_error *err);
/* Gathers ranges of `data` from their owners on rank 0, in place; on other ranks `data` is only read. */
rapt_code group_collect(rapt_group *g, void *data, const size_t *bounds, size_t size_of, rapt_error *err);
/* Agrees whether all ranks have succeeded; `code`, with `err`, is this rank's result. If any has failed, every rank returns the
 * code of the lowest such rank, and `err` becomes "rank R on HOST: MESSAGE", even if it held this rank's own message. The group
 * stays usable. A failure of the group replaces RAPT_OK and RAPT_ERR_INTERRUPTED. */
rapt_code group_agree(rapt_group *g, rapt_code code, rapt_error *err);

/* Describes what the group is doing, "step 812", for messages about ranks that do not answer. Copied. */
void group_doing(rapt_group *g, const char *what);
/* The name of a rank's host; the group's. */
const char *group_host(const rapt_group *g, int rank);

typedef struct group_stats {
    double waited;           /* seconds that callers spent in these functions */
    double in_flight;        /* seconds with at least one operation in flight */
    uint64_t sent, received; /* bytes of data */
    uint64_t messages;       /* messages that carried sent data */
} group_stats;

/* Since the group was made. */
group_stats group_statistics(rapt_group *g);

#endif
