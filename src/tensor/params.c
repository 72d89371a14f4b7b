/* tensor/params.c: the set of named parameters: creation, initial values, lookup, freezing. For modules, the optimizer and the
 * model files. Independent of how parameters are used. */
#include "tensor/params.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/pattern.h"
#include "base/rng.h"
#include "tensor/grad_store.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)
#define BF16_FEWEST ((size_t)4096) /* elements of a gradient that is stored in bf16 */

struct rapt_params {
    arena memory, gradients; /* separate: gradients of a model that only infers are never touched */
    uint64_t seed;
    rapt_param **list;
    size_t count, capacity;
    rapt_error error;
    rapt_param stand_in; /* returned after a failure; one element, in no list */
    struct rapt_param_state stand_in_state;
    rapt_real stand_in_data, stand_in_grad;
};

rapt_params *rapt_params_new(uint64_t seed, rapt_error *err)
{
    rapt_params *set = calloc(1, sizeof *set);
    if (!set) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a set of parameters");
        return NULL;
    }
    arena_init(&set->memory, CHUNK);
    arena_init(&set->gradients, CHUNK);
    set->seed = seed;
    set->memory.small_pages = seed == RAPT_SEED_UNSET;
    set->stand_in.index = SIZE_MAX; /* in no list */
    set->stand_in.value = (rapt_tensor){.data = &set->stand_in_data, .grad = &set->stand_in_grad, .ndim = 1,
                                        .shape = {1}, .name = "stand-in"};
    set->stand_in.state = &set->stand_in_state;
    return set;
}

void rapt_params_free(rapt_params *set)
{
    if (!set)
        return;
    arena_free(&set->memory);
    arena_free(&set->gradients);
    free(set->list);
    free(set);
}

const rapt_error *rapt_params_error(const rapt_params *set)
{
    return &set->error;
}

void rapt_params_fail(rapt_params *set, rapt_code code, const char *format, ...)
{
    char message[sizeof set->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    rapt_fail(&set->error, code, "%s", message);
}

size_t rapt_params_count(const rapt_params *set)
{
    return set->count;
}

rapt_param *params_at(const rapt_params *set, size_t index)
{
    return set->list[index];
}

rapt_param *rapt_params_at(const rapt_params *set, size_t index)
{
    param_refresh(set->list[index], NULL);
    return set->list[index];
}

void params_sync(const rapt_params *set, pool *threads)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->list[i]->state->refresh)
            param_refresh(set->list[i], threads);
}

void param_defer_updates(rapt_param *p, param_refresh_fn *refresh, void *context)
{
    if (p->state->refresh_context == context)
        return;
    param_refresh(p, NULL);
    p->state->refresh = refresh;
    p->state->refresh_context = context;
}

rapt_param *params_find(const rapt_params *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->list[i]->value.name, name) == 0)
            return set->list[i];
    return NULL;
}

rapt_param *rapt_params_find(const rapt_params *set, const char *name)
{
    const rapt_param *p = params_find(set, name);
    return p ? rapt_params_at(set, p->index) : NULL;
}

size_t params_space(const rapt_params *set)
{
    return set->memory.counted_space + set->gradients.counted_space;
}

uint64_t rapt_params_seed(const rapt_params *set)
{
    return set->seed;
}

void params_reseed(rapt_params *set, uint64_t seed)
{
    set->seed = seed;
}

size_t rapt_params_size(const rapt_params *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->count; i++)
        n += set->list[i]->buffer ? 0 : rapt_tensor_size(&set->list[i]->value);
    return n;
}

/* The half-width of the uniform, or the standard deviation of the normal distribution. */
static double params_spread(const rapt_tensor *x, rapt_init init)
{
    if (init.kind != RAPT_INIT_XAVIER_UNIFORM)
        return init.scale;
    double fan_out = (double)x->shape[0], fan_in = (double)rapt_tensor_size(x) / fan_out;
    return sqrt(6 / (fan_in + fan_out));
}

