/* nn/positions.c: sinusoidal positions, and the preprocessor that puts embedding and position together. */
#include "rapt/nn.h"

#include "base/math.h"
#include "nn/names.h"
#include "ops/record_steps.h"

#include <math.h>
#include <string.h>

static void fill_table(rapt_param *table, size_t max_len, size_t d)
{
    for (size_t j = 0; j < d; j++) {
        double divisor = math_pow(10000, (double)(j / 2 * 2) / (double)d);
        for (size_t i = 0; i < max_len; i++) {
            double angle = (double)i / divisor;
            table->value.data[i * d + j] = (rapt_real)(j % 2 ? math_cos(angle) : math_sin(angle));
        }
    }
}

void rapt_positions_init(rapt_positions *m, rapt_params *set, const char *prefix, size_t max_len, size_t d,
                         double dropout, bool persistent)
{
    m->table = rapt_params_add(set, name_join(prefix, "table").text, 2, (size_t[]){max_len, d},
                               (rapt_init){RAPT_INIT_ZEROS, 0});
    m->dropout = dropout;
    if (rapt_params_error(set)->code)
        return;
    rapt_param_make_buffer(m->table, persistent);
    if (rapt_params_seed(set) != RAPT_SEED_SHAPES)
        fill_table(m->table, max_len, d);
}

/* The rows first .. first + time - 1, once for each example. */
static rapt_tensor *positions_rows_of(rapt_tape *t, const rapt_positions *m, const rapt_tensor *x, size_t first)
{
    const rapt_tensor *table = &m->table->value;
    if (x->ndim != 3 || x->shape[2] != table->shape[1] || first > table->shape[0] ||
        x->shape[1] > table->shape[0] - first)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "positions %s: no rows %zu to %zu of %zu features", table->name, first,
                              first + x->shape[x->ndim - 1 ? 1 : 0], rapt_tensor_features(x));
    rapt_tensor *p = rapt_tape_tensor(t, 3, x->shape, false);
    size_t size = x->shape[1] * x->shape[2];
    for (size_t i = 0; !rapt_tape_error(t)->code && tape_computes(t) && i < x->shape[0]; i++)
        memcpy(p->data + i * size, table->data + first * x->shape[2], size * sizeof *p->data);
    return p;
}

/* dropout(x + rows), each step under its name. */
static rapt_tensor *sum_steps(rapt_tape *t, const rapt_positions *m, rapt_tensor *x, rapt_tensor *rows)
{
    const char *table = m->table->value.name;
    record_step(t, record_scope_of(table, 1), "", "P[position]", RECORD_BATCH, rows);
    rapt_tensor *y = rapt_op_add(t, x, rows);
    record_step(t, record_scope_of(table, 2), "input", "embedding + positions", RECORD_BATCH, y);
    return record_dropout(t, record_scope_of(table, 2), "input.dropped", RECORD_BATCH, y, m->dropout);
}

rapt_tensor *rapt_positions_forward(rapt_tape *t, const rapt_positions *m, rapt_tensor *x, size_t first)
{
    if (rapt_tape_error(t)->code)
        return x;
    rapt_tensor *rows = positions_rows_of(t, m, x, first);
    return record_on(t) ? sum_steps(t, m, x, rows) : rapt_op_dropout(t, rapt_op_add(t, x, rows), m->dropout);
}

void rapt_preprocessor_init(rapt_preprocessor *m, rapt_params *set, const char *prefix, size_t entries, size_t d,
                            const rapt_embedding_options *options, bool scale, size_t max_len, double dropout)
{
    rapt_embedding_init(&m->embedding, set, name_join(prefix, "embedding.").text, entries, d, options);
    rapt_positions_init(&m->positions, set, name_join(prefix, "positions.").text, max_len, d, dropout, true);
    m->scale = scale;
}

/* The rows of the table, which may be one that learns, for every example. */
static rapt_tensor *position_rows(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, size_t first)
{
    const rapt_tensor *w = &m->embedding.weight->value, *table = &m->positions.table->value;
    arena_mark mark = tape_mark(t);
    if (first > table->shape[0] || tokens.time > table->shape[0] - first)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "embed %s: position %zu asked for, %s has %zu", w->name,
                              first + tokens.time - 1, table->name, table->shape[0]);
    int32_t *ids = tape_failed(t) ? NULL : tape_scratch(t, tokens.batch * tokens.time, sizeof *ids);
    if (!ids)
        return &t->poison;
    for (size_t i = 0; i < tokens.batch * tokens.time; i++)
        ids[i] = (int32_t)(first + i % tokens.time);
    rapt_tensor *rows = rapt_op_embed(t, m->positions.table, (rapt_tokens){ids, tokens.batch, tokens.time, NULL}, NULL);
    tape_release(t, mark);
    return rows;
}

/* The same one step after the other, with padding. */
static rapt_tensor *preprocess_steps(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, size_t first)
{
    const rapt_param *w = m->embedding.weight, *table = m->positions.table;
    record_scope s = record_scope_of(table ? table->value.name : w->value.name, 2);
    tokens.lens = NULL;
    rapt_tensor *x = rapt_op_embed(t, m->embedding.weight, tokens, &m->embedding.options);
    record_step(t, s, "embedding", "E[id]", RECORD_BATCH, x);
    if (m->scale) {
        x = rapt_op_scale(t, x, sqrt((double)w->value.shape[1]));
        record_step(t, s, "embedding.scaled", "embedding * sqrt(d_model)", RECORD_BATCH, x);
    }
    if (table)
        return sum_steps(t, &m->positions, x, position_rows(t, m, tokens, first));
    return record_dropout(t, s, "input.dropped", RECORD_BATCH, x, m->positions.dropout);
}

rapt_tensor *rapt_preprocess(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, size_t first)
{
    if (record_on(t))
        return preprocess_steps(t, m, tokens, first);
    rapt_embed_options o = m->embedding.options;
    o.scale = m->scale ? sqrt((double)m->embedding.weight->value.shape[1]) : 1;
    o.positions = m->positions.table;
    o.first_position = first;
    o.dropout = m->positions.dropout;
    return rapt_op_embed(t, m->embedding.weight, tokens, &o);
}
