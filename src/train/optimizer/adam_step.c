/* train/optimizer/adam_step.c: steps of Adam and SGD. All parameters are one list of slices for the threads, or of blocks that
 * this process owns (adam_owned.h). Rows that a step of Adam doesn't use are in adam_rows.c, the norm for clipping in
 * grad_norm.c, steps of Muon's matrices in muon.c. */
#include "ops/deferred.h"
#include "tape/profile_op.h"
#include "tensor/grad_store.h"
#include "tensor/params.h"
#include "train/optimizer/adam_core.h"
#include "train/optimizer/adam_owned.h"
#include "train/optimizer/adam_parts.h"
#include "train/optimizer/sgd.h"

#include <string.h>

#define BLOCKS_AT_ONCE ((size_t)4) /* that a thread takes */

typedef struct step_loop {
    adam_parts s;
    param_slices slices;
} step_loop;

static const step_constants *constants_of(const adam_parts *s, const rapt_param *p)
{
    return p->value.ndim >= 2 ? &s->matrix : &s->vector;
}

/* Moves n elements of a parameter, from element `from` on: with moments in 8 bits a span of them (moments8.h). `grad` NULL, with
 * SGD only: zeros. */
static void move_elements(const rapt_adam *a, const kernels *k, size_t index, size_t from, size_t n, const rapt_real *grad,
                          const step_constants *constants)
{
    rapt_param *p = params_at(a->set, index);
    rapt_real *x = p->value.data + from, *m = a->m[index] ? a->m[index] + from : NULL;
    if (a->kinds[index] == ADAM_SGD) {
        k->sgd(n, x, grad, m, &constants->sgd);
    } else if (a->kinds[index] == ADAM_IN_8_BITS) {
        const size_t at = moments8_at(p, from);
        const moments8 *codes = &a->codes[index];
        k->adam8(n, x, grad, codes->m + at, codes->v + at, moments8_seed(index, from, a->steps), &constants->adam);
    } else {
        k->adam(n, x, grad, m, a->v[index] + from, &constants->adam);
    }
}

/* Rows of a slice; `grad`: their gradient, or NULL: the parameter's own. */
static void adam_update(const adam_parts *s, const param_slice *p, size_t first, size_t rows, const rapt_real *grad)
{
    const step_constants *constants = constants_of(s, p->param);
    const rapt_tensor *x = &p->param->value;
    const bool in_blocks = s->adam->kinds[p->index] == ADAM_IN_8_BITS || x->grad_bf16;
    const size_t end = first + rows, some = in_blocks ? p->block : rows;
    rapt_real memory[GRAD_STORE_WIDTH];
    for (size_t row = first; row < end; row += some) {
        const size_t from = row * p->width, n = (end - row < some ? end - row : some) * p->width;
        move_elements(s->adam, s->tape->k, p->index, from, n,
                      grad ? grad + (row - first) * p->width : grad_elements(s->tape->k, x, from, n, memory), constants);
    }
}

static void update_used_rows(const adam_parts *s, const param_slice *p)
{
    const uint8_t *used = p->param->state->row_used;
    for (size_t row = p->first; row < p->first + p->rows; row++)
        if (used[row])
            adam_update(s, p, row, 1, NULL);
}

/* All rows; the gradient of one that the step doesn't use is 0, which moves it by momentum and weight decay only. */
static void update_rows_sgd(const adam_parts *s, const param_slice *p)
{
    const uint8_t *used = p->param->state->row_used;
    const step_constants *constants = constants_of(s, p->param);
    const bool all = s->adam->m[p->index] || constants->sgd.weight_decay > 0;
    for (size_t row = p->first; row < p->first + p->rows; row++)
        if (used[row])
            adam_update(s, p, row, 1, NULL);
        else if (all)
            move_elements(s->adam, s->tape->k, p->index, row * p->width, p->width, NULL, constants);
}

void adam_parts_move(const adam_parts *s, const param_slice *p, const rapt_real *deferred)
{
    if (deferred)
        adam_update(s, p, p->first, p->rows, deferred);
    else if (s->adam->rows[p->index])
        adam_rows_step(s->adam->rows[p->index], p->first, p->rows);
    else if (p->param->sparse && s->adam->with_sgd)
        update_rows_sgd(s, p);
    else if (p->param->sparse && s->adam->options.lazy)
        update_used_rows(s, p);
    else
        adam_update(s, p, p->first, p->rows, NULL);
}

