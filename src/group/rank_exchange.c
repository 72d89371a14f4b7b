/* group/rank_exchange.c: advances operations in the order of their beginning, a few at a time, so that later operations do not
 * slow down the first, which is needed first. It knows no algorithm (operation.h). */
#include "group/rank_exchange.h"

#include "base/memory.h"
#include "kernels/kernels.h"

#include <stdlib.h>

#define EXCHANGE_TAGS 32767 /* one operation, one tag; the last tag is left to the heartbeat */

/* Memory for what an operation receives before it is added; kept for the next one. */
typedef struct exchange_slot {
    const group_op *user;
    char *memory;
    size_t bytes;
} exchange_slot;

struct rank_exchange {
    rapt_transport transport;
    rank_exchange_options options;
    int rank, size;
    group_op *running, *queued; /* in the order of their beginning */
    int in_flight;              /* operations in `running`, without small ones */
    size_t open;
    uint32_t sequence;
    atomic_ullong sent, received, messages; /* counted by the thread that polls, read by any */
    exchange_slot slots[];
};

static void *allocate_aligned(size_t bytes)
{
    return memory_aligned(64, (bytes + 63) / 64 * 64);
}

rank_exchange *rank_exchange_new(const rapt_transport *transport, int rank, int size, const rank_exchange_options *options,
                                 rapt_error *err)
{
    rank_exchange_options o = options ? *options : (rank_exchange_options){0};
    const kernels *k = kernels_active(err);
    if (!k)
        return NULL;
    o.in_flight = o.in_flight ? o.in_flight : EXCHANGE_IN_FLIGHT;
    o.portion = o.portion ? o.portion : RAPT_TRANSPORT_MAX;
    o.add = o.add ? o.add : k->add;
    o.release = o.allocate ? o.release : memory_aligned_free;
    o.allocate = o.allocate ? o.allocate : allocate_aligned;
    rank_exchange *e = calloc(1, sizeof *e + (size_t)o.in_flight * sizeof e->slots[0]);
    if (!e) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the exchange of %d ranks", size);
        return NULL;
    }
    e->transport = *transport;
    e->options = o;
    e->rank = rank;
    e->size = size;
    return e;
}

void rank_exchange_free(rank_exchange *e)
{
    for (int i = 0; e && i < e->options.in_flight; i++)
        if (e->slots[i].memory)
            e->options.release(e->slots[i].memory);
    free(e);
}

/* ---- operations ------------------------------------------------------------------------------------------- */

static bool power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Halving needs a tree whose nodes are the ranks' at every level: a perfect one. */
void rank_exchange_prepare_reduce(group_op *op)
{
    op->size_of = sizeof(rapt_real);
    if (op->size == 1 || (power_of_two((uint32_t)op->size) && power_of_two(op->shards)))
        halving_prepare(op);
    else
        pairwise_prepare(op);
}

void rank_exchange_prepare_gather(group_op *op)
{
    gather_prepare(op);
}

void rank_exchange_prepare_collect(group_op *op)
{
    collect_prepare(op);
}

void rank_exchange_prepare_broadcast(group_op *op)
{
    broadcast_prepare(op);
}

static void append_op(group_op **list, group_op *op)
{
    while (*list)
        list = &(*list)->next;
    *list = op;
    op->next = NULL;
}

void rank_exchange_begin(rank_exchange *e, group_op *op)
{
    op->add = e->options.add;
    op->tag = (int)(e->sequence++ % EXCHANGE_TAGS);
    append_op(&e->queued, op);
    e->open++;
}

/* Scratch memory of at least the bytes that the operation needs: the largest free slot, enlarged if it is too small. */
static rapt_code take_slot(rank_exchange *e, group_op *op, rapt_error *err)
{
    exchange_slot *slot = NULL;
    if (op->scratch_bytes == 0)
        return RAPT_OK;
    for (int i = 0; i < e->options.in_flight; i++)
        if (!e->slots[i].user && (!slot || e->slots[i].bytes > slot->bytes))
            slot = &e->slots[i];
    if (slot->bytes < op->scratch_bytes) {
        if (slot->memory)
            e->options.release(slot->memory);
        slot->memory = e->options.allocate(op->scratch_bytes);
        slot->bytes = slot->memory ? op->scratch_bytes : 0;
        if (!slot->memory)
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu bytes of gradients from other ranks",
                             op->scratch_bytes);
    }
    slot->user = op;
    op->scratch = slot->memory;
    return RAPT_OK;
}

