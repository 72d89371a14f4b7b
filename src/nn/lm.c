/* nn/lm.c: the decoder-only language model: embedding, blocks, output matrix. For training and generation; decoding
 * with a KV cache is in lm_step.c. */
#include "nn/lm_core.h"

#include "nn/block.h"
#include "nn/embedding_std.h"
#include "nn/names.h"
#include "tape/observe_op.h"

#include <stdlib.h>

/* The configuration with its default in place of each 0 that means one. */
static rapt_lm_config lm_init_defaults(const rapt_lm_config *config)
{
    rapt_lm_config c = *config;
    c.block = block_defaults(&config->block);
    c.rotary_base = c.rotary_base != 0 ? c.rotary_base : 10000;
    c.embedding_std = embedding_std_of_lm(&c);
    return c;
}

/* Whether a layer is in a set; false from RAPT_LAYER_SET_MAX on. */
static bool lm_init_has_layer(const rapt_layer_set *set, size_t layer)
{
    return layer < RAPT_LAYER_SET_MAX && set->bits[layer / 64] >> layer % 64 & 1;
}

/* Records a failure in the set if the sizes don't fit together. */
static void lm_init_check(rapt_params *set, const rapt_lm_config *c)
{
    if (!c->vocab || !c->layers || !c->block.d_model || !c->block.ffn || !c->context)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a model of %zu layers, d_model %zu, ffn %zu, vocabulary %zu, context %zu",
                         c->layers, c->block.d_model, c->block.ffn, c->vocab, c->context);
    else if (c->tied && c->output_bias)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a tied model has no output bias");
    else if (c->parallel && c->block.norm_place != RAPT_NORM_PLACE_PRE)
        rapt_params_fail(set, RAPT_ERR_VALUE, "parallel sublayers are pre-norm");
    else
        block_check(set, &c->block);
}

static void lm_init_rotary(rapt_lm *m, rapt_params *set, const rapt_lm_config *c, const rapt_block_config *block)
{
    const rapt_rotary_scaling plain = {.fp32 = c->rotary_scaling.fp32};
    if (c->positions != RAPT_POSITIONS_ROTARY)
        return;
    m->rotary = block_init_rotary(set, "rotary.table", c->context, block, c->rotary_base, &c->rotary_scaling);
    if (c->local_rotary_base != 0)
        m->local_rotary = block_init_rotary(set, "rotary.local", c->context, block, c->local_rotary_base, &plain);
}

static void lm_init_blocks(rapt_lm *m, rapt_params *set, const rapt_lm_config *c)
{
    const rapt_block_config block = block_of_stack(&c->block, 2 * c->layers);
    rapt_relative_bias slopes = {0};
    lm_init_rotary(m, set, c, &block);
    if (c->positions == RAPT_POSITIONS_ALIBI)
        rapt_alibi_init(&slopes, set, block.heads);
    m->blocks = rapt_params_alloc(set, c->layers, sizeof *m->blocks);
    m->layers = m->blocks ? c->layers : 0;
    for (size_t i = 0; i < m->layers; i++) {
        const bool local = lm_init_has_layer(&c->windowed, i), rotated = !lm_init_has_layer(&c->unrotated, i);
        rapt_lm_block *b = &m->blocks[i];
        rapt_lm_block_init(b, set, name_index("blocks.", i).text, &block);
        b->parallel = c->parallel;
        if (slopes.slopes)
            b->attention.scores.bias = slopes;
        b->attention.window = local ? c->window : 0;
        b->attention.rotary = !rotated ? NULL : local && m->local_rotary ? m->local_rotary : m->rotary;
    }
}

static void lm_init_output(rapt_lm *m, rapt_params *set, const rapt_lm_config *c)
{
    const rapt_norm_options norm = block_norm_options(&c->block);
    m->has_norm = block_ends_with_norm(&c->block);
    if (m->has_norm)
        rapt_layer_norm_init(&m->norm, set, "norm.", 1, &c->block.d_model, &norm);
    if (c->tied)
        m->output = (rapt_linear){.weight = m->input.embedding.weight};
    else
        rapt_linear_init(&m->output, set, "output.", c->block.d_model, c->vocab,
                         &(rapt_linear_options){.no_bias = !c->output_bias, .init = c->block.init, .std = c->block.std});
}

