/* train/optimizer/adam_options.c: Adam's options: their defaults, what is refused, and the constants of a step. For adam.c. */
#include "train/optimizer/adam_options.h"

#include "base/math.h"
#include "base/sized.h"
#include "kernels/kernels.h"
#include "train/optimizer/adam_defaults.h"

#include <math.h>

SIZED_ENDS_WITH(rapt_adam_options, reserved);

void rapt_adam_options_init(rapt_adam_options *o, size_t size)
{
    sized_init(o, size, &(rapt_adam_options){ADAM_DEFAULTS}, sizeof *o);
}

rapt_code adam_take_options(const rapt_adam_options *given, rapt_adam_options *o, rapt_error *err)
{
    *o = rapt_adam_options_default();
    if (sized_take(o, given, o->reserved, sizeof o->reserved, "adam_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (!(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1))
        return rapt_fail(err, RAPT_ERR_VALUE, "Adam: beta1 %g and beta2 %g: they are 0 or more and below 1", o->beta1, o->beta2);
    if (!(o->eps >= 0 && o->eps < INFINITY && o->weight_decay >= 0 && o->weight_decay < INFINITY))
        return rapt_fail(err, RAPT_ERR_VALUE, "Adam: eps %g and a weight decay of %g: they are 0 or more", o->eps,
                         o->weight_decay);
    return o->bits8 && !kernels_scalar.adam8
               ? rapt_fail(err, RAPT_ERR_VALUE, "Adam's moments in 8 bits are not in the double build") : RAPT_OK;
}

kernels_adam adam_coefficients(const rapt_adam_options *o, uint64_t steps, double lr, double grad_scale)
{
    /* rounded as in the kernel, so that the weights of an average sum to the divisor of the correction */
    const double beta1 = (double)(rapt_real)o->beta1, beta2 = (double)(rapt_real)o->beta2, n = (double)steps;
    return (kernels_adam){.beta1 = (rapt_real)o->beta1,
                          .beta2 = (rapt_real)o->beta2,
                          .step_size = (rapt_real)(lr / (1 - math_pow(beta1, n))),
                          .inv_sqrt_bc2 = (rapt_real)(1 / sqrt(1 - math_pow(beta2, n))),
                          .eps = (rapt_real)o->eps,
                          .grad_scale = (rapt_real)grad_scale,
                          .decay = 1};
}
