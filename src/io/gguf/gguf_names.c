/* io/gguf/gguf_names.c: the tables of GGUF files, which are read and written. The names come from
 * gguf-py/gguf/constants.py in llama.cpp; its conversion folder shows which rows were moved. */
#include "io/gguf/gguf_folder.h"

/* rope_freqs and rope_factors are part of the configuration. */
static const char *const UNUSED[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                                     "dec.blk.0.cross_attn_rel_b.weight", NULL};

/* In the order in which export_gguf.c writes a model. */
#define FIRST_ROW {"embedding.weight", "token_embd.weight"}
#define NORM1_ROW {"blocks.#.norm1.@", "blk.#.attn_norm.@"}
#define NORM2_ROW {"blocks.#.norm2.@", "blk.#.ffn_norm.@"}
#define APART_ROWS(rotation) \
    {"blocks.#.attention.q.@", "blk.#.attn_q.@", rotation}, \
    {"blocks.#.attention.k.@", "blk.#.attn_k.@", rotation}, \
    {"blocks.#.attention.v.@", "blk.#.attn_v.@"}
/* One matrix: the rows of queries come first, then keys and values. */
#define JOINT_ROWS \
    {"blocks.#.attention.q.@", "blk.#.attn_qkv.@", PLACE_QUERY | PLACE_ROTARY}, \
    {"blocks.#.attention.k.@", "blk.#.attn_qkv.@", PLACE_KEY | PLACE_ROTARY}, \
    {"blocks.#.attention.v.@", "blk.#.attn_qkv.@", PLACE_VALUE}
#define O_ROW {"blocks.#.attention.o.@", "blk.#.attn_output.@"}
#define QK_NORM_ROWS \
    {"blocks.#.attention.q_norm.weight", "blk.#.attn_q_norm.weight"}, \
    {"blocks.#.attention.k_norm.weight", "blk.#.attn_k_norm.weight"}
#define SECOND_NORM_ROWS(first, second) \
    {first, "blk.#.post_attention_norm.weight"}, \
    {second, "blk.#.post_ffw_norm.weight"}
#define GATED_ROWS \
    {"blocks.#.ffn.gate.@", "blk.#.ffn_gate.@"}, \
    {"blocks.#.ffn.up.@", "blk.#.ffn_up.@"}, \
    {"blocks.#.ffn.down.@", "blk.#.ffn_down.@"}
#define LAST_ROWS \
    {"norm.@", "output_norm.@"}, \
    {"output.weight", "output.weight"}
/* llama.cpp has no such model without an output matrix. */
#define OUTPUT_AGAIN {"embedding.weight", "output.weight", PLACE_TWICE}

static const place_row LLAMA[] = {
    FIRST_ROW, NORM1_ROW, NORM2_ROW, APART_ROWS(PLACE_INTERLEAVED), O_ROW, GATED_ROWS, LAST_ROWS, {0}};
/* Qwen and Gemma; 1 is added to the norms of Gemma already. */
static const place_row PLAIN[] = {
    FIRST_ROW, NORM1_ROW, NORM2_ROW, SECOND_NORM_ROWS("blocks.#.norm1.output.weight", "blocks.#.norm2.output.weight"),
    APART_ROWS(0), O_ROW, QK_NORM_ROWS, GATED_ROWS, LAST_ROWS, {0}};
/* Norms of results only: it has no attn_norm, and no ffn_norm. */
static const place_row OLMO2[] = {
    FIRST_ROW, SECOND_NORM_ROWS("blocks.#.norm1.weight", "blocks.#.norm2.weight"), APART_ROWS(0), O_ROW, QK_NORM_ROWS,
    GATED_ROWS, LAST_ROWS, OUTPUT_AGAIN, {0}};
static const place_row PHI3[] = {
    FIRST_ROW, NORM1_ROW, NORM2_ROW, JOINT_ROWS, O_ROW,
    {"blocks.#.ffn.gate.weight", "blk.#.ffn_up.weight", PLACE_FIRST_HALF},
    {"blocks.#.ffn.up.weight", "blk.#.ffn_up.weight", PLACE_SECOND_HALF},
    {"blocks.#.ffn.down.weight", "blk.#.ffn_down.weight"},
    LAST_ROWS, {0}};
#define DENSE_ROWS \
    {"blocks.#.ffn.dense1.@", "blk.#.ffn_up.@"}, \
    {"blocks.#.ffn.dense2.@", "blk.#.ffn_down.@"}
static const place_row STARCODER2[] = {
    FIRST_ROW, NORM1_ROW, APART_ROWS(0), O_ROW, NORM2_ROW, DENSE_ROWS, LAST_ROWS, {0}};
/* GPT-2 and GPT-NeoX. Weights are [out, in], whereas Conv1D has [in, out]. */
#define GPT_ROWS NORM1_ROW, JOINT_ROWS, O_ROW, NORM2_ROW, DENSE_ROWS, LAST_ROWS
static const place_row GPT2[] = {
    FIRST_ROW, {"positions.weight", "position_embd.weight"}, {"positions.table", "position_embd.weight"}, GPT_ROWS, {0}};
static const place_row NEOX[] = {FIRST_ROW, GPT_ROWS, OUTPUT_AGAIN, {0}};

/* In UMT5 each layer has biases of positions, in the others only the first. */
static const place_row T5[] = {
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

const place_table GGUF_LLAMA_PLACES = {LLAMA, UNUSED}, GGUF_PLAIN_PLACES = {PLAIN, UNUSED}, GGUF_OLMO2_PLACES = {OLMO2, UNUSED},
             GGUF_PHI3_PLACES = {PHI3, UNUSED}, GGUF_GPT2_PLACES = {GPT2, UNUSED, .biased = true},
             GGUF_NEOX_PLACES = {NEOX, UNUSED, .biased = true},
             GGUF_STARCODER2_PLACES = {STARCODER2, UNUSED, .biased = true}, GGUF_T5_PLACES = {T5, UNUSED};
