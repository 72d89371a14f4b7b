/* rapt/group.h: the processes of a training run on several machines, and what carries their messages.
 *
 * A group has `size` ranks, each a process (in tests: a thread), which run the same program on the same recipe. What a run
 * computes does not depend on how many there are: the order of every sum is rapt's own (docs/number-format.md, "Shards"), and a
 * transport only moves bytes.
 */
#ifndef RAPT_GROUP_H
#define RAPT_GROUP_H

#include "rapt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A message layer: point-to-point messages that arrive in the order of their sending for each (sender, tag). All of its
 * functions are called by one thread, `open` first and `close` last; only `abort` comes from another, where that one does not
 * return from a call. Fill it from MPI, or from anything with these semantics. */
typedef struct rapt_transport {
    void *context;
    /* Joins the group; gives this process' rank (0 .. size - 1) and the group's size. */
    rapt_code (*open)(void *context, int *rank, int *size, rapt_error *err);
    /* Begins to send `bytes` (at most RAPT_TRANSPORT_MAX) to a rank, or to receive exactly as many from it; tag 0 .. 32767. The
     * memory stays as it is until the request is done. *request: a number >= 0 for `test`. */
    rapt_code (*send)(void *context, int rank, int tag, const void *data, size_t bytes, int *request, rapt_error *err);
    rapt_code (*receive)(void *context, int rank, int tag, void *data, size_t bytes, int *request, rapt_error *err);
    /* Whether a request is done, without waiting; then its number is free. Makes progress with all others, too. */
    rapt_code (*test)(void *context, int request, bool *done, rapt_error *err);
    /* Makes progress while no request is open. */
    void (*progress)(void *context);
    /* Ends the processes of all ranks, this one included, with an exit status; does not return where that is possible. */
    void (*abort)(void *context, int status);
    /* Leaves the group: all ranks do. */
    void (*close)(void *context);
    const char *name; /* "Open MPI 4.1.4"; borrowed, set by `open` at the latest */
} rapt_transport;

#define RAPT_TRANSPORT_MAX ((size_t)1 << 30) /* bytes of a message */

typedef struct rapt_group rapt_group;

/* Zeroed: the defaults. */
typedef struct rapt_group_options {
    double wait;  /* seconds without a sign of life from a rank after which the group fails on all others; 0: 300 */
    int launched; /* size that the launcher announced, or 0: RAPT_ERR_VALUE where the transport finds fewer */
} rapt_group_options;

/* Starts the communication thread, which opens the transport; all ranks do. `options` may be NULL. The transport's context must
 * outlive the group. NULL with `err` set: out of memory, fewer ranks than announced, or as the transport says. */
RAPT_API rapt_group *rapt_group_new(const rapt_transport *transport, const rapt_group_options *options, rapt_error *err);
/* Leaves the group and frees it: all ranks do, after the same calls. One that has failed is not left, only freed: the transport
 * is not closed then. NULL is fine. */
RAPT_API void rapt_group_free(rapt_group *g);
/* Ends all ranks because this one has failed: the transport's abort, then rapt_group_free without waiting for anyone. Returns,
 * after ten seconds at most, where the transport cannot end this process; then the caller does. NULL is fine. */
RAPT_API void rapt_group_abort(rapt_group *g, int status);

RAPT_API int rapt_group_rank(const rapt_group *g);
RAPT_API int rapt_group_size(const rapt_group *g);

/* `size` transports between threads of this process, one for each rank: for tests, and for programs that try things out. The
 * caller frees them with rapt_group_local_free after all groups are freed. NULL with `err` set: out of memory, or no rank. */
RAPT_API rapt_transport *rapt_group_local(int size, rapt_error *err);
RAPT_API void rapt_group_local_free(rapt_transport *transports);

#ifdef __cplusplus
}
#endif

#endif
