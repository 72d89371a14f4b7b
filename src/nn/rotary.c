/* nn/rotary.c: the table of rotary positions (Su et al. 2021), and its variants for longer texts. For attention; rapt_op_rotary
 * applies it. The variants round like their code in Hugging Face transformers (modeling_rope_utils.py), which is the only
 * definition of Llama 3.1's. */
#include "rapt/nn.h"

#include "base/math.h"
#include "tensor/param_source.h"

#include <math.h>

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

/* The pair of d features that turns `times` in the positions of the first training. */
static double rotary_pair_of(const rapt_rotary_scaling *s, double base, double times, size_t d)
{
    return (double)d * math_log((double)s->original / (times * TWO_PI)) / (2 * math_log(base));
}

/* `power`: base^(2j/d). */
static float rotary_yarn(const rapt_rotary_scaling *s, double base, size_t j, size_t d, float power)
{
    double low = rotary_pair_of(s, base, s->high_factor, d), high = rotary_pair_of(s, base, s->low_factor, d);
    low = fmax(s->exact_range ? low : floor(low), 0);
    high = fmin(s->exact_range ? high : ceil(high), (double)d - 1);
    high += low == high ? 0.001 : 0;
    const float ramp = ((float)j - (float)low) / (float)(high - low), share = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    const float kept = 1 - share;
    return 1 / ((float)s->factor * power) * (1 - kept) + 1 / power * kept;
}

/* The frequency of pair j of d features, rounded as PyTorch does. */
static float rotary_frequency(const rapt_rotary_scaling *s, double base, size_t j, size_t d)
{
    const float exponent = (float)(2 * j) / (float)d, power = (float)math_pow((float)base, exponent), frequency = 1 / power;
    switch (s->kind) {
    case RAPT_ROTARY_LINEAR: return frequency / (float)s->factor;
    case RAPT_ROTARY_LLAMA3: return rotary_llama3(s, frequency);
    case RAPT_ROTARY_YARN: return rotary_yarn(s, base, j, d, power);
    case RAPT_ROTARY_LONG: return 1 / (s->factors[j] * power);
    case RAPT_ROTARY_PLAIN: break;
    }
    return frequency;
}

/* The inputs of a table. */
typedef struct rotary_formula {
    size_t d, features; /* features of a head, and how many of them are rotated */
    double base;
    rapt_rotary_scaling scaling;
} rotary_formula;

/* The angles of a pair at positions first .. first + count - 1. */
static void rotary_fill(const rotary_formula *r, size_t j, size_t first, size_t count, rapt_real *cosines)
{
    const bool exact = r->scaling.kind == RAPT_ROTARY_PLAIN && !r->scaling.fp32;
    const double divisor = math_pow(r->base, (double)(2 * j) / (double)r->features);
    const bool turns = j < r->features / 2;
    const float frequency = turns ? rotary_frequency(&r->scaling, r->base, j, r->features) : 0;
    const rapt_real magnitude = turns && r->scaling.magnitude != 0 ? (rapt_real)r->scaling.magnitude : 1;
    for (size_t i = 0; i < count; i++) {
        double angle = exact ? (double)(first + i) / divisor : (double)((float)(first + i) * frequency);
        angle = turns ? angle : 0;
        cosines[i * r->d] = (rapt_real)math_cos(angle) * magnitude;
        cosines[i * r->d + r->d / 2] = (rapt_real)math_sin(angle) * magnitude;
    }
}

/* A param_read_fn. */
static void rotary_read(const void *context, size_t first, size_t count, rapt_real *to)
{
    const rotary_formula *r = context;
    for (size_t j = 0; j < r->d / 2; j++)
        rotary_fill(r, j, first, count, to + j);
}

rapt_param *rapt_rotary_init_scaled(rapt_params *set, const char *name, size_t max_len, size_t d, double base,
                                    const rapt_rotary_scaling *scaling)
{
    static const rapt_rotary_scaling none = {.kind = RAPT_ROTARY_PLAIN};
    rapt_param *table = rapt_params_add(set, name, 2, (size_t[]){max_len, d}, (rapt_init){RAPT_INIT_ZEROS, 0});
    const size_t features = scaling && scaling->features ? scaling->features : d;
    if (d % 2)
        rapt_params_fail(set, RAPT_ERR_SHAPE, "%s: rotary positions turn pairs of features; a head has %zu", name, d);
    else if (scaling && scaling->kind == RAPT_ROTARY_LONG && features / 2 > RAPT_ROTARY_FACTORS_MAX)
        rapt_params_fail(set, RAPT_ERR_SHAPE, "%s: %zu factors; there is room for %d", name, features / 2,
                         RAPT_ROTARY_FACTORS_MAX);
    else if (features % 2 || features > d)
        rapt_params_fail(set, RAPT_ERR_SHAPE, "%s: rotary positions turn pairs of features, not %zu of %zu", name, features, d);
    if (rapt_params_error(set)->code)
        return table;
    rapt_param_make_buffer(table, false);
    rotary_formula *r = rapt_params_alloc(set, 1, sizeof *r);
    if (r)
        *r = (rotary_formula){d, features, base != 0 ? base : 10000, scaling ? *scaling : none};
    const uint64_t seed = rapt_params_seed(set);
    if (r && (seed == RAPT_SEED_NONE || seed == RAPT_SEED_UNSET)) /* a model that is loaded: few of its positions may be used */
        param_source_set(set, table, rotary_read, NULL, r);
    else if (r && seed != RAPT_SEED_SHAPES)
        rotary_read(r, 0, max_len, table->value.data);
    return table;
}

rapt_param *rapt_rotary_init(rapt_params *set, const char *name, size_t max_len, size_t d, double base)
{
    return rapt_rotary_init_scaled(set, name, max_len, d, base, NULL);
}
