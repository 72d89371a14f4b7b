/* base/queue.c: lists of structs that begin with a link. */
#include "base/queue.h"

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
    q->count--;
    return link;
}

void *queue_pop(queue *q)
{
    return queue_remove(q, NULL);
}
