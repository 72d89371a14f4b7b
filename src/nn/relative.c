/* nn/relative.c: relative position biases: in buckets of distances (Raffel et al. 2020, section 2.1), and the slopes of linear
 * ones (Press et al. 2022). For encoder, decoder and language model. */
#include "rapt/nn.h"

#include "base/math.h"
#include "nn/names.h"

/* The bucket of a distance d >= 0 among `buckets`: half of them hold one distance each, the others cover growing ranges up to
 * `farthest`. In fp32, like the code that defines it. */
static size_t relative_bucket(size_t d, size_t buckets, size_t farthest)
{
    const size_t exact = buckets / 2;
    if (d < exact)
        return d;
    const float ratio = (float)math_log((double)((float)d / (float)exact)) / (float)math_log((double)farthest / (double)exact);
    const size_t bucket = exact + (size_t)(ratio * (float)(buckets - exact));
    return bucket < buckets ? bucket : buckets - 1;
}

size_t rapt_relative_bucket(ptrdiff_t distance, const rapt_relative_options *o)
{
    const size_t half = o->both_ways ? o->buckets / 2 : o->buckets;
    if (!o->both_ways)
        return distance < 0 ? relative_bucket((size_t)-distance, half, o->farthest) : 0;
    return distance > 0 ? half + relative_bucket((size_t)distance, half, o->farthest)
                        : relative_bucket((size_t)-distance, half, o->farthest);
}

void rapt_relative_bias_init(rapt_relative_bias *m, rapt_params *set, const char *prefix, size_t heads,
                             const rapt_relative_options *o)
{
    const size_t shape[] = {o->buckets, heads};
    if (o->buckets < 4 || o->buckets > RAPT_RELATIVE_BUCKETS_MAX || o->farthest <= o->buckets ||
        o->farthest > RAPT_RELATIVE_FARTHEST_MAX) {
        rapt_params_fail(set, RAPT_ERR_VALUE, "relative positions %s: %zu buckets for distances up to %zu", prefix, o->buckets,
                         o->farthest);
        return;
    }
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, 2, shape, (rapt_init){RAPT_INIT_ZEROS, 0});
    m->reach = o->farthest;
    m->bucket = rapt_params_alloc(set, 2 * o->farthest + 1, sizeof *m->bucket);
    for (size_t i = 0; m->bucket && i <= 2 * o->farthest; i++)
        m->bucket[i] = (uint16_t)rapt_relative_bucket((ptrdiff_t)i - (ptrdiff_t)o->farthest, o);
}

/* The slope of head h, from 0 on, if `heads` is a power of two. */
static rapt_real alibi_slope(size_t h, size_t heads)
{
    return (rapt_real)math_pow(2, -8 * (double)(h + 1) / (double)heads);
}

void rapt_alibi_init(rapt_relative_bias *m, rapt_params *set, size_t heads)
{
    size_t whole = 1;
    while (2 * whole <= heads)
        whole *= 2;
    *m = (rapt_relative_bias){.slopes = rapt_params_alloc(set, heads, sizeof *m->slopes)};
    for (size_t h = 0; m->slopes && h < heads; h++)
        m->slopes[h] = h < whole ? alibi_slope(h, whole) : alibi_slope(2 * (h - whole), 2 * whole);
}
