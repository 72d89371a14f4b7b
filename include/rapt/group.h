/* rapt/group.h: the processes of a training run on several machines, and the transport of their messages.
 *
 * A group has `size` ranks, each a process (in tests: a thread), which run the same program on the same recipe. Results do not
 * depend on the number of ranks: rapt defines the order of every sum (docs/number-format.md, "Shards"), and a transport only
 * moves bytes.
 */
#ifndef RAPT_GROUP_H
#define RAPT_GROUP_H

#include "rapt/base.h"
#include "rapt/defaults.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A message layer: point-to-point messages, which arrive in the order of sending for each (sender, tag). One thread calls all of
 * its functions, `open` first and `close` last; only `abort` may come from another thread, if the first one does not return from
 * a call. It can be built on MPI or on anything with these semantics. */
typedef struct rapt_transport {
    void *context;
    /* Joins the group; sets *rank, the rank of this process (0 .. size - 1), and *size, the size of the group. */
    rapt_code (*open)(void *context, int *rank, int *size, rapt_error *err);
    /* Begins to send `bytes` bytes (at most RAPT_TRANSPORT_MAX) to a rank, or to receive exactly as many from it; tag is 0 ..
     * 32767. The caller leaves the memory alone until the request is done. *request becomes a number >= 0 for `test`. */
    rapt_code (*send)(void *context, int rank, int tag, const void *data, size_t bytes, int *request, rapt_error *err);
    rapt_code (*receive)(void *context, int rank, int tag, void *data, size_t bytes, int *request, rapt_error *err);
    /* Whether a request is done, without waiting; if so, its number is free again. Makes progress on all requests. */
    rapt_code (*test)(void *context, int request, bool *done, rapt_error *err);
    /* Called to make progress while no request is open. */
    void (*progress)(void *context);
    /* Ends the processes of all ranks, including this one, with an exit status; does not return if that is possible. */
    void (*abort)(void *context, int status);
    /* Leaves the group; all ranks call it. */
    void (*close)(void *context);
    const char *name; /* "Open MPI 4.1.4"; borrowed; set before `open` returns */
} rapt_transport;

#define RAPT_TRANSPORT_MAX ((size_t)1 << 30) /* bytes of a message */

typedef struct rapt_group rapt_group;

typedef struct rapt_group_options {
    size_t size;         /* of this struct; set by rapt_group_options_default */
    double wait;         /* seconds without a sign of life from a rank until the group fails on all others, above 0 */
    int launched;        /* number of ranks that the launcher announced, or 0: if the transport finds fewer, rapt_group_new
                            fails */
    uint8_t reserved[4]; /* zeros, or else refused */
} rapt_group_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_group_options_init(rapt_group_options *o, size_t size);
/* wait 300, launched 0. */
static inline rapt_group_options rapt_group_options_default(void)
{
    rapt_group_options o;
    rapt_group_options_init(&o, sizeof o);
    return o;
}

/* Starts the communication thread, which opens the transport; all ranks call it. `options` may be NULL. The transport's context
 * must outlive the group. NULL with `err` set: out of memory, options without a size or out of range or fewer ranks than
 * announced (RAPT_ERR_VALUE), or the transport's failure. */
RAPT_API rapt_group *rapt_group_new(const rapt_transport *transport, const rapt_group_options *options, rapt_error *err);
/* Leaves the group and frees it; all ranks call it, after the same calls. A group that has failed is only freed: its transport is
 * not closed. NULL is fine. */
RAPT_API void rapt_group_free(rapt_group *g);
/* Ends all ranks because this one has failed: calls the transport's abort, then frees the group without waiting for any rank. If
 * the transport cannot end this process, it returns after at most ten seconds, and the caller must end the process. NULL is
 * fine. */
RAPT_API void rapt_group_abort(rapt_group *g, int status);

RAPT_API int rapt_group_rank(const rapt_group *g);
RAPT_API int rapt_group_size(const rapt_group *g);

/* `size` transports between threads of this process, one for each rank, for tests and experiments. The caller frees them with
 * rapt_group_local_free after all groups are freed. NULL with `err` set: out of memory, or a size below 1. */
RAPT_API rapt_transport *rapt_group_local(int size, rapt_error *err);
RAPT_API void rapt_group_local_free(rapt_transport *transports);

#ifdef __cplusplus
}
#endif

#endif
