/* tape/tape.c: the tape itself: memory of a pass, sticky errors, results, chunks for threads. For the operations, which do
 * all the arithmetic. */
#include "tape/tape_core.h"

#include "base/memory.h"
#include "base/rng.h"
#include "tape/compute.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_CHUNK ((size_t)8 << 20)
#define SCRATCH_CHUNK ((size_t)1 << 20)
#define CHUNK_COST 8192 /* elementary operations of a chunk, some microseconds */
#define MAX_UNIT_CHUNKS 4096

const kernels_gemm *tape_gemm_of(const kernels *k, rapt_type precision)
{
    const kernels_quantized *q = k->quantized;
    switch (precision) {
    case RAPT_TYPE_BF16: return k->bf16;
    case RAPT_TYPE_Q8_0: return q ? &q->q8_0 : NULL;
    case RAPT_TYPE_Q4_0: return q ? &q->q4_0 : NULL;
    default: return &k->gemm;
    }
}

static bool tape_set_up(rapt_tape *t, const rapt_compute *options, pool *shared, rapt_error *err)
{
    if (compute_check(options, err) != RAPT_OK)
        return false;
    t->k = options->isa ? kernels_of_isa(options->isa, err) : kernels_active(err);
    t->own_pool = t->k && !shared ? pool_new(options->threads, err) : NULL;
    t->pool = shared ? shared : t->own_pool;
    if (!t->k || !t->pool)
        return false;
    const kernels_gemm *kn = options->type == RAPT_TYPE_BF16 ? t->k->bf16 : &t->k->gemm;
    t->packs = tape_gemm_of(t->k, options->type);
    t->weight_types = options->weights;
    if (!kn || !t->packs) {
        rapt_fail(err, RAPT_ERR_VALUE, "this build computes in double precision: it has neither bf16 nor quantized weights");
        return false;
    }
    size_t bytes = gemm_workspace_size(pool_threads(t->pool)) * sizeof(rapt_real);
    t->team = (gemm_team){kn, t->k, t->pool, memory_aligned(KERNELS_ALIGN, bytes)};
    if (!t->team.workspace)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tape");
    return t->team.workspace != NULL;
}

rapt_tape *tape_new_of_pool(const rapt_compute *options, pool *shared, rapt_error *err)
{
    rapt_tape *t = calloc(1, sizeof *t);
    if (!t) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a tape");
        return NULL;
    }
    arena_init(&t->step, STEP_CHUNK);
    arena_init(&t->scratch, SCRATCH_CHUNK);
    t->poison = (rapt_tensor){.ndim = 1, .shape = {0}, .name = "poison"};
    if (!tape_set_up(t, options ? options : &(rapt_compute){0}, shared, err)) {
        rapt_tape_free(t);
        return NULL;
    }
    return t;
}

rapt_tape *rapt_tape_new(const rapt_compute *options, rapt_error *err)
{
    return tape_new_of_pool(options, NULL, err);
}

rapt_tape *rapt_tape_new_in(rapt_pool *of, const rapt_compute *options, rapt_error *err)
{
    if (!of) {
        rapt_fail(err, RAPT_ERR_VALUE, "a tape of no pool: rapt_tape_new makes one with threads of its own");
        return NULL;
    }
    return tape_new_of_pool(options, of, err);
}

void rapt_tape_free(rapt_tape *t)
{
    if (!t)
        return;
    tape_end_kept(t);
    pool_free(t->own_pool);
    memory_aligned_free(t->team.workspace);
    arena_free(&t->step);
    arena_free(&t->scratch);
    free(t);
}

void rapt_tape_begin(rapt_tape *t, rapt_pass pass)
{
    profile_end(t);
    tape_end_kept(t);
    fesetenv(FE_DFL_ENV); /* rounding mode and denormals are part of the number format, as in the pool's threads */
    arena_release(&t->step, (arena_mark){0});
    arena_release(&t->scratch, (arena_mark){0});
    t->pass = pass;
    t->passes++;
    t->last = NULL;
    t->results = NULL;
    t->free_list.count = 0;
    t->observer.scope = (observe_scope){0};
    t->observer.steps = t->observer.parameters = NULL;
    t->traversed = false;
    t->weights = NULL;
    t->dropouts = 0;
    t->error = (rapt_error){0};
}

const rapt_error *rapt_tape_error(const rapt_tape *t)
{
    return &t->error;
}

rapt_code rapt_tape_status(const rapt_tape *t, rapt_error *err)
{
    return t->error.code ? rapt_fail(err, t->error.code, "%s", t->error.message) : RAPT_OK;
}

bool tape_failed(const rapt_tape *t)
{
    return t->error.code != RAPT_OK;
}

