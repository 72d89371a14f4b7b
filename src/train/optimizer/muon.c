/* train/optimizer/muon.c: steps of Muon. All sums are matrix products and blocks of the gradient norm, so they have their order.
 * For adam.c, which decides when a parameter moves. */
#include "train/optimizer/muon.h"

#include "base/pattern.h"
#include "base/sized.h"
#include "tape/profile_op.h"
#include "tensor/grad_store.h"
#include "tensor/params.h"
#include "train/optimizer/muon_defaults.h"
#include "train/optimizer/param_slices.h"

#include <math.h>
#include <string.h>

/* The polynomial a x + b x^3 + c x^5 of Jordan et al. 2024, applied to all singular values x at once. */
#define NS_A ((rapt_real)3.4445)
#define NS_B ((rapt_real)-4.7750)
#define NS_C ((rapt_real)2.0315)
#define NORM_MIN 1e-7   /* a matrix with a smaller norm is divided by this */
#define MAX_NS_STEPS 99
#define MATCHED_RMS 0.2 /* root mean square of Adam's steps (Liu et al. 2025, section 2.2) */

#define TOGETHER ((size_t)1 << 19) /* max elements of `memory` for several matrices at once, so that they stay in a cache */
#define STRIP_MIN ((size_t)64) /* min rows of a strip of G or F: with fewer, packing the other operand costs too much */
#define UNIT (KERNELS_ALIGN / sizeof(rapt_real))

/* ---- options ------------------------------------------------------------------------------------------------ */

SIZED_ENDS_WITH(rapt_muon_options, reserved);

void rapt_muon_options_init(rapt_muon_options *o, size_t size)
{
    sized_init(o, size, &(rapt_muon_options){MUON_DEFAULTS}, sizeof *o);
}

rapt_code muon_take_options(const rapt_muon_options *given, rapt_muon_options *o, rapt_error *err)
{
    *o = rapt_muon_options_default();
    if (sized_take(o, given, o->reserved, sizeof o->reserved, "muon_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (!(o->lr_scale > 0 && o->lr_scale < INFINITY))
        return rapt_fail(err, RAPT_ERR_VALUE, "Muon: lr_scale %g: it is above 0", o->lr_scale);
    if (!(o->momentum >= 0 && o->momentum < 1))
        return rapt_fail(err, RAPT_ERR_VALUE, "Muon: a momentum of %g: it is 0 or more and below 1", o->momentum);
    if (!(o->weight_decay >= 0 && o->weight_decay < INFINITY))
        return rapt_fail(err, RAPT_ERR_VALUE, "Muon: a weight decay of %g: it is 0 or more", o->weight_decay);
    if (o->ns_steps < 1 || o->ns_steps > MAX_NS_STEPS)
        return rapt_fail(err, RAPT_ERR_VALUE, "Muon: %zu Newton-Schulz steps: 1 to %d are possible", o->ns_steps, MAX_NS_STEPS);
    return o->adjust_lr == RAPT_MUON_MATCH_RMS_ADAMW || o->adjust_lr == RAPT_MUON_ORIGINAL
               ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "Muon: adjust_lr is no rapt_muon_adjust");
}

bool muon_of_recipe(const rapt_recipe *k, rapt_muon_options *o)
{
    *o = rapt_muon_options_default();
    o->lr_scale = k->train.muon.lr > 0 ? k->train.muon.lr / k->train.lr : 1;
    o->momentum = k->train.muon.momentum;
    o->weight_decay = k->train.muon.weight_decay < 0 ? k->train.weight_decay : k->train.muon.weight_decay;
    o->ns_steps = (size_t)k->train.muon.ns_steps;
    o->adjust_lr = k->train.muon.adjust_lr;
    o->nesterov = k->train.muon.nesterov;
    return k->train.optimizer == RAPT_RECIPE_OPTIMIZER_MUON;
}

/* ---- which matrices ----------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

bool muon_takes(const rapt_muon_options *o, const rapt_param *p)
{
    const char *name = p->value.name;
    if (p->value.ndim != 2 || p->sparse || ends_with(name, ".lora_A.weight") || ends_with(name, ".lora_B.weight"))
        return false;
    if (o->matrices)
        return pattern_fits(o->matrices, name);
    return pattern_fits("*attention.[qkvo].weight", name) || pattern_fits("*.ffn.*.weight", name);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static size_t whole_units(size_t elements)
{
    return (elements + UNIT - 1) / UNIT * UNIT;
}

static size_t smaller_side(const rapt_tensor *x)
{
    return x->shape[0] < x->shape[1] ? x->shape[0] : x->shape[1];
}

static size_t norm_blocks_of(const rapt_param *p)
{
    const size_t block = param_block_elements(p);
    return (rapt_tensor_size(&p->value) + block - 1) / block;
}

/* The elements of memory that a matrix takes: itself twice, two products, a double for each block. */
static size_t room_of(const rapt_param *p)
{
    const size_t n = smaller_side(&p->value);
    return 2 * whole_units(rapt_tensor_size(&p->value)) + 2 * whole_units(n * n) +
           whole_units(norm_blocks_of(p) * (sizeof(double) / sizeof(rapt_real)));
}

size_t muon_room(const rapt_muon_options *o, const rapt_params *set)
{
    size_t most = 0, all = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = params_at(set, i);
        if (p->buffer || p->frozen || !muon_takes(o, p))
            continue;
        const size_t room = room_of(p);
        most = room > most ? room : most;
        all += room;
    }
    all = all < TOGETHER ? all : TOGETHER;
    return most > all ? most : all;
}

