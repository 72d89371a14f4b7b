/* io/config_lm.c: the folder of a language model: a decoder and its tokenizer. For model.c. */
#include "io/model.h"
#include "io/params_file.h"

#include <string.h>

#define TOKENIZER_FILE "tokenizer.json"
#define FREE_TABLE 134217728.0 /* bytes: a table of angles up to this size is accepted for any model */

typedef struct config {
    rapt_lm_config lm;
    config_ids end_of_text;
    char hash[CONFIG_HASH_TEXT];
} config;

static const char *const NORM_PLACES[] = {"post", "pre", NULL};
static const char *const NORM_KINDS[] = {"layer", "rms", NULL};
static const char *const ACTIVATIONS[] = {"relu", "gelu", "gelu_tanh", "swiglu", NULL};
static const char *const POSITIONS[] = {"sinusoidal", "learned", "rotary", NULL};
static const char *const INITS[] = {"xavier", "pytorch", "gpt2", NULL};

/* In the order of the file. */
static const config_member MEMBERS[] = {
    CONFIG_SIZE_ROW("vocab", config, lm.vocab, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("layers", config, lm.layers, CONFIG_MAX_LAYERS),
    CONFIG_SIZE_ROW("d_model", config, lm.d_model, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("heads", config, lm.heads, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("kv_heads", config, lm.kv_heads, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("ffn", config, lm.ffn, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("context", config, lm.context, CONFIG_MAX_SIZE),
    CONFIG_RENAMED_WORD_ROW("norm_place", "norm", config, lm.norm_place, NORM_PLACES),
    CONFIG_WORD_ROW("norm_kind", config, lm.norm_kind, NORM_KINDS),
    CONFIG_POSITIVE_ROW("norm_eps", config, lm.norm_eps, 1),
    CONFIG_WORD_ROW("ffn_kind", config, lm.ffn_kind, ACTIVATIONS),
    CONFIG_WORD_ROW("positions", config, lm.positions, POSITIONS),
    CONFIG_REAL_ROW("rotary_base", config, lm.rotary_base, 1, 1e12),
    CONFIG_BOOL_ROW("tied", config, lm.tied),
    CONFIG_BOOL_ROW("bias", config, lm.bias),
    CONFIG_BOOL_ROW("output_bias", config, lm.output_bias),
    CONFIG_BOOL_ROW("shared_norm", config, lm.shared_norm),
    CONFIG_BOOL_ROW("scale_embedding", config, lm.scale_embedding),
    CONFIG_REAL_ROW("dropout", config, lm.dropout, 0, 1),
    CONFIG_WORD_ROW("init", config, lm.init, INITS),
    CONFIG_POSITIVE_ROW("std", config, lm.std, 1e6),
    CONFIG_POSITIVE_ROW("embedding_std", config, lm.embedding_std, 1e6),
    CONFIG_HASH_ROW("tokenizer", config, hash),
    CONFIG_OPTIONAL_IDS_ROW("eos_token_id", config, end_of_text),
};
enum { COUNT = sizeof MEMBERS / sizeof *MEMBERS };

/* Bytes of the weight matrices, a lower bound of the size of the parameter file. */
static double config_lm_min_bytes(const rapt_lm_config *c)
{
    double d = (double)c->d_model, kv = d / (double)c->heads * (double)c->kv_heads;
    double rows = (double)c->vocab * (c->tied ? 1 : 2) + (c->positions == RAPT_POSITIONS_ROTARY ? 0 : (double)c->context);
    double matrices = c->ffn_kind == RAPT_FFN_SWIGLU ? 3 : 2;
    return (rows * d + (double)c->layers * (2 * d * d + 2 * d * kv + matrices * d * (double)c->ffn)) * sizeof(rapt_real);
}

/* The angles of rotary positions are computed, so the size of the parameter file does not bound their number. */
static rapt_code check_rotary(const rapt_lm_config *c, const char *path, rapt_error *err)
{
    size_t features = c->d_model / c->heads;
    double bytes = (double)c->context * (double)features * sizeof(rapt_real);
    if (c->positions != RAPT_POSITIONS_ROTARY)
        return RAPT_OK;
    if (features % 2)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: rotary positions turn pairs of features; a head has %zu", path, features);
    if (bytes > FREE_TABLE && bytes > config_lm_min_bytes(c))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: rotary positions for a context of %zu take %.0f bytes, more than the model",
                         path, c->context, bytes);
    return RAPT_OK;
}

static rapt_code config_lm_check(const config *k, const char *path, rapt_error *err)
{
    const rapt_lm_config *c = &k->lm;
    if (c->d_model % c->heads)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu heads do not divide d_model, %zu", path, c->heads, c->d_model);
    if (c->heads % c->kv_heads)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu key-value heads do not divide %zu heads", path, c->kv_heads, c->heads);
    if (c->tied && c->output_bias)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a tied model has no output bias", path);
    for (size_t i = 0; i < k->end_of_text.count; i++)
        if ((size_t)k->end_of_text.ids[i] >= c->vocab)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"eos_token_id\" has %d; the vocabulary ends before %zu", path,
                             (int)k->end_of_text.ids[i], c->vocab);
    return check_rotary(c, path, err);
}

/* A model may be trained on the used part of a tokenizer's vocabulary only. */
static model_vocabulary vocabulary(const config *c)
{
    return (model_vocabulary){c->lm.vocab, true, c->hash};
}

static rapt_code config_lm_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    config c = {.lm = m->language.net->config, .end_of_text = {.count = m->language.end_of_text_count}};
    memcpy(c.end_of_text.ids, m->language.end_of_text, sizeof m->language.end_of_text);
    model_vocabulary wanted = vocabulary(&c);
    model_hash(m->language.tokenizer, c.hash);
    rapt_code code = config_write(root, MEMBERS, COUNT, &c, path, err);
    if (!code)
        code = config_lm_check(&c, path, err);
    return code ? code : model_check_entries(m->language.tokenizer, &wanted, path, err);
}

static rapt_code save_tokenizer(const rapt_model *m, const char *folder, rapt_error *err)
{
    return model_save_tokenizer(m->language.tokenizer, folder, TOKENIZER_FILE, err);
}

/* Folders of rapt 0.1 do not name the end-of-text tokens: it was this one, where the vocabulary has it. */
void model_default_end_of_text(rapt_model *m)
{
    int32_t id = rapt_tokenizer_special(m->language.tokenizer, "<|endoftext|>");
    m->language.end_of_text_count = id >= 0 && (size_t)id < m->language.net->config.vocab;
    m->language.end_of_text[0] = id;
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
    rapt_code code = model_check_weights(from, config_lm_min_bytes(&c->lm), err);
    m->language.net = code ? NULL : rapt_lm_new(&c->lm, RAPT_SEED_NONE, err);
    m->params = m->language.net ? m->language.net->params : NULL;
    if (m->language.net)
        set_end_of_text(m, c);
    return m->language.net ? params_fill(m->params, from->weights, from->weights_path, err) : RAPT_ERR_FORMAT;
}

static rapt_code config_lm_load(rapt_model *m, const model_source *from, rapt_error *err)
{
    config c = {0};
    rapt_code code = config_read(from->config, MEMBERS, COUNT, &c, from->config_path, err);
    if (!code)
        code = config_lm_check(&c, from->config_path, err);
    if (code)
        return code;
    model_vocabulary wanted = vocabulary(&c);
    m->language.tokenizer = model_load_tokenizer(from, TOKENIZER_FILE, &wanted, err);
    return m->language.tokenizer ? load_lm(m, &c, from, err) : RAPT_ERR_FORMAT;
}

const model_task model_language_model = {"a language model", "rapt generate", config_lm_describe, save_tokenizer, config_lm_load};
