/* tape/grad_watch.h: tells a watcher during a backward pass which gradients have been added to, so that a gradient can be sent
 * away as soon as it is complete. For train/. */
#ifndef TAPE_GRAD_WATCH_H
#define TAPE_GRAD_WATCH_H

#include "tape/tape_core.h"

/* Called after an operation's backward pass, once for each time that the operation asked for the memory of a gradient. The number
 * of calls is the same in every pass of a model, whatever the batch. */
typedef void grad_watch_fn(void *context, rapt_tensor *x);

/* Watches gradients with memory in `first` .. `end` (gradients of parameters have their own memory) in all later passes, even
 * passes that are only counted. fn NULL: ends it. A node may ask for at most TAPE_ASKED of them. */
void grad_watch(rapt_tape *t, const rapt_real *first, const rapt_real *end, grad_watch_fn *fn, void *context);

/* tape_grad has given memory of x's gradient to a node. */
void grad_watch_note(rapt_tape *t, rapt_tensor *x);
/* The node has used it. */
void grad_watch_tell(rapt_tape *t);

#endif
