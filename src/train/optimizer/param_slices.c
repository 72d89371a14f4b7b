/* train/optimizer/param_slices.c: divides parameters into slices of whole rows. For adam.c, grad_norm.c and norm_blocks.c, which
 * process them. */
#include "train/optimizer/param_slices.h"

#include "tensor/params.h"

#define BLOCK 8192      /* elements that are summed before the sum becomes a double */
#define BLOCKS 4        /* blocks of a slice: two threads that alternated on smaller slices read memory a third slower */
#define MIN_ROWS 64      /* min rows of a slice, for the GEMM that computes a deferred gradient */

void param_slices_begin(param_slices *p, const rapt_params *set, bool (*wanted)(const void *, const rapt_param *, size_t),
                        const void *context)
{
    p->set = set;
    p->wanted = wanted;
    p->context = context;
    p->param = p->row = p->count = p->elements = 0;
}

static size_t elements_of_row(const rapt_param *p)
{
    return p->value.ndim < 2 ? 1 : rapt_tensor_features(&p->value);
}

static size_t block_rows(size_t width)
{
    return width < BLOCK ? BLOCK / width : 1;
}

size_t param_block_elements(const rapt_param *p)
{
    return block_rows(elements_of_row(p)) * elements_of_row(p);
}

param_slice param_slice_at(rapt_param *p, size_t index, size_t row)
{
    size_t width = elements_of_row(p), rows = rapt_tensor_size(&p->value) / width;
    size_t block = block_rows(width), blocks = (MIN_ROWS + block - 1) / block;
    size_t max_rows = (blocks > BLOCKS ? blocks : BLOCKS) * block;
    return (param_slice){.param = p, .index = index, .first = row, .rows = rows - row < max_rows ? rows - row : max_rows,
                         .width = width, .block = block};
}

/* Adds the slices of a parameter that are left while the list has capacity; true when it is done. */
static bool add_param(param_slices *p)
{
    rapt_param *param = params_at(p->set, p->param);
    if (p->row == 0 && !p->wanted(p->context, param, p->param))
        return true;
    while (p->count < SLICES_AT_ONCE) {
        param_slice *next = &p->list[p->count++];
        *next = param_slice_at(param, p->param, p->row);
        p->elements += next->rows * next->width;
        p->row += next->rows;
        if (p->row * next->width == rapt_tensor_size(&param->value))
            return true;
    }
    return false;
}

bool param_slices_next(param_slices *p)
{
    p->count = p->elements = 0;
    while (p->param < rapt_params_count(p->set) && p->count < SLICES_AT_ONCE && add_param(p)) {
        p->param++;
        p->row = 0;
    }
    return p->count > 0;
}
