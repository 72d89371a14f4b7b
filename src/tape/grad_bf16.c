/* tape/grad_bf16.c: converts gradients between fp32 scratch memory and bf16. */
#include "tape/grad_bf16.h"

#include "tape/profile_op.h"
#include "tensor/grad_store.h"

#define CHUNK ((size_t)8192) /* elements that a thread converts as one chunk */

typedef struct conversion {
    const kernels *k;
    rapt_real *x;
    uint16_t *stored;
    size_t count;
} conversion;

static void grad_bf16_load(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const conversion *c = context;
    const size_t from = first * CHUNK, end = last * CHUNK < c->count ? last * CHUNK : c->count;
    (void)chunk, (void)worker;
    c->k->widen_bf16(end - from, (const uint8_t *)(c->stored + from), c->x + from);
}

static void grad_bf16_store(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const conversion *c = context;
    const size_t from = first * CHUNK, end = last * CHUNK < c->count ? last * CHUNK : c->count;
    (void)chunk, (void)worker;
    c->k->round_bf16(end - from, c->x + from, (uint8_t *)(c->stored + from));
}

static void convert(rapt_tape *t, const tape_opened *o, void (*fn)(void *, size_t, size_t, size_t, int))
{
    conversion c = {t->k, o->work, grad_stored(o->x), rapt_tensor_size(o->x)};
    profile_op(t, "gradient in bf16", 0, 1.5 * (double)c.count);
    tape_units(t, (c.count + CHUNK - 1) / CHUNK, CHUNK, fn, &c);
}

rapt_real *grad_bf16_open(rapt_tape *t, rapt_tensor *x, bool *accumulate)
{
    *accumulate = x->grad_filled;
    x->grad_filled = true;
    for (size_t i = 0; i < t->opened_count; i++)
        if (t->opened[i].x == x)
            return t->opened[i].work;
    if (t->opened_count == TAPE_ASKED) {
        rapt_tape_fail(t, RAPT_ERR_VALUE, "%s: an operation with gradients of more than %d parameters", x->name, TAPE_ASKED);
        return NULL;
    }
    tape_opened *o = &t->opened[t->opened_count];
    *o = (tape_opened){x, tape_scratch(t, rapt_tensor_size(x), sizeof *o->work)};
    if (!o->work)
        return NULL;
    t->opened_count++;
    if (*accumulate)
        convert(t, o, grad_bf16_load);
    return o->work;
}

void grad_bf16_close(rapt_tape *t)
{
    for (size_t i = 0; i < t->opened_count && !tape_failed(t); i++)
        convert(t, &t->opened[i], grad_bf16_store);
    t->opened_count = 0;
}
