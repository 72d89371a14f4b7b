/* train/shards/gathers.c: gathers parameters bucket by bucket. In fp32, ranges of the values are gathered in place. If some
 * parameters are rounded, a bucket is packed, block by block, into the staging memory, and unpacked from there when it is
 * read. */
#include "train/shards/gathers.h"

#include "tensor/bf16_numbers.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_AT_ONCE 4 /* that a thread packs */

/* How blocks are sent, in units of 16 bits: 1 per element if it is rounded, else 2, or none at all. */
typedef enum packing_kind { PACK_STEP, PACK_REST, PACKINGS } packing_kind;
typedef struct packing {
    uint8_t *units;  /* [blocks]: units of an element, in the order of blocks in the array */
    size_t *at;      /* [blocks]: where each block begins in its bucket */
    size_t *bounds;  /* [buckets][ranks + 1] */
} packing;

/* A parameter, for its refresh. */
typedef struct gather_reader {
    gathers *g;
    size_t first, end; /* buckets */
} gather_reader;

struct gathers {
    rapt_group *group;
    const rapt_tape *t;
    const rapt_params *set;
    const gradient_layout *layout;
    const buckets *b;
    rapt_real *values, *staging;
    int range;              /* range of this process in each bucket */
    bool decided;           /* the choice of rounded parameters has been made */
    bool rounds;            /* anything is */
    bool whole;             /* at the moment no parameter is rounded */
    packing kinds[PACKINGS];
    const packing *in_use;  /* packing of the open buckets; NULL: values are gathered in place */
    group_op **ops;         /* [buckets]: the open operations */
    size_t open;
    gather_reader *readers; /* [params] */
    rapt_error error;
};

/* ---- set-up -------------------------------------------------------------------------------------------------- */

static size_t gathers_bounds_at(const gathers *g, size_t index)
{
    return index * ((size_t)g->b->ranks + 1);
}

/* Elements of the block at a place of the array. */
static size_t gathers_block_size(const gathers *g, size_t at)
{
    const norm_block *block = &g->b->blocks.list[g->b->block_at[at]];
    return block->rows * norm_block_width(params_at(g->set, block->param));
}

/* Computes where the blocks of a bucket begin, from the units of each. */
static void packing_lay_out(const gathers *g, packing *p, size_t index)
{
    const bucket *k = &g->b->list[index];
    size_t *bounds = p->bounds + gathers_bounds_at(g, index), units = 0, next = 0;
    for (size_t at = k->first_block; at < k->end_block; at++) {
        for (size_t range = g->b->range_of[g->b->block_at[at]]; next <= range;)
            bounds[next++] = units;
        p->at[at] = units;
        units += p->units[at] * gathers_block_size(g, at);
    }
    while (next <= (size_t)g->b->ranks)
        bounds[next++] = units;
}

/* After the first pass: parameters that it did not read exactly are sent rounded, and sent again when they are needed whole. */
static void gathers_decide(gathers *g)
{
    g->decided = true;
    for (size_t at = 0; at < g->b->blocks.count; at++) {
        const rapt_param *p = params_at(g->set, g->b->blocks.list[g->b->block_at[at]].param);
        bool rounded = g->t->team.gemm->pair > 1 && !p->state->read_exactly;
        g->kinds[PACK_STEP].units[at] = rounded ? 1 : 2;
        g->kinds[PACK_REST].units[at] = rounded ? 2 : 0;
        g->rounds = g->rounds || rounded;
    }
    for (int kind = 0; kind < PACKINGS; kind++)
        for (size_t i = 0; i < g->b->count; i++)
            packing_lay_out(g, &g->kinds[kind], i);
}

/* Whether something that is sent rounded was read exactly since: a pass that is unlike the first one. */
static rapt_code gathers_check(const gathers *g, rapt_error *err)
{
    for (size_t at = 0; g->rounds && at < g->b->blocks.count; at++) {
        const rapt_param *p = params_at(g->set, g->b->blocks.list[g->b->block_at[at]].param);
        if (g->kinds[PACK_STEP].units[at] == 1 && p->state->read_exactly)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s is read exactly, and was not in the first pass", p->value.name);
    }
    return RAPT_OK;
}