/* ---- a step of a few matrices ------------------------------------------------------------------------------- */

/* A matrix [rows, columns] in its step. */
typedef struct step_matrix {
    bool rounds; /* x and G to bf16 */
    rapt_param *param;
    rapt_real *momentum;
    size_t rows, columns, side; /* the smaller of both */
    size_t block, blocks;       /* elements of a block of the norm, and how many there are */
    rapt_real *x, *next;        /* [rows, columns]: before and after an iteration */
    rapt_real *gram, *factor;   /* [side, side] */
    double *sums;               /* [blocks] of squares */
    rapt_real inv_norm, step_size, decay;
} step_matrix;

typedef struct step_group {
    const kernels *k;
    bool nesterov, rounds;
    rapt_real momentum, grad_share; /* mu, (1 - mu) times the factor of gradients */
    size_t count, blocks, elements;
    step_matrix list[GEMM_MAX_JOBS];
} step_group;

/* The elements from .. from + n - 1 of a matrix. */
typedef struct step_block {
    step_matrix *of;
    size_t index, from, n;
} step_block;

/* Block `index` of a group. */
static step_block block_at(step_group *g, size_t index)
{
    step_matrix *w = g->list;
    for (; index >= w->blocks; w++)
        index -= w->blocks;
    const size_t from = index * w->block, left = w->rows * w->columns - from;
    return (step_block){w, index, from, left < w->block ? left : w->block};
}

/* A pool_fn: m = fma(1 - mu, g, mu m); x = fma(1 - mu, g, mu m) again with nesterov, else m. */
static void average_block(void *context, size_t index, int worker)
{
    step_group *g = context;
    const step_block b = block_at(g, index);
    rapt_real memory[GRAD_STORE_WIDTH], *m = b.of->momentum + b.from, *x = b.of->x + b.from;
    const rapt_real *grad = grad_elements(g->k, &b.of->param->value, b.from, b.n, memory);
    (void)worker;
    g->k->scale(b.n, g->momentum, m, m);
    g->k->axpy(b.n, g->grad_share, grad, m);
    if (g->nesterov) {
        g->k->scale(b.n, g->momentum, m, x);
        g->k->axpy(b.n, g->grad_share, grad, x);
    } else {
        memcpy(x, m, b.n * sizeof *x);
    }
    b.of->sums[b.index] = (double)g->k->sum_squares(b.n, x);
}

