/* train/optimizer/moments8.c: sizes and offsets of 8-bit moments. */
#include "train/optimizer/moments8.h"

#include "base/rng.h"
#include "kernels/kernels.h"
#include "train/optimizer/param_slices.h"

#define FEWEST ((size_t)4096) /* min elements; smaller matrices would save nothing */

bool moments8_fit(const rapt_param *p)
{
    return p->value.ndim >= 2 && !p->sparse && rapt_tensor_size(&p->value) >= FEWEST;
}

size_t moments8_at(const rapt_param *p, size_t element)
{
    const size_t span = param_block_elements(p);
    return element / span * kernels_adam8_bytes(span) + kernels_adam8_bytes(element % span);
}

size_t moments8_bytes(const rapt_param *p)
{
    return moments8_at(p, rapt_tensor_size(&p->value));
}

size_t moments8_element(const rapt_param *p, size_t at)
{
    const size_t span = param_block_elements(p);
    return at / kernels_adam8_bytes(span) * span;
}

uint32_t moments8_seed(size_t index, size_t element, uint64_t step)
{
    return (uint32_t)rng_mix(rng_mix(step, index), element);
}