static bool packing_allocate(packing *p, const buckets *b)
{
    p->units = calloc(b->blocks.count + 1, 1);
    p->at = calloc(b->blocks.count + 1, sizeof *p->at);
    p->bounds = calloc(b->count * ((size_t)b->ranks + 1), sizeof *p->bounds);
    return p->units && p->at && p->bounds;
}

static void gathers_refresh(void *context, pool *threads, const int32_t *ids, size_t count);

/* Has readers of all parameters of the layout wait from now on. */
static void gathers_install(gathers *g)
{
    for (size_t i = 0; i < g->layout->dense; i++) {
        rapt_param *p = params_at(g->set, g->layout->order[i]);
        size_t from = g->layout->offset[p->index], first = buckets_find(g->b, from), end;
        for (end = first + 1; end < g->b->count && g->b->list[end].first < from + rapt_tensor_size(&p->value);)
            end++;
        g->readers[p->index] = (gather_reader){g, first, end};
        param_defer_updates(p, gathers_refresh, &g->readers[p->index]);
    }
}

gathers *gathers_new(rapt_group *group, const rapt_tape *t, const rapt_params *set, const gradient_layout *layout,
                     const buckets *b, rapt_real *values, rapt_real *staging, rapt_error *err)
{
    gathers *g = calloc(1, sizeof *g);
    if (g)
        *g = (gathers){.group = group, .t = t, .set = set, .layout = layout, .b = b, .values = values, .staging = staging,
                       .range = group_range(rapt_group_rank(group), b->ranks), .whole = true,
                       .ops = calloc(b->count, sizeof(group_op *)), .readers = calloc(layout->params, sizeof(gather_reader))};
    bool ok = g && g->ops && g->readers;
    for (int kind = 0; ok && kind < PACKINGS; kind++)
        ok = packing_allocate(&g->kinds[kind], b);
    if (!ok) {
        gathers_free(g);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for gathering parameters");
        return NULL;
    }
    gathers_install(g);
    return g;
}

void gathers_free(gathers *g)
{
    if (!g)
        return;
    for (size_t i = 0; g->readers && i < g->layout->params; i++) {
        struct rapt_param_state *s = params_at(g->set, i)->state;
        if (g->readers[i].g && s->refresh_context == &g->readers[i])
            s->refresh = NULL, s->refresh_context = NULL;
    }
    for (int kind = 0; kind < PACKINGS; kind++) {
        free(g->kinds[kind].units);
        free(g->kinds[kind].at);
        free(g->kinds[kind].bounds);
    }
    free(g->ops);
    free(g->readers);
    free(g);
}

/* ---- packing -------------------------------------------------------------------------------------------------- */

/* The blocks of a bucket that a loop packs, or unpacks, from place `first` of the array on. */
typedef struct packing_loop {
    const gathers *g;
    const packing *p;
    uint16_t *memory; /* memory of the bucket */
    size_t first, end;
    bool unpacks;     /* unpacks blocks of other processes; else packs its own */
} packing_loop;

static void gathers_pack_block(const packing_loop *l, size_t at)
{
    const gathers *g = l->g;
    rapt_real *values = g->values + g->b->block_first[at];
    size_t n = gathers_block_size(g, at);
    uint16_t *memory = l->memory + l->p->at[at];
    bool own = g->b->range_of[g->b->block_at[at]] == g->range;
    if (own == l->unpacks)
        return;
    if (l->p->units[at] == 1 && l->unpacks)
        bf16_numbers_widen(n, memory, values);
    else if (l->p->units[at] == 1)
        bf16_numbers_round(g->t->team.gemm, n, values, memory);
    else if (l->p->units[at] == 2 && l->unpacks)
        memcpy(values, memory, n * sizeof *values);
    else if (l->p->units[at] == 2)
        memcpy(memory, values, n * sizeof *values);
}

