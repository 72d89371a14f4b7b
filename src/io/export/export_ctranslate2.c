/* io/export/export_ctranslate2.c: writes a folder for CTranslate2. Variables follow CTranslate2's TransformerSpec, revision 7,
 * and TransformerDecoderSpec, revision 8. Positions become a table in any case. */
#include "io/export/export_kinds.h"

#include "base/file.h"
#include "io/export/export_folder.h"
#include "io/model_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tensors -------------------------------------------------------------------------------------------------- */

#define CT2_SELF_ROWS(theirs, ours, attention) \
    {ours "norm1.@", theirs "self_attention/layer_norm/%"}, \
    {ours attention ".q.@", theirs "self_attention/linear_0/@", PLACE_QUERY}, \
    {ours attention ".k.@", theirs "self_attention/linear_0/@", PLACE_KEY}, \
    {ours attention ".v.@", theirs "self_attention/linear_0/@", PLACE_VALUE}, \
    {ours attention ".o.@", theirs "self_attention/linear_1/@"}
#define CT2_FFN_ROWS(theirs, ours, norm) \
    {ours norm ".@", theirs "ffn/layer_norm/%"}, \
    {ours "ffn.dense1.@", theirs "ffn/linear_0/@"}, \
    {ours "ffn.dense2.@", theirs "ffn/linear_1/@"}, \
    {ours "ffn.gate.@", theirs "ffn/linear_0/@"}, \
    {ours "ffn.up.@", theirs "ffn/linear_0_noact/@"}, \
    {ours "ffn.down.@", theirs "ffn/linear_1/@"}

static const place_row LM_ROWS[] = {
    {"embedding.weight", "decoder/embeddings/weight"},
    {"positions.weight", "decoder/position_encodings/encodings"},
    {"positions.table", "decoder/position_encodings/encodings"},
    CT2_SELF_ROWS("decoder/layer_#/", "blocks.#.", "attention"),
    CT2_FFN_ROWS("decoder/layer_#/", "blocks.#.", "norm2"),
    {"norm.@", "decoder/layer_norm/%"},
    {"output.weight", "decoder/projection/weight"},
    {"embedding.weight", "decoder/projection/weight", PLACE_TWICE},
    {"output.bias", "decoder/projection/bias"},
    {0}};

static const place_row TRANSLATION_ROWS[] = {
    {"encoder.embedding.weight", "encoder/embeddings_0/weight"},
    {"encoder.positions.weight", "encoder/position_encodings/encodings"},
    {"encoder.positions.table", "encoder/position_encodings/encodings"},
    CT2_SELF_ROWS("encoder/layer_#/", "encoder.#.", "attention"),
    CT2_FFN_ROWS("encoder/layer_#/", "encoder.#.", "norm2"),
    {"encoder.norm.@", "encoder/layer_norm/%"},
    {"decoder.embedding.weight", "decoder/embeddings/weight"},
    {"encoder.embedding.weight", "decoder/embeddings/weight", PLACE_TWICE},
    {"decoder.positions.weight", "decoder/position_encodings/encodings"},
    {"decoder.positions.table", "decoder/position_encodings/encodings"},
    CT2_SELF_ROWS("decoder/layer_#/", "decoder.#.", "self_attention"),
    {"decoder.#.norm2.@", "decoder/layer_#/attention/layer_norm/%"},
    {"decoder.#.cross_attention.q.@", "decoder/layer_#/attention/linear_0/@"},
    {"decoder.#.cross_attention.k.@", "decoder/layer_#/attention/linear_1/@", PLACE_FIRST_HALF},
    {"decoder.#.cross_attention.v.@", "decoder/layer_#/attention/linear_1/@", PLACE_SECOND_HALF},
    {"decoder.#.cross_attention.o.@", "decoder/layer_#/attention/linear_2/@"},
    CT2_FFN_ROWS("decoder/layer_#/", "decoder.#.", "norm3"),
    {"decoder.norm.@", "decoder/layer_norm/%"},
    {"decoder.output.weight", "decoder/projection/weight"},
    {"encoder.embedding.weight", "decoder/projection/weight", PLACE_TWICE},
    {"decoder.output.bias", "decoder/projection/bias"},
    {0}};

const place_table EXPORT_CTRANSLATE2_LM = {LM_ROWS}, EXPORT_CTRANSLATE2_TRANSLATION = {TRANSLATION_ROWS};

/* ---- numbers -------------------------------------------------------------------------------------------------- */

/* Its activations: ReLU 0, GELU with tanh 1, SiLU 2, GELU 3. */
static int ct2_activation(rapt_ffn_kind kind)
{
    switch (kind) {
    case RAPT_FFN_RELU: return 0;
    case RAPT_FFN_GELU_TANH:
    case RAPT_FFN_GEGLU_TANH: return 1;
    case RAPT_FFN_GELU: return 3;
    case RAPT_FFN_SWIGLU:
    case RAPT_FFN_SILU: break;
    }
    return 2;
}

