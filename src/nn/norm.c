/* nn/norm.c: layer norm and root mean square norm, and the residual connection around every sublayer, with a norm before or after
 * the sublayer. For all blocks; the arithmetic is in the operations. */
#include "rapt/nn.h"

#include "nn/names.h"
#include "tape/observe_op.h"

void rapt_layer_norm_init(rapt_layer_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape,
                          const rapt_norm_options *options)
{
    const rapt_norm_options o = options ? *options : (rapt_norm_options){0};
    const bool has_bias = !o.no_bias && o.kind == RAPT_NORM_KIND_LAYER;
    const rapt_init ones = {RAPT_INIT_ONES, 0}, zeros = {RAPT_INIT_ZEROS, 0};
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, ndim, shape, ones);
    m->bias = has_bias ? rapt_params_add(set, name_join(prefix, "bias").text, ndim, shape, zeros) : NULL;
    m->eps = o.eps != 0 ? o.eps : 1e-5;
    m->kind = o.kind;
}

static rapt_tensor *normalize(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x)
{
    if (m->kind == RAPT_NORM_KIND_RMS)
        return rapt_op_rms_norm(t, x, m->weight, m->eps);
    return rapt_op_layer_norm(t, x, m->weight, m->bias, m->eps);
}

static observe_scope norm_enter(rapt_tape *t, const rapt_layer_norm *m)
{
    return observe_enter(t, m->weight ? m->weight->value.name : NULL, 1);
}

rapt_tensor *rapt_layer_norm_forward(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x)
{
    observe_scope outer = norm_enter(t, m);
    return observe_leave(t, outer, normalize(t, m, x));
}

void rapt_add_norm_init(rapt_add_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape,
                        const rapt_add_norm_options *options)
{
    const rapt_add_norm_options o = options ? *options : (rapt_add_norm_options){0};
    *m = (rapt_add_norm){.dropout = o.dropout, .place = o.place, .scale = o.scale};
    rapt_layer_norm_init(&m->norm, set, prefix, ndim, shape, &o.norm);
    if (o.place == RAPT_NORM_PLACE_SANDWICH)
        rapt_layer_norm_init(&m->output, set, name_join(prefix, "output.").text, ndim, shape, &o.norm);
}

static observe_scope add_norm_enter(rapt_tape *t, const rapt_add_norm *m)
{
    return m->name ? observe_enter(t, m->name, 0) : norm_enter(t, &m->norm);
}

rapt_tensor *rapt_add_norm_before(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x)
{
    observe_scope outer = add_norm_enter(t, m);
    const bool before = m->place == RAPT_NORM_PLACE_PRE || m->place == RAPT_NORM_PLACE_SANDWICH;
    return observe_leave(t, outer, before ? normalize(t, &m->norm, x) : x);
}

static rapt_tensor *add_norm_join(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y)
{
    rapt_residual residual = {.dropout = m->dropout, .overwrite_y = true};
    if (m->place == RAPT_NORM_PLACE_OUTPUT)
        y = normalize(t, &m->norm, y);
    if (m->place == RAPT_NORM_PLACE_SANDWICH)
        y = rapt_layer_norm_forward(t, &m->output, y);
    if (m->scale != 0) {
        observe_from(t, (observe_source){.inputs = {y}, .constant = m->scale});
        y = observe_tensor(t, "scaled", "multiplier * sublayer", OBSERVE_ROWS, rapt_op_scale(t, y, m->scale));
    }
    if (m->place != RAPT_NORM_PLACE_POST)
        return rapt_op_residual(t, x, y, residual);
    if (m->norm.kind == RAPT_NORM_KIND_RMS)
        return normalize(t, &m->norm, rapt_op_residual(t, x, y, residual));
    return rapt_op_add_norm(t, x, y, m->norm.weight, m->norm.bias, m->norm.eps, residual);
}

rapt_tensor *rapt_add_norm_after(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y)
{
    observe_scope outer = add_norm_enter(t, m);
    return observe_leave(t, outer, add_norm_join(t, m, x, y));
}
