/* io/config_translation.c: the folder of a translation model: an encoder-decoder, the source and the target tokenizer.
 * For model.c. */
#include "io/config_block.h"
#include "io/model.h"
#include "io/params_file.h"
#include "nn/block.h"

#include "text/prose/detokenize.h"

#include <string.h>

#define SOURCE_FILE "source.tokenizer.json"
#define TARGET_FILE "target.tokenizer.json"

typedef struct config {
    rapt_transformer_config net;
    rapt_special_ids special;
    bool ffn_bias, norm_bias, shared_vocab, pad_to_max, capitalize, by_sentence;
    rapt_language detokenize;
    char source_hash[CONFIG_HASH_TEXT], target_hash[CONFIG_HASH_TEXT];
    size_t max_len;
} config;

/* In the order of the file. */
static const config_member MEMBERS[] = {
    CONFIG_SIZE_ROW("source_vocab", config, net.source_vocab, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("target_vocab", config, net.target_vocab, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("layers", config, net.layers, CONFIG_MAX_LAYERS),
    CONFIG_SIZE_ROW("d_model", config, net.block.d_model, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("heads", config, net.block.heads, CONFIG_MAX_SIZE),
    CONFIG_OPTIONAL_SIZE_ROW("kv_heads", config, net.block.kv_heads, CONFIG_MAX_SIZE),
    CONFIG_SIZE_ROW("ffn", config, net.block.ffn, CONFIG_MAX_SIZE),
    CONFIG_OPTIONAL_WORD_ROW("ffn_kind", config, net.block.ffn_kind, CONFIG_FFN_KINDS),
    CONFIG_SIZE_ROW("max_positions", config, net.max_positions, CONFIG_MAX_SIZE),
    CONFIG_REAL_ROW("dropout", config, net.block.dropout, 0, 1),
    CONFIG_RENAMED_WORD_ROW("norm_place", "norm", config, net.block.norm_place, CONFIG_NORM_PLACES),
    CONFIG_OPTIONAL_WORD_ROW("norm_kind", config, net.block.norm_kind, CONFIG_NORM_KINDS),
    CONFIG_OPTIONAL_POSITIVE_ROW("norm_eps", config, net.block.norm_eps, 1),
    CONFIG_OPTIONAL_BOOL_ROW("shared_norm", config, net.block.shared_norm),
    CONFIG_OPTIONAL_WORD_ROW("positions", config, net.positions, CONFIG_POSITIONS),
    CONFIG_OPTIONAL_REAL_ROW("rotary_base", config, net.rotary_base, 1, 1e12),
    CONFIG_BOOL_ROW("bias", config, net.block.bias),
    CONFIG_OPTIONAL_BOOL_ROW("ffn_bias", config, ffn_bias),
    CONFIG_OPTIONAL_BOOL_ROW("norm_bias", config, norm_bias),
    CONFIG_BOOL_ROW("scale_embedding", config, net.scale_embedding),
    CONFIG_BOOL_ROW("tied", config, net.tied),
    CONFIG_WORD_ROW("init", config, net.block.init, CONFIG_INITS),
    CONFIG_OPTIONAL_POSITIVE_ROW("std", config, net.block.std, 1e6),
    CONFIG_REAL_ROW("embedding_std", config, net.embedding_std, 0, 1e6),
    CONFIG_BOOL_ROW("shared_vocab", config, shared_vocab),
    CONFIG_HASH_ROW("source_tokenizer", config, source_hash),
    CONFIG_HASH_ROW("target_tokenizer", config, target_hash),
    CONFIG_SIZE_ROW("max_len", config, max_len, CONFIG_MAX_SIZE),
    CONFIG_BOOL_ROW("pad_to_max", config, pad_to_max),
    CONFIG_OPTIONAL_WORD_ROW("detokenize", config, detokenize, detokenize_codes),
    CONFIG_OPTIONAL_BOOL_ROW("capitalize", config, capitalize),
    CONFIG_OPTIONAL_BOOL_ROW("by_sentence", config, by_sentence),
    CONFIG_OPTIONAL_ID_ROW("unk_token_id", config, special.unk),
    CONFIG_OPTIONAL_ID_ROW("pad_token_id", config, special.pad),
    CONFIG_OPTIONAL_ID_ROW("bos_token_id", config, special.bos),
    CONFIG_OPTIONAL_ID_ROW("eos_token_id", config, special.eos),
};
enum { COUNT = sizeof MEMBERS / sizeof *MEMBERS };

static rapt_code check_vocabularies(const config *c, const char *path, rapt_error *err)
{
    bool one = c->net.source_vocab == c->net.target_vocab;
    if ((c->shared_vocab || c->net.tied) && !one)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a model of one vocabulary, with %zu source tokens and %zu target tokens",
                         path, c->net.source_vocab, c->net.target_vocab);
    if (c->shared_vocab && strcmp(c->source_hash, c->target_hash) != 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a model of one vocabulary names two tokenizers", path);
    return RAPT_OK;
}

static rapt_code check_special(const config *c, const char *path, rapt_error *err)
{
    const int32_t ids[] = {c->special.unk, c->special.pad, c->special.bos, c->special.eos};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if ((size_t)ids[i] >= c->net.source_vocab || (size_t)ids[i] >= c->net.target_vocab)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a special token has the id %d; a vocabulary ends before it", path,
                             (int)ids[i]);
    return RAPT_OK;
}

/* Among embeddings and output, counts only the source's embedding, which every model has. */
static config_stack config_translation_stack(const rapt_transformer_config *c)
{
    const bool added = c->positions == RAPT_POSITIONS_SINUSOIDAL || c->positions == RAPT_POSITIONS_LEARNED;
    size_t positions = added ? 2 * c->max_positions : 0;
    return (config_stack){.block = &c->block, .layers = c->layers, .attentions = 3, .ffns = 2,
                          .rows = c->source_vocab + positions, .positions = c->positions, .longest = c->max_positions,
                          .longest_name = "sentences"};
}

static rapt_code config_translation_check(const config *c, const char *path, rapt_error *err)
{
    const config_stack stack = config_translation_stack(&c->net);
    if (c->max_len < 2 || c->max_len > c->net.max_positions)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"max_len\" is %zu; it must be from 2 to \"max_positions\", %zu", path,
                         c->max_len, c->net.max_positions);
    rapt_code code = config_block_check(&stack, path, err);
    if (!code)
        code = check_vocabularies(c, path, err);
    return code ? code : check_special(c, path, err);
}

/* ---- saving -------------------------------------------------------------------------------------------------- */

/* Versions before 0.3 would load such a model and compute another one, with ReLU and an epsilon of 1e-5. All other new settings
 * have parameters with other names or shapes, which those versions refuse. */
static bool config_translation_misleads(const rapt_block_config *c)
{
    return c->ffn_kind != RAPT_FFN_RELU || c->norm_eps != 1e-5;
}

/* Refuses settings for which config.json has no members: only models of other programs have them, and these are not saved. */
static rapt_code check_ours(const rapt_transformer_config *c, const char *path, rapt_error *err)
{
    const bool same_sizes = c->decoder_layers == c->layers && c->decoder_heads == c->block.heads &&
                            c->decoder_ffn == c->block.ffn;
    const bool same_ties = c->output_bias == RAPT_OUTPUT_BIAS_UNTIED && (c->tied || (!c->tied_embeddings && !c->tied_output));
    if (same_sizes && same_ties && c->positions != RAPT_POSITIONS_RELATIVE && !c->embedding_norm && c->output_scale == 0 &&
        c->sinusoid_layout == RAPT_SINUSOID_LAYOUT_INTERLEAVED)
        return config_block_check_ours(&c->block, path, err);
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: our config.json does not describe other sizes of the decoder, matrices that are "
                     "tied in part, output biases and scales, norms of embeddings, and positions of other programs", path);
}

