/* train/optimizer/adam.c: moments and steps of Adam. For the training loop; all parameters are one list of slices for the
 * threads, or of blocks that this process owns (adam_owned.h). Rows that a step doesn't use are in adam_rows.c, the norm for
 * clipping in grad_norm.c. Matrices that Muon moves have one moment here, and muon.c makes their steps. */
#include "rapt/train.h"

#include "base/pages.h"
#include "ops/deferred.h"
#include "tape/profile_op.h"
#include "tensor/grad_store.h"
#include "tensor/params.h"
#include "train/optimizer/adam_moment.h"
#include "train/optimizer/adam_options.h"
#include "train/optimizer/adam_owned.h"
#include "train/optimizer/adam_parts.h"
#include "train/optimizer/adam_rows.h"
#include "train/optimizer/moments8.h"
#include "train/optimizer/muon.h"
#include "train/optimizer/param_slices.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_THINGS ((size_t)1 << 16) /* besides the moments: lists, padding to cache lines */
#define CACHE_LINE ((size_t)64)
#define BLOCKS_AT_ONCE ((size_t)4) /* that a thread takes */

struct rapt_adam {
    rapt_params *set;
    rapt_adam_options options;
    bool with_muon;
    muon_state muon;          /* if so: for the matrices that it takes; */
    muon_matrix *matrices; /* [count] those that move in a step */
    arena memory;
    char *pages;        /* pages of the moments, if only a part of them is used; NULL: they are in the arena */
    size_t mapped, given; /* bytes of these pages, and bytes that moments use */
    size_t count;       /* number of parameters when the optimizer was made */
    rapt_real **m, **v; /* [count], NULL for parameters that are not trained, or whose moments are in 8 bits; v NULL: Muon's */
    moments8 *codes;    /* [count] */
    adam_rows **rows;   /* [count], for sparse parameters, whose rows may be behind; else NULL */
    uint64_t steps;
};

static bool trained(const rapt_param *p)
{
    return !p->buffer && !p->frozen;
}

static bool is_muons(const rapt_adam *a, const rapt_param *p)
{
    return a->with_muon && muon_takes(&a->muon.options, p);
}

static bool in_8_bits(const rapt_adam *a, const rapt_param *p)
{
    return a->options.bits8 && moments8_fit(p);
}

/* Bytes of one moment of a parameter. */
static size_t moment_bytes(const rapt_adam *a, const rapt_param *p)
{
    return in_8_bits(a, p) ? moments8_bytes(p) : rapt_tensor_size(&p->value) * sizeof(rapt_real);
}

/* A zeroed moment of one parameter. */
static void *new_moment(rapt_adam *a, const rapt_param *p)
{
    const size_t bytes = moment_bytes(a, p);
    if (!a->pages)
        return arena_zeroed(&a->memory, bytes, 1);
    char *moment = a->pages + a->given;
    a->given += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return moment;
}

static bool allocate_moments(rapt_adam *a, size_t i)
{
    rapt_param *p = params_at(a->set, i);
    if (!trained(p))
        return true;
    if (in_8_bits(a, p)) {
        a->codes[i] = (moments8){.m = new_moment(a, p), .v = new_moment(a, p)};
        return a->codes[i].m && a->codes[i].v;
    }
    a->m[i] = new_moment(a, p);
    if (is_muons(a, p))
        return a->m[i] != NULL;
    a->v[i] = new_moment(a, p);
    bool ok = a->m[i] && a->v[i];
    if (ok && p->sparse && !a->options.lazy && p->value.ndim >= 2) {
        a->rows[i] = adam_rows_new(&a->memory, p, a->m[i], a->v[i], a->options.weight_decay != 0);
        ok = a->rows[i] != NULL;
    }
    return ok;
}

static bool adam_allocate(rapt_adam *a)
{
    size_t n = a->count = rapt_params_count(a->set);
    a->m = arena_zeroed(&a->memory, n, sizeof *a->m);
    a->v = arena_zeroed(&a->memory, n, sizeof *a->v);
    a->codes = arena_zeroed(&a->memory, n, sizeof *a->codes);
    a->rows = arena_zeroed(&a->memory, n, sizeof *a->rows);
    a->muon.memory = a->muon.room ? arena_array(&a->memory, a->muon.room, sizeof *a->muon.memory) : NULL;
    a->matrices = arena_zeroed(&a->memory, a->with_muon ? n : 0, sizeof *a->matrices);
    bool ok = a->m && a->v && a->codes && a->rows && (a->muon.memory || !a->muon.room) && (a->matrices || !a->with_muon);
    for (size_t i = 0; ok && i < n; i++)
        ok = allocate_moments(a, i);
    return ok;
}

