/* nn/decoder.c: the decoder block and the decoder; reads like the book's DecoderBlock and TransformerDecoder, with
 * three corrections: the mask is causal whenever several positions are computed, a cached token keeps its own
 * position, and the KV cache holds projected keys and values. One block serves whole rows, decoding steps, and
 * steps of several batches (decoder_parts.c). */
#include "nn/block.h"
#include "nn/decoder_core.h"
#include "nn/decoder_state.h"
#include "nn/embedding_std.h"
#include "nn/names.h"
#include "tape/observe_op.h"

void rapt_decoder_block_init(rapt_decoder_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c)
{
    block_init_attention(&m->self_attention, set, name_join(prefix, "self_attention.").text, c);
    block_init_norm(&m->norm1, NULL, set, name_join(prefix, "norm1.").text, c);
    block_init_attention(&m->cross_attention, set, name_join(prefix, "cross_attention.").text, c);
    block_init_norm(&m->norm2, &m->norm1, set, name_join(prefix, "norm2.").text, c);
    block_init_ffn(&m->ffn, set, name_join(prefix, "ffn.").text, c);
    block_init_norm(&m->norm3, &m->norm1, set, name_join(prefix, "norm3.").text, c);
}

static rapt_tensor *decoder_attend_to_memory(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x,
                                             const rapt_decoder_memory *memory)
{
    if (!memory->kv)
        return rapt_multi_head_attention_forward(t, m, x, memory->output, memory->output,
                                                 &(rapt_mask){.valid_lens = memory->lens});
    if (!memory->shared)
        return rapt_cached_cross_attention(t, m, x, memory->kv, memory->lens);
    /* The rows of a sentence share its keys and values: they become the queries of one example. */
    rapt_tensor *queries = rapt_op_reshape(t, x, 2, (size_t[]){x->shape[0], x->shape[2]}, memory->shared);
    return rapt_op_reshape(t, rapt_cached_cross_attention(t, m, queries, memory->kv, memory->lens), 3, x->shape, NULL);
}

static rapt_tensor *decoder_attend_to_past(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x,
                                           const decoder_reads *r)
{
    return r->parts ? attention_parts_causal(t, m, x, r->parts, r->count, r->positions)
                    : rapt_causal_self_attention(t, m, x, r->kv, r->past);
}

static rapt_tensor *decoder_run_block(rapt_tape *t, const rapt_decoder_block *m, rapt_tensor *x, const decoder_reads *r)
{
    rapt_tensor *h = rapt_add_norm_before(t, &m->norm1, x);
    rapt_tensor *y = decoder_attend_to_past(t, &m->self_attention, h, r);
    x = rapt_add_norm_after(t, &m->norm1, x, y);
    h = rapt_add_norm_before(t, &m->norm2, x);
    y = r->parts ? attention_parts_cross(t, &m->cross_attention, h, r->parts, r->count)
                 : decoder_attend_to_memory(t, &m->cross_attention, h, &r->memory);
    x = rapt_add_norm_after(t, &m->norm2, x, y);
    h = rapt_add_norm_before(t, &m->norm3, x);
    return rapt_add_norm_after(t, &m->norm3, x, rapt_ffn_forward(t, &m->ffn, h));
}

rapt_tensor *rapt_decoder_block_forward(rapt_tape *t, const rapt_decoder_block *m, rapt_tensor *x,
                                        const rapt_decoder_memory *memory, rapt_kv *kv, size_t past)
{
    return decoder_run_block(t, m, x, &(decoder_reads){.memory = *memory, .kv = kv, .past = past});
}

/* If the output projection is the embedding, it has no matrix of its own, and usually no bias (Press & Wolf 2017). */
static void decoder_init_output(rapt_decoder *m, rapt_params *set, const rapt_transformer_config *c)
{
    const bool tied = c->tied || c->tied_output;
    const rapt_linear_options options = {.no_bias = c->output_bias == RAPT_OUTPUT_BIAS_NEVER, .init = c->block.init,
                                         .std = c->block.std};
    if (!tied)
        rapt_linear_init(&m->output, set, "decoder.output.", c->block.d_model, c->target_vocab, &options);
    else
        m->output = (rapt_linear){.weight = m->input.embedding.weight};
    if (tied && c->output_bias == RAPT_OUTPUT_BIAS_ALWAYS)
        m->output.bias = rapt_params_add(set, "decoder.output.bias", 1, &c->target_vocab, (rapt_init){RAPT_INIT_ZEROS, 0});
}

