/* ops/attention_rows.c: see attention_rows.h. The kernel `attend` computes a row; there is nothing to record. */
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
    return d <= KERNELS_K_BLOCK && t->team.gemm == &t->k->gemm && !scores->bias.weight && scores->cap == 0 &&
           !t->pass.training && !observe_here(t) && rapt_tape_attention_capture(t) == RAPT_CAPTURE_NONE;
}

static void rows_attend(const rows_loop *l, size_t row, rapt_real *scratch)
{
    const attention_query *of = &l->of[row];
    const size_t features = l->kv_heads * l->d, all = l->heads * l->d;
    size_t columns;
    rapt_real *out = l->out + row * all, *max = attention_take(&scratch, l->heads), *inv_sum = attention_take(&scratch, l->heads);
    if (of->keys == 0) {
        memset(out, 0, all * sizeof *out);
        return;
    }
    l->kn->attend(&(kernels_query){
        .heads = l->heads, .group = l->heads / l->kv_heads, .keys = of->keys, .count = of->keys, .d = l->d, .dv = l->d,
        .q = l->q->data + row * all, .k = of->k,
        .panels = attention_panels_find(of->panels, &l->kn->gemm, l->d, of->example, 0, &columns),
        .panels_head = attention_panels_head(of->panels), .v = of->v, .k_row = (ptrdiff_t)features,
        .v_row = (ptrdiff_t)features, .scale = l->scale, .p = scratch, .out = out, .max = max, .inv_sum = inv_sum});
}

/* A unit is a row. */
static void rows_attend_all(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const rows_loop *l = context;
    (void)chunk;
    for (size_t i = first; i < last; i++)
        rows_attend(l, i, l->scratch + (size_t)worker * l->scratch_size);
}

static void rows_profile(rapt_tape *t, const rows_loop *l, size_t keys)
{
    const double elements = 2 * (double)rapt_tensor_size(l->q) + 2 * (double)(keys * l->kv_heads * l->d);
    profile_op(t, "attention", 4.0 * (double)(keys * l->heads * l->d), elements);
}

rapt_tensor *attention_op_rows(rapt_tape *t, const rapt_tensor *q, const attention_query *of, size_t heads, size_t kv_heads,
                               const rapt_attention_scores *scores)
{
    const size_t rows = q->shape[0], d = rapt_tensor_features(q) / heads, line = KERNELS_ALIGN / sizeof(rapt_real);
    size_t keys = 0, longest = 0;
    rapt_tensor *out = tape_output(t, 3, q->shape, false);
    if (!out)
        return &t->poison;
    for (size_t i = 0; i < rows; i++) {
        keys += of[i].keys;
        longest = of[i].keys > longest ? of[i].keys : longest;
    }
    rows_loop l = {.kn = t->k, .q = q, .of = of, .heads = heads, .kv_heads = kv_heads, .d = d, .out = out->data,
                   .scale = (rapt_real)(scores->scale != 0 ? scores->scale : 1 / sqrt((double)d)),
                   .scratch_size = heads * attention_vectors(longest) + 2 * (heads + line)};
    rows_profile(t, &l, keys);
    const arena_mark mark = tape_mark(t);
    l.scratch = tape_scratch(t, l.scratch_size * (size_t)rapt_tape_threads(t), sizeof *l.scratch);
    if (l.scratch)
        tape_units(t, rows, heads * longest * (2 * d + 16) / 4, rows_attend_all, &l);
    tape_release(t, mark);
    return tape_failed(t) ? &t->poison : out;
}
