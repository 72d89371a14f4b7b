/* ops/positions_op.c: rows of a table of positions added to a sequence that is there already. For models that put their
 * input together themselves; embed.c adds them as it looks up the tokens. Backward: that of its parts. */
#include "ops/dropout_op.h"
#include "tape/observe_op.h"

/* The rows first .. first + time - 1, once for each example of x [batch, time, d]. */
static rapt_tensor *positions_rows(rapt_tape *t, const rapt_tensor *x, rapt_param *table, size_t first)
{
    const rapt_tensor *p = &table->value;
    if (x->ndim != 3 || p->ndim != 2 || x->shape[2] != p->shape[1] || first > p->shape[0] ||
        x->shape[1] > p->shape[0] - first)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "positions %s: no rows %zu to %zu of %zu features", p->name, first,
                              first + x->shape[x->ndim - 1 ? 1 : 0], rapt_tensor_features(x));
    size_t batch = x->shape[0], time = x->shape[1];
    int32_t *ids = tape_alloc(t, batch * time, sizeof *ids);
    if (!ids)
        return &t->poison;
    for (size_t i = 0; i < batch * time; i++)
        ids[i] = (int32_t)(first + i % time);
    observe_scope here = t->observer.scope; /* not an embedding to look at */
    t->observer.scope = (observe_scope){0};
    rapt_tensor *rows = rapt_op_embed(t, table, (rapt_tokens){ids, batch, time, NULL}, NULL);
    return observe_leave(t, here, rows);
}

rapt_tensor *rapt_op_add_positions(rapt_tape *t, rapt_tensor *x, rapt_param *table, size_t first, double p)
{
    if (tape_failed(t))
        return &t->poison;
    const char *layer = observe_here(t) ? observe_layer(t, table->value.name) : "";
    rapt_tensor *rows = positions_rows(t, x, table, first);
    observe_tensor(t, layer, "P[position]", OBSERVE_ROWS, rows);
    rapt_tensor *y = rapt_op_add(t, x, rows);
    observe_tensor(t, "input", "embedding + positions", OBSERVE_ROWS, y);
    return rapt_op_dropout(t, y, p);
}
