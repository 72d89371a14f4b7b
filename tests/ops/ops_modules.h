/* tests/ops/ops_modules.h: modules of rapt/nn.h as rows, small and with every part at work. For the gradient check
 * and the bit tests. It checks nothing itself. */
#ifndef TESTS_OPS_MODULES_H
#define TESTS_OPS_MODULES_H

#include "ops_build.h"

#include "rapt/lm.h"
#include "rapt/observe.h"

static inline rapt_block_config block_config(const ops_case *c)
{
    bool later = ops_is(c, OPS_HEADS);
    return (rapt_block_config){.d_model = later ? ops_size(c, 8, 84) : ops_size(c, 6, 66),
                               .heads = later ? ops_size(c, 4, 6) : ops_size(c, 2, 3), .kv_heads = later ? 2 : 0,
                               .ffn = ops_size(c, 7, 131), .bias = true, .dropout = ops_is(c, OPS_DROPOUT) ? 0.2 : 0,
                               .norm_place = ops_is(c, OPS_PRE) ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST,
                               .norm_kind = later ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER,
                               .ffn_kind = later ? RAPT_FFN_SWIGLU : RAPT_FFN_RELU, .no_ffn_bias = later};
}

/* The table for attention of rows of up to `time`, where the block has rotary positions. */
static inline rapt_param *block_rotary(ops_case *c, size_t time)
{
    rapt_block_config b = block_config(c);
    return ops_is(c, OPS_HEADS) ? rapt_rotary_init(c->params, "rotary", time, b.d_model / b.heads, 0) : NULL;
}

/* The module of the row, and whether it still must be set up. */
static inline void *kept_module(ops_case *c, size_t size, bool *fresh)
{
    *fresh = c->slot[c->slots].data == NULL;
    return ops_keep(c, size, false);
}

static inline rapt_tensor *sequence(ops_case *c, rapt_tape *t, size_t time)
{
    return ops_input(c, t, SHAPE(2, time, block_config(c).d_model));
}

/* Makes a pass compute step by step. */
static inline void look_away(void *context, const rapt_observation *step)
{
    (void)context, (void)step;
}

static inline rapt_tensor *build_multi_head(ops_case *c, rapt_tape *t)
{
    bool fresh;
    size_t d = block_config(c).d_model, queries = ops_size(c, 3, 37), keys = ops_size(c, 4, 45);
    rapt_attention_options options = {.hidden = d, .heads = block_config(c).heads, .bias = true, .dropout = 0.2,
                                      .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention *m = kept_module(c, sizeof *m, &fresh);
    if (fresh)
        rapt_multi_head_attention_init(m, c->params, "attention.", &options);
    rapt_tensor *q = sequence(c, t, queries), *k = sequence(c, t, keys), *v = sequence(c, t, keys);
    rapt_mask mask = {.valid_lens = mask_lens(c, 2, keys)};
    rapt_observe(t, ops_is(c, OPS_4D) ? look_away : NULL, NULL);
    rapt_tensor *y = rapt_multi_head_attention_forward(t, m, q, k, v, &mask);
    rapt_observe(t, NULL, NULL);
    return y;
}

static inline rapt_tensor *build_positions(ops_case *c, rapt_tape *t)
{
    bool fresh;
    size_t time = ops_size(c, 4, 37);
    rapt_positions *m = kept_module(c, sizeof *m, &fresh);
    if (fresh)
        rapt_positions_init(m, c->params, "positions.", time + 2, block_config(c).d_model,
                            &(rapt_positions_options){.dropout = 0.2, .persistent = true});
    return rapt_positions_forward(t, m, sequence(c, t, time), 2);
}

static inline rapt_tensor *build_encoder_block(ops_case *c, rapt_tape *t)
{
    bool fresh;
    size_t time = ops_size(c, 4, 37);
    rapt_block_config config = block_config(c);
    rapt_encoder_block *m = kept_module(c, sizeof *m, &fresh);
    if (fresh) {
        rapt_encoder_block_init(m, c->params, "encoder.0.", &config);
        m->attention.rotary = block_rotary(c, time);
    }
    return rapt_encoder_block_forward(t, m, sequence(c, t, time), mask_lens(c, 2, time));
}

static inline rapt_tensor *build_decoder_block(ops_case *c, rapt_tape *t)
{
    bool fresh;
    size_t time = ops_size(c, 4, 37), source = ops_size(c, 5, 29);
    rapt_block_config config = block_config(c);
    rapt_decoder_block *m = kept_module(c, sizeof *m, &fresh);
    if (fresh) {
        rapt_decoder_block_init(m, c->params, "decoder.0.", &config);
        m->self_attention.rotary = block_rotary(c, time);
    }
    rapt_tensor *x = sequence(c, t, time);
    rapt_decoder_memory memory = {.output = sequence(c, t, source), .lens = mask_lens(c, 2, source)};
    return rapt_decoder_block_forward(t, m, x, &memory, NULL, 0);
}

/* The paper's, or one of Llama's blocks with rotary positions, learned ones where tied. */
static inline rapt_transformer_config transformer_config(const ops_case *c)
{
    size_t vocab = ops_size(c, 7, 53);
    bool tied = ops_is(c, OPS_SAME);
    return (rapt_transformer_config){.source_vocab = vocab, .target_vocab = vocab, .layers = 2, .max_positions = 40,
                                     .block = block_config(c), .scale_embedding = true, .tied = tied,
                                     .positions = !ops_is(c, OPS_HEADS) ? RAPT_POSITIONS_SINUSOIDAL
                                                  : tied ? RAPT_POSITIONS_LEARNED : RAPT_POSITIONS_ROTARY};
}

typedef struct both {
    rapt_encoder encoder;
    rapt_decoder decoder;
} both;

/* Encoder, decoder and smoothed, masked cross-entropy. */
static inline rapt_tensor *build_transformer(ops_case *c, rapt_tape *t)
{
    bool fresh;
    size_t source_time = ops_size(c, 4, 29), target_time = ops_size(c, 5, 37);
    rapt_transformer_config config = transformer_config(c);
    int32_t vocab = (int32_t)config.source_vocab;
    both *m = kept_module(c, sizeof *m, &fresh);
    if (fresh) {
        rapt_encoder_init(&m->encoder, c->params, &config);
        rapt_decoder_init(&m->decoder, c->params, &config, config.tied ? m->encoder.input.embedding.weight : NULL);
    }
    rapt_tokens source = {ops_ids(c, 2 * source_time, 0, vocab), 2, source_time};
    rapt_tokens target = {ops_ids(c, 2 * target_time, 0, vocab), 2, target_time};
    rapt_tokens labels = {ops_ids(c, 2 * target_time, 0, vocab), 2, target_time};
    const int32_t *lens = mask_lens(c, 2, source_time), *target_lens = mask_lens(c, 2, target_time);
    if (ops_is(c, OPS_RAGGED)) {
        source.lens = lens;
        target.lens = target_lens;
    }
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, source, lens);
    rapt_tensor *logits = rapt_decoder_forward(t, &m->decoder, target, memory, lens);
    rapt_loss_options o = {.label_smoothing = 0.1, .valid_lens = target_lens};
    return rapt_op_cross_entropy(t, logits, labels, &o, NULL);
}

