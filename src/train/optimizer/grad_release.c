/* train/optimizer/grad_release.c: when gradients are complete, where they lie, and what is done with them then. The arithmetic is
 * in adam.c and grad_norm.c. */
#include "train/optimizer/grad_release.h"

#include "base/arena.h"
#include "ops/deferred.h"
#include "tape/profile_op.h"
#include "tensor/params.h"
#include "train/optimizer/adam_parts.h"
#include "train/optimizer/norm_blocks.h"
#include "train/shards/grad_uses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE (KERNELS_ALIGN / sizeof(rapt_real))
#define NOWHERE SIZE_MAX

/* The calls of the watcher in a pass, counted from 0, between which a gradient is in memory. */
typedef struct lifetime {
    size_t first, last;
    size_t at;    /* place in the array, in elements; NOWHERE: none, because it is deferred or never asked for */
    bool in_memory;
} lifetime;

struct grad_release {
    rapt_tape *t;
    rapt_params *set;
    grad_uses uses;
    lifetime *of;      /* [params] */
    size_t event;      /* of this pass: the number of the next call */
    size_t elements;   /* of the array */
    arena memory;      /* the array */
    rapt_real **places; /* [params] */
    uint8_t *now, *done; /* [params]: whether its gradient is used now; whether it was used in this pass */
    uint8_t *moves;      /* [params]: whether Adam's step changes it now */
    size_t *first_sum; /* [params + 1]: where the sums of its slices begin */
    double *sums;      /* of squares, of each slice */
    const char *bad;
    bool begun;        /* the step */
    rapt_adam *adam;   /* NULL: the norm only */
    double lr, scale;
    adam_parts step;
    param_slices slices;
};

static bool is_watched(const rapt_param *p)
{
    return !p->buffer && !p->frozen && !p->sparse;
}

static size_t release_slices(rapt_param *p, size_t index)
{
    const param_slice s = param_slice_at(p, index, 0);
    const size_t rows = rapt_tensor_size(&p->value) / s.width;
    return (rows + s.rows - 1) / s.rows;
}

static bool release_allocate(grad_release *r)
{
    const size_t params = r->uses.params + 1;
    r->of = calloc(params, sizeof *r->of);
    r->places = calloc(params, sizeof *r->places);
    r->now = calloc(params, 1);
    r->done = calloc(params, 1);
    r->moves = calloc(params, 1);
    r->first_sum = calloc(params, sizeof *r->first_sum);
    if (!r->of || !r->places || !r->now || !r->done || !r->moves || !r->first_sum)
        return false;
    for (size_t i = 0; i < r->uses.params; i++)
        r->first_sum[i + 1] = r->first_sum[i] + release_slices(params_at(r->set, i), i);
    r->sums = calloc(r->first_sum[r->uses.params] + 1, sizeof *r->sums);
    return r->sums != NULL;
}

grad_release *grad_release_new(rapt_tape *t, rapt_params *set, rapt_error *err)
{
    grad_release *r = calloc(1, sizeof *r);
    if (r) {
        r->t = t;
        r->set = set;
        arena_init(&r->memory, KERNELS_ALIGN);
    }
    if (r && !grad_uses_make(&r->uses, t, set, is_watched, err) && release_allocate(r)) {
        tape_release_gradients(t, true);
        return r;
    }
    grad_release_free(r);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for places of gradients");
    return NULL;
}

