/* io/gguf/gguf_names.c: the names of tensors in GGUF files, and the parameters in them. The names come from
 * gguf-py/gguf/constants.py in llama.cpp; its conversion folder shows which rows were moved. */
#include "io/gguf/gguf_folder.h"

/* rope_freqs and rope_factors are part of the configuration. */
static const char *const UNUSED[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                                     "dec.blk.0.cross_attn_rel_b.weight", NULL};

/* Rows of all tensors except norms and attention. */
#define OUTER_ROWS \
    {"embedding.weight", "token_embd.weight"}, \
    {"blocks.#.attention.o.@", "blk.#.attn_output.@"}, \
    {"norm.@", "output_norm.@"}, \
    {"output.weight", "output.weight"}
#define DECODER_ROWS \
    {"blocks.#.norm1.@", "blk.#.attn_norm.@"}, OUTER_ROWS
#define APART_ROWS(fold) \
    {"blocks.#.attention.q.@", "blk.#.attn_q.@", HUB_WHOLE, fold}, \
    {"blocks.#.attention.k.@", "blk.#.attn_k.@", HUB_WHOLE, fold}, \
    {"blocks.#.attention.v.@", "blk.#.attn_v.@"}
/* One matrix: the rows of queries come first, then keys and values. */
#define JOINT_ROWS \
    {"blocks.#.attention.q.@", "blk.#.attn_qkv.@", HUB_QUERY, HUB_ROTARY}, \
    {"blocks.#.attention.k.@", "blk.#.attn_qkv.@", HUB_KEY, HUB_ROTARY}, \
    {"blocks.#.attention.v.@", "blk.#.attn_qkv.@", HUB_VALUE}
#define GATED_ROWS \
    {"blocks.#.ffn.gate.@", "blk.#.ffn_gate.@"}, \
    {"blocks.#.ffn.up.@", "blk.#.ffn_up.@"}, \
    {"blocks.#.ffn.down.@", "blk.#.ffn_down.@"}
#define DENSE_ROWS \
    {"blocks.#.ffn.dense1.@", "blk.#.ffn_up.@"}, \
    {"blocks.#.ffn.dense2.@", "blk.#.ffn_down.@"}
#define HEAD_NORM_ROWS \
    {"blocks.#.attention.q_norm.weight", "blk.#.attn_q_norm.weight"}, \
    {"blocks.#.attention.k_norm.weight", "blk.#.attn_k_norm.weight"}

static const hub_name LLAMA[] = {
    DECODER_ROWS, APART_ROWS(HUB_INTERLEAVED), GATED_ROWS,
    {"blocks.#.norm2.weight", "blk.#.ffn_norm.weight"},
    {0}};
static const hub_name PLAIN[] = {
    DECODER_ROWS, APART_ROWS(HUB_PLAIN), GATED_ROWS, HEAD_NORM_ROWS,
    {"blocks.#.norm2.weight", "blk.#.ffn_norm.weight"},
    {0}};
/* Weights are [out, in], whereas Conv1D has [in, out]. */
static const hub_name GPT2[] = {
    DECODER_ROWS, JOINT_ROWS, DENSE_ROWS,
    {"positions.weight", "position_embd.weight"},
    {"blocks.#.norm2.@", "blk.#.ffn_norm.@"},
    {0}};
static const hub_name NEOX[] = {
    DECODER_ROWS, JOINT_ROWS, DENSE_ROWS,
    {"blocks.#.norm2.@", "blk.#.ffn_norm.@"},
    {0}};
/* 1 is added to the norms already. */
static const hub_name GEMMA2[] = {
    DECODER_ROWS, APART_ROWS(HUB_PLAIN), GATED_ROWS, HEAD_NORM_ROWS,
    {"blocks.#.norm1.output.weight", "blk.#.post_attention_norm.weight"},
    {"blocks.#.norm2.weight", "blk.#.ffn_norm.weight"},
    {"blocks.#.norm2.output.weight", "blk.#.post_ffw_norm.weight"},
    {0}};
/* Norms of results only: it has no attn_norm, and no ffn_norm. */
static const hub_name OLMO2[] = {
    {"blocks.#.norm1.weight", "blk.#.post_attention_norm.weight"},
    {"blocks.#.norm2.weight", "blk.#.post_ffw_norm.weight"},
    OUTER_ROWS, APART_ROWS(HUB_PLAIN), GATED_ROWS, HEAD_NORM_ROWS,
    {"embedding.weight", "output.weight"},
    {0}};
