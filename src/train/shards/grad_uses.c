/* train/shards/grad_uses.c: counts additions to gradients down from the number that an earlier pass has made. A pass that makes
 * more additions fails, because a gradient may already have been used. */
#include "train/shards/grad_uses.h"

#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

static size_t use_index(const rapt_tensor *x)
{
    return ((const rapt_param *)x)->index;
}

void grad_uses_of(grad_uses *u, const rapt_params *set, bool (*wanted)(const rapt_param *))
{
    u->count = 0;
    for (size_t i = 0; i < u->params; i++)
        if (wanted(params_at(set, i)))
            u->list[u->count++] = &params_at(set, i)->value;
    grad_watch_sort(u->list, u->count);
}

rapt_code grad_uses_make(grad_uses *u, rapt_tape *t, const rapt_params *set, bool (*wanted)(const rapt_param *), rapt_error *err)
{
    const size_t params = rapt_params_count(set), some = params ? params : 1;
    *u = (grad_uses){.t = t, .params = params, .list = calloc(some, sizeof(const rapt_tensor *)),
                     .uses = calloc(some, sizeof(uint32_t)), .left = calloc(some, sizeof(uint32_t))};
    if (!u->list || !u->uses || !u->left) {
        grad_uses_free(u);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the uses of %zu gradients", params);
    }
    grad_uses_of(u, set, wanted);
    return RAPT_OK;
}

void grad_uses_free(grad_uses *u)
{
    free(u->list);
    free(u->uses);
    free(u->left);
    *u = (grad_uses){0};
}

void grad_uses_watch(grad_uses *u, grad_watch_fn *fn, void *context)
{
    grad_watch(u->t, u->list, u->count, fn, context);
}

void grad_uses_end(grad_uses *u)
{
    grad_watch(u->t, NULL, 0, NULL, NULL);
}

void grad_uses_learn(grad_uses *u)
{
    memset(u->uses, 0, u->params * sizeof *u->uses);
}

void grad_uses_learn_one(grad_uses *u, const rapt_tensor *x)
{
    u->uses[use_index(x)]++;
}

void grad_uses_begin(grad_uses *u)
{
    memcpy(u->left, u->uses, u->params * sizeof *u->left);
}

bool grad_uses_complete(grad_uses *u, const rapt_tensor *x)
{
    uint32_t *left = &u->left[use_index(x)];
    if (*left > 0)
        return --*left == 0;
    rapt_tape_fail(u->t, RAPT_ERR_VALUE, "%s: a pass adds to its gradient more often than the first one", x->name);
    return false;
}
