/* train/shards/gradient_layout.c: computes the place of each gradient in the array. */
#include "train/shards/gradient_layout.h"

#include "kernels/kernels.h"
#include "tensor/params.h"

#include <stdlib.h>

bool gradient_layout_has(const rapt_param *p)
{
    return !p->buffer && !p->frozen && !p->sparse;
}

size_t gradient_layout_room(const rapt_param *p)
{
    const size_t unit = KERNELS_ALIGN / sizeof(rapt_real);
    return (rapt_tensor_size(&p->value) + unit - 1) / unit * unit;
}

rapt_code gradient_layout_make(gradient_layout *l, const rapt_params *set, rapt_error *err)
{
    *l = (gradient_layout){.params = rapt_params_count(set)};
    l->offset = calloc(l->params, sizeof *l->offset);
    l->order = calloc(l->params, sizeof *l->order);
    if (!l->offset || !l->order) {
        gradient_layout_free(l);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the layout of gradients");
    }
    for (size_t i = l->params; i-- > 0;) {
        const rapt_param *p = params_at(set, i);
        l->offset[i] = LAYOUT_NOWHERE;
        if (!gradient_layout_has(p))
            continue;
        l->offset[i] = l->size;
        l->order[l->dense++] = i;
        l->size += gradient_layout_room(p);
    }
    return RAPT_OK;
}

void gradient_layout_free(gradient_layout *l)
{
    free(l->offset);
    free(l->order);
    *l = (gradient_layout){0};
}