static void decoder_init_blocks(rapt_decoder *m, rapt_params *set, const rapt_transformer_config *c)
{
    const rapt_block_config own = block_of_decoder(c);
    const size_t layers = c->decoder_layers ? c->decoder_layers : c->layers;
    const rapt_block_config block = block_of_stack(&own, 3 * layers);
    if (c->positions == RAPT_POSITIONS_ROTARY)
        m->rotary = block_init_rotary(set, "decoder.rotary.table", c->max_positions, &block, c->rotary_base, NULL);
    const rapt_relative_options relative = {c->relative.buckets, c->relative.farthest, false};
    if (c->positions == RAPT_POSITIONS_RELATIVE && !c->relative_in_blocks)
        rapt_relative_bias_init(&m->relative, set, "decoder.relative.", block.heads, &relative);
    if (c->positions == RAPT_POSITIONS_ALIBI)
        rapt_alibi_init(&m->relative, set, block.heads);
    m->blocks = rapt_params_alloc(set, layers, sizeof *m->blocks);
    m->layers = m->blocks ? layers : 0;
    for (size_t i = 0; i < m->layers; i++) {
        const name prefix = name_index("decoder.", i);
        rapt_decoder_block_init(&m->blocks[i], set, prefix.text, &block);
        m->blocks[i].self_attention.rotary = m->rotary;
        m->blocks[i].self_attention.scores.bias = m->relative;
        if (c->relative_in_blocks)
            rapt_relative_bias_init(&m->blocks[i].self_attention.scores.bias, set, name_join(prefix.text, "relative.").text,
                                    block.heads, &relative);
    }
}

void rapt_decoder_init(rapt_decoder *m, rapt_params *set, const rapt_transformer_config *c, rapt_param *shared)
{
    const rapt_preprocessor_options input = embedding_std_input_of_transformer(c, shared);
    const rapt_norm_options norm = block_norm_options(&c->block);
    *m = (rapt_decoder){.has_norm = block_ends_with_norm(&c->block), .output_scale = c->output_scale};
    rapt_preprocessor_init(&m->input, set, "decoder.", c->target_vocab, c->block.d_model, c->max_positions, &input);
    decoder_init_blocks(m, set, c);
    if (m->has_norm)
        rapt_layer_norm_init(&m->norm, set, "decoder.norm.", 1, &c->block.d_model, &norm);
    decoder_init_output(m, set, c);
}

static rapt_tensor *decoder_run_whole(rapt_tape *t, const void *m, const rapt_block_input *in)
{
    return decoder_run_block(t, m, in->x, &(decoder_reads){.memory = {.output = in->memory, .lens = in->lens}});
}

/* A block in a decoding step. */
typedef struct decoder_step_block {
    const rapt_decoder_block *block;
    decoder_reads reads;
} decoder_step_block;

static rapt_tensor *decoder_run_step(rapt_tape *t, const void *m, const rapt_block_input *in)
{
    const decoder_step_block *b = m;
    return decoder_run_block(t, b->block, in->x, &b->reads);
}

rapt_tensor *decoder_block_step(rapt_tape *t, const rapt_decoder_block *m, rapt_tensor *x, decoder_reads reads)
{
    decoder_step_block *b = tape_alloc(t, 1, sizeof *b);
    if (!b)
        return x;
    *b = (decoder_step_block){m, reads};
    return tape_run_once(t, decoder_run_step, b, (rapt_block_input){.x = x});
}

rapt_tensor *decoder_last_norm(rapt_tape *t, const rapt_decoder *m, rapt_tensor *x)
{
    x = m->has_norm ? rapt_layer_norm_forward(t, &m->norm, x) : x;
    if (m->output_scale == 0)
        return x;
    observe_scope outer = observe_enter(t, "decoder", 0);
    observe_from(t, (observe_source){.inputs = {x}, .constant = m->output_scale});
    x = rapt_op_scale(t, x, m->output_scale);
    return observe_leave(t, outer, observe_tensor(t, "norm.scaled", "norm.output * output_scale", OBSERVE_ROWS, x));
}

rapt_tensor *rapt_decoder_hidden(rapt_tape *t, const rapt_decoder *m, rapt_tokens tokens, rapt_tensor *memory,
                                 const int32_t *memory_lens)
{
    rapt_tensor *x = rapt_preprocess(t, &m->input, tokens, 0);
    for (size_t i = 0; i < m->layers; i++)
        x = rapt_run_block(t, decoder_run_whole, &m->blocks[i], (rapt_block_input){x, memory, memory_lens});
    return decoder_last_norm(t, m, x);
}

rapt_tensor *decoder_logits(rapt_tape *t, const rapt_decoder *m, rapt_tensor *hidden)
{
    observe_scope outer = observe_enter(t, "decoder", 0);
    return observe_leave(t, outer, rapt_linear_forward(t, &m->output, hidden));
}

rapt_tensor *rapt_decoder_forward(rapt_tape *t, const rapt_decoder *m, rapt_tokens tokens, rapt_tensor *memory,
                                  const int32_t *memory_lens)
{
    return decoder_logits(t, m, rapt_decoder_hidden(t, m, tokens, memory, memory_lens));
}

rapt_tensor *rapt_decoder_step(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *s, rapt_tokens tokens)
{
    rapt_tensor *bad = decoder_state_prepare(t, m, s, tokens);
    if (bad)
        return bad;
    rapt_tensor *x = rapt_preprocess(t, &m->input, tokens, rapt_decoder_state_past(s));
    for (size_t i = 0; i < m->layers; i++)
        x = decoder_block_step(t, &m->blocks[i], x, (decoder_reads){.memory = decoder_state_memory(s, i),
                                                                    .kv = rapt_kv_cache_layer(s->self, i),
                                                                    .past = rapt_decoder_state_past(s)});
    rapt_tensor *logits = decoder_logits(t, m, decoder_last_norm(t, m, x));
    if (!rapt_tape_error(t)->code)
        rapt_kv_cache_advance(s->self, tokens.time);
    return logits;
}
