/* io/export/export_lm.c: members of config.json for language models, from the configurations of the classes. */
#include "io/export/export_class.h"

#include <math.h>

/* ---- Llama; Granite, which multiplies embeddings -------------------------------------------------------------- */

/* The last member is for rapt, which trains with frequencies in double; transformers ignores it and computes them in fp32. */
static json_t *describe_llama(const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:s, s:f, s:b, s:b, s:f, s:b}", "hidden_size",
                     (json_int_t)b->d_model, "intermediate_size", (json_int_t)b->ffn, "num_hidden_layers",
                     (json_int_t)c->layers, "num_attention_heads", (json_int_t)b->heads, "num_key_value_heads",
                     (json_int_t)b->kv_heads, "head_dim", (json_int_t)(b->d_model / b->heads), "max_position_embeddings",
                     (json_int_t)c->context, "rms_norm_eps", b->norm_eps, "hidden_act", "silu", "rope_theta", c->rotary_base,
                     "attention_bias", (int)b->bias, "mlp_bias", (int)!b->no_ffn_bias, "attention_dropout", 0.0,
                     "_rapt_rotary_in_double", (int)!c->rotary_scaling.fp32);
}

static json_t *describe_granite(const rapt_lm_config *c)
{
    json_t *root = describe_llama(c);
    const double head = (double)(c->block.d_model / c->block.heads);
    json_t *factors = json_pack("{s:f, s:f, s:f, s:f}", "embedding_multiplier", sqrt((double)c->block.d_model),
                                "attention_multiplier", 1 / sqrt(head), "residual_multiplier", 1.0, "logits_scaling", 1.0);
    const bool ok = root && factors && json_object_update(root, factors) == 0;
    json_decref(factors);
    if (ok)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- GPT-2, and GPT, whose norms come after the sublayers ------------------------------------------------------ */

/* "n_ctx" is for programs that read folders of older versions. */
static json_t *describe_gpt2(const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:f, s:f, s:f, s:f}", "n_embd", (json_int_t)b->d_model, "n_layer",
                     (json_int_t)c->layers, "n_head", (json_int_t)b->heads, "n_inner", (json_int_t)b->ffn, "n_positions",
                     (json_int_t)c->context, "n_ctx", (json_int_t)c->context, "activation_function",
                     export_activation(b->ffn_kind), "layer_norm_epsilon", b->norm_eps, "resid_pdrop", 0.0, "embd_pdrop", 0.0,
                     "attn_pdrop", 0.0);
}

/* Its "gelu" is the one with tanh. */
static json_t *describe_gpt(const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    return json_pack("{s:I, s:I, s:I, s:I, s:s, s:f, s:f, s:f, s:f}", "n_embd", (json_int_t)b->d_model, "n_layer",
                     (json_int_t)c->layers, "n_head", (json_int_t)b->heads, "n_positions", (json_int_t)c->context, "afn",
                     b->ffn_kind == RAPT_FFN_GELU_TANH ? "gelu" : export_activation(b->ffn_kind), "layer_norm_epsilon",
                     b->norm_eps, "resid_pdrop", 0.0, "embd_pdrop", 0.0, "attn_pdrop", 0.0);
}

/* ---- GPT-NeoX, without its parallel residual connections ------------------------------------------------------- */

static json_t *describe_neox(const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:s, s:f, s:f, s:b, s:b, s:f, s:f, s:b}", "hidden_size",
                     (json_int_t)b->d_model, "intermediate_size", (json_int_t)b->ffn, "num_hidden_layers",
                     (json_int_t)c->layers, "num_attention_heads", (json_int_t)b->heads, "max_position_embeddings",
                     (json_int_t)c->context, "layer_norm_eps", b->norm_eps,
                     "hidden_act", export_activation(b->ffn_kind), "rotary_pct", 1.0, "rotary_emb_base", c->rotary_base,
                     "use_parallel_residual", 0, "attention_bias", 1, "attention_dropout", 0.0, "hidden_dropout", 0.0,
                     "_rapt_rotary_in_double", (int)!c->rotary_scaling.fp32);
}

/* ---- which ---------------------------------------------------------------------------------------------------- */

static const export_lm_class LLAMA = {&HUB_LLAMA, describe_llama}, GRANITE = {&HUB_GRANITE, describe_granite},
                             GPT2 = {&HUB_GPT2, describe_gpt2}, GPT = {&HUB_GPT, describe_gpt},
                             NEOX = {&HUB_NEOX, describe_neox};

/* The class whose norms and positions the model has. */
static const export_lm_class *nearest_class(const rapt_lm_config *c)
{
    if (c->positions == RAPT_POSITIONS_ROTARY)
        return c->block.norm_kind != RAPT_NORM_KIND_RMS ? &NEOX : c->scale_embedding ? &GRANITE : &LLAMA;
    return c->block.norm_place == RAPT_NORM_PLACE_POST ? &GPT : &GPT2;
}

/* A setting of the model that a class has not; NULL: it has all. */
static const char *missing_setting(const export_lm_class *of, const rapt_lm_config *c)
{
    const rapt_block_config *b = &c->block;
    const bool llama = of == &LLAMA || of == &GRANITE;
    if (c->output_bias)
        return "\"output_bias\": true";
    if (b->norm_place != (of == &GPT ? RAPT_NORM_PLACE_POST : RAPT_NORM_PLACE_PRE))
        return "\"norm_place\": \"post\"";
    if (b->norm_kind != (llama ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER))
        return "\"norm_kind\": \"rms\"";
    if (llama != (b->ffn_kind == RAPT_FFN_SWIGLU))
        return llama ? "a \"ffn_kind\" other than \"swiglu\"" : "\"ffn_kind\": \"swiglu\"";
    if (!llama && b->kv_heads != b->heads)
        return "fewer \"kv_heads\" than \"heads\"";
    if (!llama && c->scale_embedding)
        return "\"scale_embedding\": true";
    if (of == &GPT && b->ffn_kind == RAPT_FFN_GELU)
        return "\"ffn_kind\": \"gelu\"";
    if (of == &GPT && b->ffn != 4 * b->d_model)
        return "a \"ffn\" that is not 4 \"d_model\"";
    return NULL;
}

const export_lm_class *export_lm_class_of(const rapt_lm_config *c, const char *path, rapt_error *err)
{
    const export_lm_class *of = nearest_class(c);
    const char *setting = missing_setting(of, c);
    if (!setting)
        return of;
    rapt_fail(err, RAPT_ERR_VALUE, "%s: the model has %s, which %s, the nearest class of transformers, has not", path, setting,
              of->family->architecture);
    return NULL;
}
