/* nn/linear.c: the fully connected layer, nn.Linear, with its adapter if it has one. For every projection. */
#include "nn/linear.h"

#include "base/rows.h"
#include "nn/names.h"

#include <math.h>

void rapt_linear_init(rapt_linear *m, rapt_params *set, const char *prefix, size_t in, size_t out,
                      const rapt_linear_options *options)
{
    const rapt_linear_options o = options ? *options : (rapt_linear_options){0};
    const rapt_init uniform = {RAPT_INIT_UNIFORM, 1 / sqrt((double)in)}, zeros = {RAPT_INIT_ZEROS, 0};
    const rapt_init weights[] = {[RAPT_WEIGHT_INIT_XAVIER] = {RAPT_INIT_XAVIER_UNIFORM, 0},
                                 [RAPT_WEIGHT_INIT_PYTORCH] = uniform,
                                 [RAPT_WEIGHT_INIT_GPT2] = {RAPT_INIT_NORMAL, o.std != 0 ? o.std : 0.02},
                                 [RAPT_WEIGHT_INIT_ZEROS] = zeros};
    ROWS_FIT(weights, RAPT_WEIGHT_INITS, 0);
    const rapt_init bias = o.init == RAPT_WEIGHT_INIT_XAVIER || o.init == RAPT_WEIGHT_INIT_PYTORCH ? uniform : zeros;
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, 2, (size_t[]){out, in}, weights[o.init]);
    m->bias = o.no_bias ? NULL : rapt_params_add(set, name_join(prefix, "bias").text, 1, &out, bias);
    m->lora = NULL;
}

/* y = x W^T with m's adapter for `dropped`, x after dropout. With magnitudes and dropout the layer itself counts for x, and what
 * the lengths change of it for `dropped`, as in PEFT: y + (g - 1) dropped W^T + g scale dropped A^T B^T + b. */
static rapt_tensor *linear_adapt_dropped(rapt_tape *t, const rapt_linear *m, rapt_tensor *x, rapt_tensor *dropped, rapt_tensor *y)
{
    rapt_lora l = *m->lora;
    l.dropout = 0;
    if (!l.magnitude)
        return rapt_op_lora(t, y, dropped, &l);
    if (dropped == x)
        return rapt_op_dora(t, rapt_op_lora(t, y, x, &l), m->lora, m->weight, m->bias);
    rapt_tensor *again = rapt_op_linear(t, dropped, m->weight, NULL, RAPT_ACTIVATION_IDENTITY);
    rapt_tensor *rest = rapt_op_subtract(t, y, again); /* before the adapter: it is added in the memory of `again` */
    rapt_tensor *sum = rapt_op_dora(t, rapt_op_lora(t, again, dropped, &l), m->lora, m->weight, m->bias);
    return rapt_op_add(t, rest, sum);
}

rapt_tensor *linear_adapt(rapt_tape *t, const rapt_linear *m, rapt_tensor *x, rapt_tensor *y)
{
    return m->lora ? linear_adapt_dropped(t, m, x, rapt_op_dropout(t, x, m->lora->dropout), y) : y;
}

void linears_adapt(rapt_tape *t, size_t count, const rapt_linear *const *m, rapt_tensor *const *x, rapt_tensor **y)
{
    const rapt_param *last = NULL;
    rapt_tensor *dropped = NULL;
    for (size_t i = 0; i < count; i++) {
        const rapt_lora *l = m[i]->lora;
        if (l && l->a != last)
            dropped = rapt_op_dropout(t, x[i], l->dropout);
        if (l)
            y[i] = linear_adapt_dropped(t, m[i], x[i], dropped, y[i]);
        last = l ? l->a : NULL;
    }
}

rapt_tensor *linear_activated(rapt_tape *t, const rapt_linear *m, rapt_tensor *x, rapt_activation activation)
{
    if (!m->lora)
        return rapt_op_linear(t, x, m->weight, m->bias, activation);
    return rapt_op_activate(t, rapt_linear_forward(t, m, x), activation);
}

rapt_tensor *rapt_linear_forward(rapt_tape *t, const rapt_linear *m, rapt_tensor *x)
{
    const rapt_linear_args in = linear_args(m, x);
    return linear_adapt(t, m, x, rapt_op_linear(t, in.x, in.w, in.b, RAPT_ACTIVATION_IDENTITY));
}
