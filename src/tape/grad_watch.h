/* tape/grad_watch.h: tells a watcher during a backward pass which gradients have been added to, so that a gradient can be sent
 * away, or used and released, as soon as it is complete. For train/. */
#ifndef TAPE_GRAD_WATCH_H
#define TAPE_GRAD_WATCH_H

#include "tape/tape_core.h"

/* Called after the backward pass of an operation that has asked for gradients that are watched, or has deferred them, with the
 * `count` tensors, one as often as it was asked for. The calls of a pass are the same in every pass of a
 * model, whatever the batch. */
typedef void grad_watch_fn(void *context, rapt_tensor *const *asked, size_t count);

/* Watches the gradients of list[0 .. count - 1] (borrowed, by ascending address) in all later passes, even passes that are only
 * counted. fn NULL: ends it. A node may ask for at most TAPE_ASKED of them. */
void grad_watch(rapt_tape *t, const rapt_tensor *const *list, size_t count, grad_watch_fn *fn, void *context);

/* Orders a list for grad_watch. */
void grad_watch_sort(const rapt_tensor **list, size_t count);

/* tape_grad has given memory of x's gradient to a node, or the node has deferred it. Does nothing if nobody watches x. */
void grad_watch_note(rapt_tape *t, rapt_tensor *x);
/* The node has used it. */
void grad_watch_tell(rapt_tape *t);

#endif
