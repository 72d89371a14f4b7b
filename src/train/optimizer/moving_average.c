/* train/optimizer/moving_average.c: averages of parameters, slice by slice. For step.c and report.c. */
#include "train/optimizer/moving_average.h"

#include "base/arena.h"
#include "tape/profile_op.h"
#include "tape/tape_core.h"
#include "tensor/params.h"
#include "train/optimizer/param_slices.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE ((size_t)1024) /* elements on the stack */

struct moving_average {
    rapt_params *set;
    double decay;
    arena memory;
    rapt_real **of; /* [parameters of the set]; NULL: not trained */
};

static bool is_averaged(const rapt_param *p)
{
    return !p->buffer && !p->frozen;
}

size_t moving_average_bytes(const rapt_params *set)
{
    size_t bytes = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        bytes += is_averaged(params_at(set, i)) ? rapt_tensor_size(&params_at(set, i)->value) * sizeof(rapt_real) : 0;
    return bytes;
}

static bool moving_average_allocate(moving_average *a)
{
    const size_t count = rapt_params_count(a->set);
    a->of = calloc(count + 1, sizeof *a->of);
    for (size_t i = 0; a->of && i < count; i++) {
        const rapt_param *p = params_at(a->set, i);
        const size_t n = rapt_tensor_size(&p->value);
        if (!is_averaged(p))
            continue;
        if (!(a->of[i] = arena_array(&a->memory, n, sizeof **a->of)))
            return false;
        memcpy(a->of[i], p->value.data, n * sizeof **a->of);
    }
    return a->of != NULL;
}

moving_average *moving_average_new(rapt_params *set, double decay, rapt_error *err)
{
    moving_average *a = calloc(1, sizeof *a);
    if (a) {
        a->set = set;
        a->decay = decay;
        arena_init(&a->memory, KERNELS_ALIGN + moving_average_bytes(set));
    }
    if (a && moving_average_allocate(a))
        return a;
    moving_average_free(a);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the moving average of the parameters");
    return NULL;
}

void moving_average_free(moving_average *a)
{
    if (!a)
        return;
    arena_free(&a->memory);
    free(a->of);
    free(a);
}

rapt_real *moving_average_of(const moving_average *a, size_t index)
{
    return a->of[index];
}

/* ---- all slices --------------------------------------------------------------------------------------------- */

typedef struct average_loop {
    const moving_average *of;
    const kernels *k;
    rapt_real weight; /* of the parameters */
    param_slices slices;
} average_loop;

static bool has_average(const void *context, const rapt_param *p, size_t index)
{
    (void)p;
    return ((const average_loop *)context)->of->of[index];
}

/* A pool_fn. The difference comes first: with d and 1 - d as factors, whose rounded sum is not 1, the average of a constant would
 * be another number. */
static void average_slice(void *context, size_t index, int worker)
{
    const average_loop *l = context;
    const param_slice *s = &l->slices.list[index];
    const size_t from = s->first * s->width, all = s->rows * s->width;
    const rapt_real *p = s->param->value.data + from;
    rapt_real *a = l->of->of[s->index] + from, difference[AT_ONCE];
    (void)worker;
    for (size_t done = 0, n; done < all; done += n) {
        n = all - done < AT_ONCE ? all - done : AT_ONCE;
        l->k->scale_add(n, -1, a + done, p + done, difference);
        l->k->axpy(n, l->weight, difference, a + done);
    }
}

/* A pool_fn. */
static void exchange_slice(void *context, size_t index, int worker)
{
    const average_loop *l = context;
    const param_slice *s = &l->slices.list[index];
    const size_t from = s->first * s->width, all = s->rows * s->width;
    rapt_real *p = s->param->value.data + from, *a = l->of->of[s->index] + from, memory[AT_ONCE];
    (void)worker;
    for (size_t done = 0, n; done < all; done += n) {
        n = all - done < AT_ONCE ? all - done : AT_ONCE;
        memcpy(memory, p + done, n * sizeof *p);
        memcpy(p + done, a + done, n * sizeof *p);
        memcpy(a + done, memory, n * sizeof *p);
    }
}

static void each_slice(const moving_average *a, rapt_tape *t, rapt_real weight, pool_fn *fn)
{
    average_loop l = {.of = a, .k = t->k, .weight = weight};
    param_slices_begin(&l.slices, a->set, has_average, &l);
    while (param_slices_next(&l.slices)) {
        profile_op_bytes(t, "moving average", 0, (double)(l.slices.elements * 3 * sizeof(rapt_real)));
        pool_run(t->pool, l.slices.count, l.slices.elements, fn, &l);
    }
    profile_end(t);
}

void moving_average_update(moving_average *a, rapt_tape *t, uint64_t step)
{
    const double early = ((double)step + 1) / ((double)step + 10), d = early < a->decay ? early : a->decay;
    each_slice(a, t, (rapt_real)(1 - d), average_slice);
}

void moving_average_exchange(moving_average *a, rapt_tape *t)
{
    each_slice(a, t, 0, exchange_slice);
}
