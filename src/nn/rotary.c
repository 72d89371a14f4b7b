/* nn/rotary.c: the table of rotary positions (Su et al. 2021). For attention; rapt_op_rotary applies it. */
#include "rapt/nn.h"

#include "base/math.h"

rapt_param *rapt_rotary_init(rapt_params *set, const char *name, size_t max_len, size_t d, double base)
{
    rapt_param *table = rapt_params_add(set, name, 2, (size_t[]){max_len, d}, (rapt_init){RAPT_INIT_ZEROS, 0});
    if (d % 2)
        rapt_params_fail(set, RAPT_ERR_SHAPE, "%s: rotary positions turn pairs of features; a head has %zu", name, d);
    if (rapt_params_error(set)->code)
        return table;
    rapt_param_make_buffer(table, false);
    for (size_t j = 0; j < d / 2 && rapt_params_seed(set) != RAPT_SEED_SHAPES; j++) {
        double divisor = math_pow(base != 0 ? base : 10000, (double)(2 * j) / (double)d);
        for (size_t i = 0; i < max_len; i++) {
            table->value.data[i * d + j] = (rapt_real)math_cos((double)i / divisor);
            table->value.data[i * d + d / 2 + j] = (rapt_real)math_sin((double)i / divisor);
        }
    }
    return table;
}
