/* group/group_ops.h: what the ranks of a group do together: sums, gathers, and small exchanges. For src/train and the program's
 * benchmark; what it moves and in which steps is in rank_exchange.h.
 *
 * All ranks begin the same operations in the same order; they may wait for them in any. The communication thread carries them
 * on: a few at a time, the others queued in order. A failure is the group's and sticks: every later call fails with it. The
 * memory of operations that were not waited for stays in use until group_halt, rapt_group_abort or rapt_group_free. */
#ifndef GROUP_GROUP_OPS_H
#define GROUP_GROUP_OPS_H

#include "rapt/group.h"

typedef struct group_op group_op;

/* Which rank owns range i (of `size` ranges) of a bucket: the rank with the bits of i reversed where size is a power of two,
 * so that halves are exchanged with the nearest rank first; else rank i. group_range is its inverse. */
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
/* Whether group_wait would return at once. */
bool group_done(const group_op *op);
/* Drops all operations, so that their memory can be freed: the group has failed then with `err` of the caller, and is only good
 * for rapt_group_abort. For a rank that fails with operations in flight. Operations need not be waited for any more, and must
 * not be used. False: the communication thread has not returned from a call of the message layer, which may still read and write
 * memory of operations; it is to be left allocated, until the process ends. A later call tells whether it has returned. */
bool group_halt(rapt_group *g);

/* Whether it has failed: a rank does not answer, the transport failed, or group_halt. What ranks agree on is no failure of the
 * group. */
bool group_broken(const rapt_group *g);

/* ---- small ones: they wait until they are done, and pass those in flight ------------------------------------------- */
/* all[r * bytes ..]: what rank r gave as `mine`. */
rapt_code group_share(rapt_group *g, const void *mine, size_t bytes, void *all, rapt_error *err);
/* The same of unequal sizes: *all (the caller frees it) has the ranks' one after the other, sizes[r] bytes each. */
rapt_code group_share_all(rapt_group *g, const void *mine, size_t bytes, char **all, size_t *sizes, rapt_error *err);
/* `data` of rank `root` to all; any number of bytes, the same on every rank. */
rapt_code group_broadcast(rapt_group *g, int root, void *data, size_t bytes, rapt_error *err);
/* To rank 0 alone: ranges of `data` from their owners, in place there; of others it is only read. */
rapt_code group_collect(rapt_group *g, void *data, const size_t *bounds, size_t size_of, rapt_error *err);
/* Whether all ranks are well: `code`, with `err`, is this rank's. Where one has failed, every rank returns the code of the
 * lowest such rank, and `err` is "rank R on HOST: MESSAGE", also where it held this rank's own message. The group stays good. A
 * failure of the group takes the place of RAPT_OK and of RAPT_ERR_INTERRUPTED. */
rapt_code group_agree(rapt_group *g, rapt_code code, rapt_error *err);

/* What the group is doing, "step 812", for messages about ranks that do not answer. Copied. */
void group_doing(rapt_group *g, const char *what);
/* The name of a rank's host; the group's. */
const char *group_host(const rapt_group *g, int rank);

typedef struct group_stats {
    double waited;           /* seconds that callers spent in these functions */
    double in_flight;        /* seconds with at least one operation in flight */
    uint64_t sent, received; /* bytes of data */
    uint64_t messages;       /* that carried what was sent */
} group_stats;

/* Since the group was made. */
group_stats group_statistics(rapt_group *g);

#endif