rapt_tensor *rapt_tape_fail(rapt_tape *t, rapt_code code, const char *format, ...)
{
    if (tape_failed(t))
        return &t->poison;
    char message[sizeof t->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    rapt_fail(&t->error, code, "%s", message);
    if (t->hook)
        t->hook(t->hook_context, &t->error);
    return &t->poison;
}

void rapt_tape_on_error(rapt_tape *t, void (*hook)(void *, const rapt_error *), void *context)
{
    t->hook = hook;
    t->hook_context = context;
}

bool rapt_tape_training(const rapt_tape *t)
{
    return t->pass.training;
}

int rapt_tape_threads(const rapt_tape *t)
{
    return pool_threads(t->pool);
}

const char *rapt_tape_gemm(const rapt_tape *t)
{
    return t->packs->name;
}

const char *rapt_tape_isa(const rapt_tape *t)
{
    return t->k->name;
}

size_t rapt_tape_memory(const rapt_tape *t)
{
    return t->step.peak + t->scratch.peak + gemm_workspace_size(pool_threads(t->pool)) * sizeof(rapt_real);
}

void *tape_alloc(rapt_tape *t, size_t count, size_t size)
{
    void *p = arena_array(&t->step, count, size);
    if (!p)
        rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory for %zu x %zu bytes of a pass", count, size);
    return p;
}

rapt_real *tape_elements(rapt_tape *t, size_t count)
{
    if (tape_computes(t))
        return tape_alloc(t, count, sizeof(rapt_real));
    rapt_real *p = arena_count(&t->step, count, sizeof *p);
    if (!p)
        rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory for %zu x %zu bytes of a pass", count, sizeof *p);
    return p;
}

void tape_count(rapt_tape *t, bool on)
{
    tape_end_kept(t);
    arena_free(&t->step);
    arena_free(&t->scratch);
    rapt_tape_begin(t, (rapt_pass){0});
    pool_rest(t->pool, on);
    t->counts = on;
}

void tape_expect(rapt_tape *t, size_t step, size_t scratch)
{
    arena_expect(&t->step, step);
    arena_expect(&t->scratch, scratch);
}

void *tape_scratch(rapt_tape *t, size_t count, size_t size)
{
    void *p = tape_computes(t) ? arena_array(&t->scratch, count, size) : arena_count(&t->scratch, count, size);
    if (!p)
        rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory for %zu x %zu bytes of scratch", count, size);
    return p;
}

arena_mark tape_mark(const rapt_tape *t)
{
    return arena_save(&t->scratch);
}

void tape_release(rapt_tape *t, arena_mark mark)
{
    arena_release(&t->scratch, mark);
}

bool tape_wants(const rapt_tape *t, const rapt_tensor *x)
{
    return x && t->pass.record && x->requires_grad;
}

/* Whether a tensor has elements, and no more than can be allocated. */
static bool has_size(int ndim, const size_t *shape)
{
    size_t n = ndim >= 1 && ndim <= RAPT_MAX_DIMS ? 1 : 0;
    for (int i = 0; n > 0 && i < ndim; i++)
        n = shape[i] <= SIZE_MAX / 16 / n ? n * shape[i] : 0;
    return n > 0;
}

/* A result with its elements in `memory`, or in new memory if that is NULL. */
static rapt_tensor *output_in(rapt_tape *t, rapt_real *memory, int ndim, const size_t *shape, bool requires_grad)
{
    if (!has_size(ndim, shape)) {
        rapt_tape_fail(t, RAPT_ERR_SHAPE, "a result of %d dimensions, empty or too large", ndim);
        return NULL;
    }
    tape_result *r = tape_alloc(t, 1, sizeof *r);
    if (!r)
        return NULL;
    rapt_tensor *y = &r->tensor;
    r->keeps_grad = r->disposable = false;
    *y = (rapt_tensor){.ndim = ndim, .requires_grad = requires_grad && t->pass.record};
    memcpy(y->shape, shape, (size_t)ndim * sizeof *shape);
    y->data = memory ? memory : tape_elements(t, rapt_tensor_size(y));
    if (!y->data)
        return NULL;
    r->previous = t->results;
    t->results = r;
    return y;
}

rapt_tensor *tape_output(rapt_tape *t, int ndim, const size_t *shape, bool requires_grad)
{
    return output_in(t, NULL, ndim, shape, requires_grad);
}

static rapt_tensor *output_like_in(rapt_tape *t, rapt_real *memory, const rapt_tensor *x, bool requires_grad)
{
    rapt_tensor *y = output_in(t, memory, x->ndim, x->shape, requires_grad);
    if (y)
        y->ragged = x->ragged;
    return y;
}

rapt_tensor *tape_output_like(rapt_tape *t, const rapt_tensor *x, bool requires_grad)
{
    return output_like_in(t, NULL, x, requires_grad);
}

rapt_tensor *tape_output_over(rapt_tape *t, const rapt_tensor *x, const rapt_tensor *over, bool requires_grad)
{
    return output_like_in(t, over ? over->data : NULL, x, requires_grad);
}

rapt_tensor *tape_view(rapt_tape *t, const rapt_tensor *x, int ndim, const size_t *shape)
{
    bool disposable = tape_may_overwrite(t, x);
    rapt_tensor *y = output_in(t, x->data, ndim, shape, tape_wants(t, x));
    if (!y)
        return NULL;
    y->name = x->name;
    t->results->disposable = disposable;
    return y;
}

void tape_set_disposable(rapt_tape *t)
{
    t->results->disposable = true;
}

bool tape_may_overwrite(const rapt_tape *t, const rapt_tensor *y)
{
    return t->results && &t->results->tensor == y && t->results->disposable && !observe_on(t);
}

rapt_tensor *rapt_tape_tensor(rapt_tape *t, int ndim, const size_t *shape, bool grad)
{
    if (tape_failed(t))
        return &t->poison;
    if (!has_size(ndim, shape))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "a tensor of %d dimensions, empty or too large", ndim);
    rapt_tensor *x = tape_output(t, ndim, shape, grad);
    if (!x)
        return &t->poison;
    t->results->keeps_grad = true;
    return x;
}

