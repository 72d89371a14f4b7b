/* nn/positions.c: sinusoidal positions, and the preprocessor, which adds sinusoidal or learned positions to the embedding. */
#include "rapt/nn.h"

#include "base/math.h"
#include "nn/names.h"
#include "tape/observe_op.h"
#include "tape/tape_core.h"

#include <math.h>
#include <string.h>

/* In fp32, as the models are trained; the last feature of an odd number is 0. */
static void fill_fairseq_table(rapt_param *table, size_t max_len, size_t d)
{
    const size_t half = d / 2, first = 2;
    const float step = half > 1 ? (float)(-math_log(10000) / (double)(half - 1)) : 0;
    for (size_t j = 0; j < half; j++) {
        const float exponent = (float)j * step, frequency = (float)math_exp((double)exponent);
        for (size_t i = 0; i < max_len; i++) {
            const float angle = (float)(i + first) * frequency;
            table->value.data[i * d + j] = (rapt_real)math_sin((double)angle);
            table->value.data[i * d + half + j] = (rapt_real)math_cos((double)angle);
        }
    }
    for (size_t i = 0; d % 2 && i < max_len; i++)
        table->value.data[i * d + d - 1] = 0;
}

static void fill_table(rapt_param *table, size_t max_len, size_t d, rapt_sinusoid_layout layout)
{
    const bool halves = layout == RAPT_SINUSOID_LAYOUT_HALVES;
    for (size_t j = 0; j < d; j++) {
        const size_t feature = halves ? j / 2 + j % 2 * ((d + 1) / 2) : j;
        double divisor = math_pow(10000, (double)(j / 2 * 2) / (double)d);
        for (size_t i = 0; i < max_len; i++) {
            double angle = (double)i / divisor;
            table->value.data[i * d + feature] = (rapt_real)(j % 2 ? math_cos(angle) : math_sin(angle));
        }
    }
}

void rapt_positions_init(rapt_positions *m, rapt_params *set, const char *prefix, size_t max_len, size_t d,
                         const rapt_positions_options *options)
{
    const rapt_positions_options o = options ? *options : (rapt_positions_options){0};
    m->table = rapt_params_add(set, name_join(prefix, "table").text, 2, (size_t[]){max_len, d},
                               (rapt_init){RAPT_INIT_ZEROS, 0});
    m->dropout = o.dropout;
    if (rapt_params_error(set)->code)
        return;
    rapt_param_make_buffer(m->table, o.persistent);
    if (rapt_params_seed(set) == RAPT_SEED_SHAPES)
        return;
    if (o.layout == RAPT_SINUSOID_LAYOUT_FAIRSEQ)
        fill_fairseq_table(m->table, max_len, d);
    else
        fill_table(m->table, max_len, d, o.layout);
}

rapt_tensor *rapt_positions_forward(rapt_tape *t, const rapt_positions *m, rapt_tensor *x, size_t first)
{
    observe_scope outer = observe_enter(t, m->table->value.name, 2);
    return observe_leave(t, outer, rapt_op_add_positions(t, x, m->table, first, m->dropout));
}

static void preprocessor_init_positions(rapt_positions *m, rapt_params *set, const char *prefix, size_t max_len, size_t d,
                                        const rapt_preprocessor_options *o)
{
    const rapt_init normal = {RAPT_INIT_NORMAL, o->positions_std != 0 ? o->positions_std : 0.02};
    *m = (rapt_positions){.dropout = o->dropout};
    if (o->positions == RAPT_POSITIONS_SINUSOIDAL)
        rapt_positions_init(m, set, name_join(prefix, "positions.").text, max_len, d,
                            &(rapt_positions_options){.dropout = o->dropout, .layout = o->sinusoid_layout, .persistent = true});
    else if (o->positions == RAPT_POSITIONS_LEARNED)
        m->table = rapt_params_add(set, name_join(prefix, "positions.weight").text, 2, (size_t[]){max_len, d}, normal);
}

void rapt_preprocessor_init(rapt_preprocessor *m, rapt_params *set, const char *prefix, size_t entries, size_t d,
                            size_t max_len, const rapt_preprocessor_options *options)
{
    const rapt_preprocessor_options o = options ? *options : (rapt_preprocessor_options){0};
    *m = (rapt_preprocessor){.embedding = {.weight = o.shared, .options = o.embedding.embed}, .scale = !o.no_scale,
                             .multiplier = o.multiplier, .name = name_keep(set, prefix)};
    if (!o.shared)
        rapt_embedding_init(&m->embedding, set, name_join(prefix, "embedding.").text, entries, d, &o.embedding);
    preprocessor_init_positions(&m->positions, set, prefix, max_len, d, &o);
    if (o.types)
        rapt_embedding_init(&m->types, set, name_join(prefix, "types.").text, o.types, d, &o.embedding);
    m->has_norm = o.has_norm;
    if (o.has_norm)
        rapt_layer_norm_init(&m->norm, set, name_join(prefix, "embedding_norm.").text, 1, &d, &o.norm);
}

/* x + the row of its type, for each token. */
static rapt_tensor *preprocessor_add_type(rapt_tape *t, const rapt_embedding *types, rapt_tensor *x, rapt_tokens tokens)
{
    const size_t count = (tokens.batch ? tokens.batch : 1) * tokens.time;
    int32_t *zeros = tape_failed(t) || tokens.types ? NULL : tape_alloc(t, count, sizeof *zeros);
    if (!zeros && !tokens.types)
        return x;
    if (zeros)
        memset(zeros, 0, count * sizeof *zeros);
    tokens.ids = zeros ? zeros : tokens.types;
    return rapt_op_add(t, x, rapt_embedding_forward(t, types, tokens));
}

/* o: where the positions of the rows begin. */
static rapt_tensor *preprocessor_run(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, rapt_embed_options o)
{
    rapt_param *w = m->embedding.weight, *table = m->positions.table;
    o.scale = m->multiplier != 0 ? m->multiplier : m->scale ? sqrt((double)w->value.shape[1]) : 1;
    o.positions = table;
    o.dropout = m->positions.dropout;
    observe_scope outer = observe_enter(t, m->name, 0);
    rapt_tensor *x = observe_leave(t, outer, rapt_op_embed(t, m->embedding.weight, tokens, &o));
    if (m->types.weight)
        x = preprocessor_add_type(t, &m->types, x, tokens);
    return m->has_norm ? rapt_layer_norm_forward(t, &m->norm, x) : x;
}

rapt_tensor *rapt_preprocess(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, size_t first)
{
    rapt_embed_options o = m->embedding.options;
    o.first_position = first;
    return preprocessor_run(t, m, tokens, o);
}

rapt_tensor *rapt_preprocess_cached(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, const rapt_cached_row *rows)
{
    rapt_embed_options o = m->embedding.options;
    o.cached = rows;
    return preprocessor_run(t, m, tokens, o);
}