static void leave_slot(rank_exchange *e, const group_op *op)
{
    for (int i = 0; i < e->options.in_flight; i++)
        if (e->slots[i].user == op)
            e->slots[i].user = NULL;
}

/* Begins queued operations: all small ones, and others while few are in flight. */
static rapt_code begin_queued(rank_exchange *e, bool *moved, rapt_error *err)
{
    for (group_op **at = &e->queued; *at;) {
        group_op *op = *at;
        if (!op->small && e->in_flight >= e->options.in_flight) {
            at = &op->next;
            continue;
        }
        rapt_code code = take_slot(e, op, err);
        if (code != RAPT_OK)
            return code;
        *at = op->next;
        append_op(&e->running, op);
        e->in_flight += !op->small;
        op->advance(op);
        *moved = true;
    }
    return RAPT_OK;
}

/* ---- transfers -------------------------------------------------------------------------------------------- */

/* Begins the next message of a transfer that has none in flight. */
static rapt_code begin_message(rank_exchange *e, const group_op *op, transfer *t, rapt_error *err)
{
    int part = t->bytes[0] == 0;
    const rapt_transport *by = &e->transport;
    t->message = t->bytes[part] < e->options.portion ? t->bytes[part] : e->options.portion;
    if (t->receives)
        return by->receive(by->context, t->peer, op->tag, t->data[part], t->message, &t->request, err);
    atomic_fetch_add_explicit(&e->messages, 1, memory_order_relaxed);
    return by->send(by->context, t->peer, op->tag, t->data[part], t->message, &t->request, err);
}

/* Ends a message that has arrived, or was sent. */
static void end_message(rank_exchange *e, group_op *op, transfer *t)
{
    int part = t->bytes[0] == 0;
    atomic_fetch_add_explicit(t->receives ? &e->received : &e->sent, t->message, memory_order_relaxed);
    t->data[part] += t->message;
    t->bytes[part] -= t->message;
    t->request = -1;
    if (t->bytes[0] + t->bytes[1] == 0) {
        t->open = false;
        op->open--;
    }
}

static rapt_code carry_transfer(rank_exchange *e, group_op *op, transfer *t, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    bool done = t->request >= 0;
    if (done)
        code = e->transport.test(e->transport.context, t->request, &done, err);
    if (code == RAPT_OK && done)
        end_message(e, op, t);
    if (code == RAPT_OK && t->open && t->request < 0)
        code = begin_message(e, op, t, err);
    return code;
}

/* Advances an operation until none of its messages ends at once. */
static rapt_code carry_operation(rank_exchange *e, group_op *op, bool *moved, rapt_error *err)
{
    for (int open = -1; op->open > 0 && open != op->open;) {
        open = op->open;
        for (int i = 0; i < OPERATION_TRANSFERS; i++) {
            transfer *t = &op->transfers[i];
            size_t left = t->bytes[0] + t->bytes[1];
            rapt_code code = t->open ? carry_transfer(e, op, t, err) : RAPT_OK;
            if (code != RAPT_OK)
                return code;
            *moved = *moved || left != t->bytes[0] + t->bytes[1];
        }
        if (open != op->open) {
            op->advance(op);
            open = -1;
        }
    }
    return RAPT_OK;
}

rapt_code rank_exchange_poll(rank_exchange *e, bool *moved, rapt_error *err)
{
    *moved = false;
    rapt_code code = begin_queued(e, moved, err);
    for (group_op **at = &e->running; *at && code == RAPT_OK;) {
        group_op *op = *at;
        code = carry_operation(e, op, moved, err);
        if (code != RAPT_OK || op->open > 0) {
            at = &op->next;
            continue;
        }
        *at = op->next;
        leave_slot(e, op);
        e->in_flight -= !op->small;
        e->open--;
        *moved = true;
        atomic_store_explicit(&op->done, true, memory_order_release); /* its owner may free it now */
    }
    return code;
}

size_t rank_exchange_open(const rank_exchange *e)
{
    return e->open;
}

rank_exchange_counts rank_exchange_counted(rank_exchange *e)
{
    return (rank_exchange_counts){atomic_load(&e->sent), atomic_load(&e->received), atomic_load(&e->messages)};
}
