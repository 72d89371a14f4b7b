/* base/queue.h: lists of structs, first come first served. A struct begins with its link, and is in one list at a time. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#define QUEUE_ASKED ((size_t)16) /* items that the sweep of a step asks: a long list costs it no more than a short one */

typedef struct queue_link {
    struct queue_link *next;
} queue_link;

/* Zeroed: empty. */
typedef struct queue {
    queue_link *first, *last;
    size_t count;
    queue_link *asked; /* the last one that a sweep has asked; NULL: the next sweep begins with the first one */
} queue;

void queue_put(queue *q, void *item);
/* The first item, taken out; NULL: there is none. */
void *queue_pop(queue *q);
/* Takes out the item after `before` (NULL: the first one), which it returns; NULL: there is none. */
void *queue_remove(queue *q, void *before);
/* The first item becomes the last one. Sweeps keep their place. */
void queue_rotate(queue *q);

/* Asks at most `most` of the items whether they leave, and moves those to `left`. The next sweep begins behind the last one that
 * was asked, as if the first item followed the last one: none is asked twice before all others have been asked. */
void queue_sweep(queue *q, size_t most, bool (*leaves)(void *item), queue *left);

#endif
