/* ops/attention_rows.c: distributes rows of one query over threads. The kernel `attend` computes a row; nothing is recorded. */
#include "ops/attention_rows.h"

#include "ops/attention_op.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <math.h>
#include <string.h>

typedef struct rows_loop {
    const kernels *kn;
    const rapt_tensor *q;
    const attention_query *of; /* [rows] */
    size_t heads, kv_heads, d;
    rapt_real scale;
    rapt_real *out;            /* [rows, heads * d] */
    rapt_real *scratch;
    size_t scratch_size;       /* elements, for each worker */
} rows_loop;

bool attention_rows_fit(const rapt_tape *t, size_t d, const rapt_attention_scores *scores)
{
    return t->team.gemm == &t->k->gemm && !t->pass.training && !observe_here(t) &&
           rapt_tape_attention_capture(t) == RAPT_CAPTURE_NONE && isfinite(scores->scale) &&
           attention_is_plain(&scores->bias, scores->cap, d);
}

/* The heads of `count` key-value heads of a row, from number `first` on. */
static void rows_attend(const rows_loop *l, size_t row, size_t first, size_t count, rapt_real *scratch)
{
    const attention_query *of = &l->of[row];
    const size_t features = l->kv_heads * l->d, group = l->heads / l->kv_heads, heads = count * group;
    const size_t at = (row * l->heads + first * group) * l->d; /* in q and the output */
    if (of->keys == 0) {
        memset(l->out + at, 0, heads * l->d * sizeof *l->out);
        return;
    }
    rapt_real *max = attention_take(&scratch, heads), *inv_sum = attention_take(&scratch, heads);
    attention_packed packed;
    attention_panels_find(of->panels, &l->kn->gemm, l->d, of->example, first, &packed);
    l->kn->attend(&(kernels_query){
        .heads = heads, .group = group, .keys = of->keys, .d = l->d, .dv = l->d, .q = l->q->data + at, .k = of->k + first * l->d,
        .panels = packed.keys, .panels_head = attention_panels_head(of->panels), .v = of->v + first * l->d,
        .k_row = (ptrdiff_t)features, .v_row = (ptrdiff_t)features, .scale = l->scale, .p = scratch, .out = l->out + at,
        .max = max, .inv_sum = inv_sum});
}

/* A unit is a key-value head of a row. */
static void rows_attend_all(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const rows_loop *l = context;
    (void)chunk;
    for (size_t i = first, end; i < last; i = end) {
        const size_t row = i / l->kv_heads, row_end = (row + 1) * l->kv_heads;
        end = row_end < last ? row_end : last;
        rows_attend(l, row, i % l->kv_heads, end - i, l->scratch + (size_t)worker * l->scratch_size);
    }
}

/* Keys and values that rows share, one after the other, are counted once. */
static void rows_profile(rapt_tape *t, const rows_loop *l)
{
    size_t keys = 0, own = 0;
    for (size_t i = 0; i < l->q->shape[0]; i++) {
        keys += l->of[i].keys;
        own += i > 0 && l->of[i].k == l->of[i - 1].k ? 0 : l->of[i].keys;
    }
    profile_op(t, "attention", 4.0 * (double)(keys * l->heads * l->d),
               2 * (double)(rapt_tensor_size(l->q) + own * l->kv_heads * l->d));
}

rapt_tensor *attention_rows_forward(rapt_tape *t, const rapt_tensor *q, const attention_query *of, size_t heads, size_t kv_heads,
                                    const rapt_attention_scores *scores)
{
    const size_t rows = q->shape[0], d = rapt_tensor_features(q) / heads;
    size_t longest = 0;
    rapt_tensor *out = tape_output(t, 3, q->shape, false);
    if (!out)
        return &t->poison;
    for (size_t i = 0; i < rows; i++)
        longest = of[i].keys > longest ? of[i].keys : longest;
    rows_loop l = {.kn = t->k, .q = q, .of = of, .heads = heads, .kv_heads = kv_heads, .d = d,
                   .scale = attention_scale(scores, d), .out = out->data,
                   .scratch_size = heads * attention_vectors(longest) + 2 * attention_vectors(heads)};
    if (t->profile.on)
        rows_profile(t, &l);
    const arena_mark mark = tape_mark(t);
    l.scratch = tape_scratch(t, l.scratch_size * (size_t)rapt_tape_threads(t), sizeof *l.scratch);
    if (l.scratch)
        tape_units(t, rows * kv_heads, heads / kv_heads * longest * (2 * d + 16) / 4, rows_attend_all, &l);
    tape_release(t, mark);
    return tape_failed(t) ? &t->poison : out;
}
