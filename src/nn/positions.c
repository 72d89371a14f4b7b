/* nn/positions.c: sinusoidal positions, and the preprocessor that puts embedding and position together. */
#include "rapt/nn.h"

#include "base/math.h"
#include "nn/names.h"

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
    fill_table(m->table, max_len, d);
}

/* The rows first .. first + time - 1, once for each example. */
static rapt_tensor *rows_of(rapt_tape *t, const rapt_positions *m, const rapt_tensor *x, size_t first)
{
    const rapt_tensor *table = &m->table->value;
    if (x->ndim != 3 || x->shape[2] != table->shape[1] || first + x->shape[1] > table->shape[0])
        return rapt_tape_fail(t, RAPT_SHAPE, "positions %s: no rows %zu to %zu of %zu features", table->name, first,
                              first + x->shape[x->ndim - 1 ? 1 : 0], rapt_tensor_features(x));
    rapt_tensor *p = rapt_new(t, 3, x->shape, false);
    size_t size = x->shape[1] * x->shape[2];
    for (size_t i = 0; !rapt_tape_error(t)->code && i < x->shape[0]; i++)
        memcpy(p->data + i * size, table->data + first * x->shape[2], size * sizeof *p->data);
    return p;
}

rapt_tensor *rapt_positions_forward(rapt_tape *t, const rapt_positions *m, rapt_tensor *x, size_t first)
{
    if (rapt_tape_error(t)->code)
        return x;
    return rapt_dropout(t, rapt_add(t, x, rows_of(t, m, x, first)), m->dropout);
}

void rapt_preprocessor_init(rapt_preprocessor *m, rapt_params *set, const char *prefix, size_t entries, size_t d,
                            const rapt_embedding_options *options, bool scale, size_t max_len, double dropout)
{
    rapt_embedding_init(&m->embedding, set, name_join(prefix, "embedding.").text, entries, d, options);
    rapt_positions_init(&m->positions, set, name_join(prefix, "positions.").text, max_len, d, dropout, true);
    m->scale = scale;
}

rapt_tensor *rapt_preprocess(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, size_t first)
{
    rapt_embed_options o = m->embedding.options;
    o.scale = m->scale ? sqrt((double)m->embedding.weight->value.shape[1]) : 1;
    o.positions = m->positions.table;
    o.first_position = first;
    o.dropout = m->positions.dropout;
    return rapt_embed_op(t, m->embedding.weight, tokens, &o);
}