typedef struct ct2_number {
    const char *name;
    safetensors_dtype dtype;
    double value;
} ct2_number;

/* Adds numbers under "PREFIX/". */
static void ct2_add_numbers(place_tensors *set, const char *prefix, const ct2_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[PLACE_NAME];
        snprintf(name, sizeof name, "%s/%s", prefix, numbers[i].name);
        place_tensors_add_number(set, name, numbers[i].dtype, numbers[i].value);
    }
}

/* Adds the variables of an encoder or a decoder. */
static void ct2_add_stack(place_tensors *set, const char *prefix, const rapt_block_config *b, bool scale)
{
    const ct2_number numbers[] = {{"num_heads", SAFETENSORS_I16, (double)b->heads},
                                  {"pre_norm", SAFETENSORS_I8, b->norm_place == RAPT_NORM_PLACE_PRE},
                                  {"activation", SAFETENSORS_I8, ct2_activation(b->ffn_kind)},
                                  {"scale_embeddings", SAFETENSORS_I8, scale}};
    ct2_add_numbers(set, prefix, numbers, sizeof numbers / sizeof *numbers);
}

static void ct2_add_decoder(place_tensors *set, const rapt_block_config *b, bool scale)
{
    static const ct2_number off[] = {{"alibi", SAFETENSORS_I8, 0}, {"alibi_use_positive_positions", SAFETENSORS_I8, 0},
                                     {"scale_alibi", SAFETENSORS_I8, 0}, {"start_from_zero_embedding", SAFETENSORS_I8, 0},
                                     {"alignment_layer", SAFETENSORS_I16, -1}, {"alignment_heads", SAFETENSORS_I16, 1}};
    ct2_add_stack(set, "decoder", b, scale);
    ct2_add_numbers(set, "decoder", off, sizeof off / sizeof *off);
}

/* Adds the variables of each layer; a rotary dimension of 0 means the whole head. */
static void ct2_add_lm_layers(place_tensors *set, const rapt_lm_config *c)
{
    const ct2_number rotary[] = {{"rotary_dim", SAFETENSORS_I32, 0}, {"rotary_interleave", SAFETENSORS_I8, 0},
                                 {"rotary_base", SAFETENSORS_F32, c->rotary_base}};
    const ct2_number heads = {"num_heads_kv", SAFETENSORS_I32, (double)c->block.kv_heads};
    for (size_t i = 0; i < c->layers; i++) {
        char prefix[PLACE_NAME / 2];
        snprintf(prefix, sizeof prefix, "decoder/layer_%zu/self_attention", i);
        if (c->positions == RAPT_POSITIONS_ROTARY)
            ct2_add_numbers(set, prefix, rotary, sizeof rotary / sizeof *rotary);
        if (c->block.kv_heads != c->block.heads)
            ct2_add_numbers(set, prefix, &heads, 1);
    }
}

/* ---- vocabularies --------------------------------------------------------------------------------------------- */

static bool ct2_set_token(json_t *list, json_int_t id, const char *token)
{
    return id < 0 || (size_t)id >= json_array_size(list) || json_array_set_new(list, (size_t)id, json_string(token)) == 0;
}

/* The tokens by id, as tokenizer.json writes them; ids without a token get made-up names. NULL: out of memory. */
static json_t *ct2_vocabulary(const json_t *tokenizer, size_t count)
{
    char unused[32];
    const char *token;
    json_t *id, *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        snprintf(unused, sizeof unused, "<unused%zu>", i);
        ok = json_array_append_new(list, json_string(unused)) == 0;
    }
    json_object_foreach(json_object_get(json_object_get(tokenizer, "model"), "vocab"), token, id)
        ok = ok && ct2_set_token(list, json_integer_value(id), token);
    const json_t *added = json_object_get(tokenizer, "added_tokens");
    for (size_t i = 0; i < json_array_size(added) && ok; i++) {
        const json_t *entry = json_array_get(added, i);
        ok = ct2_set_token(list, json_integer_value(json_object_get(entry, "id")),
                           json_string_value(json_object_get(entry, "content")));
    }
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

/* ---- the folder ----------------------------------------------------------------------------------------------- */

enum { SIDES = 2 };

/* The contents of a folder, made before anything is written. */
typedef struct ct2_parts {
    place_tensors tensors;
    const char *specification;
    uint32_t revision;
    json_t *config;
    json_t *tokenizers[SIDES], *vocabularies[SIDES]; /* the second is the target's, if it has its own */
    const char *vocabulary_names[SIDES];
} ct2_parts;

static void ct2_free(ct2_parts *p)
{
    place_tensors_free(&p->tensors);
    json_decref(p->config);
    for (size_t i = 0; i < SIDES; i++) {
        json_decref(p->tokenizers[i]);
        json_decref(p->vocabularies[i]);
    }
}

