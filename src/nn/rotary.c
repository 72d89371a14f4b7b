/* nn/rotary.c: the table of rotary positions (Su et al. 2021), and its variants for longer texts. For attention; rapt_op_rotary
 * applies it. Llama 3.1's variant is defined by its code alone (_compute_llama3_parameters of Hugging Face transformers), so each
 * of its operations is rounded to fp32 as there. */
#include "rapt/nn.h"

#include "base/math.h"

#define TWO_PI 6.283185307179586

static float rotary_llama3(const rapt_rotary_scaling *s, float frequency)
{
    const float wavelength = (float)TWO_PI / frequency, original = (float)s->original, factor = (float)s->factor;
    const float low = (float)s->low_factor, high = (float)s->high_factor;
    if (wavelength > (float)((double)s->original / s->low_factor))
        return frequency / factor;
    if (wavelength < (float)((double)s->original / s->high_factor))
        return frequency;
    const float share = (original / wavelength - low) / (high - low);
    return (1 - share) * frequency / factor + share * frequency;
}

/* Of pair j of d features, rounded as PyTorch does. */
static float rotary_frequency(const rapt_rotary_scaling *s, double base, size_t j, size_t d)
{
    const float exponent = (float)(2 * j) / (float)d, frequency = 1 / (float)math_pow((float)base, exponent);
    switch (s->kind) {
    case RAPT_ROTARY_LINEAR: return frequency / (float)s->factor;
    case RAPT_ROTARY_LLAMA3: return rotary_llama3(s, frequency);
    case RAPT_ROTARY_PLAIN: break;
    }
    return frequency;
}

/* The angles of a pair at all positions. */
static void rotary_fill(rapt_real *cosines, size_t max_len, size_t d, const rapt_rotary_scaling *s, double base, size_t j)
{
    const bool exact = s->kind == RAPT_ROTARY_PLAIN && !s->fp32;
    const double divisor = math_pow(base, (double)(2 * j) / (double)d);
    const float frequency = rotary_frequency(s, base, j, d);
    for (size_t i = 0; i < max_len; i++) {
        double angle = exact ? (double)i / divisor : (double)((float)i * frequency);
        cosines[i * d] = (rapt_real)math_cos(angle);
        cosines[i * d + d / 2] = (rapt_real)math_sin(angle);
    }
}

rapt_param *rapt_rotary_init_scaled(rapt_params *set, const char *name, size_t max_len, size_t d, double base,
                                    const rapt_rotary_scaling *scaling)
{
    static const rapt_rotary_scaling none = {.kind = RAPT_ROTARY_PLAIN};
    rapt_param *table = rapt_params_add(set, name, 2, (size_t[]){max_len, d}, (rapt_init){RAPT_INIT_ZEROS, 0});
    if (d % 2)
        rapt_params_fail(set, RAPT_ERR_SHAPE, "%s: rotary positions turn pairs of features; a head has %zu", name, d);
    if (rapt_params_error(set)->code)
        return table;
    rapt_param_make_buffer(table, false);
    for (size_t j = 0; j < d / 2 && rapt_params_seed(set) != RAPT_SEED_SHAPES; j++)
        rotary_fill(table->value.data + j, max_len, d, scaling ? scaling : &none, base != 0 ? base : 10000, j);
    return table;
}

rapt_param *rapt_rotary_init(rapt_params *set, const char *name, size_t max_len, size_t d, double base)
{
    return rapt_rotary_init_scaled(set, name, max_len, d, base, NULL);
}
