/* train/optimizer/grad_norm.c: the norm of all gradients, and the search for elements that are not finite. For clipping, and for
 * the training loop's messages when something went wrong. */
#include "rapt/train.h"

#include "ops/deferred.h"
#include "tape/profile_op.h"
#include "tensor/grad_store.h"
#include "tensor/params.h"
#include "train/optimizer/norm_blocks.h"

#include <math.h>
#include <string.h>

typedef struct grad_norm_loop {
    rapt_tape *t;
    param_slices slices;
} grad_norm_loop;

static bool has_gradient(const void *context, const rapt_param *p, size_t index)
{
    (void)context, (void)index;
    return !p->buffer && !p->frozen && (p->value.grad_filled || p->state->deferred.dy);
}

/* Leaves out rows at both ends of `rows` rows that are surely zero: unused rows of a sparse parameter. The sum keeps its bits:
 * zeros add nothing, and a later start only rotates the lanes, which adds the same pairs at every stage of the tree. */
static void trim(const param_slice *p, size_t *first, size_t *rows)
{
    const uint8_t *used = p->param->state->row_used;
    if (!p->param->sparse)
        return;
    for (; *rows > 0 && !used[*first + *rows - 1]; --*rows)
        continue;
    for (; *rows > 0 && !used[*first]; ++*first)
        --*rows;
}

void grad_norm_chunk(const rapt_tape *t, param_slice *p, const rapt_real *chunk)
{
    const rapt_tensor *x = &p->param->value;
    rapt_real memory[GRAD_STORE_WIDTH];
    size_t end = p->first + p->rows;
    p->sum = 0;
    for (size_t row = p->first; row < end; row += p->block) {
        size_t first = row, rows = end - row < p->block ? end - row : p->block;
        trim(p, &first, &rows);
        const rapt_real *grad = chunk ? chunk + (first - p->first) * p->width
                                      : grad_elements(t->k, x, first * p->width, rows * p->width, memory);
        p->sum += (double)t->k->sum_squares(rows * p->width, grad);
    }
}

void grad_norm_slice(const rapt_tape *t, param_slice *p, int worker)
{
    const bool deferred = p->param->state->deferred.dy;
    grad_norm_chunk(t, p, deferred ? deferred_chunk(t, worker, p->param, p->first, p->rows) : NULL);
}

/* A pool_fn. */
static void sum_slice(void *context, size_t index, int worker)
{
    grad_norm_loop *loop = context;
    grad_norm_slice(loop->t, &loop->slices.list[index], worker);
}

/* Computes deferred gradients to which others were added. False: the operands of one are gone. */
static bool settle_mixed(rapt_tape *t, const rapt_params *set)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        rapt_param *p = params_at(set, i);
        if (deferred_check(t, p, NULL) || (p->value.grad_filled && deferred_settle(t, p, NULL)))
            return false;
    }
    return true;
}

static double gradient_bytes(const param_slices *p)
{
    double bytes = 0;
    for (size_t i = 0; i < p->count; i++)
        bytes += (double)(p->list[i].rows * p->list[i].width * grad_element_bytes(&p->list[i].param->value));
    return bytes;
}

double rapt_grad_norm(rapt_tape *t, const rapt_params *set)
{
    grad_norm_loop loop;
    double sum = 0;
    if (!settle_mixed(t, set))
        return NAN;
    loop.t = t;
    param_slices_begin(&loop.slices, set, has_gradient, NULL);
    while (param_slices_next(&loop.slices)) {
        profile_op_bytes(t, "gradient norm", 0, gradient_bytes(&loop.slices));
        pool_run(t->pool, loop.slices.count, loop.slices.elements, sum_slice, &loop);
        for (size_t i = 0; i < loop.slices.count; i++)
            sum += loop.slices.list[i].sum;
    }
    profile_end(t);
    return sqrt(sum);
}

static bool gradient_is_finite(const rapt_tape *t, const rapt_tensor *x)
{
    rapt_real memory[GRAD_STORE_WIDTH];
    const size_t size = rapt_tensor_size(x), some = x->grad_bf16 ? GRAD_STORE_WIDTH : size;
    for (size_t at = 0; at < size; at += some) {
        const size_t n = size - at < some ? size - at : some;
        if (!t->k->all_finite(n, grad_elements(t->k, x, at, n, memory)))
            return false;
    }
    return true;
}

const char *rapt_first_not_finite(rapt_tape *t, const rapt_params *set, bool of_grad)
{
    params_sync(set, t->pool);
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        rapt_param *p = params_at(set, i);
        const rapt_tensor *x = &p->value;
        if (!t->k->all_finite(rapt_tensor_size(x), x->data))
            return x->name;
        if (of_grad && (p->state->deferred.dy || x->grad_filled) && x->requires_grad) {
            deferred_settle(t, p, NULL);
            if (!gradient_is_finite(t, x))
                return x->name;
        }
    }
    return NULL;
}
