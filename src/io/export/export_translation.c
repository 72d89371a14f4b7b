/* io/export/export_translation.c: members of config.json for translators. In the classes, positions have all sines before all
 * cosines, whereas rapt's alternate: all features of the residual stream are reordered accordingly, and nothing else changes. */
#include "io/export/export_class.h"

#include <stdlib.h>
#include <string.h>

/* ---- tensors -------------------------------------------------------------------------------------------------- */

size_t *export_translation_order(size_t features)
{
    const size_t sines = (features + 1) / 2;
    size_t *order = malloc((features + 1) * sizeof *order);
    for (size_t i = 0; order && i < features; i++)
        order[i] = i < sines ? 2 * i : 2 * (i - sines) + 1;
    return order;
}

/* Whether the rows of a parameter are features of the residual stream. Its columns are, if it has any, otherwise. */
static bool gives_residual(const char *name)
{
    static const char *const layers[] = {".o.", ".dense2.", "norm"};
    bool any = false;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        any = any || strstr(name, layers[i]);
    return any;
}

void export_translation_add(place_tensors *set, const size_t *order)
{
    place_tensors_add(set);
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->list[i].count; k++) {
            const rapt_tensor *of = &set->list[i].parts[k]->value;
            if (gives_residual(of->name))
                set->list[i].slices[k].row_order = order;
            else if (of->ndim == 2)
                set->list[i].slices[k].column_order = order;
        }
}

/* ---- which ---------------------------------------------------------------------------------------------------- */

/* A setting of the model that a class has not; NULL: it has all. */
static const char *missing_in_translator(const hub_family *of, const rapt_transformer_config *c)
{
    const rapt_block_config *b = &c->block;
    if (c->positions != RAPT_POSITIONS_SINUSOIDAL)
        return c->positions == RAPT_POSITIONS_LEARNED ? "\"positions\": \"learned\"" : "\"positions\": \"rotary\"";
    if (c->sinusoid_layout != RAPT_SINUSOID_LAYOUT_INTERLEAVED)
        return "a \"sinusoid_layout\" of its own";
    if (b->norm_kind != RAPT_NORM_KIND_LAYER)
        return "\"norm_kind\": \"rms\"";
    if (b->norm_eps != 1e-5)
        return "a \"norm_eps\" other than 1e-5";
    if (b->ffn_kind == RAPT_FFN_SWIGLU)
        return "\"ffn_kind\": \"swiglu\"";
    if (b->kv_heads != b->heads)
        return "fewer \"kv_heads\" than \"heads\"";
    if (of == &HUB_PEGASUS && !c->tied)
        return "\"tied\": false";
    return NULL;
}

const hub_family *export_translation_class_of(const rapt_transformer_config *c, const char *path, rapt_error *err)
{
    const hub_family *of = c->block.norm_place == RAPT_NORM_PLACE_PRE ? &HUB_PEGASUS : &HUB_MARIAN;
    const char *setting = missing_in_translator(of, c);
    if (!setting)
        return of;
    rapt_fail(err, RAPT_ERR_VALUE, "%s: the model has %s, which %s, the nearest class of transformers, has not", path, setting,
              of->architecture);
    return NULL;
}

/* ---- configurations ------------------------------------------------------------------------------------------- */

/* A translation begins with <bos>, and only the model ends it. */
json_t *export_translation_generation(const rapt_translation_model *m)
{
    const rapt_special_ids *s = &m->special;
    return json_pack("{s:i, s:i, s:i, s:i, s:n, s:I}", "decoder_start_token_id", (int)s->bos, "bos_token_id", (int)s->bos,
                     "eos_token_id", (int)s->eos, "pad_token_id", (int)s->pad, "forced_eos_token_id", "max_length",
                     (json_int_t)m->net->config.max_positions);
}

/* Another number of source tokens than of target tokens is for Marian, whose three matrices are apart. */
json_t *export_translation_config(const rapt_translation_model *m, const hub_family *of)
{
    const rapt_transformer_config *c = &m->net->config;
    const rapt_block_config *b = &c->block;
    const json_int_t layers = (json_int_t)c->layers, heads = (json_int_t)b->heads, ffn = (json_int_t)b->ffn;
    json_t *root = json_pack("{s:[s], s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:b, s:b}",
                             "architectures", of->architecture, "model_type", of->type, "dtype", "float32", "torch_dtype",
                             "float32", "is_encoder_decoder", 1, "vocab_size", (json_int_t)c->source_vocab, "d_model",
                             (json_int_t)b->d_model, "max_position_embeddings", (json_int_t)c->max_positions, "encoder_layers",
                             layers, "encoder_attention_heads", heads, "encoder_ffn_dim", ffn, "decoder_layers", layers,
                             "decoder_attention_heads", heads, "decoder_ffn_dim", ffn, "activation_function",
                             export_activation(b->ffn_kind), "scale_embedding", (int)c->scale_embedding, "tie_word_embeddings",
                             (int)c->tied, "use_cache", 1);
    json_t *special = export_translation_generation(m);
    json_object_del(special, "max_length");
    bool ok = root && special && json_object_update(root, special) == 0;
    if (of != &HUB_PEGASUS)
        ok = ok && json_object_set_new(root, "decoder_vocab_size", json_integer((json_int_t)c->target_vocab)) == 0 &&
             json_object_set_new(root, "share_encoder_decoder_embeddings", json_boolean(c->tied)) == 0;
    json_decref(special);
    if (ok)
        return root;
    json_decref(root);
    return NULL;
}