/* A pool_fn. */
static void update_slice(void *context, size_t index, int worker)
{
    const step_loop *l = context;
    const param_slice *p = &l->slices.list[index];
    const bool deferred = p->param->state->deferred.dy;
    adam_parts_move(&l->s, p, deferred ? deferred_chunk(l->s.tape, worker, p->param, p->first, p->rows) : NULL);
}

/* Whether a step changes a parameter: one without a gradient stays, and a sparse one has none if no row was used. */
static bool moves(const rapt_adam *a, const rapt_param *p, size_t i)
{
    if (a->kinds[i] == ADAM_NOT_TRAINED || p->frozen)
        return false;
    if (p->sparse)
        return memchr(p->state->row_used, 1, p->value.shape[0]) != NULL;
    return p->value.grad_filled || p->state->deferred.dy;
}

bool adam_parts_whole(const adam_parts *s, const rapt_param *p)
{
    return s->adam->kinds[p->index] == ADAM_MUON;
}

bool adam_parts_moves(const adam_parts *s, const rapt_param *p)
{
    if (s->adam->kinds[p->index] == ADAM_MUON || !moves(s->adam, p, p->index))
        return false;
    if (s->adam->rows[p->index])
        adam_rows_begin_step(s->adam->rows[p->index], s->tape->k, &constants_of(s, p)->adam);
    return true;
}

static bool begins_to_move(const void *context, const rapt_param *p, size_t i)
{
    (void)i;
    return adam_parts_moves(&((const step_loop *)context)->s, p);
}

/* Deferred gradients must belong to this pass. If other gradients were added to one, it is computed now. */
static rapt_code adam_check_deferred(const rapt_adam *a, rapt_tape *t, rapt_error *err)
{
    const size_t there = rapt_params_count(a->set);
    if (there != a->count)
        return rapt_fail(err, RAPT_ERR_VALUE, "the optimizer was made for %zu parameters, and there are %zu", a->count, there);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < a->count && !code; i++) {
        rapt_param *p = params_at(a->set, i);
        code = deferred_check(t, p, err);
        if (!code && p->value.grad && (p->value.grad_filled || a->kinds[i] == ADAM_MUON))
            code = deferred_settle(t, p, err);
    }
    return code;
}

rapt_code adam_parts_begin(adam_parts *s, rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err)
{
    rapt_code code = rapt_tape_status(t, err);
    if (!code)
        code = adam_check_deferred(a, t, err);
    if (code)
        return code;
    a->steps++;
    *s = (adam_parts){.adam = a, .tape = t, .lr = lr, .grad_scale = grad_scale};
    if (a->with_sgd) {
        s->vector.sgd = sgd_coefficients(&a->sgd, lr, grad_scale, a->sgd.decay_vectors);
        s->matrix.sgd = sgd_coefficients(&a->sgd, lr, grad_scale, true);
        return RAPT_OK;
    }
    s->vector.adam = s->matrix.adam = adam_coefficients(&a->options, a->steps, lr, grad_scale);
    s->matrix.adam.decay = (rapt_real)(1 - lr * a->options.weight_decay);
    return RAPT_OK;
}

/* The bytes that a step reads and writes for n elements of a parameter: values and moments twice, the gradient once. */
static double moved_bytes(const rapt_adam *a, const rapt_param *p, size_t index, size_t n)
{
    const size_t whole = (size_t)(a->m[index] != NULL) + (a->v[index] != NULL);
    const size_t moments = a->kinds[index] == ADAM_IN_8_BITS ? 2 : whole * sizeof(rapt_real);
    return (double)n * (double)(2 * (sizeof(rapt_real) + moments) + grad_element_bytes(&p->value));
}

double adam_parts_bytes(const adam_parts *s, const param_slices *slices)
{
    double bytes = 0;
    for (size_t i = 0; i < slices->count; i++) {
        const param_slice *p = &slices->list[i];
        bytes += moved_bytes(s->adam, p->param, p->index, p->rows * p->width);
    }
    return bytes;
}

const char *adam_step_name(const rapt_adam *a)
{
    return a->with_sgd ? "sgd" : "adam";
}

/* Makes the step for the parameters for which `wanted` is true. */
static void move_slices(step_loop *l, bool (*wanted)(const void *, const rapt_param *, size_t))
{
    param_slices_begin(&l->slices, l->s.adam->set, wanted, l);
    while (param_slices_next(&l->slices)) {
        profile_op_bytes(l->s.tape, adam_step_name(l->s.adam), 0, adam_parts_bytes(&l->s, &l->slices));
        pool_run(l->s.tape->pool, l->slices.count, 4 * l->slices.elements, update_slice, l);
    }
    profile_end(l->s.tape);
}