static rapt_code config_translation_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    const rapt_translation_model *t = &m->translation;
    const rapt_transformer_config *net = &t->net->config;
    config c = {.net = *net, .ffn_bias = !net->block.no_ffn_bias, .norm_bias = !net->block.no_norm_bias,
                .shared_vocab = t->source == t->target, .pad_to_max = t->pad_to_max, .max_len = t->max_len,
                .detokenize = t->detokenize, .capitalize = t->capitalize, .by_sentence = t->by_sentence, .special = t->special};
    model_hash(t->source, c.source_hash);
    model_hash(t->target, c.target_hash);
    rapt_code code = check_ours(net, path, err);
    if (!code)
        code = config_write(root, MEMBERS, COUNT, &c, path, err);
    bool newer = config_translation_misleads(&net->block);
    if (!code && newer && json_object_set_new(root, "version", json_integer(RAPT_FORMAT_VERSION)) != 0)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    if (!code)
        code = config_translation_check(&c, path, err);
    if (!code)
        code = model_check_entries(t->source, &(model_vocabulary){.entries = net->source_vocab}, path, err);
    return code ? code : model_check_entries(t->target, &(model_vocabulary){.entries = net->target_vocab}, path, err);
}

static rapt_code save_tokenizers(const rapt_model *m, const char *folder, rapt_error *err)
{
    rapt_code code = model_save_tokenizer(m->translation.source, folder, SOURCE_FILE, err);
    if (!code && m->translation.target != m->translation.source)
        code = model_save_tokenizer(m->translation.target, folder, TARGET_FILE, err);
    return code;
}

