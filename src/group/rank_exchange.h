/* group/rank_exchange.h: carries the operations of one rank on, by polling: all that a group does but a thread, a clock and
 * waiting. For group_thread.c, which has the thread; for simulations and tests, which poll many ranks in one. */
#ifndef GROUP_RANK_EXCHANGE_H
#define GROUP_RANK_EXCHANGE_H

#include "group/operation.h"

/* Operations at once: fewer leave the wire idle while messages of a round begin; more delay the first. */
#define EXCHANGE_IN_FLIGHT 6

typedef struct rank_exchange rank_exchange;

/* Zeroed: the defaults. Anything but `in_flight` is for tests and simulations. */
typedef struct rank_exchange_options {
    int in_flight;                     /* operations at once, small ones not counted; 0: EXCHANGE_IN_FLIGHT */
    size_t portion;                    /* bytes of a message at most; 0: RAPT_TRANSPORT_MAX */
    operation_add_fn *add;             /* y = a + b; NULL: the kernels' */
    void *(*allocate)(size_t bytes);   /* memory for what is received before it is added; NULL: aligned_alloc and free */
    void (*release)(void *memory);
} rank_exchange_options;

typedef struct rank_exchange_counts {
    uint64_t sent, received, messages;
} rank_exchange_counts;

/* Of a transport that is open. `options` may be NULL. NULL with `err` set: out of memory, or an RAPT_ISA that is none. */
rank_exchange *rank_exchange_new(const rapt_transport *transport, int rank, int size, const rank_exchange_options *options,
                                 rapt_error *err);
/* Operations that are not done stay so. */
void rank_exchange_free(rank_exchange *e);

/* Makes an operation of a zeroed one whose fields say what is moved. Any thread may, before it is begun. */
void rank_exchange_prepare_reduce(group_op *op);
void rank_exchange_prepare_gather(group_op *op);
void rank_exchange_prepare_collect(group_op *op);
void rank_exchange_prepare_broadcast(group_op *op);

/* Takes a prepared operation over, until it is done; all ranks begin the same ones in the same order. */
void rank_exchange_begin(rank_exchange *e, group_op *op);
/* Carries on what can be without waiting. *moved: whether anything could, so that it is worth to come again at once. A failure
 * leaves operations as they are; the exchange is no good then. */
rapt_code rank_exchange_poll(rank_exchange *e, bool *moved, rapt_error *err);
/* How many operations are begun and not done. */
size_t rank_exchange_open(const rank_exchange *e);
/* So far; of what is done at least. Any thread may ask. */
rank_exchange_counts rank_exchange_counted(rank_exchange *e);

#endif