/* Appends a matrix that is to move to the list of a step. */
static void add_matrix(const rapt_adam *a, size_t i, size_t *count)
{
    rapt_param *p = params_at(a->set, i);
    if (a->kinds[i] == ADAM_MUON && moves(a, p, i))
        a->matrices[(*count)++] = (muon_matrix){p, a->m[i]};
}

void adam_parts_move_matrices(const adam_parts *s, const uint8_t *wanted)
{
    const rapt_adam *a = s->adam;
    size_t count = 0;
    for (size_t i = 0; a->with_muon && i < a->count; i++)
        if (!wanted || wanted[i])
            add_matrix(a, i, &count);
    muon_step(&a->muon, s->tape, s->lr, s->grad_scale, a->matrices, count);
}

rapt_code rapt_adam_step(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err)
{
    step_loop l;
    rapt_code code = adam_parts_begin(&l.s, a, t, lr, grad_scale, err);
    if (code)
        return code;
    move_slices(&l, begins_to_move);
    adam_parts_move_matrices(&l.s, NULL);
    return RAPT_OK;
}

/* ---- a step of blocks --------------------------------------------------------------------------------------- */

static bool begins_to_move_sparse(const void *context, const rapt_param *p, size_t i)
{
    return p->sparse && begins_to_move(context, p, i);
}

rapt_code adam_owned_begin(adam_owned *s, rapt_adam *a, rapt_tape *t, double lr, double grad_scale, const norm_blocks *b,
                           rapt_error *err)
{
    step_loop l;
    for (size_t i = 0; i < rapt_params_count(a->set); i++)
        if (params_at(a->set, i)->state->deferred.dy)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: a step by blocks with a deferred gradient",
                             params_at(a->set, i)->value.name);
    rapt_code code = adam_parts_begin(&l.s, a, t, lr, grad_scale, err);
    if (code)
        return code;
    move_slices(&l, begins_to_move_sparse);
    *s = (adam_owned){a, t, b, l.s.vector, l.s.matrix, lr, grad_scale};
    return RAPT_OK;
}

typedef struct move_loop {
    const adam_owned *s;
    const uint32_t *list;
    size_t count;
} move_loop;

static void move_block(const adam_owned *s, const norm_block *block)
{
    rapt_param *p = params_at(s->adam->set, block->param);
    size_t width = norm_block_width(p), from = block->first * width;
    if (s->adam->kinds[block->param] != ADAM_MUON && moves(s->adam, p, block->param))
        move_elements(s->adam, s->tape->k, block->param, from, block->rows * width, p->value.grad + from,
                      p->value.ndim >= 2 ? &s->matrix : &s->vector);
}

/* A pool_fn. */
static void move_some_blocks(void *context, size_t index, int worker)
{
    const move_loop *l = context;
    size_t first = index * BLOCKS_AT_ONCE, left = l->count - first;
    (void)worker;
    for (size_t i = first; i < first + (left < BLOCKS_AT_ONCE ? left : BLOCKS_AT_ONCE); i++)
        move_block(l->s, &l->s->blocks->list[l->list[i]]);
}

void adam_owned_move(const adam_owned *s, const uint32_t *list, size_t count)
{
    move_loop l = {s, list, count};
    size_t elements = 0, matrices = 0;
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const norm_block *block = &s->blocks->list[list[i]];
        const rapt_param *p = params_at(s->adam->set, block->param);
        const size_t n = s->adam->kinds[block->param] == ADAM_MUON ? 0 : block->rows * norm_block_width(p);
        elements += n;
        bytes += moved_bytes(s->adam, p, block->param, n);
    }
    profile_op_bytes(s->tape, adam_step_name(s->adam), 0, bytes);
    pool_run(s->tape->pool, (count + BLOCKS_AT_ONCE - 1) / BLOCKS_AT_ONCE, 4 * elements, move_some_blocks, &l);
    profile_end(s->tape);
    for (size_t i = 0; s->adam->with_muon && i < count; i++)
        if (s->blocks->list[list[i]].first == 0)
            add_matrix(s->adam, s->blocks->list[list[i]].param, &matrices);
    muon_step(&s->adam->muon, s->tape, s->lr, s->grad_scale, s->adam->matrices, matrices);
}