static const hub_name PHI3[] = {
    DECODER_ROWS, JOINT_ROWS,
    {"blocks.#.ffn.gate.weight", "blk.#.ffn_up.weight", HUB_FIRST_HALF},
    {"blocks.#.ffn.up.weight", "blk.#.ffn_up.weight", HUB_SECOND_HALF},
    {"blocks.#.ffn.down.weight", "blk.#.ffn_down.weight"},
    {"blocks.#.norm2.weight", "blk.#.ffn_norm.weight"},
    {0}};

/* In UMT5 each layer has biases of positions, in the others only the first. */
static const hub_name T5[] = {
    {"decoder.output.weight", "output.weight"},
    {"encoder.embedding.weight", "token_embd.weight"},
    {"encoder.embedding.weight", "output.weight"},
    {"encoder.relative.weight", "enc.blk.0.attn_rel_b.weight"},
    {"encoder.#.relative.weight", "enc.blk.#.attn_rel_b.weight"},
    {"encoder.#.attention.q.weight", "enc.blk.#.attn_q.weight"},
    {"encoder.#.attention.k.weight", "enc.blk.#.attn_k.weight"},
    {"encoder.#.attention.v.weight", "enc.blk.#.attn_v.weight"},
    {"encoder.#.attention.o.weight", "enc.blk.#.attn_o.weight"},
    {"encoder.#.norm1.weight", "enc.blk.#.attn_norm.weight"},
    {"encoder.#.ffn.dense1.weight", "enc.blk.#.ffn_up.weight"},
    {"encoder.#.ffn.dense2.weight", "enc.blk.#.ffn_down.weight"},
    {"encoder.#.ffn.gate.weight", "enc.blk.#.ffn_gate.weight"},
    {"encoder.#.ffn.up.weight", "enc.blk.#.ffn_up.weight"},
    {"encoder.#.ffn.down.weight", "enc.blk.#.ffn_down.weight"},
    {"encoder.#.norm2.weight", "enc.blk.#.ffn_norm.weight"},
    {"encoder.norm.weight", "enc.output_norm.weight"},
    {"decoder.relative.weight", "dec.blk.0.attn_rel_b.weight"},
    {"decoder.#.relative.weight", "dec.blk.#.attn_rel_b.weight"},
    {"decoder.#.self_attention.q.weight", "dec.blk.#.attn_q.weight"},
    {"decoder.#.self_attention.k.weight", "dec.blk.#.attn_k.weight"},
    {"decoder.#.self_attention.v.weight", "dec.blk.#.attn_v.weight"},
    {"decoder.#.self_attention.o.weight", "dec.blk.#.attn_o.weight"},
    {"decoder.#.norm1.weight", "dec.blk.#.attn_norm.weight"},
    {"decoder.#.cross_attention.q.weight", "dec.blk.#.cross_attn_q.weight"},
    {"decoder.#.cross_attention.k.weight", "dec.blk.#.cross_attn_k.weight"},
    {"decoder.#.cross_attention.v.weight", "dec.blk.#.cross_attn_v.weight"},
    {"decoder.#.cross_attention.o.weight", "dec.blk.#.cross_attn_o.weight"},
    {"decoder.#.norm2.weight", "dec.blk.#.cross_attn_norm.weight"},
    {"decoder.#.ffn.dense1.weight", "dec.blk.#.ffn_up.weight"},
    {"decoder.#.ffn.dense2.weight", "dec.blk.#.ffn_down.weight"},
    {"decoder.#.ffn.gate.weight", "dec.blk.#.ffn_gate.weight"},
    {"decoder.#.ffn.up.weight", "dec.blk.#.ffn_up.weight"},
    {"decoder.#.ffn.down.weight", "dec.blk.#.ffn_down.weight"},
    {"decoder.#.norm3.weight", "dec.blk.#.ffn_norm.weight"},
    {"decoder.norm.weight", "dec.output_norm.weight"},
    {0}};

const hub_layout GGUF_LLAMA_NAMES = {LLAMA, UNUSED};
const hub_layout GGUF_PLAIN_NAMES = {PLAIN, UNUSED};
const hub_layout GGUF_GPT2_NAMES = {GPT2, UNUSED};
const hub_layout GGUF_NEOX_NAMES = {NEOX, UNUSED};
const hub_layout GGUF_GEMMA2_NAMES = {GEMMA2, UNUSED};
const hub_layout GGUF_PHI3_NAMES = {PHI3, UNUSED};
const hub_layout GGUF_OLMO2_NAMES = {OLMO2, UNUSED};
const hub_layout GGUF_T5_NAMES = {T5, UNUSED};
