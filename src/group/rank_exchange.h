/* group/rank_exchange.h: advances the operations of one rank by polling: everything in a group except the thread, the clock and
 * the waiting. For group_thread.c, which has the thread, and for simulations and tests, which poll many ranks in one thread. */
#ifndef GROUP_RANK_EXCHANGE_H
#define GROUP_RANK_EXCHANGE_H

#include "group/operation.h"

/* Operations in flight: fewer leave the network idle while messages of a round begin; more delay the first operation. */
#define EXCHANGE_IN_FLIGHT 6

typedef struct rank_exchange rank_exchange;

/* Zeroed: the defaults. Everything except `in_flight` is for tests and simulations. */
typedef struct rank_exchange_options {
    int in_flight;                     /* max operations in flight, not counting small ones; 0: EXCHANGE_IN_FLIGHT */
    size_t portion;                    /* bytes of a message at most; 0: RAPT_TRANSPORT_MAX */
    operation_add_fn *add;             /* y = a + b; NULL: the kernels' */
    void *(*allocate)(size_t bytes);   /* allocates memory for data that are received before they are added; NULL: memory_aligned
                                          and memory_aligned_free */
    void (*release)(void *memory);
} rank_exchange_options;

typedef struct rank_exchange_counts {
    uint64_t sent, received, messages;
} rank_exchange_counts;

/* Makes an exchange on an open transport. `options` may be NULL. NULL with `err` set: out of memory, or an invalid RAPT_ISA. */
rank_exchange *rank_exchange_new(const rapt_transport *transport, int rank, int size, const rank_exchange_options *options,
                                 rapt_error *err);
/* Operations that are not done stay so. */
void rank_exchange_free(rank_exchange *e);

/* Prepares an operation whose members say what is moved and which is zeroed otherwise. May be called by any thread, before the
 * operation begins. */
void rank_exchange_prepare_reduce(group_op *op);
void rank_exchange_prepare_gather(group_op *op);
void rank_exchange_prepare_collect(group_op *op);
void rank_exchange_prepare_broadcast(group_op *op);

/* Takes over a prepared operation until it is done; all ranks begin the same operations in the same order. */
void rank_exchange_begin(rank_exchange *e, group_op *op);
/* Advances operations as far as possible without waiting. *moved: whether any advanced, so that another poll at once is
 * worthwhile. After a failure the operations are left unfinished, and the exchange must not be used any more. */
rapt_code rank_exchange_poll(rank_exchange *e, bool *moved, rapt_error *err);
/* How many operations are begun and not done. */
size_t rank_exchange_open(const rank_exchange *e);
/* The counts so far, at least of finished operations. May be called by any thread. */
rank_exchange_counts rank_exchange_counted(rank_exchange *e);

#endif