void grad_release_free(grad_release *r)
{
    if (!r)
        return;
    if (r->uses.t) /* or it could not be made */
        grad_uses_end(&r->uses);
    tape_release_gradients(r->t, false);
    grad_uses_free(&r->uses);
    arena_free(&r->memory);
    free(r->of);
    free(r->places);
    free(r->now);
    free(r->done);
    free(r->moves);
    free(r->first_sum);
    free(r->sums);
    free(r);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

/* A grad_watch_fn. */
static void release_note(void *context, rapt_tensor *const *asked, size_t count)
{
    grad_release *r = context;
    for (size_t i = 0; i < count; i++) {
        const size_t index = ((const rapt_param *)asked[i])->index;
        lifetime *l = &r->of[index];
        if (r->uses.uses[index] == 0)
            l->first = r->event;
        l->last = r->event;
        l->in_memory = l->in_memory || asked[i]->grad_filled;
        grad_uses_learn_one(&r->uses, asked[i]);
    }
    r->event++;
}

void grad_release_learn(grad_release *r)
{
    memset(r->of, 0, r->uses.params * sizeof *r->of);
    r->event = 0;
    grad_uses_learn(&r->uses);
    grad_uses_watch(&r->uses, release_note, r);
}

static size_t place_size(const grad_release *r, size_t index)
{
    return (rapt_tensor_size(&params_at(r->set, index)->value) + LINE - 1) / LINE * LINE;
}

/* Whether parameter `other`, which has a place, takes elements at .. at + size - 1 while parameter `index` needs memory. */
static bool is_in_the_way(const grad_release *r, size_t other, size_t index, size_t at, size_t size)
{
    const lifetime *a = &r->of[other], *b = &r->of[index];
    return a->at != NOWHERE && a->first <= b->last && b->first <= a->last && a->at < at + size &&
           at < a->at + place_size(r, other);
}

/* The lowest place that is free for all of the parameter's lifetime. */
static size_t lowest_place(const grad_release *r, size_t index)
{
    const size_t size = place_size(r, index);
    size_t at = 0;
    for (size_t i = 0; i < r->uses.params; i++)
        if (is_in_the_way(r, i, index, at, size)) {
            at = r->of[i].at + place_size(r, i);
            i = SIZE_MAX; /* from the first one again */
        }
    return at;
}

void grad_release_learnt(grad_release *r)
{
    grad_uses_end(&r->uses);
    r->elements = 0;
    for (size_t i = 0; i < r->uses.params; i++)
        r->of[i].at = NOWHERE;
    for (size_t i = 0; i < r->uses.params; i++) {
        if (!r->of[i].in_memory)
            continue;
        r->of[i].at = lowest_place(r, i);
        const size_t end = r->of[i].at + place_size(r, i);
        r->elements = end > r->elements ? end : r->elements;
    }
}

size_t grad_release_bytes(const grad_release *r)
{
    size_t elements = r->elements;
    for (size_t i = 0; i < r->uses.params; i++) {
        const rapt_param *p = params_at(r->set, i);
        elements += p->sparse && !p->frozen ? rapt_tensor_size(&p->value) : 0;
    }
    return elements * sizeof(rapt_real);
}

rapt_code grad_release_place(grad_release *r, rapt_params *set, rapt_error *err)
{
    r->set = set;
    grad_uses_of(&r->uses, set, is_watched);
    arena_free(&r->memory);
    rapt_real *array = arena_array(&r->memory, r->elements, sizeof *array);
    if (!array)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for gradients");
    for (size_t i = 0; i < r->uses.params; i++)
        r->places[i] = r->of[i].at == NOWHERE ? NULL : array + r->of[i].at;
    return params_place_gradients(set, r->places, err);
}

/* ---- a pass ----------------------------------------------------------------------------------------------------- */

/* A pool_fn: the sum of squares of a slice, and Adam's step for it. */
static void release_slice(void *context, size_t index, int worker)
{
    grad_release *r = context;
    param_slice *p = &r->slices.list[index];
    const bool deferred = p->param->state->deferred.dy;
    const rapt_real *chunk = deferred ? deferred_chunk(r->t, worker, p->param, p->first, p->rows) : NULL;
    grad_norm_chunk(r->t, p, chunk);
    if (r->adam && r->moves[p->index])
        adam_parts_move(&r->step, p, chunk);
}

/* Also asked once for each parameter. */
static bool is_used_now(const void *context, const rapt_param *p, size_t index)
{
    const grad_release *r = context;
    if (!r->now[index] || !(p->value.grad_filled || p->state->deferred.dy))
        return false;
    r->moves[index] = r->adam && adam_parts_moves(&r->step, p);
    return true;
}

static void keep_sums(grad_release *r)
{
    for (size_t i = 0; i < r->slices.count; i++) {
        const param_slice *p = &r->slices.list[i];
        const size_t rows = param_slice_at(p->param, p->index, 0).rows;
        r->sums[r->first_sum[p->index] + p->first / rows] = p->sum;
        if (!isfinite(p->sum) && !r->bad)
            r->bad = p->param->value.name;
    }
}

/* Computes deferred gradients to which others have added, or which Muon needs as a whole. */
static void settle_some(grad_release *r)
{
    for (size_t i = 0; i < r->uses.params; i++) {
        rapt_param *p = params_at(r->set, i);
        rapt_error err = {0};
        if (!r->now[i] || !p->state->deferred.dy || !(p->value.grad_filled || (r->adam && adam_parts_whole(&r->step, p))))
            continue;
        if (!p->value.grad)
            p->value.grad = tape_elements(r->t, rapt_tensor_size(&p->value));
        if (p->value.grad && deferred_settle(r->t, p, &err))
            rapt_tape_fail(r->t, err.code, "%s", err.message);
    }
}

static void begin_step(grad_release *r)
{
    rapt_error err = {0};
    if (!r->adam || r->begun)
        return;
    r->begun = true;
    if (adam_parts_begin(&r->step, r->adam, r->t, r->lr, r->scale, &err))
        rapt_tape_fail(r->t, err.code, "%s", err.message);
}

/* The gradients are not needed any more. */
static void clear_used(grad_release *r)
{
    for (size_t i = 0; i < r->uses.params; i++) {
        rapt_param *p = params_at(r->set, i);
        if (!r->now[i])
            continue;
        r->now[i] = 0;
        r->done[i] = 1;
        if (p->sparse)
            continue;
        p->value.grad = r->places[i]; /* without a place, the tape has allocated it */
        p->value.grad_filled = false;
        p->state->deferred = (deferred_grad){0};
    }
}

/* Uses the gradients of the parameters with now[i]. */
static void use_gradients(grad_release *r)
{
    begin_step(r);
    if (!tape_failed(r->t))
        settle_some(r);
    param_slices_begin(&r->slices, r->set, is_used_now, r);
    while (!tape_failed(r->t) && param_slices_next(&r->slices)) {
        profile_op_bytes(r->t, r->adam ? adam_step_name(r->adam) : "gradient norm", 0,
                         r->adam ? adam_parts_bytes(&r->step, &r->slices) : 0);
        pool_run(r->t->pool, r->slices.count, 4 * r->slices.elements, release_slice, r);
        keep_sums(r);
    }
    if (r->adam && !tape_failed(r->t))
        adam_parts_move_matrices(&r->step, r->now);
    clear_used(r);
    if (r->bad)
        rapt_tape_fail(r->t, RAPT_ERR_NOT_FINITE, "%s: its gradient is not finite", r->bad);
}

/* Whether the call is one between those that were learnt for parameter `index`. */
static bool is_in_time(const grad_release *r, size_t index)
{
    return r->event >= r->of[index].first && r->event <= r->of[index].last;
}

/* A grad_watch_fn. */
static void release_complete(void *context, rapt_tensor *const *asked, size_t count)
{
    grad_release *r = context;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const size_t index = ((const rapt_param *)asked[i])->index;
        if (!is_in_time(r, index))
            rapt_tape_fail(r->t, RAPT_ERR_VALUE, "%s: a pass adds to its gradient at another time than the first one",
                           asked[i]->name);
        else if (grad_uses_complete(&r->uses, asked[i]))
            r->now[index] = any = true;
    }
    r->event++;
    if (any && !tape_failed(r->t))
        use_gradients(r);
}

