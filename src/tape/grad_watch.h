/* tape/grad_watch.h: whoever wants to know in a backward pass which gradients were added to, as soon as they were: what has got
 * its last contribution can be sent away before the pass ends. For train/. */
#ifndef TAPE_GRAD_WATCH_H
#define TAPE_GRAD_WATCH_H

#include "tape/tape_core.h"

/* Called after an operation's backward pass for each gradient that it was given memory of, once for each time: as often in every
 * pass of a model, whatever its batch. */
typedef void grad_watch_fn(void *context, rapt_tensor *x);

/* Watches gradients that lie in `first` .. `end` (those of parameters have memory of their own) in all passes from now on, those
 * that are only counted included. fn NULL: nothing any more. A node may ask for TAPE_ASKED of them. */
void grad_watch(rapt_tape *t, const rapt_real *first, const rapt_real *end, grad_watch_fn *fn, void *context);

/* tape_grad has given memory of x's gradient to a node. */
void grad_watch_note(rapt_tape *t, rapt_tensor *x);
/* The node has used it. */
void grad_watch_tell(rapt_tape *t);

#endif