static rapt_code ct2_take_tokenizer(ct2_parts *p, size_t side, const rapt_tokenizer *k, size_t count, const char *name,
                                    rapt_error *err)
{
    p->vocabulary_names[side] = name;
    if (!(p->tokenizers[side] = export_tokenizer(k, -1, p->tensors.path, err)))
        return RAPT_ERR_VALUE;
    if (!json_is_object(json_object_get(json_object_get(p->tokenizers[side], "model"), "vocab")))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer's vocabulary is no list of different texts", p->tensors.path);
    p->vocabularies[side] = ct2_vocabulary(p->tokenizers[side], count);
    return p->vocabularies[side] ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", p->tensors.path);
}

static rapt_code ct2_take_translator(ct2_parts *p, const rapt_translation_model *m, rapt_error *err)
{
    const rapt_transformer_config *c = &m->net->config;
    const bool shared = m->source == m->target;
    const char *setting = c->positions == RAPT_POSITIONS_ROTARY ? "\"positions\": \"rotary\""
                          : c->block.kv_heads != c->block.heads ? "fewer \"kv_heads\" than \"heads\"" : NULL;
    if (setting)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: the model has %s, which CTranslate2's translators have not", p->tensors.path,
                         setting);
    p->specification = "TransformerSpec";
    p->revision = 7;
    place_tensors_begin(&p->tensors);
    ct2_add_stack(&p->tensors, "encoder", &c->block, c->scale_embedding);
    ct2_add_decoder(&p->tensors, &c->block, c->scale_embedding);
    place_tensors_add(&p->tensors);
    rapt_code code = ct2_take_tokenizer(p, 0, m->source, c->source_vocab,
                                        shared ? "shared_vocabulary.json" : "source_vocabulary.json", err);
    if (!code && !shared)
        code = ct2_take_tokenizer(p, 1, m->target, c->target_vocab, "target_vocabulary.json", err);
    p->config = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:f, s:b}", "unk_token", "<unk>", "bos_token", "<bos>", "eos_token",
                          "<eos>", "decoder_start_token", "<bos>", "add_source_bos", 0, "add_source_eos", 1, "layer_norm_epsilon",
                          c->block.norm_eps, "multi_query_attention", 0);
    return code;
}

static rapt_code ct2_take_lm(ct2_parts *p, const rapt_language_model *m, rapt_error *err)
{
    const rapt_lm_config *c = &m->net->config;
    const char *end = m->end_of_text_count ? rapt_tokenizer_token(m->tokenizer, m->end_of_text[0], NULL) : "<eos>";
    p->specification = "TransformerDecoderSpec";
    p->revision = 8;
    place_tensors_begin(&p->tensors);
    ct2_add_decoder(&p->tensors, &c->block, c->scale_embedding);
    ct2_add_lm_layers(&p->tensors, c);
    place_tensors_add(&p->tensors);
    rapt_code code = ct2_take_tokenizer(p, 0, m->tokenizer, c->vocab, "vocabulary.json", err);
    p->config = json_pack("{s:s, s:s, s:s, s:f, s:b}", "unk_token", end, "bos_token", end, "eos_token", end, "layer_norm_epsilon",
                          c->block.norm_eps, "multi_query_attention", (int)(c->block.kv_heads != c->block.heads));
    return code;
}

static rapt_code ct2_write(ct2_parts *p, const char *path, const rapt_export_options *o, rapt_error *err)
{
    static const char *const tokenizers[SIDES] = {"tokenizer.json", "target/tokenizer.json"};
    export_folder f;
    export_folder_begin(&f, path, err);
    export_folder_put_json(&f, "config.json", json_incref(p->config));
    for (size_t i = 0; i < SIDES && p->tokenizers[i]; i++) {
        export_folder_put_json(&f, tokenizers[i], json_incref(p->tokenizers[i]));
        export_folder_put_json(&f, p->vocabulary_names[i], json_incref(p->vocabularies[i]));
    }
    const char *model = export_folder_file(&f, "model.bin");
    if (model)
        f.code = model_bin_write(&p->tensors, model, p->specification, p->revision, o, err);
    return export_folder_end(&f);
}

rapt_code export_ctranslate2(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    const bool translation = m->task == RAPT_TASK_TRANSLATION;
    const rapt_block_config *b = translation ? &m->translation.net->config.block : &m->language.net->config.block;
    const place_table *of = translation ? &EXPORT_CTRANSLATE2_TRANSLATION : &EXPORT_CTRANSLATE2_LM;
    ct2_parts p = {.tensors = {.path = path, .model = {of, "CTranslate2", m->params, b}}};
    rapt_code code = translation ? ct2_take_translator(&p, &m->translation, err) : ct2_take_lm(&p, &m->language, err);
    if (!code)
        code = place_tensors_check(&p.tensors, err);
    if (!code && !p.config)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    if (!code)
        code = ct2_write(&p, path, o, err);
    ct2_free(&p);
    return code;
}