/* Rounds to bf16. Products in bf16 round their operands: if x and G in the sums beside these products were not the same numbers,
 * errors would be twice as large. */
static void round_elements(const kernels *k, rapt_real *x, size_t n)
{
    enum { AT_ONCE = 256 };
    uint8_t memory[2 * AT_ONCE];
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < AT_ONCE ? n - done : AT_ONCE;
        k->round_bf16(some, x + done, memory);
        k->widen_bf16(some, memory, x + done);
    }
}

/* A pool_fn. */
static void normalize_block(void *context, size_t index, int worker)
{
    step_group *g = context;
    const step_block b = block_at(g, index);
    rapt_real *x = b.of->x + b.from;
    (void)worker;
    g->k->scale(b.n, b.of->inv_norm, x, x);
    if (b.of->rounds)
        round_elements(g->k, x, b.n);
}

/* A pool_fn: p = fma(-step_size, x, decay p). */
static void move_block_elements(void *context, size_t index, int worker)
{
    step_group *g = context;
    const step_block b = block_at(g, index);
    rapt_real *p = b.of->param->value.data + b.from;
    (void)worker;
    if (b.of->decay != 1)
        g->k->scale(b.n, b.of->decay, p, p);
    g->k->axpy(b.n, -b.of->step_size, b.of->x + b.from, p);
}

static void take_norms(step_group *g)
{
    for (size_t i = 0; i < g->count; i++) {
        step_matrix *w = &g->list[i];
        double sum = 0;
        for (size_t k = 0; k < w->blocks; k++)
            sum += w->sums[k];
        w->inv_norm = (rapt_real)(1 / fmax(sqrt(sum), NORM_MIN));
    }
}

/* ---- Newton-Schulz ------------------------------------------------------------------------------------------ */

/* A strip of rows of G or F. Both are symmetric, to the bit, so a strip is computed from its own first column on; what is left of
 * that is mirrored. */
typedef struct strip {
    const step_matrix *of;
    size_t first; /* row, and column */
} strip;

typedef struct strip_set {
    step_group *g;
    size_t each;   /* strips of a matrix */
    bool factors;  /* F; else G */
    strip list[GEMM_MAX_JOBS];
    gemm_job jobs[GEMM_MAX_JOBS];
} strip_set;

/* A gemm_epilogue_fn: G is rounded. */
static void finish_gram(const kernels *k, const void *context, size_t at, size_t n)
{
    const strip *s = context;
    if (s->of->rounds)
        round_elements(k, s->of->gram + s->first * (s->of->side + 1) + at, n);
}

/* A gemm_epilogue_fn: G G, of which elements at .. at + n - 1 of a strip are complete, becomes F = b G + c G G. */
static void finish_factor(const kernels *k, const void *context, size_t at, size_t n)
{
    const strip *s = context;
    const size_t corner = s->first * (s->of->side + 1);
    rapt_real *f = s->of->factor + corner + at;
    k->scale(n, NS_C, f, f);
    k->axpy(n, NS_B, s->of->gram + corner + at, f);
}

/* A gemm_epilogue_fn: F x becomes a x + F x, rounded. Were a a part of F, products in bf16 would round it. */
static void finish_next(const kernels *k, const void *context, size_t at, size_t n)
{
    const step_matrix *w = context;
    k->axpy(n, NS_A, w->x + at, w->next + at);
    if (w->rounds)
        round_elements(k, w->next + at, n);
}

static matrix stored_rows(const rapt_real *data, size_t columns)
{
    return (matrix){.data = data, .row = (ptrdiff_t)columns, .col = 1};
}

