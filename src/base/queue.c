/* base/queue.c: lists of structs that begin with a link. */
#include "base/queue.h"

#include "base/min.h"

void queue_put(queue *q, void *item)
{
    queue_link *link = item;
    link->next = NULL;
    if (q->last)
        q->last->next = link;
    else
        q->first = link;
    q->last = link;
    q->count++;
}

void *queue_remove(queue *q, void *before)
{
    queue_link *last = before, *link = last ? last->next : q->first;
    if (!link)
        return NULL;
    if (last)
        last->next = link->next;
    else
        q->first = link->next;
    if (q->last == link)
        q->last = last;
    if (q->asked == link)
        q->asked = last;
    q->count--;
    return link;
}

void *queue_pop(queue *q)
{
    return queue_remove(q, NULL);
}

void queue_rotate(queue *q)
{
    queue_link *asked = q->asked;
    if (!q->first)
        return;
    queue_put(q, queue_pop(q));
    q->asked = asked;
}

void queue_sweep(queue *q, size_t most, bool (*leaves)(void *item), queue *left)
{
    for (size_t n = MIN(q->count, most); n > 0; n--) {
        queue_link *before = q->asked && q->asked->next ? q->asked : NULL, *at = before ? before->next : q->first;
        if (leaves(at))
            queue_put(left, queue_remove(q, before));
        else
            before = at;
        q->asked = before;
    }
}
