/* ops/attention_rows.c: distributes rows of one query over threads. In fp32 the kernel `attend` computes a row; else
 * attention_head.c computes each head. Nothing is recorded. */
#include "ops/attention_rows.h"

#include "ops/attention_op.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <math.h>
#include <string.h>

/* The rows as examples of one query, without a mask; n.k and n.v are not used. */
typedef struct rows_loop {
    const rapt_tape *t;
    attention_node n;
    const attention_query *of; /* [rows] */
    rapt_real *scratch;
    size_t scratch_size;       /* elements, for each worker */
} rows_loop;

bool attention_rows_fit(const rapt_tape *t, size_t d, const rapt_attention_scores *scores)
{
    return !t->pass.training && !observe_here(t) && rapt_tape_attention_capture(t) == RAPT_CAPTURE_NONE &&
           isfinite(scores->scale) && attention_is_plain(&scores->bias, scores->cap, d);
}

/* `head` is a query head. */
static void rows_attend_head(const rows_loop *l, size_t row, size_t head, rapt_real *scratch)
{
    const attention_node *n = &l->n;
    const attention_query *of = &l->of[row];
    const size_t kv_head = head / n->group, features = n->heads / n->group * n->d;
    attention_head h = {.n = n, .kn = l->t->k, .gemm = l->t->team.gemm, .example = row, .head = head, .kv_head = kv_head,
                        .query_rows = {row, 1}, .key_rows = {0, of->keys}, .seen = of->keys};
    h.q = attention_slice(n->q, n->q->data, h.query_rows, head, n->d);
    h.k = (matrix){of->k + kv_head * n->d, (ptrdiff_t)features, 1};
    h.v = (matrix){of->v + kv_head * n->d, (ptrdiff_t)features, 1};
    attention_panels_find(of->panels, h.gemm, n->d, of->example, kv_head, &h.packed);
    h.columns = h.packed.keys ? h.packed.columns : h.seen;
    attention_forward_head(&h, scratch);
}

/* The heads of `count` key-value heads of a row, from number `first` on. */
static void rows_attend(const rows_loop *l, size_t row, size_t first, size_t count, rapt_real *scratch)
{
    const attention_node *n = &l->n;
    const attention_query *of = &l->of[row];
    const size_t features = n->heads / n->group * n->d, heads = count * n->group, at = row * n->heads + first * n->group;
    attention_packed packed;
    if (l->t->team.gemm != &l->t->k->gemm || of->keys == 0) {
        for (size_t i = 0; i < heads; i++)
            rows_attend_head(l, row, first * n->group + i, scratch);
        return;
    }
    attention_panels_find(of->panels, l->t->team.gemm, n->d, of->example, first, &packed);
    l->t->k->attend(&(kernels_query){
        .heads = heads, .group = n->group, .keys = of->keys, .d = n->d, .dv = n->dv, .q = n->q->data + at * n->d,
        .k = of->k + first * n->d, .panels = packed.keys, .panels_head = attention_panels_head(of->panels),
        .v = of->v + first * n->d, .k_row = (ptrdiff_t)features, .v_row = (ptrdiff_t)features, .scale = n->scale, .p = scratch,
        .out = n->out->data + at * n->d, .max = n->row_max + at, .inv_sum = n->row_inv_sum + at});
}

/* A unit is a key-value head of a row. */
static void rows_attend_all(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const rows_loop *l = context;
    (void)chunk;
    for (size_t i = first, end; i < last; i = end) {
        const size_t kv_heads = l->n.heads / l->n.group, row = i / kv_heads, row_end = (row + 1) * kv_heads;
        end = row_end < last ? row_end : last;
        rows_attend(l, row, i % kv_heads, end - i, l->scratch + (size_t)worker * l->scratch_size);
    }
}

/* Keys and values that rows share, one after the other, are counted once. */
static void rows_profile(rapt_tape *t, const rows_loop *l)
{
    const attention_node *n = &l->n;
    size_t keys = 0, own = 0;
    for (size_t i = 0; i < n->batch; i++) {
        keys += l->of[i].keys;
        own += i > 0 && l->of[i].k == l->of[i - 1].k ? 0 : l->of[i].keys;
    }
    profile_op(t, "attention", 4.0 * (double)(keys * n->heads * n->d),
               2 * (double)(rapt_tensor_size(n->q) + own * (n->heads / n->group) * n->d));
}

rapt_tensor *attention_rows_forward(rapt_tape *t, rapt_tensor *q, const attention_query *of, size_t heads, size_t kv_heads,
                                    const rapt_attention_scores *scores)
{
    const size_t rows = q->shape[0], d = rapt_tensor_features(q) / heads;
    rows_loop l = {.t = t, .of = of, .n = {.q = q, .batch = rows, .queries = 1, .heads = heads, .d = d, .dv = d,
                                           .group = heads / kv_heads, .scale = attention_scale(scores, d)}};
    l.n.out = tape_output(t, 3, q->shape, false);
    if (!l.n.out)
        return &t->poison;
    for (size_t i = 0; i < rows; i++)
        l.n.keys = of[i].keys > l.n.keys ? of[i].keys : l.n.keys;
    l.scratch_size = t->team.gemm == &t->k->gemm ? heads * attention_vectors(l.n.keys)
                                                 : attention_forward_size(t->team.gemm, &l.n);
    if (t->profile.on)
        rows_profile(t, &l);
    const arena_mark mark = tape_mark(t);
    l.n.row_max = tape_scratch(t, 2 * rows * heads, sizeof *l.n.row_max);
    l.n.row_inv_sum = l.n.row_max ? l.n.row_max + rows * heads : NULL;
    l.scratch = tape_scratch(t, l.scratch_size * (size_t)rapt_tape_threads(t), sizeof *l.scratch);
    if (l.n.row_max && l.scratch)
        tape_units(t, rows * kv_heads, heads / kv_heads * l.n.keys * (2 * d + 16) / 4, rows_attend_all, &l);
    tape_release(t, mark);
    return tape_failed(t) ? &t->poison : l.n.out;
}