static matrix transposed(matrix a)
{
    return (matrix){.data = a.data, .row = a.col, .col = a.row};
}

/* Row `index` of the strips' limits. */
static size_t strip_limit(const step_matrix *w, size_t each, size_t index)
{
    return index == each ? w->side : w->side * index / each / KERNELS_LANES * KERNELS_LANES;
}

static gemm_job strip_job(const step_matrix *w, bool factors, size_t first, size_t end)
{
    const matrix x = stored_rows(w->x, w->columns), gram = stored_rows(w->gram, w->side);
    const matrix a = factors ? gram : w->rows > w->columns ? transposed(x) : x, b = factors ? gram : transposed(a);
    return (gemm_job){.m = end - first, .n = w->side - first,
                      .k = factors ? w->side : w->rows > w->columns ? w->rows : w->columns, .a = matrix_at(a, first, 0),
                      .b = matrix_at(b, 0, first), .c = (factors ? w->factor : w->gram) + first * (w->side + 1), .ldc = w->side,
                      .epilogue_fn = factors ? finish_factor : finish_gram};
}

/* A pool_fn: strip `index` of all but the first ones gets what is to the left of its own columns. */
static void mirror_strip(void *context, size_t index, int worker)
{
    const strip_set *s = context;
    const step_matrix *w = &s->g->list[index / (s->each - 1)];
    const size_t first = strip_limit(w, s->each, index % (s->each - 1) + 1);
    const size_t end = strip_limit(w, s->each, index % (s->each - 1) + 2), n = w->side;
    rapt_real *c = s->factors ? w->factor : w->gram;
    (void)worker;
    for (size_t j0 = 0; j0 < first; j0 += KERNELS_LANES) /* `first` is a multiple of it */
        for (size_t i = first; i < end; i++)
            for (size_t j = j0; j < j0 + KERNELS_LANES; j++)
                c[i * n + j] = c[j * n + i];
}

/* G or F of each matrix of a group. */
static void multiply_symmetric(const gemm_team *team, step_group *g, bool factors)
{
    strip_set s = {.g = g, .each = GEMM_MAX_JOBS / g->count, .factors = factors};
    size_t count = 0, elements = 0;
    for (size_t i = 0; i < g->count; i++) {
        const size_t most = g->list[i].side / STRIP_MIN;
        s.each = s.each < most ? s.each : most > 0 ? most : 1;
        elements += g->list[i].side * g->list[i].side;
    }
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < s.each; k++) {
            const step_matrix *w = &g->list[i];
            const size_t first = strip_limit(w, s.each, k);
            s.list[count] = (strip){w, first};
            s.jobs[count] = strip_job(w, factors, first, strip_limit(w, s.each, k + 1));
            s.jobs[count].context = &s.list[count];
            count++;
        }
    gemm_all(team, s.jobs, count);
    pool_run(team->pool, g->count * (s.each - 1), elements / 2, mirror_strip, &s);
}

/* One iteration: G = x x^T, F = b G + c G G, x = a x + F x; a matrix with more rows than columns is transposed for it, which
 * changes no sum. */
