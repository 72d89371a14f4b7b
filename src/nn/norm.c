/* nn/norm.c: layer norm and root mean square norm, and the residual connection round every sublayer, before or after
 * which they stand. For all blocks; the arithmetic is in the operations. */
#include "rapt/nn.h"

#include "nn/names.h"

void rapt_layer_norm_init(rapt_layer_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape)
{
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, ndim, shape, (rapt_init){RAPT_INIT_ONES, 0});
    m->bias = rapt_params_add(set, name_join(prefix, "bias").text, ndim, shape, (rapt_init){RAPT_INIT_ZEROS, 0});
    m->eps = 1e-5;
    m->kind = RAPT_NORM_LAYER;
}

void rapt_norm_init(rapt_layer_norm *m, rapt_params *set, const char *prefix, size_t features, rapt_norm_kind kind,
                    bool bias, double eps)
{
    bool has_bias = bias && kind == RAPT_NORM_LAYER;
    rapt_init ones = {RAPT_INIT_ONES, 0}, zeros = {RAPT_INIT_ZEROS, 0};
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, 1, &features, ones);
    m->bias = has_bias ? rapt_params_add(set, name_join(prefix, "bias").text, 1, &features, zeros) : NULL;
    m->eps = eps;
    m->kind = kind;
}

rapt_tensor *rapt_layer_norm_forward(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x)
{
    if (m->kind == RAPT_NORM_RMS)
        return rapt_rms_norm_op(t, x, m->weight, m->eps);
    return rapt_layer_norm_op(t, x, m->weight, m->bias, m->eps);
}

void rapt_add_norm_init(rapt_add_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape,
                        double dropout, rapt_norm_place place)
{
    rapt_layer_norm_init(&m->norm, set, prefix, ndim, shape);
    m->dropout = dropout;
    m->place = place;
}

rapt_tensor *rapt_add_norm_before(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x)
{
    return m->place == RAPT_PRE_NORM ? rapt_layer_norm_forward(t, &m->norm, x) : x;
}

rapt_tensor *rapt_add_norm_after(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y)
{
    if (m->place == RAPT_PRE_NORM)
        return rapt_add(t, x, rapt_dropout(t, y, m->dropout));
    if (m->norm.kind == RAPT_NORM_RMS)
        return rapt_layer_norm_forward(t, &m->norm, rapt_add(t, x, rapt_dropout(t, y, m->dropout)));
    return rapt_add_norm_op(t, x, y, m->norm.weight, m->norm.bias, m->norm.eps, m->dropout);
}