void rapt_lm_init(rapt_lm *m, rapt_params *set, const rapt_lm_config *config)
{
    *m = (rapt_lm){.config = lm_init_defaults(config), .params = set};
    lm_init_check(set, &m->config);
    if (rapt_params_error(set)->code)
        return;
    const rapt_preprocessor_options input = embedding_std_input_of_lm(&m->config);
    rapt_preprocessor_init(&m->input, set, "", m->config.vocab, m->config.block.d_model, m->config.context, &input);
    lm_init_blocks(m, set, &m->config);
    lm_init_output(m, set, &m->config);
}

rapt_lm *rapt_lm_new(const rapt_lm_config *config, uint64_t seed, rapt_error *err)
{
    rapt_lm *m = calloc(1, sizeof *m);
    rapt_params *set = m ? rapt_params_new(seed, err) : NULL;
    if (!set) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model");
        free(m);
        return NULL;
    }
    rapt_lm_init(m, set, config);
    if (rapt_params_error(set)->code == RAPT_OK)
        return m;
    rapt_fail(err, rapt_params_error(set)->code, "%s", rapt_params_error(set)->message);
    rapt_lm_free(m);
    return NULL;
}

void rapt_lm_free(rapt_lm *m)
{
    if (!m)
        return;
    rapt_params_free(m->params);
    free(m);
}

rapt_tensor *lm_check_ids(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, size_t row, size_t first)
{
    const int32_t *ids = tokens.ids + row * tokens.time;
    for (size_t i = 0; i < tokens.time; i++)
        if (ids[i] < 0 || (size_t)ids[i] >= m->config.vocab)
            return rapt_tape_fail(t, RAPT_ERR_VALUE, "token %d at position %zu of row %zu is not in the vocabulary of %zu",
                                  ids[i], first + i, row, m->config.vocab);
    return NULL;
}

static rapt_tensor *lm_check(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens)
{
    rapt_tensor *bad = NULL;
    if (tokens.time > m->config.context)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%zu tokens are more than the model's context of %zu", tokens.time,
                              m->config.context);
    for (size_t b = 0; b < tokens.batch && !bad; b++)
        bad = lm_check_ids(t, m, tokens, b, 0);
    return bad;
}

static rapt_tensor *lm_run_block(rapt_tape *t, const void *m, const rapt_block_input *in)
{
    return rapt_lm_block_forward(t, m, in->x, NULL, 0);
}

/* A block with its KV cache. */
typedef struct lm_cached_block {
    const rapt_lm_block *block;
    rapt_kv *kv;
    size_t past;
} lm_cached_block;

static rapt_tensor *lm_run_cached(rapt_tape *t, const void *m, const rapt_block_input *in)
{
    const lm_cached_block *b = m;
    return rapt_lm_block_forward(t, b->block, in->x, b->kv, b->past);
}

static rapt_tensor *lm_cached(rapt_tape *t, const rapt_lm *m, size_t layer, rapt_tensor *x, rapt_kv *kv, size_t past)
{
    lm_cached_block *b = tape_alloc(t, 1, sizeof *b);
    if (!b)
        return x;
    *b = (lm_cached_block){&m->blocks[layer], kv, past};
    return tape_run_once(t, lm_run_cached, b, (rapt_block_input){.x = x});
}

/* Divides the hidden states instead of the logits, because they have fewer elements. */
static rapt_tensor *lm_divide(rapt_tape *t, rapt_tensor *x, double divisor)
{
    observe_scope outer = observe_enter(t, NULL, 0);
    observe_from(t, (observe_source){.inputs = {x}, .constant = 1 / divisor});
    x = rapt_op_scale(t, x, 1 / divisor);
    return observe_leave(t, outer, observe_tensor(t, "norm.scaled", "norm.output / divisor of the logits", OBSERVE_ROWS, x));
}