/* Memory for x's elements, of `size` bytes each; a set made with RAPT_SEED_SHAPES counts them instead of allocating. */
static rapt_real *params_elements(const rapt_params *set, arena *a, const rapt_tensor *x, size_t size)
{
    bool counts = set->seed == RAPT_SEED_SHAPES;
    return (counts ? arena_count : arena_array)(a, rapt_tensor_size(x), size);
}

static void param_init(rapt_tensor *x, rapt_init init, uint64_t key)
{
    size_t n = rapt_tensor_size(x);
    double s = params_spread(x, init);
    if (key == RAPT_SEED_NONE && init.kind != RAPT_INIT_ONES)
        init.kind = RAPT_INIT_ZEROS;
    if (init.kind == RAPT_INIT_ZEROS) {
        memset(x->data, 0, n * sizeof *x->data);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (init.kind == RAPT_INIT_ONES)
            x->data[i] = 1;
        else if (init.kind == RAPT_INIT_NORMAL)
            x->data[i] = (rapt_real)(s * rng_normal(key, i));
        else
            x->data[i] = (rapt_real)(s * (2 * rng_uniform(key, i) - 1));
    }
}

static bool params_shape_is_valid(int ndim, const size_t *shape)
{
    size_t n = 1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0 || shape[i] > SIZE_MAX / 16 / n)
            return false;
        n *= shape[i];
    }
    return ndim >= 1 && ndim <= RAPT_MAX_DIMS;
}

void *rapt_params_alloc(rapt_params *set, size_t count, size_t size)
{
    void *p = arena_zeroed(&set->memory, count, size);
    if (!p)
        rapt_params_fail(set, RAPT_ERR_MEMORY, "out of memory for %zu x %zu bytes of a model", count, size);
    return p;
}

static rapt_param *params_allocate(rapt_params *set, const char *name, int ndim, const size_t *shape)
{
    rapt_param *p = arena_zeroed(&set->memory, 1, sizeof *p);
    if (!p || !ARRAY_RESERVE(&set->list, &set->capacity, set->count + 1))
        return NULL;
    p->state = arena_zeroed(&set->memory, 1, sizeof *p->state);
    p->value.ndim = ndim;
    memcpy(p->value.shape, shape, (size_t)ndim * sizeof *shape);
    p->value.requires_grad = true;
    p->value.name = arena_string(&set->memory, name);
    p->value.data = params_elements(set, &set->memory, &p->value, sizeof(rapt_real));
    p->value.grad = params_elements(set, &set->gradients, &p->value, sizeof(rapt_real));
    return p->state && p->value.name && p->value.data && p->value.grad ? p : NULL;
}

void rapt_param_make_buffer(rapt_param *p, bool persistent)
{
    p->buffer = true;
    p->transient = !persistent;
    p->value.requires_grad = false;
}

static void params_zero_sparse(const rapt_params *set, rapt_param *p)
{
    p->value.grad_filled = true; /* rows outside row_used stay zero for good */
    if (set->seed != RAPT_SEED_SHAPES)
        memset(p->value.grad, 0, rapt_tensor_size(&p->value) * sizeof(rapt_real));
}

void rapt_param_make_sparse(rapt_params *set, rapt_param *p)
{
    size_t rows = p->value.shape[0];
    p->state->row_used = arena_zeroed(&set->memory, rows, 1);
    if (!p->state->row_used) {
        rapt_params_fail(set, RAPT_ERR_MEMORY, "out of memory for the rows of \"%s\"", p->value.name);
        return;
    }
    p->sparse = true;
    params_zero_sparse(set, p);
}

static bool fits_bf16(const rapt_params *set, const rapt_param *p)
{
    const size_t n = rapt_tensor_size(&p->value);
    return !p->buffer && !p->frozen && !p->sparse && p->value.ndim >= 2 && n >= BF16_FEWEST && n <= rapt_params_size(set) / 8 &&
           rapt_tensor_features(&p->value) <= GRAD_STORE_WIDTH;
}