/* Bytes of the moments of all trained parameters, each padded to `padding` bytes, so that one chunk holds them. */
static size_t moments_size(const rapt_adam *a, size_t padding)
{
    size_t bytes = 0;
    for (size_t i = 0; i < rapt_params_count(a->set); i++) {
        const rapt_param *p = params_at(a->set, i);
        const size_t moment = (moment_bytes(a, p) + padding - 1) / padding * padding;
        bytes += !trained(p) ? 0 : is_muons(a, p) ? moment : 2 * moment;
    }
    return bytes;
}

/* Allocates all memory of moments at once: a chunk of the arena, or pages if only a part is used. */
static bool adam_reserve(rapt_adam *a, bool in_part)
{
    a->muon.room = a->with_muon ? muon_room(&a->muon.options, a->set) : 0;
    arena_init(&a->memory, SMALL_THINGS + a->muon.room * sizeof *a->muon.memory + (in_part ? 0 : moments_size(a, 1)));
    a->mapped = in_part ? moments_size(a, CACHE_LINE) : 0;
    a->pages = a->mapped ? pages_map(a->mapped) : NULL;
    return a->pages || !a->mapped;
}

static rapt_adam *adam_make(rapt_params *set, const rapt_adam_options *options, const rapt_muon_options *muon, bool in_part,
                            rapt_error *err)
{
    rapt_adam_options o;
    rapt_muon_options of_muon = {0};
    if (adam_take_options(options, &o, err) != RAPT_OK || (muon && muon_take_options(muon, &of_muon, err) != RAPT_OK))
        return NULL;
    if (muon && o.bits8) {
        rapt_fail(err, RAPT_ERR_VALUE, "Muon with moments of Adam in 8 bits: bits8 is for Adam alone");
        return NULL;
    }
    rapt_adam *a = calloc(1, sizeof *a);
    if (a) {
        a->set = set;
        a->options = o;
        a->with_muon = muon != NULL;
        a->muon.options = of_muon;
    }
    if (a && adam_reserve(a, in_part) && adam_allocate(a))
        return a;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for Adam's moments");
    rapt_adam_free(a);
    return NULL;
}

rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err)
{
    return adam_make(set, options, NULL, false, err);
}

rapt_adam *rapt_muon_new(rapt_params *set, const rapt_muon_options *muon, const rapt_adam_options *adam, rapt_error *err)
{
    const rapt_muon_options defaults = rapt_muon_options_default();
    return adam_make(set, adam, muon ? muon : &defaults, false, err);
}

rapt_adam *adam_owned_new(rapt_params *set, const rapt_adam_options *options, const rapt_muon_options *muon, rapt_error *err)
{
    return adam_make(set, options, muon, true, err);
}

void rapt_adam_free(rapt_adam *a)
{
    if (!a)
        return;
    for (size_t i = 0; a->rows && i < a->count; i++)
        if (a->rows[i])
            adam_rows_end(a->rows[i]);
    arena_free(&a->memory);
    pages_unmap(a->pages, a->mapped);
    free(a);
}

uint64_t rapt_adam_steps(const rapt_adam *a)
{
    return a->steps;
}

void rapt_adam_set_steps(rapt_adam *a, uint64_t steps)
{
    a->steps = steps;
    for (size_t i = 0; i < a->count; i++) {
        if (!a->rows[i])
            continue;
        adam_rows_refresh(a->rows[i], NULL, NULL, 0);
        adam_rows_restart(a->rows[i]);
    }
}

/* `a`, when deferred updates of parameter `index` have been applied. */
static const rapt_adam *up_to_date(const rapt_adam *a, size_t index)
{
    if (a->rows[index])
        adam_rows_refresh(a->rows[index], NULL, NULL, 0);
    return a;
}

rapt_real *rapt_adam_first_moment(const rapt_adam *a, size_t index)
{
    return up_to_date(a, index)->m[index];
}

rapt_real *rapt_adam_second_moment(const rapt_adam *a, size_t index)
{
    return up_to_date(a, index)->v[index];
}

const rapt_param *adam_param(const rapt_adam *a, size_t index)
{
    return params_at(a->set, index);
}

adam_moment adam_moment_of(const rapt_adam *a, size_t index, bool second)
{
    const rapt_param *p = params_at(a->set, index);
    if (a->codes[index].m)
        return (adam_moment){second ? a->codes[index].v : a->codes[index].m, moments8_bytes(p), true, false};
    rapt_real *x = second ? rapt_adam_second_moment(a, index) : rapt_adam_first_moment(a, index);
    return (adam_moment){x, x ? rapt_tensor_size(&p->value) * sizeof *x : 0, false, a->m[index] && !a->v[index]};
}

/* ---- a step ----------------------------------------------------------------------------------------------- */

typedef struct step_loop {
    adam_parts s;
    param_slices slices;
} step_loop;

static const kernels_adam *constants_of(const adam_parts *s, const rapt_param *p)
{
    return p->value.ndim >= 2 ? &s->matrix : &s->vector;
}

