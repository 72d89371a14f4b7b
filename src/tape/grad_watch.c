/* tape/grad_watch.c: notes the gradients that a node asks for, and reports them when the node has returned. */
#include "tape/grad_watch.h"

#include <stdlib.h>

void grad_watch(rapt_tape *t, const rapt_tensor *const *list, size_t count, grad_watch_fn *fn, void *context)
{
    t->watch = (tape_watch){.fn = fn, .context = context, .list = list, .listed = fn ? count : 0};
}

static int grad_watch_compare(const void *a, const void *b)
{
    const rapt_tensor *x = *(const rapt_tensor *const *)a, *y = *(const rapt_tensor *const *)b;
    return (x > y) - (x < y);
}

void grad_watch_sort(const rapt_tensor **list, size_t count)
{
    qsort(list, count, sizeof(const rapt_tensor *), grad_watch_compare);
}

void grad_watch_note(rapt_tape *t, rapt_tensor *x)
{
    tape_watch *w = &t->watch;
    const rapt_tensor *wanted = x;
    if (!w->listed || !bsearch(&wanted, w->list, w->listed, sizeof *w->list, grad_watch_compare))
        return;
    if (w->count == TAPE_ASKED)
        rapt_tape_fail(t, RAPT_ERR_VALUE, "%s: an operation with gradients of more than %d parameters", x->name, TAPE_ASKED);
    else
        w->asked[w->count++] = x;
}

void grad_watch_tell(rapt_tape *t)
{
    tape_watch *w = &t->watch;
    const size_t count = w->count;
    w->count = 0;
    if (!tape_failed(t))
        w->fn(w->context, w->asked, count);
}
