/* nn/norm.c: layer norm and root mean square norm, and the residual connection round every sublayer, before or after
 * which they stand. For all blocks; the arithmetic is in the operations. */
#include "rapt/nn.h"

#include "nn/names.h"
#include "ops/record_steps.h"

void rapt_layer_norm_init(rapt_layer_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape)
{
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, ndim, shape, (rapt_init){RAPT_INIT_ONES, 0});
    m->bias = rapt_params_add(set, name_join(prefix, "bias").text, ndim, shape, (rapt_init){RAPT_INIT_ZEROS, 0});
    m->eps = 1e-5;
    m->kind = RAPT_NORM_KIND_LAYER;
}

void rapt_norm_init(rapt_layer_norm *m, rapt_params *set, const char *prefix, size_t features, rapt_norm_kind kind,
                    bool bias, double eps)
{
    bool has_bias = bias && kind == RAPT_NORM_KIND_LAYER;
    rapt_init ones = {RAPT_INIT_ONES, 0}, zeros = {RAPT_INIT_ZEROS, 0};
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, 1, &features, ones);
    m->bias = has_bias ? rapt_params_add(set, name_join(prefix, "bias").text, 1, &features, zeros) : NULL;
    m->eps = eps;
    m->kind = kind;
}

static rapt_tensor *normalise(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x)
{
    if (m->kind == RAPT_NORM_KIND_RMS)
        return rapt_op_rms_norm(t, x, m->weight, m->eps);
    return rapt_op_layer_norm(t, x, m->weight, m->bias, m->eps);
}

static rapt_tensor *normalise_step(rapt_tape *t, const rapt_layer_norm *m, record_scope s, rapt_tensor *x)
{
    static const char rms[] = "x / sqrt(mean(x^2) + eps) * gamma",
                      biased[] = "(x - mean(x)) / sqrt(var(x) + eps) * gamma + beta",
                      plain[] = "(x - mean(x)) / sqrt(var(x) + eps) * gamma";
    rapt_tensor *y = normalise(t, m, x);
    record_step(t, s, "output", m->kind == RAPT_NORM_KIND_RMS ? rms : m->bias ? biased : plain, RECORD_BATCH, y);
    return y;
}

static record_scope norm_scope(const rapt_layer_norm *m)
{
    return record_scope_of(m->weight ? m->weight->value.name : NULL, 1);
}

rapt_tensor *rapt_layer_norm_forward(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x)
{
    return record_on(t) ? normalise_step(t, m, norm_scope(m), x) : normalise(t, m, x);
}

void rapt_add_norm_init(rapt_add_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape,
                        double dropout, rapt_norm_place place)
{
    rapt_layer_norm_init(&m->norm, set, prefix, ndim, shape);
    m->dropout = dropout;
    m->place = place;
    m->name = NULL;
}

static record_scope norm_scope_of(const rapt_add_norm *m)
{
    return m->name ? record_scope_of(m->name, 0) : norm_scope(&m->norm);
}

rapt_tensor *rapt_add_norm_before(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x)
{
    if (m->place != RAPT_NORM_PLACE_PRE)
        return x;
    return record_on(t) ? normalise_step(t, &m->norm, norm_scope_of(m), x) : normalise(t, &m->norm, x);
}

static rapt_tensor *after_steps(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y)
{
    record_scope s = norm_scope_of(m);
    y = record_dropout(t, s, "dropped", RECORD_BATCH, y, m->dropout);
    rapt_tensor *sum = rapt_op_add(t, x, y);
    record_step(t, s, "sum", "x + sublayer", RECORD_BATCH, sum);
    return m->place == RAPT_NORM_PLACE_PRE ? sum : normalise_step(t, &m->norm, s, sum);
}

/* What dropout returns in y's stead is nobody else's. */
static rapt_tensor *add_dropped(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y)
{
    rapt_tensor *dropped = rapt_op_dropout(t, y, m->dropout);
    return rapt_op_add(t, x, dropped == y ? y : tape_hand_on(t, dropped));
}

rapt_tensor *rapt_add_norm_after(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y)
{
    if (record_on(t))
        return after_steps(t, m, x, y);
    if (m->place == RAPT_NORM_PLACE_PRE)
        return add_dropped(t, m, x, y);
    if (m->norm.kind == RAPT_NORM_KIND_RMS)
        return normalise(t, &m->norm, add_dropped(t, m, x, y));
    return rapt_op_add_norm(t, x, y, m->norm.weight, m->norm.bias, m->norm.eps, m->dropout);
}
