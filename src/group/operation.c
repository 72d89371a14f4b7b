/* group/operation.c: functions that all algorithms need; it sends nothing. */
#include "group/operation.h"

void operation_move_two(group_op *op, bool receives, int peer, void *data, size_t bytes, void *more, size_t more_bytes)
{
    transfer *t = op->transfers;
    if (bytes + more_bytes == 0)
        return;
    while (t->open)
        t++;
    *t = (transfer){true, receives, peer, -1, {data, more}, {bytes, more_bytes}, 0};
    op->open++;
}

void operation_move(group_op *op, bool receives, int peer, void *data, size_t bytes)
{
    operation_move_two(op, receives, peer, data, bytes, NULL, 0);
}

/* Each direction may use half of the transfers, so that neither keeps the other waiting. */
bool operation_has_room(const group_op *op, bool receives, int peer)
{
    int open = 0;
    for (int i = 0; i < OPERATION_TRANSFERS; i++) {
        const transfer *t = &op->transfers[i];
        if (!t->open || t->receives != receives)
            continue;
        if (t->peer == peer)
            return false;
        open++;
    }
    return open < OPERATION_TRANSFERS / 2;
}
