/* train/shards/ready.c: counts additions to gradients down from the number that an earlier pass has made. A pass that makes more
 * additions fails, because a bucket may already have been sent; with fewer, the buckets are only reported later. */
#include "train/shards/ready.h"

#include "tape/grad_watch.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

struct ready_buckets {
    rapt_tape *t;
    const rapt_params *set;
    const gradient_layout *layout;
    const buckets *b;
    ready_fn *fn;
    void *context;
    uint32_t *uses, *left; /* [params]: additions in a pass, and additions that this pass has still to make */
    uint32_t *missing;     /* [buckets]: parameters that are not complete */
    size_t next;           /* bucket that is told of next */
    bool begun;
};

ready_buckets *ready_new(rapt_tape *t, const rapt_params *set, const gradient_layout *layout, const buckets *b,
                         ready_fn *fn, void *context, rapt_error *err)
{
    ready_buckets *r = calloc(1, sizeof *r);
    if (r)
        *r = (ready_buckets){.t = t, .set = set, .layout = layout, .b = b, .fn = fn, .context = context,
                             .uses = calloc(layout->params, sizeof(uint32_t)), .left = calloc(layout->params, sizeof(uint32_t)),
                             .missing = calloc(b->count, sizeof(uint32_t))};
    if (r && r->uses && r->left && r->missing)
        return r;
    ready_free(r);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for buckets of gradients");
    return NULL;
}

void ready_free(ready_buckets *r)
{
    if (!r)
        return;
    free(r->uses);
    free(r->left);
    free(r->missing);
    free(r);
}

/* ---- learning -------------------------------------------------------------------------------------------------- */

/* A grad_watch_fn. */
static void ready_count(void *context, rapt_tensor *x)
{
    ready_buckets *r = context;
    r->uses[((rapt_param *)x)->index]++;
}

void ready_learn(ready_buckets *r, const rapt_real *array)
{
    memset(r->uses, 0, r->layout->params * sizeof *r->uses);
    grad_watch(r->t, array, array + r->layout->size, ready_count, r);
}

void ready_learnt(ready_buckets *r)
{
    grad_watch(r->t, NULL, NULL, NULL, NULL);
}

/* ---- a pass ---------------------------------------------------------------------------------------------------- */

/* Adds `by` to the missing additions of each bucket that has elements of a parameter. */
static void ready_change_missing(ready_buckets *r, const rapt_param *p, int by)
{
    size_t from = r->layout->offset[p->index], end = from + rapt_tensor_size(&p->value);
    for (size_t i = buckets_find(r->b, from); i < r->b->count && r->b->list[i].first < end; i++)
        r->missing[i] += (uint32_t)by;
}

static void ready_tell(ready_buckets *r)
{
    while (r->next < r->b->count && r->missing[r->next] == 0)
        r->fn(r->context, r->next++);
}

/* A grad_watch_fn. */
static void ready_note(void *context, rapt_tensor *x)
{
    ready_buckets *r = context;
    const rapt_param *p = (const rapt_param *)x;
    if (r->left[p->index] == 0)
        rapt_tape_fail(r->t, RAPT_ERR_VALUE, "%s: a pass adds to its gradient more often than the first one", x->name);
    else if (--r->left[p->index] == 0) {
        ready_change_missing(r, p, -1);
        ready_tell(r);
    }
}

void ready_begin(ready_buckets *r, const rapt_real *array)
{
    memcpy(r->left, r->uses, r->layout->params * sizeof *r->left);
    memset(r->missing, 0, r->b->count * sizeof *r->missing);
    for (size_t i = 0; i < r->layout->dense; i++)
        if (r->uses[r->layout->order[i]] > 0)
            ready_change_missing(r, params_at(r->set, r->layout->order[i]), 1);
    r->next = 0;
    r->begun = true;
    grad_watch(r->t, array, array + r->layout->size, ready_note, r);
}

void ready_end(ready_buckets *r)
{
    if (!r->begun)
        return;
    r->begun = false;
    grad_watch(r->t, NULL, NULL, NULL, NULL);
    while (r->next < r->b->count)
        r->fn(r->context, r->next++);
}