/* Allocates all gradients again: if each kept half of its place, together they would still take as many huge pages. */
rapt_code params_store_gradients_bf16(rapt_params *set, rapt_error *err)
{
    arena_free(&set->gradients);
    arena_init(&set->gradients, CHUNK);
    for (size_t i = 0; i < set->count; i++) {
        rapt_param *p = set->list[i];
        p->value.grad_bf16 = fits_bf16(set, p);
        p->value.grad = params_elements(set, &set->gradients, &p->value,
                                        p->value.grad_bf16 ? sizeof(uint16_t) : sizeof(rapt_real));
        if (!p->value.grad) {
            rapt_params_fail(set, RAPT_ERR_MEMORY, "out of memory for gradients in bf16");
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for gradients in bf16");
        }
        if (p->sparse)
            params_zero_sparse(set, p);
    }
    return RAPT_OK;
}

rapt_code params_place_gradients(rapt_params *set, rapt_real *const *places, rapt_error *err)
{
    arena_free(&set->gradients);
    arena_init(&set->gradients, CHUNK);
    for (size_t i = 0; i < set->count; i++) {
        rapt_param *p = set->list[i];
        p->value.grad = p->sparse ? params_elements(set, &set->gradients, &p->value, sizeof(rapt_real)) : places[i];
        if (p->sparse && !p->value.grad) {
            rapt_params_fail(set, RAPT_ERR_MEMORY, "out of memory for gradients");
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for gradients");
        }
        if (p->sparse)
            params_zero_sparse(set, p);
    }
    return RAPT_OK;
}

void rapt_param_fill(const rapt_params *set, rapt_param *p, rapt_init init)
{
    bool unset = set->seed == RAPT_SEED_UNSET, random = set->seed != RAPT_SEED_NONE && !unset;
    if (set->seed == RAPT_SEED_SHAPES || (unset && p->value.ndim > 1))
        return;
    param_refresh(p, NULL); /* otherwise deferred updates would be added to the new values */
    param_init(&p->value, init, random ? rng_mix(set->seed, rng_hash_text(p->value.name)) : RAPT_SEED_NONE);
}

rapt_param *rapt_params_add(rapt_params *set, const char *name, int ndim, const size_t *shape, rapt_init init)
{
    if (set->error.code)
        return &set->stand_in;
    rapt_param *p = NULL;
    if (rapt_params_find(set, name))
        rapt_params_fail(set, RAPT_ERR_VALUE, "there is a parameter \"%s\" already", name);
    else if (!params_shape_is_valid(ndim, shape))
        rapt_params_fail(set, RAPT_ERR_SHAPE, "parameter \"%s\": an empty or too large shape", name);
    else if (!(p = params_allocate(set, name, ndim, shape)))
        rapt_params_fail(set, RAPT_ERR_MEMORY, "out of memory for parameter \"%s\"", name);
    if (!p)
        return &set->stand_in;
    rapt_param_fill(set, p, init);
    p->index = set->count;
    set->list[set->count++] = p;
    return p;
}

size_t rapt_params_freeze(rapt_params *set, const char *pattern)
{
    size_t matches = 0;
    for (size_t i = 0; i < set->count; i++) {
        rapt_param *p = set->list[i];
        if (p->buffer || !pattern_fits(pattern, p->value.name))
            continue;
        p->frozen = true;
        p->value.requires_grad = false;
        matches++;
    }
    return matches;
}

static void params_zero_rows(rapt_param *p)
{
    size_t width = rapt_tensor_size(&p->value) / p->value.shape[0];
    uint8_t *row = p->state->row_used, *end = row + p->value.shape[0];
    while ((row = memchr(row, 1, (size_t)(end - row)))) { /* few of very many */
        memset(p->value.grad + (size_t)(row - p->state->row_used) * width, 0, width * sizeof(rapt_real));
        *row = 0;
    }
}

void rapt_params_zero_grad(rapt_params *set)
{
    for (size_t i = 0; i < set->count; i++) {
        rapt_param *p = set->list[i];
        p->state->deferred = (deferred_grad){0};
        if (p->sparse)
            params_zero_rows(p);
        else
            p->value.grad_filled = false;
    }
}