/* A pool_fn. */
static void gathers_pack_some(void *context, size_t index, int worker)
{
    const packing_loop *l = context;
    size_t first = l->first + index * BLOCKS_AT_ONCE;
    (void)worker;
    for (size_t at = first; at < l->end && at < first + BLOCKS_AT_ONCE; at++)
        gathers_pack_block(l, at);
}

/* The packed form of a bucket in the staging memory. */
static uint16_t *gathers_memory(const gathers *g, size_t index)
{
    return (uint16_t *)(void *)(g->staging + g->b->list[index].first);
}

static void gathers_pack(const gathers *g, pool *threads, size_t index, bool unpacks)
{
    const bucket *k = &g->b->list[index];
    packing_loop l = {g, g->in_use, gathers_memory(g, index), k->first_block, k->end_block, unpacks};
    size_t count = (k->end_block - k->first_block + BLOCKS_AT_ONCE - 1) / BLOCKS_AT_ONCE;
    if (threads)
        pool_run(threads, count, k->end - k->first, gathers_pack_some, &l);
    for (size_t i = 0; !threads && i < count; i++)
        gathers_pack_some(&l, i, 0);
}

/* ---- gathering ------------------------------------------------------------------------------------------------- */

static rapt_code gathers_start(gathers *g, size_t index, rapt_error *err)
{
    const bucket *k = &g->b->list[index];
    const size_t *bounds = g->in_use ? g->in_use->bounds + gathers_bounds_at(g, index) : k->bounds;
    if (bounds[g->b->ranks] == 0)
        return RAPT_OK;
    if (g->in_use)
        gathers_pack(g, g->t->pool, index, false);
    g->ops[index] = g->in_use ? group_gather(g->group, gathers_memory(g, index), bounds, sizeof(uint16_t), err)
                              : group_gather(g->group, g->values + k->first, bounds, sizeof *g->values, err);
    g->open += g->ops[index] != NULL;
    return g->ops[index] ? RAPT_OK : err->code;
}

rapt_code gathers_begin(gathers *g, size_t index, rapt_error *err)
{
    if (!g->decided)
        gathers_decide(g);
    g->in_use = g->rounds ? &g->kinds[PACK_STEP] : NULL;
    g->whole = !g->rounds;
    return gathers_start(g, index, err);
}

/* Waits for a bucket, and has its values in place. */
static void gathers_arrive(gathers *g, pool *threads, size_t index)
{
    group_op *op = g->ops[index];
    if (!op)
        return;
    g->ops[index] = NULL;
    g->open--;
    if (g->error.code || group_wait(g->group, op, &g->error))
        return;
    if (g->in_use)
        gathers_pack(g, threads, index, true);
}

/* A param_refresh_fn. A failure shows when gathers are finished. */
static void gathers_refresh(void *context, pool *threads, const int32_t *ids, size_t count)
{
    const gather_reader *r = context;
    (void)ids, (void)count;
    for (size_t i = r->first; r->g->open > 0 && i < r->end; i++)
        gathers_arrive(r->g, threads, i);
}

rapt_code gathers_finish(gathers *g, rapt_error *err)
{
    for (size_t i = g->b->count; g->open > 0 && i-- > 0;)
        gathers_arrive(g, g->t->pool, i);
    if (g->error.code)
        return rapt_fail(err, g->error.code, "%s", g->error.message);
    return gathers_check(g, err);
}

rapt_code gathers_whole(gathers *g, rapt_error *err)
{
    rapt_code code = gathers_finish(g, err);
    if (g->whole || code)
        return code;
    g->in_use = &g->kinds[PACK_REST];
    for (size_t i = g->b->count; i-- > 0 && !code;)
        code = gathers_start(g, i, err);
    g->whole = true;
    return code ? code : gathers_finish(g, err);
}
