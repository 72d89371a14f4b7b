/* train/optimizer/schedule.c: the learning rate of a step. A pure function, so that resuming needs no state but the number of
 * reductions of the plateau schedule. */
#include "train/optimizer/schedule.h"

#include "base/math.h"

#include <math.h>

/* How much of the decay is done, from 0 to 1. It ends one step after the last, as in PyTorch's CosineAnnealingLR and in
 * transformers: with lr_end 0, a step at the end itself would train nothing. */
static double done_of(const rapt_recipe *r, double step, double total)
{
    double first = r->train.warmup > 0 ? (double)r->train.warmup : 1, end = total + 1;
    return step < end ? (step - first) / (end - first) : 1;
}

/* From lr down to lr_end: in a line, as transformers does by default, or along half a period (Loshchilov & Hutter 2017). */
static double decayed(const rapt_recipe *r, double done)
{
    const double range = r->train.lr - r->train.lr_end;
    if (r->train.schedule == RAPT_RECIPE_SCHEDULE_LINEAR)
        return r->train.lr_end + range * (1 - done);
    return r->train.lr_end + range * 0.5 * (1 + math_cos(3.14159265358979323846 * done));
}

/* The rate after some reductions; one that is not above lr_end from the start stays. The least number above 0 may stay, too. */
static double reduced(const rapt_recipe *r, uint64_t reductions)
{
    double rate = r->train.lr, before = 0;
    for (; reductions > 0 && rate > r->train.lr_end && rate != before; reductions--) {
        before = rate;
        rate = fmax(rate * r->train.plateau.factor, r->train.lr_end);
    }
    return rate;
}

double schedule_rate(const rapt_recipe *r, uint64_t step, uint64_t total, uint64_t reductions)
{
    double s = (double)step, warmup = (double)r->train.warmup;
    if (s < warmup)
        return r->train.lr * s / warmup;
    if (r->train.schedule == RAPT_RECIPE_SCHEDULE_INVERSE_SQRT)
        return r->train.lr * sqrt((warmup > 0 ? warmup : 1) / s);
    if (r->train.schedule == RAPT_RECIPE_SCHEDULE_PLATEAU)
        return reduced(r, reductions);
    return r->train.schedule == RAPT_RECIPE_SCHEDULE_CONSTANT ? r->train.lr : decayed(r, done_of(r, s, (double)total));
}

double rapt_learning_rate(const rapt_recipe *r, uint64_t step, uint64_t total)
{
    return schedule_rate(r, step, total, 0);
}