/* Moves n elements of a parameter, from element `from` on: with moments in 8 bits a span of them (moments8.h). */
static void move_elements(const rapt_adam *a, const kernels *k, size_t index, size_t from, size_t n, const rapt_real *grad,
                          const kernels_adam *constants)
{
    rapt_param *p = params_at(a->set, index);
    const moments8 *codes = &a->codes[index];
    if (!codes->m) {
        k->adam(n, p->value.data + from, grad, a->m[index] + from, a->v[index] + from, constants);
        return;
    }
    const size_t at = moments8_at(p, from);
    k->adam8(n, p->value.data + from, grad, codes->m + at, codes->v + at, moments8_seed(index, from, a->steps), constants);
}

/* Rows of a slice; `grad`: their gradient, or NULL: the parameter's own. */
static void adam_update(const adam_parts *s, const param_slice *p, size_t first, size_t rows, const rapt_real *grad)
{
    const kernels_adam *constants = constants_of(s, p->param);
    const rapt_tensor *x = &p->param->value;
    const bool in_blocks = s->adam->codes[p->index].m || x->grad_bf16;
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

void adam_parts_move(const adam_parts *s, const param_slice *p, const rapt_real *deferred)
{
    if (deferred)
        adam_update(s, p, p->first, p->rows, deferred);
    else if (s->adam->rows[p->index])
        adam_rows_step(s->adam->rows[p->index], p->first, p->rows);
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
    if ((!a->m[i] && !a->codes[i].m) || p->frozen)
        return false;
    if (p->sparse)
        return memchr(p->state->row_used, 1, p->value.shape[0]) != NULL;
    return p->value.grad_filled || p->state->deferred.dy;
}

/* Whether it is a matrix that Muon moves. */
static bool has_muons_moment(const rapt_adam *a, size_t i)
{
    return a->m[i] && !a->v[i];
}

bool adam_parts_whole(const adam_parts *s, const rapt_param *p)
{
    return has_muons_moment(s->adam, p->index);
}

bool adam_parts_moves(const adam_parts *s, const rapt_param *p)
{
    if (has_muons_moment(s->adam, p->index) || !moves(s->adam, p, p->index))
        return false;
    if (s->adam->rows[p->index])
        adam_rows_begin_step(s->adam->rows[p->index], s->tape->k, constants_of(s, p));
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
        return rapt_fail(err, RAPT_ERR_VALUE, "Adam was made for %zu parameters, and there are %zu", a->count, there);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < a->count && !code; i++) {
        rapt_param *p = params_at(a->set, i);
        code = deferred_check(t, p, err);
        if (!code && p->value.grad && (p->value.grad_filled || has_muons_moment(a, i)))
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
    s->vector = s->matrix = adam_coefficients(&a->options, a->steps, lr, grad_scale);
    s->matrix.decay = (rapt_real)(1 - lr * a->options.weight_decay);
    return RAPT_OK;
}

/* The bytes that a step reads and writes for n elements of a parameter: values and both moments twice, the gradient once. */
static double moved_bytes(const rapt_adam *a, const rapt_param *p, size_t index, size_t n)
{
    const size_t moment = a->codes[index].m ? 1 : sizeof(rapt_real);
    return (double)n * (double)(2 * sizeof(rapt_real) + 4 * moment + grad_element_bytes(&p->value));
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

/* Makes the step for the parameters for which `wanted` is true. */
static void move_slices(step_loop *l, bool (*wanted)(const void *, const rapt_param *, size_t))
{
    param_slices_begin(&l->slices, l->s.adam->set, wanted, l);
    while (param_slices_next(&l->slices)) {
        profile_op_bytes(l->s.tape, "adam", 0, adam_parts_bytes(&l->s, &l->slices));
        pool_run(l->s.tape->pool, l->slices.count, 4 * l->slices.elements, update_slice, l);
    }
    profile_end(l->s.tape);
}

/* Appends a matrix that is to move to the list of a step. */
static void add_matrix(const rapt_adam *a, size_t i, size_t *count)
{
    rapt_param *p = params_at(a->set, i);
    if (has_muons_moment(a, i) && moves(a, p, i))
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
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: a step of Adam by blocks with a deferred gradient",
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
    if (!has_muons_moment(s->adam, block->param) && moves(s->adam, p, block->param))
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
        const size_t n = has_muons_moment(s->adam, block->param) ? 0 : block->rows * norm_block_width(p);
        elements += n;
        bytes += moved_bytes(s->adam, p, block->param, n);
    }
    profile_op_bytes(s->tape, "adam", 0, bytes);
    pool_run(s->tape->pool, (count + BLOCKS_AT_ONCE - 1) / BLOCKS_AT_ONCE, 4 * elements, move_some_blocks, &l);
    profile_end(s->tape);
    for (size_t i = 0; s->adam->with_muon && i < count; i++)
        if (s->blocks->list[list[i]].first == 0)
            add_matrix(s->adam, s->blocks->list[list[i]].param, &matrices);
    muon_step(&s->adam->muon, s->tape, s->lr, s->grad_scale, s->adam->matrices, matrices);
}
