/* train/optimizer/schedule.c: the learning rate of a step. A pure function, so that resuming needs no state. */
#include "rapt/train.h"

#include "base/math.h"

#include <math.h>

/* From lr down to lr_end along half a period (Loshchilov & Hutter 2017). The period ends one step after the last, as in PyTorch's
 * CosineAnnealingLR and in transformers: with lr_end 0, a step at the end itself would train nothing. */
static double cosine(const rapt_recipe *r, double step, double total)
{
    double first = r->train.warmup > 0 ? (double)r->train.warmup : 1, end = total + 1;
    double done = step < end ? (step - first) / (end - first) : 1;
    return r->train.lr_end + (r->train.lr - r->train.lr_end) * 0.5 * (1 + math_cos(3.14159265358979323846 * done));
}

double rapt_learning_rate(const rapt_recipe *r, uint64_t step, uint64_t total)
{
    double s = (double)step, warmup = (double)r->train.warmup;
    if (s < warmup)
        return r->train.lr * s / warmup;
    if (r->train.schedule == RAPT_RECIPE_SCHEDULE_INVERSE_SQRT)
        return r->train.lr * sqrt((warmup > 0 ? warmup : 1) / s);
    return r->train.schedule == RAPT_RECIPE_SCHEDULE_COSINE ? cosine(r, s, (double)total) : r->train.lr;
}
