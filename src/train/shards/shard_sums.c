/* train/shards/shard_sums.c: adds shards in the order of the tree. The sums are a stack: a node waits there until its right
 * neighbor in the tree is complete. The passes of a shard write into the memory above the stack. */
#include "train/shards/shard_sums.h"

#include "base/arena.h"
#include "tape/profile_op.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

#define SHARD_DEPTH 33       /* max depth of the stack: nodes of rising size, of up to 2^32 shards */
#define CHUNK ((size_t)16384) /* elements that a thread adds as one chunk */
#define PIECE 1024           /* in pieces that stay in the L1 cache */

struct shard_sums {
    const rapt_params *set;
    const gradient_layout *layout;
    shard_node own;
    uint32_t shards;
    arena memory;
    size_t depth, count;                /* capacity of the stack, and sums on it */
    shard_node nodes[2 * SHARD_DEPTH];  /* [count] */
    rapt_real *dense[2 * SHARD_DEPTH];  /* [depth][layout.size] */
    size_t sparse;                      /* parameters */
    packed_rows *rows;                  /* [depth + 1][params]; sums are made in the last ones */
    rapt_real **own_grad;               /* [params]: the gradient memory that a dense parameter has without the sums */
    uint8_t *touched;                   /* [params] */
    bool early;                         /* the last shard's sums were made range by range */
};

bool shard_sums_are_children(shard_node a, shard_node b, uint32_t shards)
{
    shard_node both = {a.first, b.end};
    return shard_is_node(both, shards) && shard_split(both) == b.first;
}

size_t shard_sums_depth(shard_node own, uint32_t shards)
{
    shard_node nodes[2 * SHARD_DEPTH];
    size_t count = 0, most = 0;
    for (uint32_t shard = own.first; shard < own.end; shard++) {
        nodes[count++] = (shard_node){shard, shard + 1};
        most = count > most ? count : most;
        for (; count > 1 && shard_sums_are_children(nodes[count - 2], nodes[count - 1], shards); count--)
            nodes[count - 2].end = nodes[count - 1].end;
    }
    return most;
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

/* Memory for one gradient. Gaps between parameters are 0, or hold what gathers.c leaves there; nobody reads them. */
static rapt_real *shard_sums_buffer(shard_sums *s)
{
    const gradient_layout *l = s->layout;
    rapt_real *to = arena_array(&s->memory, l->size, sizeof *to);
    for (size_t i = 0; to && i < l->dense; i++) {
        const rapt_param *p = params_at(s->set, l->order[i]);
        size_t size = rapt_tensor_size(&p->value);
        memset(to + l->offset[l->order[i]] + size, 0, (gradient_layout_room(p) - size) * sizeof *to);
    }
    return to;
}

static bool shard_sums_allocate(shard_sums *s)
{
    size_t params = s->layout->params;
    s->rows = calloc((s->depth + 1) * params, sizeof *s->rows);
    s->own_grad = calloc(params, sizeof(rapt_real *));
    s->touched = calloc(params, 1);
    bool ok = s->rows && s->own_grad && s->touched;
    for (size_t i = 0; ok && i < s->depth; i++)
        ok = (s->dense[i] = shard_sums_buffer(s)) != NULL;
    return ok;
}

/* Lets the next passes write into memory `index`, which is empty. */
static void shard_sums_point(shard_sums *s, size_t index)
{
    for (size_t i = 0; i < s->layout->dense; i++) {
        rapt_param *p = params_at(s->set, s->layout->order[i]);
        p->value.grad = s->dense[index] + s->layout->offset[s->layout->order[i]];
        p->value.grad_filled = false;
    }
}

shard_sums *shard_sums_new(const rapt_params *set, const gradient_layout *layout, shard_node own, uint32_t shards,
                           rapt_error *err)
{
    shard_sums *s = calloc(1, sizeof *s);
    if (s) {
        *s = (shard_sums){.set = set, .layout = layout, .own = own, .shards = shards, .depth = shard_sums_depth(own, shards)};
        arena_init(&s->memory, s->depth * layout->size * sizeof(rapt_real) + 4096);
    }
    if (!s || !shard_sums_allocate(s)) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the gradients of shards");
        shard_sums_free(s);
        return NULL;
    }
    for (size_t i = 0; i < layout->dense; i++)
        s->own_grad[layout->order[i]] = params_at(set, layout->order[i])->value.grad;
    shard_sums_point(s, 0);
    return s;
}

void shard_sums_free(shard_sums *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->own_grad && i < s->layout->params; i++)
        if (s->own_grad[i]) {
            rapt_param *p = params_at(s->set, i);
            p->value.grad = s->own_grad[i];
            p->value.grad_filled = false;
        }
    for (size_t i = 0; s->rows && i < (s->depth + 1) * s->layout->params; i++)
        packed_rows_free(&s->rows[i]);
    free(s->rows);
    free(s->own_grad);
    free(s->touched);
    arena_free(&s->memory);
    free(s);
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

/* For elements from .. end - 1: dense[first] += dense[first + 1] += ... += dense[last], one sweep for all sums that a shard
 * completes. */
typedef struct sum_sweep {
    const shard_sums *s;
    const kernels *k;
    size_t first, last;
    size_t from, end;
} sum_sweep;

/* A pool_fn. */
static void shard_sums_sweep(void *context, size_t chunk, int worker)
{
    const sum_sweep *l = context;
    const shard_sums *s = l->s;
    rapt_real sum[PIECE];
    size_t from = l->from + chunk * CHUNK, end = l->end - from > CHUNK ? from + CHUNK : l->end;
    (void)worker;
    for (size_t at = from; at < end; at += PIECE) {
        size_t n = end - at < PIECE ? end - at : PIECE;
        const rapt_real *right = s->dense[l->last] + at;
        for (size_t i = l->last - 1; i > l->first; i--, right = sum)
            l->k->add(n, s->dense[i] + at, right, sum);
        l->k->add(n, s->dense[l->first] + at, right, s->dense[l->first] + at);
    }
}