rapt_tensor *rapt_tape_input(rapt_tape *t, int ndim, const size_t *shape, const rapt_real *data, bool grad)
{
    rapt_tensor *x = rapt_tape_tensor(t, ndim, shape, grad);
    if (!tape_failed(t) && tape_computes(t))
        memcpy(x->data, data, rapt_tensor_size(x) * sizeof *data);
    return x;
}

void tape_record(rapt_tape *t, tape_node *node, void (*backward)(rapt_tape *, tape_node *))
{
    node->previous = t->last;
    node->backward = backward;
    node->results = t->results;
    t->last = node;
}

bool tape_first_not_finite(const rapt_tape *t, char *text, size_t size)
{
    const rapt_tensor *bad = NULL;
    const char *name = NULL; /* the name of the result that is not finite, or of the last result before it that has a name */
    for (const tape_result *r = t->results; r; r = r->previous) {
        if (!t->k->all_finite(rapt_tensor_size(&r->tensor), r->tensor.data)) {
            bad = &r->tensor;
            name = NULL;
        }
        name = bad && !name ? r->tensor.name : name;
    }
    if (bad)
        snprintf(text, size, "the result %s %s", bad->name ? "of" : "after that of", name ? name : "the input");
    return bad != NULL;
}

static size_t units_per_chunk(size_t units, size_t unit_cost)
{
    size_t per = unit_cost < CHUNK_COST ? CHUNK_COST / (unit_cost ? unit_cost : 1) : 1;
    size_t least = (units + MAX_UNIT_CHUNKS - 1) / MAX_UNIT_CHUNKS;
    return per > least ? per : least;
}

size_t tape_chunks(size_t units, size_t unit_cost)
{
    size_t per = units_per_chunk(units, unit_cost);
    return (units + per - 1) / per;
}

typedef struct units_loop {
    size_t units, per;
    tape_units_fn *fn;
    void *context;
} units_loop;

static void run_chunk(void *context, size_t chunk, int worker)
{
    units_loop *loop = context;
    size_t first = chunk * loop->per, last = first + loop->per;
    loop->fn(loop->context, first, last < loop->units ? last : loop->units, chunk, worker);
}

void tape_units(rapt_tape *t, size_t units, size_t unit_cost, tape_units_fn *fn, void *context)
{
    units_loop loop = {units, units_per_chunk(units, unit_cost), fn, context};
    pool_run(t->pool, (units + loop.per - 1) / loop.per, units * unit_cost, run_chunk, &loop);
}

kernels_dropout tape_dropout(rapt_tape *t, double p)
{
    kernels_dropout d = {.threshold = (uint32_t)(p * 65536 + 0.5), .scale = (rapt_real)(1 / (1 - p))};
    rng_key(rng_mix(rng_mix(t->pass.seed, t->pass.step), t->dropouts++), d.key);
    return d;
}

uint32_t tape_example(const rapt_tape *t, size_t b)
{
    return t->pass.examples ? t->pass.examples[b] : (uint32_t)b;
}

size_t tape_examples(const rapt_tensor *x)
{
    return x->ragged ? x->ragged->batch : x->ndim > 2 ? x->shape[0] : 1;
}

size_t tape_longest(const rapt_tensor *x)
{
    return x->ragged ? x->ragged->longest : rapt_tensor_rows(x) / tape_examples(x);
}

tape_rows tape_rows_of(const rapt_tensor *x, size_t example)
{
    const rapt_ragged *r = x->ragged;
    size_t rows = tape_longest(x);
    return r ? (tape_rows){r->start[example], r->start[example + 1] - r->start[example]}
             : (tape_rows){example * rows, rows};
}
