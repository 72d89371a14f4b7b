/* group/group_core.h (inside this folder): the struct of a group, which its owner's thread and its communication thread share.
 * For group.c, group_thread.c, group_wait.c and group_small.c. */
#ifndef GROUP_GROUP_CORE_H
#define GROUP_GROUP_CORE_H

#include "rapt/group.h"

#include "base/thread.h"
#include "group/rank_exchange.h"

/* The defaults, for the function that makes options, and for tests, which write other members behind them. */
#define GROUP_DEFAULTS .size = sizeof(rapt_group_options), .wait = 300

/* ---- heartbeat.c: tells which ranks live. Each rank counts its messages, and sends a message to a few others now and then
 * (every `wait` / 32, at most a second) with the newest count that it knows for every rank, so that news about a rank reach all
 * in log2 P messages. A rank whose process is stopped, has died or is disconnected is lost for all others within the time of 2
 * log2 P messages after `wait`; a rank that only computes, or writes a file, is not. For the communication thread
 * (group_thread.c), which polls it; it has no thread of its own and takes the time from its caller. */

#define HEARTBEAT_TAG 32767

typedef struct heartbeat heartbeat;

/* A rank counts as lost if nothing new is heard from it for `wait` seconds. `now`: seconds of any clock. NULL: out of memory. */
heartbeat *heartbeat_new(const rapt_transport *transport, int rank, int size, double wait, double now, rapt_error *err);
void heartbeat_free(heartbeat *h);
/* Sends and receives what is due, without waiting. Returns a failure of the transport, or RAPT_OK. */
rapt_code heartbeat_poll(heartbeat *h, double now, rapt_error *err);
/* The rank that has been silent longest, if it is lost, and the number of other lost ranks; else -1. */
int heartbeat_lost(const heartbeat *h, double now, int *others);
/* Ends it, when all ranks do: to be polled until it is true; no message is under way then. */
void heartbeat_leave(heartbeat *h);
bool heartbeat_left(const heartbeat *h);
/* Seconds until heartbeat_poll has something to do. */
double heartbeat_pause(const heartbeat *h);

/* ---- group.c: the group */

#define GROUP_HOST 64           /* bytes of a host's name */
#define GROUP_ABORT_SECONDS 5.0 /* time for the thread to return from a call of the transport */

/* What the communication thread must do; each value includes the earlier ones. */
typedef enum group_wish { GROUP_WORK, GROUP_HALT, GROUP_LEAVE, GROUP_ABORT } group_wish;

struct rapt_group {
    rapt_transport transport;
    double wait;
    int launched;
    int rank, size; /* fixed once the transport is open */
    thread_handle thread;
    rank_exchange *exchange; /* belongs to the communication thread, except its counts */
    heartbeat *beat;    /* the communication thread's */
    int32_t *codes; /* [size]: shared by group_agree; belongs to the owner */
    atomic_bool failed;   /* `failure` holds why, and stays */
    atomic_ullong turns;  /* turns of the communication thread so far */

    thread_mutex mutex;    /* guards everything below */
    thread_condition wake; /* wakes the communication thread: there is something to do */
    thread_condition news; /* wakes the owner's thread: an operation is done, or the state has changed */
    group_wish wish;
    int status;              /* of an abort */
    bool opened;             /* or has failed to */
    bool halted;             /* the communication thread touches no operation any more */
    bool aborting;           /* the transport's abort was called */
    bool ended;              /* the thread is at its end */
    rapt_error failure;
    group_op *submitted;     /* not begun yet */
    group_op *spare;         /* not used */
    group_op **made;         /* all operations, used or not */
    size_t made_count, made_capacity;
    char doing[64];
    char (*hosts)[GROUP_HOST]; /* [size]; NULL until all have told theirs */
    double waited, in_flight; /* for group_stats */
};

/* ---- group_thread.c ---- */
void *group_thread_main(void *group);
/* Records why the group has failed, unless a failure is recorded, and wakes threads that wait. Must not be called with the mutex
 * held. */
void group_thread_fail(rapt_group *g, const rapt_error *why);

/* ---- group_wait.c ---- */
/* Waits for something to happen, with the mutex held. False: the monotonic clock has passed `until`. */
bool group_wait_news(rapt_group *g, double until);
/* Why the group has failed, or RAPT_OK. */
rapt_code group_failure(rapt_group *g, rapt_error *err);
/* An operation to fill in, NULL: out of memory, or the group has failed. */
group_op *group_new_op(rapt_group *g, rapt_error *err);
/* Hands a prepared operation to the communication thread. */
group_op *group_submit(rapt_group *g, group_op *op);

#endif
