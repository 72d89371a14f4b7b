/* train/shards/ready.c: a bucket is complete when the gradients of all parameters in it are (grad_uses.h). A pass that adds more
 * often than the first one fails, because a bucket may already have been sent; if it adds less often, buckets are only reported
 * later. */
#include "train/shards/ready.h"

#include "tensor/params.h"
#include "train/shards/grad_uses.h"

#include <stdlib.h>
#include <string.h>

struct ready_buckets {
    const rapt_params *set;
    const gradient_layout *layout;
    const buckets *b;
    ready_fn *fn;
    void *context;
    grad_uses uses;
    uint32_t *missing;     /* [buckets]: parameters that are not complete */
    size_t next;           /* bucket that is told of next */
    bool begun;
};

ready_buckets *ready_new(rapt_tape *t, const rapt_params *set, const gradient_layout *layout, const buckets *b,
                         ready_fn *fn, void *context, rapt_error *err)
{
    ready_buckets *r = calloc(1, sizeof *r);
    if (!r || grad_uses_make(&r->uses, t, set, gradient_layout_has, err)) {
        free(r);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for buckets of gradients");
        return NULL;
    }
    *r = (ready_buckets){.set = set, .layout = layout, .b = b, .fn = fn, .context = context, .uses = r->uses,
                         .missing = calloc(b->count, sizeof(uint32_t))};
    if (r->missing)
        return r;
    ready_free(r);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for buckets of gradients");
    return NULL;
}

void ready_free(ready_buckets *r)
{
    if (!r)
        return;
    grad_uses_free(&r->uses);
    free(r->missing);
    free(r);
}

/* ---- learning -------------------------------------------------------------------------------------------------- */

/* A grad_watch_fn. */
static void ready_count(void *context, rapt_tensor *const *asked, size_t count)
{
    ready_buckets *r = context;
    for (size_t i = 0; i < count; i++)
        grad_uses_learn_one(&r->uses, asked[i]);
}

void ready_learn(ready_buckets *r)
{
    grad_uses_learn(&r->uses);
    grad_uses_watch(&r->uses, ready_count, r);
}

void ready_learnt(ready_buckets *r)
{
    grad_uses_end(&r->uses);
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
static void ready_note(void *context, rapt_tensor *const *asked, size_t count)
{
    ready_buckets *r = context;
    for (size_t i = 0; i < count; i++)
        if (grad_uses_complete(&r->uses, asked[i])) {
            ready_change_missing(r, (const rapt_param *)asked[i], -1);
            ready_tell(r);
        }
}

void ready_begin(ready_buckets *r)
{
    grad_uses_begin(&r->uses);
    memset(r->missing, 0, r->b->count * sizeof *r->missing);
    for (size_t i = 0; i < r->layout->dense; i++)
        if (r->uses.uses[r->layout->order[i]] > 0)
            ready_change_missing(r, params_at(r->set, r->layout->order[i]), 1);
    r->next = 0;
    r->begun = true;
    grad_uses_watch(&r->uses, ready_note, r);
}

void ready_end(ready_buckets *r)
{
    if (!r->begun)
        return;
    r->begun = false;
    grad_uses_end(&r->uses);
    while (r->next < r->b->count)
        r->fn(r->context, r->next++);
}
