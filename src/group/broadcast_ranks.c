/* group/broadcast_ranks.c: sends memory of one rank to all. Short data go along a binomial tree, in log2 P successive messages;
 * long data go from rank to rank in portions, so that every rank sends and receives at the same time and sends each byte once. */
#include "group/operation.h"

#define BROADCAST_PORTION ((size_t)1 << 20)
#define BROADCAST_SHORT ((size_t)1 << 16) /* bytes that go along the tree */

/* The rank that is `place` places after the root. */
static int rank_at(const group_op *op, int place)
{
    return (op->root + place) % op->size;
}

static size_t portion_bytes(const group_op *op, size_t portion)
{
    size_t from = portion * BROADCAST_PORTION, left = op->bytes - from;
    return left < BROADCAST_PORTION ? left : BROADCAST_PORTION;
}

static void send_on(group_op *op, int place, size_t portion)
{
    char *data = op->data + portion * BROADCAST_PORTION;
    int lowest = place ? place & -place : op->size;
    if (op->bytes > BROADCAST_SHORT) {
        if (place + 1 < op->size)
            operation_move(op, false, rank_at(op, place + 1), data, portion_bytes(op, portion));
        return;
    }
    for (int step = 1 << 14; step > 0; step /= 2)
        if (step < lowest && place + step < op->size)
            operation_move(op, false, rank_at(op, place + step), data, portion_bytes(op, portion));
}

/* Round i receives portion i and sends portion i - 1; the root has all of them. */
static void broadcast_advance(group_op *op)
{
    size_t portions = (op->bytes + BROADCAST_PORTION - 1) / BROADCAST_PORTION;
    int place = (op->rank - op->root + op->size) % op->size;
    int parent = op->bytes > BROADCAST_SHORT ? place - 1 : place & (place - 1);
    for (; op->open == 0 && op->round <= portions; op->round++) {
        if (place > 0 && op->round < portions)
            operation_move(op, true, rank_at(op, parent), op->data + op->round * BROADCAST_PORTION,
                           portion_bytes(op, op->round));
        if (op->round > 0)
            send_on(op, place, op->round - 1);
    }
}

void broadcast_prepare(group_op *op)
{
    op->advance = broadcast_advance;
}