static void iterate(const gemm_team *team, step_group *g)
{
    gemm_job next[GEMM_MAX_JOBS];
    multiply_symmetric(team, g, false);
    multiply_symmetric(team, g, true);
    for (size_t i = 0; i < g->count; i++) {
        const step_matrix *w = &g->list[i];
        const bool tall = w->rows > w->columns;
        const matrix x = stored_rows(w->x, w->columns), f = stored_rows(w->factor, w->side);
        next[i] = (gemm_job){.m = w->rows, .n = w->columns, .k = w->side, .a = tall ? x : f, .b = tall ? f : x, .c = w->next,
                             .epilogue_fn = finish_next, .context = w};
    }
    gemm_all(team, next, g->count);
    for (size_t i = 0; i < g->count; i++) {
        step_matrix *w = &g->list[i];
        rapt_real *before = w->x;
        w->x = w->next;
        w->next = before;
    }
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

/* The factor of the learning rate for a matrix of this shape. */
static double adjusted(const rapt_muon_options *o, double rows, double columns)
{
    return o->adjust_lr == RAPT_MUON_ORIGINAL ? sqrt(fmax(1, rows / columns)) : MATCHED_RMS * sqrt(fmax(rows, columns));
}

static step_matrix step_matrix_of(const muon_state *m, const muon_matrix *from, double lr, rapt_real *memory)
{
    const rapt_tensor *v = &from->param->value;
    const size_t all = whole_units(rapt_tensor_size(v)), n = smaller_side(v), square = whole_units(n * n);
    step_matrix w = {.param = from->param, .momentum = from->momentum, .rows = v->shape[0], .columns = v->shape[1], .side = n,
                     .block = param_block_elements(from->param), .blocks = norm_blocks_of(from->param)};
    w.x = memory;
    w.next = w.x + all;
    w.gram = w.next + all;
    w.factor = w.gram + square;
    w.sums = (double *)(void *)(w.factor + square);
    w.step_size = (rapt_real)(lr * adjusted(&m->options, (double)w.rows, (double)w.columns));
    w.decay = (rapt_real)(1 - lr * m->options.weight_decay);
    return w;
}

/* Takes matrices from a list while memory and jobs last; returns how many. */
static size_t group_fill(step_group *g, const muon_state *m, double lr, const muon_matrix *list, size_t count)
{
    size_t used = 0;
    g->count = g->blocks = g->elements = 0;
    while (g->count < count && g->count < GEMM_MAX_JOBS && used + room_of(list[g->count].param) <= m->room) {
        step_matrix *w = &g->list[g->count];
        *w = step_matrix_of(m, &list[g->count], lr, m->memory + used);
        w->rounds = g->rounds;
        used += room_of(w->param);
        g->blocks += w->blocks;
        g->elements += w->rows * w->columns;
        g->count++;
    }
    return g->count;
}

/* Announces the group to the profile: its products, and what besides them it reads and writes. */
static void announce(rapt_tape *t, const muon_state *m, const step_group *g)
{
    double flops = 0, bytes = 0;
    for (size_t i = 0; i < g->count; i++) {
        const step_matrix *w = &g->list[i];
        const double n = (double)w->side, all = (double)w->rows * (double)w->columns;
        flops += (double)m->options.ns_steps * (4 * n * all + 2 * n * n * n);
        bytes += all * (double)(7 * sizeof(rapt_real) + grad_element_bytes(&w->param->value));
    }
    profile_op_bytes(t, "muon", flops, bytes);
}

void muon_step(const muon_state *m, rapt_tape *t, double lr, double grad_scale, const muon_matrix *list, size_t count)
{
    const double own = lr * m->options.lr_scale;
    step_group g = {.k = t->k, .nesterov = m->options.nesterov, .rounds = t->team.gemm->pair > 1,
                    .momentum = (rapt_real)m->options.momentum,
                    .grad_share = (rapt_real)((1 - m->options.momentum) * grad_scale)};
    for (size_t done = 0; done < count; done += g.count) {
        if (group_fill(&g, m, own, list + done, count - done) == 0) { /* muon_room has room for each */
            rapt_tape_fail(t, RAPT_ERR_VALUE, "Muon: %s is larger than the memory for a matrix", list[done].param->value.name);
            return;
        }
        announce(t, m, &g);
        pool_run(t->pool, g.blocks, 4 * g.elements, average_block, &g);
        take_norms(&g);
        pool_run(t->pool, g.blocks, g.elements, normalize_block, &g);
        for (size_t i = 0; i < m->options.ns_steps; i++)
            iterate(&t->team, &g);
        pool_run(t->pool, g.blocks, 2 * g.elements, move_block_elements, &g);
        profile_end(t);
    }
}
