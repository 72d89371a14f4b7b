/* ops/heads_off.c: zeros in place of the context of heads that are switched off. */
#include "ops/heads_off.h"

#include <string.h>

/* x is blocks of `width` elements; block i belongs to head i / each % heads. */
static void zero_blocks(rapt_tensor *x, size_t width, size_t each, size_t heads, const uint8_t *off)
{
    const size_t blocks = rapt_tensor_size(x) / width;
    for (size_t i = 0; i < blocks; i++)
        if (off[i / each % heads])
            memset(x->data + i * width, 0, width * sizeof *x->data);
}

void heads_off(const rapt_tape *t, rapt_tensor *x, size_t heads, const uint8_t *off)
{
    if (off && !tape_failed(t) && tape_computes(t))
        zero_blocks(x, rapt_tensor_features(x) / heads, 1, heads, off);
}

void heads_off_split(const rapt_tape *t, rapt_tensor *x, const uint8_t *off)
{
    if (off && !tape_failed(t) && tape_computes(t))
        zero_blocks(x, x->shape[3], x->shape[2], x->shape[1], off);
}
