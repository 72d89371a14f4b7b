/* base/queue.h: lists of structs, first come first served. A struct begins with its link, and is in one list at a time. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <stddef.h>

typedef struct queue_link {
    struct queue_link *next;
} queue_link;

/* Zeroed: empty. */
typedef struct queue {
    queue_link *first, *last;
    size_t count;
} queue;

void queue_put(queue *q, void *item);
/* The first item, taken out; NULL: there is none. */
void *queue_pop(queue *q);
/* Takes out the item after `before` (NULL: the first one), which it returns; NULL: there is none. */
void *queue_remove(queue *q, void *before);

#endif