/* ---- loading ------------------------------------------------------------------------------------------------- */

static rapt_code load_tokenizers(rapt_model *m, const config *c, const model_source *from, rapt_error *err)
{
    const model_vocabulary source = {c->net.source_vocab, false, c->source_hash};
    const model_vocabulary target = {c->net.target_vocab, false, c->target_hash};
    m->translation.source = model_load_tokenizer(from, SOURCE_FILE, &source, err);
    if (m->translation.source)
        m->translation.target = c->shared_vocab ? m->translation.source : model_load_tokenizer(from, TARGET_FILE, &target, err);
    return m->translation.target ? RAPT_OK : RAPT_ERR_FORMAT;
}

static rapt_code load_net(rapt_model *m, const config *c, const model_source *from, rapt_error *err)
{
    const config_stack stack = config_translation_stack(&c->net);
    rapt_code code = model_check_weights(from, config_block_min_bytes(&stack), err);
    m->translation.net = code ? NULL : rapt_transformer_new(&c->net, model_seed(from), err);
    m->params = m->translation.net ? m->translation.net->params : NULL;
    return m->translation.net ? params_fill(m->params, from->weights, model_stays(from), from->stop, from->weights_path, err)
                              : RAPT_ERR_FORMAT;
}

static rapt_code config_translation_load(rapt_model *m, const model_source *from, rapt_error *err)
{
    /* defaults of members that folders of earlier versions do not name */
    config c = {.special = RAPT_SPECIAL_IDS, .ffn_bias = true, .norm_bias = true, .net.rotary_base = 10000};
    rapt_code code = config_read(from->config, MEMBERS, COUNT, &c, from->config_path, err);
    c.net.block.no_ffn_bias = !c.ffn_bias;
    c.net.block.no_norm_bias = !c.norm_bias;
    c.net.block = block_defaults(&c.net.block);
    if (!code)
        code = config_translation_check(&c, from->config_path, err);
    if (!code)
        code = load_tokenizers(m, &c, from, err);
    if (code)
        return code;
    m->translation.special = c.special;
    m->translation.max_len = c.max_len;
    m->translation.pad_to_max = c.pad_to_max;
    m->translation.detokenize = c.detokenize;
    m->translation.capitalize = c.capitalize;
    m->translation.by_sentence = c.by_sentence;
    return load_net(m, &c, from, err);
}

const model_task model_translation = {"a translation model", "rapt translate", config_translation_describe, save_tokenizers,
                                      config_translation_load};