void grad_release_begin(grad_release *r, rapt_adam *adam, double lr, double grad_scale)
{
    r->adam = adam;
    r->lr = lr;
    r->scale = grad_scale;
    r->event = 0;
    r->begun = false;
    r->bad = NULL;
    memset(r->now, 0, r->uses.params);
    memset(r->done, 0, r->uses.params);
    memset(r->sums, 0, r->first_sum[r->uses.params] * sizeof *r->sums);
    grad_uses_begin(&r->uses);
    grad_uses_watch(&r->uses, release_complete, r);
}

/* Sparse gradients, and those that the pass has added to less often than the first one. */
static void use_rest(grad_release *r)
{
    for (size_t i = 0; i < r->uses.params; i++) {
        const rapt_param *p = params_at(r->set, i);
        r->now[i] = !p->buffer && !p->frozen && !r->done[i] && (p->value.grad_filled || p->state->deferred.dy);
    }
    use_gradients(r);
}

rapt_code grad_release_end(grad_release *r, rapt_code code, double *norm, rapt_error *err)
{
    double sum = 0;
    grad_uses_end(&r->uses);
    if (!code) {
        use_rest(r);
        profile_end(r->t);
        code = rapt_tape_status(r->t, err);
    }
    for (size_t i = 0; i < r->uses.params; i++)
        if (!params_at(r->set, i)->sparse && !params_at(r->set, i)->buffer && !params_at(r->set, i)->frozen)
            params_at(r->set, i)->value.grad = r->places[i];
    rapt_params_zero_grad(r->set);
    for (size_t i = 0; i < r->first_sum[r->uses.params]; i++)
        sum += r->sums[i];
    *norm = sqrt(sum);
    return code;
}

const char *grad_release_bad(const grad_release *r)
{
    return r->bad;
}