/* The sales textbook's (post-norm), GPT-2's (tied) or Llama's (grouped heads), of 2 layers. */
static inline rapt_lm_config lm_config(const ops_case *c)
{
    bool llama = ops_is(c, OPS_HEADS), tied = ops_is(c, OPS_SAME);
    return (rapt_lm_config){.vocab = ops_size(c, 7, 53), .layers = 2, .context = 40,
                            .positions = llama ? RAPT_POSITIONS_ROTARY : tied ? RAPT_POSITIONS_LEARNED
                                         : RAPT_POSITIONS_SINUSOIDAL,
                            .tied = tied, .output_bias = !llama && !tied,
                            .block = {.d_model = ops_size(c, 8, 84), .heads = ops_size(c, 4, 6), .kv_heads = llama ? 2 : 0,
                                      .ffn = ops_size(c, 7, 131),
                                      .norm_place = ops_is(c, OPS_PRE) ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST,
                                      .norm_kind = llama ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER,
                                      .ffn_kind = llama ? RAPT_FFN_SWIGLU : tied ? RAPT_FFN_GELU_TANH : RAPT_FFN_RELU,
                                      .bias = !llama, .no_ffn_bias = llama, .no_norm_bias = llama,
                                      .shared_norm = !llama && !tied, .dropout = ops_is(c, OPS_DROPOUT) ? 0.2 : 0,
                                      .init = RAPT_WEIGHT_INIT_PYTORCH}};
}

static inline rapt_tensor *build_lm(ops_case *c, rapt_tape *t)
{
    bool fresh;
    rapt_lm_config config = lm_config(c);
    size_t time = ops_size(c, 5, 37);
    int32_t vocab = (int32_t)config.vocab;
    rapt_lm *m = kept_module(c, sizeof *m, &fresh);
    if (fresh)
        rapt_lm_init(m, c->params, &config);
    rapt_tokens tokens = {ops_ids(c, 2 * time, 0, vocab), 2, time}, labels = {ops_ids(c, 2 * time, 0, vocab), 2, time};
    rapt_loss_options o = {.label_smoothing = 0.1};
    return rapt_lm_loss(t, m, tokens, labels, &o, NULL);
}

#define MODULES_ROW(name_, build_, flags_) {"module", #name_, build_, flags_},
static const ops_row module_rows[] = {MODULES(MODULES_ROW)};
#define MODULE_ROWS (sizeof module_rows / sizeof *module_rows)

#endif
