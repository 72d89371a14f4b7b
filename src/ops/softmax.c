/* ops/softmax.c: masked softmax over the last dimension: the book's masked_softmax, with zeros if a query may attend to no key.
 * For the unfused attention. Backward: dx = p (dp - sum p dp). */
#include "ops/mask.h"
#include "tape/profile_op.h"
#include "tape/tape_core.h"

typedef struct softmax_node {
    tape_node node;
    rapt_tensor *x, *y;
} softmax_node;

static void softmax_backward(rapt_tape *t, tape_node *node)
{
    softmax_node *s = (softmax_node *)node;
    size_t n = rapt_tensor_features(s->y), rows = rapt_tensor_rows(s->y);
    bool accumulate;
    rapt_real *dx = s->y->grad_filled ? tape_grad(t, s->x, &accumulate) : NULL;
    profile_op(t, "softmax", 0, 3.0 * (double)rapt_tensor_size(s->y));
    rapt_real *row = dx ? tape_scratch(t, n, sizeof *row) : NULL;
    for (size_t i = 0; row && tape_computes(t) && i < rows; i++) {
        rapt_real *to = accumulate ? row : dx + i * n;
        const rapt_real *p = s->y->data + i * n;
        t->k->softmax_backward(n, p, p, s->y->grad + i * n, 1, to);
        if (accumulate)
            t->k->add(n, dx + i * n, row, dx + i * n);
    }
}

/* `pattern`: mask_fill_pattern's, for a mask with a window. */
static void softmax_forward(rapt_tape *t, const softmax_node *s, const rapt_mask *mask, const uint8_t *pattern)
{
    profile_op(t, "softmax", 0, 2.0 * (double)rapt_tensor_size(s->x));
    size_t keys = rapt_tensor_features(s->x), batch = s->x->ndim > 2 ? s->x->shape[0] : 1;
    size_t heads = s->x->ndim == 4 ? s->x->shape[1] : 1, queries = rapt_tensor_rows(s->x) / batch / heads;
    for (size_t i = 0; i < batch * heads * queries; i++) {
        mask_row row = mask_row_of(mask, i / queries / heads, i % queries, queries, keys);
        rapt_real max, inv_sum;
        const uint8_t *keep = mask_keep_of(row, pattern, keys);
        t->k->softmax(keys, row.count, s->x->data + i * keys, keep, 1, s->y->data + i * keys, &max, &inv_sum);
    }
}

rapt_tensor *rapt_op_masked_softmax(rapt_tape *t, rapt_tensor *x, const rapt_mask *mask)
{
    char text[96];
    if (tape_failed(t))
        return &t->poison;
    if (x->ndim < 2)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "masked_softmax: %s is not [batch, queries, keys] or [queries, keys]",
                              rapt_shape_text(x, text, sizeof text));
    if (!mask_fits(mask))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "masked_softmax: a window is of causal masks without keep");
    const size_t keys = rapt_tensor_features(x);
    uint8_t *pattern = mask && mask->window ? tape_alloc(t, 2 * keys, 1) : NULL;
    softmax_node *s = tape_alloc(t, 1, sizeof *s);
    rapt_tensor *y = s ? tape_output_like(t, x, tape_wants(t, x)) : NULL;
    if (!y || tape_failed(t))
        return &t->poison;
    *s = (softmax_node){.x = x, .y = y};
    if (pattern)
        mask_fill_pattern(pattern, keys);
    if (tape_computes(t))
        softmax_forward(t, s, mask, pattern);
    if (y->requires_grad)
        tape_record(t, &s->node, softmax_backward);
    return y;
}