rapt_tensor *lm_last_norm(rapt_tape *t, const rapt_lm *m, rapt_tensor *x)
{
    if (m->has_norm)
        x = rapt_layer_norm_forward(t, &m->norm, x);
    return m->config.logits_divisor != 0 ? lm_divide(t, x, m->config.logits_divisor) : x;
}

rapt_tensor *lm_blocks(rapt_tape *t, const rapt_lm *m, rapt_tensor *x, rapt_kv *layers, size_t past)
{
    for (size_t i = 0; i < m->layers; i++)
        x = layers ? lm_cached(t, m, i, x, &layers[i], past)
                   : rapt_run_block(t, lm_run_block, &m->blocks[i], (rapt_block_input){.x = x});
    return lm_last_norm(t, m, x);
}

rapt_tensor *rapt_lm_hidden(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens)
{
    rapt_tensor *bad = lm_check(t, m, tokens);
    return bad ? bad : lm_blocks(t, m, rapt_preprocess(t, &m->input, tokens, 0), NULL, 0);
}

static rapt_tensor *lm_capped_logits(rapt_tape *t, const rapt_lm *m, rapt_tensor *hidden)
{
    observe_scope outer = observe_nothing(t);
    rapt_tensor *logits = rapt_linear_forward(t, &m->output, hidden);
    observe_enter(t, NULL, 0);
    logits = rapt_op_softcap(t, logits, m->config.logits_cap);
    const rapt_tensor *bias = m->output.bias ? &m->output.bias->value : NULL;
    observe_from(t, (observe_source){.inputs = {hidden}, .parameters = {&m->output.weight->value, bias},
                                     .constant = m->config.logits_cap});
    return observe_leave(t, outer, observe_logits(t, "c tanh(x W^T / c)", logits));
}

rapt_tensor *lm_logits(rapt_tape *t, const rapt_lm *m, rapt_tensor *hidden)
{
    if (m->config.logits_cap != 0)
        return lm_capped_logits(t, m, hidden);
    observe_scope outer = observe_enter(t, NULL, 0);
    return observe_leave(t, outer, rapt_linear_forward(t, &m->output, hidden));
}

rapt_tensor *rapt_lm_forward(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens)
{
    return lm_logits(t, m, rapt_lm_hidden(t, m, tokens));
}

rapt_tensor *lm_loss_of(rapt_tape *t, const rapt_lm *m, rapt_tensor *hidden, rapt_tokens labels,
                        const rapt_loss_options *options, rapt_loss_sums *parts)
{
    if (m->config.logits_cap != 0)
        return rapt_op_cross_entropy(t, lm_logits(t, m, hidden), labels, options, parts);
    observe_scope outer = observe_enter(t, NULL, 0);
    return observe_leave(t, outer, rapt_op_output_loss(t, hidden, m->output.weight, m->output.bias, labels, options,
                                                       parts));
}

rapt_tensor *rapt_lm_loss(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_tokens labels,
                          const rapt_loss_options *options, rapt_loss_sums *parts)
{
    return lm_loss_of(t, m, rapt_lm_hidden(t, m, tokens), labels, options, parts);
}

rapt_tensor *rapt_lm_log_probs(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_tokens labels,
                               const int32_t *valid_lens)
{
    rapt_tensor *hidden = rapt_lm_hidden(t, m, tokens);
    if (m->config.logits_cap != 0)
        return rapt_op_log_probs(t, lm_logits(t, m, hidden), labels, valid_lens);
    observe_scope outer = observe_enter(t, NULL, 0);
    return observe_leave(t, outer, rapt_op_output_log_probs(t, hidden, m->output.weight, m->output.bias, labels, valid_lens));
}

void rapt_lm_set_dropouts(rapt_lm *m, rapt_dropouts dropouts)
{
    m->config.block.dropout = m->input.positions.dropout = dropouts.residual;
    for (size_t i = 0; i < m->layers; i++) {
        rapt_lm_block *b = &m->blocks[i];
        b->attention.dropout = dropouts.attention;
        b->norm1.dropout = b->norm2.dropout = dropouts.residual;
        b->ffn.dropout = dropouts.activation;
    }
}
