/* train/optimizer/norm_blocks.c: the norm of all gradients in two stages: sums of blocks, which processes share, and their sum in
 * the order of rapt_grad_norm, which each process computes. */
#include "train/optimizer/norm_blocks.h"

#include "tape/profile_op.h"
#include "tensor/params.h"

#include <math.h>
#include <stdlib.h>

#define BLOCKS_AT_ONCE 4 /* that a thread takes */

static bool shared_among_processes(const rapt_param *p)
{
    return !p->buffer && !p->frozen && !p->sparse;
}

size_t norm_block_width(const rapt_param *p)
{
    return p->value.ndim < 2 ? 1 : rapt_tensor_features(&p->value);
}

/* Appends the blocks of a parameter to the list, or only counts them if there is no list. */
static void norm_blocks_append(norm_blocks *b, rapt_param *p, size_t index)
{
    size_t rows = rapt_tensor_size(&p->value) / norm_block_width(p), block = param_slice_at(p, index, 0).block;
    for (size_t first = 0; first < rows; first += block) {
        if (b->list)
            b->list[b->count] = (norm_block){(uint32_t)index, first, rows - first < block ? rows - first : block};
        b->count++;
    }
}

static void norm_blocks_append_all(norm_blocks *b, const rapt_params *set)
{
    b->count = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        if (shared_among_processes(params_at(set, i)))
            norm_blocks_append(b, params_at(set, i), i);
}

rapt_code norm_blocks_make(norm_blocks *b, const rapt_params *set, rapt_error *err)
{
    *b = (norm_blocks){0};
    norm_blocks_append_all(b, set);
    b->list = malloc((b->count ? b->count : 1) * sizeof *b->list);
    if (!b->list)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the blocks of the gradient norm");
    norm_blocks_append_all(b, set);
    return RAPT_OK;
}

void norm_blocks_free(norm_blocks *b)
{
    free(b->list);
    *b = (norm_blocks){0};
}

/* ---- sums of blocks ----------------------------------------------------------------------------------------- */

typedef struct block_sums {
    const rapt_tape *t;
    const rapt_params *set;
    const norm_blocks *b;
    const uint8_t *owned;
    double *sums;
} block_sums;

static double block_sum(const block_sums *l, const norm_block *block)
{
    const rapt_param *p = params_at(l->set, block->param);
    size_t width = norm_block_width(p);
    return p->value.grad_filled ? (double)l->t->k->sum_squares(block->rows * width, p->value.grad + block->first * width) : 0;
}

/* A pool_fn. */
static void block_sums_some(void *context, size_t index, int worker)
{
    const block_sums *l = context;
    size_t first = index * BLOCKS_AT_ONCE, left = l->b->count - first;
    (void)worker;
    for (size_t i = first; i < first + (left < BLOCKS_AT_ONCE ? left : BLOCKS_AT_ONCE); i++)
        if (!l->owned || l->owned[i])
            l->sums[i] = block_sum(l, &l->b->list[i]);
}

void norm_blocks_sum(rapt_tape *t, const rapt_params *set, const norm_blocks *b, const uint8_t *owned, double *sums)
{
    block_sums l = {t, set, b, owned, sums};
    size_t elements = 0;
    for (size_t i = 0; i < b->count; i++)
        if (!owned || owned[i])
            elements += b->list[i].rows * norm_block_width(params_at(set, b->list[i].param));
    profile_op(t, "gradient norm", 0, (double)elements);
    pool_run(t->pool, (b->count + BLOCKS_AT_ONCE - 1) / BLOCKS_AT_ONCE, elements, block_sums_some, &l);
    profile_end(t);
}

/* ---- the norm ------------------------------------------------------------------------------------------------- */

typedef struct block_norm {
    const rapt_tape *t;
    const norm_block *next, *end; /* blocks that were not added yet */
    const double *sums;           /* of those */
    param_slices slices;
} block_norm;

static bool has_any_gradient(const void *context, const rapt_param *p, size_t index)
{
    (void)context, (void)index;
    return !p->buffer && !p->frozen && p->value.grad_filled;
}

/* A pool_fn. */
static void block_norm_sparse(void *context, size_t index, int worker)
{
    block_norm *l = context;
    if (l->slices.list[index].param->sparse)
        grad_norm_slice(l->t, &l->slices.list[index], worker);
}

/* The sum over a slice of a dense parameter, after the blocks of those without a gradient. */
static double slice_sum(block_norm *l, const param_slice *p)
{
    double sum = 0;
    for (; l->next < l->end && l->next->param < p->index; l->next++)
        l->sums++;
    for (size_t row = 0; row < p->rows && l->next < l->end; row += l->next++->rows)
        sum += *l->sums++;
    return sum;
}

static size_t elements_of_sparse(const param_slices *p)
{
    size_t elements = 0;
    for (size_t i = 0; i < p->count; i++)
        elements += p->list[i].param->sparse ? p->list[i].rows * p->list[i].width : 0;
    return elements;
}

double norm_blocks_norm(rapt_tape *t, const rapt_params *set, const norm_blocks *b, const double *sums)
{
    block_norm l = {.t = t, .next = b->list, .end = b->list + b->count, .sums = sums};
    double sum = 0;
    param_slices_begin(&l.slices, set, has_any_gradient, NULL);
    while (param_slices_next(&l.slices)) {
        size_t elements = elements_of_sparse(&l.slices);
        profile_op(t, "gradient norm", 0, (double)elements);
        if (elements > 0)
            pool_run(t->pool, l.slices.count, elements, block_norm_sparse, &l);
        for (size_t i = 0; i < l.slices.count; i++)
            sum += l.slices.list[i].param->sparse ? l.slices.list[i].sum : slice_sum(&l, &l.slices.list[i]);
    }
    profile_end(t);
    return sqrt(sum);
}
