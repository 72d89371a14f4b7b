/* decode/pooling.c: mean, maximum and norm. Sums are in double precision, from the first token or feature to the last. */
#include "decode/pooling.h"

#include <math.h>

static rapt_real pooling_mean(const rapt_real *x, size_t count, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)x[i * d];
    return (rapt_real)(sum / (double)count);
}

static rapt_real pooling_max(const rapt_real *x, size_t count, size_t d)
{
    rapt_real max = x[0];
    for (size_t i = 1; i < count; i++)
        max = x[i * d] > max ? x[i * d] : max;
    return max;
}

void pooling_run(rapt_pooling kind, const rapt_real *x, size_t count, size_t d, size_t features, rapt_real *to)
{
    for (size_t j = 0; j < features; j++)
        to[j] = kind == RAPT_POOLING_CLS ? x[j] : kind == RAPT_POOLING_MAX ? pooling_max(x + j, count, d)
                                                                          : pooling_mean(x + j, count, d);
}

void pooling_normalize(rapt_real *x, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (double)x[j] * (double)x[j];
    const double norm = sqrt(sum) > 1e-12 ? sqrt(sum) : 1e-12;
    for (size_t j = 0; j < d; j++)
        x[j] = (rapt_real)((double)x[j] / norm);
}
