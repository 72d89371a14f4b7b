/* train/optimizer/sgd.c: options of SGD with momentum. The step itself is in kernels/body/sgd_body.h. */
#include "train/optimizer/sgd.h"

#include "base/sized.h"
#include "train/optimizer/sgd_defaults.h"

#include <math.h>

SIZED_ENDS_WITH(rapt_sgd_options, reserved);

void rapt_sgd_options_init(rapt_sgd_options *o, size_t size)
{
    sized_init(o, size, &(rapt_sgd_options){SGD_DEFAULTS}, sizeof *o);
}

rapt_code sgd_take_options(const rapt_sgd_options *given, rapt_sgd_options *o, rapt_error *err)
{
    *o = rapt_sgd_options_default();
    if (sized_take(o, given, o->reserved, sizeof o->reserved, "sgd_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (!(o->momentum >= 0 && o->momentum < 1))
        return rapt_fail(err, RAPT_ERR_VALUE, "SGD: a momentum of %g: it is 0 or more and below 1", o->momentum);
    if (!(o->weight_decay >= 0 && o->weight_decay < INFINITY))
        return rapt_fail(err, RAPT_ERR_VALUE, "SGD: a weight decay of %g: it is 0 or more", o->weight_decay);
    return o->nesterov && o->momentum == 0 ? rapt_fail(err, RAPT_ERR_VALUE, "SGD: nesterov needs a momentum above 0") : RAPT_OK;
}

bool sgd_of_recipe(const rapt_recipe *k, rapt_sgd_options *o)
{
    *o = rapt_sgd_options_default();
    o->momentum = k->train.sgd.momentum;
    o->weight_decay = k->train.weight_decay;
    o->nesterov = k->train.sgd.nesterov;
    return k->train.optimizer == RAPT_RECIPE_OPTIMIZER_SGD;
}

kernels_sgd sgd_coefficients(const rapt_sgd_options *o, double lr, double grad_scale, bool decays)
{
    return (kernels_sgd){.lr = (rapt_real)lr,
                         .momentum = (rapt_real)o->momentum,
                         .weight_decay = decays ? (rapt_real)o->weight_decay : 0,
                         .grad_scale = (rapt_real)grad_scale,
                         .nesterov = o->nesterov};
}
