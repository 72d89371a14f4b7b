/* train/optimizer/adam.c: optimizers and their moments. For the training loop. Adam has two moments; matrices that Muon moves
 * have one, and so has SGD with momentum. The steps are in adam_step.c. */
#include "rapt/train.h"

#include "base/pages.h"
#include "tensor/param_source.h"
#include "tensor/params.h"
#include "train/optimizer/adam_core.h"
#include "train/optimizer/adam_moment.h"
#include "train/optimizer/adam_options.h"
#include "train/optimizer/adam_owned.h"
#include "train/optimizer/sgd.h"

#include <stdlib.h>

#define SMALL_THINGS ((size_t)1 << 16) /* besides the moments: lists, padding to cache lines */
#define CACHE_LINE ((size_t)64)

static adam_kind wanted_kind(const rapt_adam *a, const rapt_param *p)
{
    if (p->buffer || p->frozen)
        return ADAM_NOT_TRAINED;
    if (a->with_sgd)
        return ADAM_SGD;
    if (a->with_muon && muon_takes(&a->muon.options, p))
        return ADAM_MUON;
    return a->options.bits8 && moments8_fit(p) ? ADAM_IN_8_BITS : ADAM_FP32;
}

/* The number of moments of a parameter. */
static size_t moments_of(const rapt_adam *a, adam_kind kind)
{
    switch (kind) {
    case ADAM_NOT_TRAINED:
        return 0;
    case ADAM_SGD:
        return a->sgd.momentum > 0;
    case ADAM_MUON:
        return 1;
    case ADAM_FP32:
    case ADAM_IN_8_BITS:
        break;
    }
    return 2;
}

/* Bytes of one moment of a parameter. */
static size_t moment_bytes(const rapt_param *p, adam_kind kind)
{
    return kind == ADAM_IN_8_BITS ? moments8_bytes(p) : rapt_tensor_size(&p->value) * sizeof(rapt_real);
}

/* A zeroed moment of one parameter. */
static void *new_moment(rapt_adam *a, const rapt_param *p, adam_kind kind)
{
    const size_t bytes = moment_bytes(p, kind);
    if (!a->pages)
        return arena_zeroed(&a->memory, bytes, 1);
    char *moment = a->pages + a->given;
    a->given += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return moment;
}

static bool allocate_moments(rapt_adam *a, size_t i)
{
    rapt_param *p = params_at(a->set, i);
    const adam_kind kind = a->kinds[i] = wanted_kind(a, p);
    const size_t count = moments_of(a, kind);
    if (kind != ADAM_NOT_TRAINED)
        param_source_end(p);
    void *moments[2] = {NULL, NULL};
    for (size_t k = 0; k < count; k++)
        if (!(moments[k] = new_moment(a, p, kind)))
            return false;
    if (kind == ADAM_IN_8_BITS) {
        a->codes[i] = (moments8){.m = moments[0], .v = moments[1]};
        return true;
    }
    a->m[i] = moments[0];
    a->v[i] = moments[1];
    if (kind != ADAM_FP32 || !p->sparse || a->options.lazy || p->value.ndim < 2)
        return true;
    a->rows[i] = adam_rows_new(&a->memory, p, a->m[i], a->v[i], a->options.weight_decay != 0);
    return a->rows[i] != NULL;
}

static bool adam_allocate(rapt_adam *a)
{
    size_t n = a->count = rapt_params_count(a->set);
    a->kinds = arena_zeroed(&a->memory, n, sizeof *a->kinds);
    a->m = arena_zeroed(&a->memory, n, sizeof *a->m);
    a->v = arena_zeroed(&a->memory, n, sizeof *a->v);
    a->codes = arena_zeroed(&a->memory, n, sizeof *a->codes);
    a->rows = arena_zeroed(&a->memory, n, sizeof *a->rows);
    a->muon.memory = a->muon.room ? arena_array(&a->memory, a->muon.room, sizeof *a->muon.memory) : NULL;
    a->matrices = arena_zeroed(&a->memory, a->with_muon ? n : 0, sizeof *a->matrices);
    bool ok = a->kinds && a->m && a->v && a->codes && a->rows && (a->muon.memory || !a->muon.room) &&
              (a->matrices || !a->with_muon);
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
        const adam_kind kind = wanted_kind(a, p);
        bytes += moments_of(a, kind) * ((moment_bytes(p, kind) + padding - 1) / padding * padding);
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

/* Takes the options of what is to be made into *a, which is zeroed. */
static rapt_code take_all_options(rapt_adam *a, const optimizer_options *o, rapt_error *err)
{
    a->with_muon = o->muon != NULL;
    a->with_sgd = o->sgd != NULL;
    rapt_code code = adam_take_options(o->adam, &a->options, err);
    if (!code && o->muon)
        code = muon_take_options(o->muon, &a->muon.options, err);
    if (!code && o->sgd)
        code = sgd_take_options(o->sgd, &a->sgd, err);
    if (!code && o->muon && a->options.bits8)
        code = rapt_fail(err, RAPT_ERR_VALUE, "Muon with moments of Adam in 8 bits: bits8 is for Adam alone");
    return code;
}

static rapt_adam *adam_make(rapt_params *set, optimizer_options o, bool in_part, rapt_error *err)
{
    rapt_adam made = {.set = set};
    if (take_all_options(&made, &o, err) != RAPT_OK)
        return NULL;
    rapt_adam *a = malloc(sizeof *a);
    if (a)
        *a = made;
    if (a && adam_reserve(a, in_part) && adam_allocate(a))
        return a;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the optimizer's moments");
    rapt_adam_free(a);
    return NULL;
}

rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err)
{
    return adam_make(set, (optimizer_options){.adam = options}, false, err);
}

rapt_adam *rapt_muon_new(rapt_params *set, const rapt_muon_options *muon, const rapt_adam_options *adam, rapt_error *err)
{
    const rapt_muon_options defaults = rapt_muon_options_default();
    return adam_make(set, (optimizer_options){.adam = adam, .muon = muon ? muon : &defaults}, false, err);
}

rapt_adam *rapt_sgd_new(rapt_params *set, const rapt_sgd_options *options, rapt_error *err)
{
    const rapt_sgd_options defaults = rapt_sgd_options_default();
    return adam_make(set, (optimizer_options){.sgd = options ? options : &defaults}, false, err);
}

rapt_adam *adam_owned_new(rapt_params *set, optimizer_options options, rapt_error *err)
{
    return adam_make(set, options, true, err);
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
    static const char *const prefixes[] = {
        [ADAM_FP32] = "adam", [ADAM_IN_8_BITS] = "adam8", [ADAM_MUON] = "muon", [ADAM_SGD] = "sgd"};
    const rapt_param *p = params_at(a->set, index);
    const adam_kind kind = a->kinds[index];
    if (kind == ADAM_IN_8_BITS)
        return (adam_moment){second ? a->codes[index].v : a->codes[index].m, moments8_bytes(p), true, prefixes[kind]};
    rapt_real *x = second ? rapt_adam_second_moment(a, index) : rapt_adam_first_moment(a, index);
    return (adam_moment){x, x ? moment_bytes(p, kind) : 0, false, prefixes[kind]};
}