/* Makes the sums of dense parameters. */
static void shard_sums_add_up(const shard_sums *s, rapt_tape *t, sum_sweep l)
{
    const size_t size = l.end - l.from, passes = l.last - l.first;
    if (passes == 0)
        return;
    l.s = s;
    l.k = t->k;
    profile_op(t, "shards", (double)(passes * size), (double)((passes + 2) * size));
    pool_run(t->pool, (size + CHUNK - 1) / CHUNK, (passes + 2) * size, shard_sums_sweep, &l);
    profile_end(t);
}

static packed_rows *shard_sums_rows_at(const shard_sums *s, size_t index, size_t param)
{
    return &s->rows[index * s->layout->params + param];
}

/* The sum of the sparse parameters' nodes `left` and left + 1, in the place of `left`. */
static bool shard_sums_merge_rows(const shard_sums *s, const kernels *k, size_t left)
{
    for (size_t i = 0; i < s->layout->params; i++) {
        const rapt_param *p = params_at(s->set, i);
        packed_rows *a = shard_sums_rows_at(s, left, i), *sum = shard_sums_rows_at(s, s->depth, i), before = *a;
        if (!p->sparse)
            continue;
        size_t width = rapt_tensor_size(&p->value) / p->value.shape[0];
        if (!packed_rows_add(sum, a, shard_sums_rows_at(s, left + 1, i), width, k))
            return false;
        *a = *sum;
        *sum = before;
    }
    return true;
}

/* Takes the gradient that the passes have left: it becomes the top of the stack. */
static bool shard_sums_take(shard_sums *s)
{
    for (size_t i = 0; i < s->layout->params; i++) {
        rapt_param *p = params_at(s->set, i);
        size_t at = s->layout->offset[i];
        if (at != LAYOUT_NOWHERE) {
            s->touched[i] |= p->value.grad_filled;
            if (!p->value.grad_filled && !s->early)
                memset(s->dense[s->count] + at, 0, rapt_tensor_size(&p->value) * sizeof(rapt_real));
        } else if (p->sparse && !packed_rows_take(shard_sums_rows_at(s, s->count, i), p)) {
            return false;
        }
    }
    return true;
}

void shard_sums_restart(shard_sums *s)
{
    s->count = 0;
    s->early = false;
    memset(s->touched, 0, s->layout->params);
    shard_sums_point(s, 0);
}

/* The shard that passes compute now, a leaf of the tree. */
static shard_node shard_sums_leaf(const shard_sums *s)
{
    const uint32_t shard = s->count ? s->nodes[s->count - 1].end : s->own.first;
    return (shard_node){shard, shard + 1};
}

void shard_sums_add_range(shard_sums *s, rapt_tape *t, size_t from, size_t end)
{
    shard_node node = shard_sums_leaf(s);
    size_t first = s->count;
    for (; first > 0 && shard_sums_are_children(s->nodes[first - 1], node, s->shards); first--)
        node.first = s->nodes[first - 1].first;
    s->early = true;
    for (size_t i = 0; i < s->layout->dense; i++) {
        const rapt_param *p = params_at(s->set, s->layout->order[i]);
        size_t at = s->layout->offset[p->index], stop = at + rapt_tensor_size(&p->value);
        at = at > from ? at : from;
        stop = stop < end ? stop : end;
        if (!p->value.grad_filled && at < stop)
            memset(s->dense[s->count] + at, 0, (stop - at) * sizeof(rapt_real));
    }
    shard_sums_add_up(s, t, (sum_sweep){.first = first, .last = s->count, .from = from, .end = end});
}

rapt_code shard_sums_add(shard_sums *s, rapt_tape *t, rapt_error *err)
{
    shard_node leaf = shard_sums_leaf(s);
    bool ok = shard_sums_take(s);
    s->nodes[s->count++] = leaf;
    size_t last = s->count - 1, first = last;
    for (; ok && first > 0 && shard_sums_are_children(s->nodes[first - 1], s->nodes[first], s->shards); first--) {
        s->nodes[first - 1].end = s->nodes[first].end;
        ok = shard_sums_merge_rows(s, t->k, first - 1);
    }
    if (!ok)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the gradients of shards");
    s->count = first + 1;
    if (!s->early)
        shard_sums_add_up(s, t, (sum_sweep){.first = first, .last = last, .end = s->layout->size});
    if (s->nodes[first].end < s->own.end)
        shard_sums_point(s, s->count);
    return RAPT_OK;
}

/* ---- what they come to --------------------------------------------------------------------------------------------- */

size_t shard_sums_count(const shard_sums *s)
{
    return s->count;
}

rapt_real *shard_sums_dense(const shard_sums *s, size_t index)
{
    return s->dense[index];
}

const packed_rows *shard_sums_rows(const shard_sums *s, size_t index, size_t param)
{
    return shard_sums_rows_at(s, index, param);
}

const uint8_t *shard_sums_touched(const shard_sums *s)
{
    return s->touched;
}

void shard_sums_use_dense(shard_sums *s, const uint8_t *touched)
{
    shard_sums_point(s, 0);
    for (size_t i = 0; i < s->layout->dense; i++)
        params_at(s->set, s->layout->order[i])->value.grad_filled = touched[s->layout->order[i]];
}

void shard_sums_use_rows(shard_sums *s, size_t param, const packed_rows *rows)
{
    packed_rows_put(rows, params_at(s->set, param));
}
