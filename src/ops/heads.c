/* ops/heads.c: [batch, time, heads * d] to [batch, heads, time, d] and back (the book's transpose_qkv and transpose_output).
 * For the unfused attention; the fused one reads heads in place. */
#include "tape/profile_op.h"
#include "tape/tape_core.h"

#include <string.h>

typedef struct heads_node {
    tape_node node;
    rapt_tensor *x, *y;
    size_t batch, time, heads, d;
    bool split; /* else concat */
} heads_node;

/* Moves every row of d numbers from one layout to the other, adding or overwriting. */
static void heads_move(const rapt_tape *t, const heads_node *h, const rapt_real *from, rapt_real *to, bool split, bool add)
{
    for (size_t b = 0; tape_computes(t) && b < h->batch; b++)
        for (size_t i = 0; i < h->time; i++)
            for (size_t j = 0; j < h->heads; j++) {
                size_t joined = ((b * h->time + i) * h->heads + j) * h->d;
                size_t apart = ((b * h->heads + j) * h->time + i) * h->d;
                const rapt_real *source = from + (split ? joined : apart);
                rapt_real *target = to + (split ? apart : joined);
                if (add)
                    t->k->add(h->d, target, source, target);
                else
                    memcpy(target, source, h->d * sizeof *target);
            }
}

static void heads_backward(rapt_tape *t, tape_node *node)
{
    heads_node *h = (heads_node *)node;
    bool add;
    rapt_real *dx = h->y->grad_filled ? tape_grad(t, h->x, &add) : NULL;
    profile_op(t, "heads", 0, 2.0 * (double)rapt_tensor_size(h->x));
    if (dx)
        heads_move(t, h, h->y->grad, dx, !h->split, add);
}

static rapt_tensor *heads_run(rapt_tape *t, heads_node h)
{
    size_t apart[] = {h.batch, h.heads, h.time, h.d}, joined[] = {h.batch, h.time, h.heads * h.d};
    heads_node *node = tape_alloc(t, 1, sizeof *node);
    h.y = h.split ? tape_output(t, 4, apart, tape_wants(t, h.x)) : tape_output(t, 3, joined, tape_wants(t, h.x));
    if (!node || !h.y)
        return &t->poison;
    *node = h;
    profile_op(t, "heads", 0, 2.0 * (double)rapt_tensor_size(h.x));
    heads_move(t, node, h.x->data, h.y->data, h.split, false);
    if (h.y->requires_grad)
        tape_record(t, &node->node, heads_backward);
    return h.y;
}

rapt_tensor *rapt_op_split_heads(rapt_tape *t, rapt_tensor *x, size_t heads)
{
    char text[96];
    if (tape_failed(t))
        return &t->poison;
    if (x->ndim != 3 || heads == 0 || x->shape[2] % heads != 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "split_heads: %s into %zu heads", rapt_shape_text(x, text, sizeof text),
                              heads);
    return heads_run(t, (heads_node){.x = x, .batch = x->shape[0], .time = x->shape[1], .heads = heads,
                                     .d = x->shape[2] / heads, .split = true});
}

rapt_tensor *rapt_op_concat_heads(rapt_tape *t, rapt_tensor *x)
{
    char text[96];
    if (tape_failed(t))
        return &t->poison;
    if (x->ndim != 4)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "concat_heads: %s is not [batch, heads, time, d]",
                              rapt_shape_text(x, text, sizeof text));
    return heads_run(t, (heads_node){.x = x, .batch = x->shape[0], .heads = x->shape[1], .time = x->shape[2],
                                     .d = x->shape[3]});
}
