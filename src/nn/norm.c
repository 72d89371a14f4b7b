/* nn/norm.c: layer norm, and the residual connection round every sublayer, before or after which it stands. */
#include "rapt/nn.h"

#include "nn/names.h"

void rapt_layer_norm_init(rapt_layer_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape)
{
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, ndim, shape, (rapt_init){RAPT_INIT_ONES, 0});
    m->bias = rapt_params_add(set, name_join(prefix, "bias").text, ndim, shape, (rapt_init){RAPT_INIT_ZEROS, 0});
    m->eps = 1e-5;
}

rapt_tensor *rapt_layer_norm_forward(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x)
{
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
    return rapt_add_norm_op(t, x, y, m->norm.weight, m->norm.bias, m->norm.eps, m->dropout);
}
