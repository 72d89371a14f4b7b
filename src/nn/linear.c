/* nn/linear.c: the fully connected layer, nn.Linear. For every projection. */
#include "rapt/nn.h"

#include "nn/names.h"

#include <math.h>

void rapt_linear_init(rapt_linear *m, rapt_params *set, const char *prefix, size_t in, size_t out, bool bias,
                      rapt_weight_init kind)
{
    rapt_init uniform = {RAPT_INIT_UNIFORM, 1 / sqrt((double)in)};
    rapt_init weight = kind == RAPT_WEIGHT_INIT_XAVIER ? (rapt_init){RAPT_INIT_XAVIER_UNIFORM, 0} : uniform;
    if (kind == RAPT_WEIGHT_INIT_ZEROS)
        weight = uniform = (rapt_init){RAPT_INIT_ZEROS, 0};
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, 2, (size_t[]){out, in}, weight);
    m->bias = bias ? rapt_params_add(set, name_join(prefix, "bias").text, 1, &out, uniform) : NULL;
}

rapt_tensor *rapt_linear_forward(rapt_tape *t, const rapt_linear *m, rapt_tensor *x)
{
    return rapt_op_linear(t, x, m->weight, m->bias, RAPT_ACTIVATION_IDENTITY);
}
