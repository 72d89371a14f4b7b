/* group/gather.c: gathers all ranges from their owners, on every rank or on one. If the number of ranks is a power of two, this
 * is halving backwards: pairs of ranks swap all that they have, twice as many ranges in each round, and the largest messages go
 * to the nearest rank. Otherwise it is dissemination: rank r sends to r + 2^k the ranges that it has and the other lacks (Bruck
 * and others, "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997). Both send (P - 1)
 * / P of the data, in log2 P rounds. No arithmetic. */
#include "group/operation.h"

static void move_ranges(group_op *op, bool receives, int peer, int first, int count)
{
    size_t from = operation_at(op, first);
    if (first + count <= op->size) {
        operation_move(op, receives, peer, op->data + from, operation_at(op, first + count) - from);
    } else { /* round the end */
        size_t most = operation_at(op, op->size) - from, rest = operation_at(op, first + count - op->size);
        operation_move_two(op, receives, peer, op->data + from, most, op->data, rest);
    }
}

static void double_advance(group_op *op)
{
    int own = op->natural ? op->rank : group_range(op->rank, op->size);
    while (op->open == 0 && 1 << op->round < op->size) {
        int count = 1 << op->round++, other = own ^ count, peer = op->natural ? other : group_owner(other, op->size);
        move_ranges(op, true, peer, other & -count, count);
        move_ranges(op, false, peer, own & -count, count);
    }
}

static void disseminate_advance(group_op *op)
{
    while (op->open == 0 && 1 << op->round < op->size) {
        int distance = 1 << op->round++, count = distance < op->size - distance ? distance : op->size - distance;
        int to = (op->rank + distance) % op->size, from = (op->rank + op->size - distance) % op->size;
        move_ranges(op, true, from, (from - count + 1 + op->size) % op->size, count);
        move_ranges(op, false, to, (op->rank - count + 1 + op->size) % op->size, count);
    }
}

void gather_prepare(group_op *op)
{
    op->advance = op->size & (op->size - 1) ? disseminate_advance : double_advance;
}

/* On rank 0, `round` counts ranges; the others send theirs at once. */
static void collect_advance(group_op *op)
{
    int own = group_range(op->rank, op->size);
    if (op->rank > 0 && op->round++ == 0)
        operation_move(op, false, 0, op->data + operation_at(op, own), operation_at(op, own + 1) - operation_at(op, own));
    while (op->rank == 0 && op->round < (size_t)op->size) {
        int range = (int)op->round, owner = group_owner(range, op->size);
        if (!operation_has_room(op, true, owner))
            return;
        if (range != own)
            operation_move(op, true, owner, op->data + operation_at(op, range),
                           operation_at(op, range + 1) - operation_at(op, range));
        op->round++;
    }
}

void collect_prepare(group_op *op)
{
    op->advance = collect_advance;
}
