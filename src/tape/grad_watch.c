/* tape/grad_watch.c: notes the gradients that a node asks for, and reports them when the node has returned. */
#include "tape/grad_watch.h"

void grad_watch(rapt_tape *t, const rapt_real *first, const rapt_real *end, grad_watch_fn *fn, void *context)
{
    t->watch = (tape_watch){.fn = fn, .context = context, .first = fn ? first : NULL, .end = fn ? end : NULL};
}

void grad_watch_note(rapt_tape *t, rapt_tensor *x)
{
    tape_watch *w = &t->watch;
    if (w->count == TAPE_ASKED)
        rapt_tape_fail(t, RAPT_ERR_VALUE, "%s: an operation with gradients of more than %d parameters", x->name, TAPE_ASKED);
    else
        w->asked[w->count++] = x;
}

void grad_watch_tell(rapt_tape *t)
{
    tape_watch *w = &t->watch;
    for (size_t i = 0; i < w->count && !tape_failed(t); i++)
        w->fn(w->context, w->asked[i]);
    w->count = 0;
}
