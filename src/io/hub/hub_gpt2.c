/* io/hub/hub_gpt2.c: GPT-2 of Hugging Face transformers: its keys, their defaults and its tensors; and the tensors of GPT, which
 * is only written. */
#include "io/hub/hub_decoder.h"

static void read_gpt2(hub_config *c, rapt_lm_config *k)
{
    *k = (rapt_lm_config){.vocab = hub_size(c, "vocab_size", 0), .layers = hub_size(c, "n_layer", 0),
                          .context = hub_size(c, "n_positions", 1024), .positions = RAPT_POSITIONS_LEARNED};
    k->block = (rapt_block_config){.d_model = hub_size(c, "n_embd", 0), .heads = hub_size(c, "n_head", 0), .bias = true,
                                   .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_LAYER,
                                   .norm_eps = hub_within(c, "layer_norm_epsilon", 1e-5, 1e-12, 0.1),
                                   .ffn_kind = hub_activation(c, "activation_function", "gelu_new")};
    k->block.ffn = hub_size(c, "n_inner", 4 * k->block.d_model);
    k->block.kv_heads = k->block.heads;
    k->tied = hub_flag(c, "tie_word_embeddings", true);
    hub_flag_is(c, "scale_attn_weights", true, true);
    hub_flag_is(c, "scale_attn_by_inverse_layer_idx", false, false);
    hub_flag_is(c, "add_cross_attention", false, false);
    hub_ignore(c, (const char *const[]){"n_ctx", "resid_pdrop", "embd_pdrop", "attn_pdrop", "reorder_and_upcast_attn",
                                        "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
                                        "summary_first_dropout", "n_special", "predict_special_tokens", "output_past", NULL});
}

#define GPT_ATTENTION                                                           \
    {"blocks.#.attention.q.@", "h.#.attn.c_attn.@", PLACE_QUERY | PLACE_TRANSPOSED}, \
    {"blocks.#.attention.k.@", "h.#.attn.c_attn.@", PLACE_KEY | PLACE_TRANSPOSED},   \
    {"blocks.#.attention.v.@", "h.#.attn.c_attn.@", PLACE_VALUE | PLACE_TRANSPOSED}, \
    {"blocks.#.attention.o.@", "h.#.attn.c_proj.@", PLACE_TRANSPOSED}
#define GPT_FFN                                                       \
    {"blocks.#.ffn.dense1.@", "h.#.mlp.c_fc.@", PLACE_TRANSPOSED},    \
    {"blocks.#.ffn.dense2.@", "h.#.mlp.c_proj.@", PLACE_TRANSPOSED}
#define GPT_NORM1 {"blocks.#.norm1.@", "h.#.ln_1.@"}
#define GPT_NORM2 {"blocks.#.norm2.@", "h.#.ln_2.@"}

/* "positions.table" is of models of rapt, whose positions may be computed. Norms stand where the model has them. */
static const place_row GPT2_ROWS[] = {
    {"embedding.weight", "wte.weight"}, {"positions.weight", "wpe.weight"}, {"positions.table", "wpe.weight"},
    GPT_NORM1, GPT_ATTENTION, GPT_NORM2, GPT_FFN, {"norm.@", "ln_f.@"},
    {"output.weight", "/lm_head.weight"}, {"embedding.weight", "/lm_head.weight"}, {0}};
static const place_row GPT_ROWS[] = {
    {"embedding.weight", "tokens_embed.weight"}, {"positions.weight", "positions_embed.weight"},
    {"positions.table", "positions_embed.weight"},
    GPT_ATTENTION, GPT_NORM1, GPT_FFN, GPT_NORM2,
    {"output.weight", "/lm_head.weight"}, {0}};
static const char *const GPT2_UNUSED[] = {"h.#.attn.bias", "h.#.attn.masked_bias", NULL};
static const place_table GPT2_PLACES = {GPT2_ROWS, GPT2_UNUSED, "transformer.", .biased = true};
static const place_table GPT_PLACES = {GPT_ROWS, NULL, "transformer.", .biased = true};

const hub_family HUB_GPT2 = {"gpt2", "GPT2LMHeadModel", &GPT2_PLACES, true, 50256, read_gpt2};
const hub_family HUB_GPT = {"openai-gpt", "OpenAIGPTLMHeadModel", &GPT_PLACES};
