/* io/hub/hub_phi3.c: Phi-3, Phi-3.5 and Phi-4-mini of Hugging Face transformers: their keys, defaults and tensors. */
#include "io/hub/hub_decoder.h"

static const hub_decoder_class PHI3 = {.context = 4096, .eps = 1e-5,
                                       .rope = {10000, NULL, "partial_rotary_factor", 1, 4096, true}};

/* Keys of Phi-4-mini that would turn on something that neither its published module nor transformers has. */
static void read_phi4_mini(hub_config *c)
{
    static const char *const ones[] = {"full_attn_mod", "interpolate_factor"};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        if (hub_number(c, ones[i], 1) != 1)
            hub_refuse(c, ones[i], "rapt computes such models with 1");
    hub_flag_is(c, "lm_head_bias", false, false);
    hub_flag_is(c, "mlp_bias", false, false);
}

static void read_phi3(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &PHI3);
    hub_flag_is(c, "attention_bias", false, false);
    read_phi4_mini(c);
    if (k->rotary_scaling.kind != RAPT_ROTARY_PLAIN && k->rotary_scaling.kind != RAPT_ROTARY_LONG)
        hub_refuse(c, hub_rope_key(c), "of such models rapt knows the types default and longrope");
    hub_decoder_window_of_all(c, k, hub_value(c, "sliding_window") ? hub_size(c, "sliding_window", 0) : 0);
    hub_ignore(c, (const char *const[]){"original_max_position_embeddings", "resid_pdrop", "embd_pdrop", "auto_map", NULL});
}

static const place_row PHI3_ROWS[] = {
    HUB_DECODER_EMBEDDING,
    HUB_DECODER_INPUT_NORM(0),
    {"blocks.#.attention.q.weight", "layers.#.self_attn.qkv_proj.weight", PLACE_QUERY | PLACE_ROTARY},
    {"blocks.#.attention.k.weight", "layers.#.self_attn.qkv_proj.weight", PLACE_KEY | PLACE_ROTARY},
    {"blocks.#.attention.v.weight", "layers.#.self_attn.qkv_proj.weight", PLACE_VALUE},
    HUB_DECODER_O,
    HUB_DECODER_SECOND_NORM("blocks.#.norm2.weight", 0),
    {"blocks.#.ffn.gate.weight", "layers.#.mlp.gate_up_proj.weight", PLACE_FIRST_HALF},
    {"blocks.#.ffn.up.weight", "layers.#.mlp.gate_up_proj.weight", PLACE_SECOND_HALF},
    HUB_DECODER_DOWN,
    HUB_DECODER_END(0),
    {0}};
static const char *const PHI3_UNUSED[] = {HUB_DECODER_UNUSED, NULL};
static const place_table PHI3_PLACES = {PHI3_ROWS, PHI3_UNUSED, "model."};

const hub_family HUB_PHI3 = {"phi3", "Phi3ForCausalLM", &PHI3_PLACES, true, 32000, read_phi3};
