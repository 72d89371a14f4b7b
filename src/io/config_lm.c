/* io/config_lm.c: the folder of a language model: a decoder and its tokenizer. For model.c. */
#include "base/file.h"
#include "io/config_block.h"
#include "io/model.h"
#include "io/params_file.h"
#include "text/chat/chatml.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define TOKENIZER_FILE "tokenizer.json"
#define MAX_CHAT_TEMPLATE ((size_t)1 << 20)

typedef struct config {
    rapt_lm_config lm;
    bool ffn_bias, norm_bias;
    config_ids end_of_text;
    char hash[CONFIG_HASH_TEXT];
} config;

/* In the order of the file. */
static const config_member MEMBERS[] = {
    CONFIG_SIZE_ROW("vocab", config, lm.vocab, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("layers", config, lm.layers, CONFIG_MAX_LAYERS),
    CONFIG_SIZE_ROW("d_model", config, lm.block.d_model, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("heads", config, lm.block.heads, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("kv_heads", config, lm.block.kv_heads, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("ffn", config, lm.block.ffn, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("context", config, lm.context, CONFIG_MAX_SIZE),
    CONFIG_RENAMED_WORD_ROW("norm_place", "norm", config, lm.block.norm_place, CONFIG_NORM_PLACES),
    CONFIG_WORD_ROW("norm_kind", config, lm.block.norm_kind, CONFIG_NORM_KINDS),
    CONFIG_POSITIVE_ROW("norm_eps", config, lm.block.norm_eps, 1),
    CONFIG_WORD_ROW("ffn_kind", config, lm.block.ffn_kind, CONFIG_FFN_KINDS),
    CONFIG_WORD_ROW("positions", config, lm.positions, CONFIG_POSITIONS),
    CONFIG_REAL_ROW("rotary_base", config, lm.rotary_base, 1, 1e12),
    CONFIG_BOOL_ROW("tied", config, lm.tied),
    CONFIG_BOOL_ROW("bias", config, lm.block.bias),
    CONFIG_OPTIONAL_BOOL_ROW("ffn_bias", config, ffn_bias),
    CONFIG_OPTIONAL_BOOL_ROW("norm_bias", config, norm_bias),
    CONFIG_BOOL_ROW("output_bias", config, lm.output_bias),
    CONFIG_BOOL_ROW("shared_norm", config, lm.block.shared_norm),
    CONFIG_BOOL_ROW("scale_embedding", config, lm.scale_embedding),
    CONFIG_REAL_ROW("dropout", config, lm.block.dropout, 0, 1),
    CONFIG_WORD_ROW("init", config, lm.block.init, CONFIG_INITS),
    CONFIG_POSITIVE_ROW("std", config, lm.block.std, 1e6),
    CONFIG_POSITIVE_ROW("embedding_std", config, lm.embedding_std, 1e6),
    CONFIG_HASH_ROW("tokenizer", config, hash),
    CONFIG_OPTIONAL_IDS_ROW("eos_token_id", config, end_of_text),
};
enum { COUNT = sizeof MEMBERS / sizeof *MEMBERS };

config_stack config_lm_stack(const rapt_lm_config *c)
{
    const bool added = c->positions == RAPT_POSITIONS_SINUSOIDAL || c->positions == RAPT_POSITIONS_LEARNED;
    size_t rows = c->vocab * (c->tied ? 1 : 2) + (added ? c->context : 0);
    return (config_stack){.block = &c->block, .layers = c->layers, .attentions = 1, .ffns = 1, .rows = rows,
                          .positions = c->positions, .longest = c->context, .longest_name = "a context"};
}

static rapt_code config_lm_check(const config *k, const char *path, rapt_error *err)
{
    const rapt_lm_config *c = &k->lm;
    const config_stack stack = config_lm_stack(c);
    if (c->tied && c->output_bias)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a tied model has no output bias", path);
    for (size_t i = 0; i < k->end_of_text.count; i++)
        if ((size_t)k->end_of_text.ids[i] >= c->vocab)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"eos_token_id\" has %d; the vocabulary ends before %zu", path,
                             (int)k->end_of_text.ids[i], c->vocab);
    return config_block_check(&stack, path, err);
}

/* A model may be trained on only the used part of a tokenizer's vocabulary. */
static model_vocabulary vocabulary(const config *c)
{
    return (model_vocabulary){c->lm.vocab, true, c->hash};
}

/* Whether the members above describe a model. */
static rapt_code config_lm_check_ours(const rapt_lm_config *c, const char *path, rapt_error *err)
{
    const rapt_layer_set none = {0};
    const char *beyond = c->embedding_multiplier != 0                                 ? "embedding_multiplier"
                         : c->embedding_norm                                          ? "embedding_norm"
                         : c->logits_divisor != 0                                     ? "logits_divisor"
                         : memcmp(&c->unrotated, &none, sizeof none) != 0             ? "unrotated"
                         : c->logits_cap != 0                                         ? "logits_cap"
                         : c->window != 0                                             ? "window"
                         : c->local_rotary_base != 0                                  ? "local_rotary_base"
                         : c->parallel                                                ? "parallel"
                         : c->rotary_scaling.kind != RAPT_ROTARY_PLAIN                ? "rotary_scaling"
                                                                                      : NULL;
    return beyond ? config_block_refuse(beyond, path, err) : config_block_check_ours(&c->block, path, err);
}

static rapt_code config_lm_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    const rapt_block_config *block = &m->language.net->config.block;
    config c = {.lm = m->language.net->config, .ffn_bias = !block->no_ffn_bias, .norm_bias = !block->no_norm_bias,
                .end_of_text = {.count = m->language.end_of_text_count}};
    memcpy(c.end_of_text.ids, m->language.end_of_text, sizeof m->language.end_of_text);
    model_vocabulary wanted = vocabulary(&c);
    model_hash(m->language.tokenizer, c.hash);
    rapt_code code = config_lm_check_ours(&c.lm, path, err);
    if (!code)
        code = config_write(root, MEMBERS, COUNT, &c, path, err);
    if (!code)
        code = config_lm_check(&c, path, err);
    return code ? code : model_check_entries(m->language.tokenizer, &wanted, path, err);
}

/* And the chat template, if the model has one. */
static rapt_code save_tokenizer(const rapt_model *m, const char *folder, rapt_error *err)
{
    char *path;
    rapt_code code = model_save_tokenizer(m->language.tokenizer, folder, TOKENIZER_FILE, err);
    if (code || !m->chat_template)
        return code;
    code = file_path(folder, MODEL_CHAT_TEMPLATE, &path, err);
    code = code ? code : file_write_atomic(path, m->chat_template, strlen(m->chat_template), err);
    free(path);
    return code;
}

static rapt_code load_chat_template(rapt_model *m, const char *folder, rapt_error *err)
{
    char *path;
    size_t size = 0;
    bool there = false;
    rapt_code code = file_path(folder, MODEL_CHAT_TEMPLATE, &path, err);
    code = code ? code : file_is_there(path, &there, err);
    if (!code && there)
        code = file_read_regular(path, MAX_CHAT_TEMPLATE, &m->chat_template, &size, err);
    if (m->chat_template) {
        const size_t length = strlen(m->chat_template), valid = utf8_valid_prefix(m->chat_template, length);
        if (valid < size)
            code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: byte %zu is no text in UTF-8", path, valid + 1);
    }
    free(path);
    return code;
}

/* Folders of rapt 0.1 do not name the end-of-text token: it was the first one, if the vocabulary has it. */
void model_default_end_of_text(rapt_model *m)
{
    static const char *const texts[] = {"<|endoftext|>", CHATML_END};
    rapt_language_model *l = &m->language;
    l->end_of_text_count = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const int32_t id = rapt_tokenizer_special(l->tokenizer, texts[i]);
        if (id >= 0 && (size_t)id < l->net->config.vocab)
            l->end_of_text[l->end_of_text_count++] = id;
    }
}

int32_t model_end_of_reply(const rapt_model *m)
{
    const rapt_language_model *l = &m->language;
    return l->has_end_of_turn ? l->end_of_turn : l->end_of_text_count > 0 ? l->end_of_text[0] : -1;
}

static void set_end_of_text(rapt_model *m, const config *c)
{
    memcpy(m->language.end_of_text, c->end_of_text.ids, sizeof m->language.end_of_text);
    m->language.end_of_text_count = c->end_of_text.count;
    if (!c->end_of_text.there)
        model_default_end_of_text(m);
}

static rapt_code load_lm(rapt_model *m, const config *c, const model_source *from, rapt_error *err)
{
    const config_stack stack = config_lm_stack(&c->lm);
    rapt_code code = model_check_weights(from, config_block_min_bytes(&stack), err);
    m->language.net = code ? NULL : rapt_lm_new(&c->lm, model_seed(from), err);
    m->params = m->language.net ? m->language.net->params : NULL;
    if (m->language.net)
        set_end_of_text(m, c);
    return m->language.net ? params_fill(m->params, from->weights, model_stays(from), from->stop, from->weights_path, err)
                           : RAPT_ERR_FORMAT;
}

static rapt_code config_lm_load(rapt_model *m, const model_source *from, rapt_error *err)
{
    const bool bias = json_is_true(json_object_get(from->config, "bias")); /* for all layers, unless another member says more */
    config c = {.ffn_bias = bias, .norm_bias = bias};
    rapt_code code = config_read(from->config, MEMBERS, COUNT, &c, from->config_path, err);
    c.lm.block.no_ffn_bias = !c.ffn_bias;
    c.lm.block.no_norm_bias = !c.norm_bias;
    if (!code)
        code = config_lm_check(&c, from->config_path, err);
    if (code)
        return code;
    model_vocabulary wanted = vocabulary(&c);
    m->language.tokenizer = model_load_tokenizer(from, TOKENIZER_FILE, &wanted, err);
    code = m->language.tokenizer ? load_chat_template(m, from->folder, err) : RAPT_ERR_FORMAT;
    return code ? code : load_lm(m, &c, from, err);
}

const model_task model_language_model = {"a language model", "rapt generate", config_lm_describe, save_tokenizer, config_lm_load};
