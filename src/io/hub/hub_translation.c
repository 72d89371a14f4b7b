/* io/hub/hub_translation.c: loads the tokenizers and limits of translators. */
#include "io/hub/hub_parts.h"

#include "base/file.h"
#include "io/config_block.h"
#include "io/hub/hub_generation.h"
#include "io/hub/hub_origin.h"
#include "nn/block.h"
#include "text/gguf/gguf_file.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokenizers ----------------------------------------------------------------------------------------------- */

static rapt_tokenizer *load_pair_tokenizer(const char *path, size_t vocab, rapt_error *err)
{
    rapt_tokenizer *k = rapt_tokenizer_load(path, err);
    if (k && rapt_tokenizer_size(k) > vocab) {
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu tokens; the model has %zu", path, rapt_tokenizer_size(k), vocab);
        rapt_tokenizer_free(k);
        k = NULL;
    }
    return k;
}

/* The path of a file in the folder, which the caller frees; NULL if it does not exist. */
static rapt_code find_pair_file(const char *folder, const char *name, char **path, rapt_error *err)
{
    bool there = false;
    rapt_code code = file_path(folder, name, path, err);
    if (!code)
        code = file_is_there(*path, &there, err);
    if (!there) {
        free(*path);
        *path = NULL;
    }
    return code;
}

static rapt_code require_pair_file(const char *folder, const char *name, rapt_error *err)
{
    char *path = NULL;
    rapt_code code = find_pair_file(folder, name, &path, err);
    if (!code && !path)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s/%s is missing, which has the ids of tokens", folder, name);
    free(path);
    return code;
}

/* Without its vocabularies a SentencePiece model would count its pieces itself. Embeddings that are not shared are of two. */
static rapt_code require_vocabularies(const rapt_transformer_config *k, const char *folder, rapt_error *err)
{
    rapt_code code = require_pair_file(folder, "vocab.json", err);
    return code || k->tied ? code : require_pair_file(folder, "target_vocab.json", err);
}

/* The path of tokenizer.json; or of a GGUF file, which has its own; or of the folder, if it has only a SentencePiece model or
 * BPE, whose kind its class tells; or NULL. */
static rapt_code find_shared_tokenizer(const char *folder, char **path, rapt_error *err)
{
    static const char *const models[] = {"spiece.model", "sentencepiece.bpe.model", "merges.txt"};
    if (gguf_is_file(folder))
        return file_path("", folder, path, err);
    rapt_code code = find_pair_file(folder, "tokenizer.json", path, err);
    for (size_t i = 0; !code && !*path && i < sizeof models / sizeof *models; i++) {
        char *model = NULL;
        code = find_pair_file(folder, models[i], &model, err);
        if (!code && model)
            code = file_path(folder, "", path, err);
        free(model);
    }
    return code;
}

/* Refuses a SentencePiece model alone, because its ids are not the translator's. */
static rapt_code check_shared_tokenizer(const rapt_translation_model *t, const char *folder, rapt_error *err)
{
    size_t size;
    if (!t->source || !spm_file(t->source, &size))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: there is a SentencePiece model, but neither tokenizer.json nor a "
                     "\"tokenizer_class\" that says which ids its pieces have", folder);
}

/* Loads Marian's tokenizers, one for each side; else tokenizer.json, for both sides unless rapt_model_export has written another
 * for the target. */
static rapt_code load_pair_tokenizers(rapt_translation_model *t, const rapt_transformer_config *k, const char *folder,
                                      rapt_error *err)
{
    char *source = NULL, *target = NULL, *both = NULL;
    rapt_code code = find_pair_file(folder, "source.spm", &source, err);
    if (!code && source)
        code = require_vocabularies(k, folder, err);
    if (!code && source)
        code = file_path(folder, "target.spm", &target, err);
    else if (!code)
        code = find_shared_tokenizer(folder, &both, err);
    if (!code && both)
        code = find_pair_file(folder, "target/tokenizer.json", &target, err);
    if (!code && !source && !both)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s: neither tokenizer.json nor source.spm is there, nor a SentencePiece "
                         "model; rapt translates with the tokenizer of one of them", folder);
    if (!code)
        t->source = load_pair_tokenizer(source ? source : both, k->source_vocab, err);
    code = code || source ? code : check_shared_tokenizer(t, folder, err);
    if (!code && t->source)
        t->target = both && !target ? t->source : load_pair_tokenizer(target, k->target_vocab, err);
    free(source);
    free(target);
    free(both);
    return t->target ? RAPT_OK : code ? code : RAPT_ERR_FORMAT;
}

/* Loads what tokenizer.json puts around a text: tokens before it, and the end of text after it. Marian's has only the latter. */
static rapt_code load_template(rapt_translation_model *t, const char *folder, rapt_error *err)
{
    int32_t *ids;
    size_t count;
    rapt_code code = tokenizer_encode_bytes(t->source, "", 0, true, &ids, &count, err);
    if (code)
        return code;
    if (count == 0 || ids[count - 1] != t->special.eos || count - 1 > RAPT_SOURCE_BEGIN_MAX)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: the tokenizer does not put \"eos_token_id\", %d, behind a text; rapt "
                         "translates texts that end so", folder, (int)t->special.eos);
    t->source_begin_count = code ? 0 : count - 1;
    t->specials_in_text = true;
    memcpy(t->source_begin, ids, t->source_begin_count * sizeof *ids);
    free(ids);
    return code;
}

/* ---- special tokens ------------------------------------------------------------------------------------------- */

/* The one token of a key; both vocabularies must have it. */
static rapt_code load_special(const hub_generation *g, const char *key, const rapt_transformer_config *k, int32_t *id,
                              rapt_error *err)
{
    size_t count = 0, vocab = k->source_vocab < k->target_vocab ? k->source_vocab : k->target_vocab;
    bool there;
    rapt_code code = hub_generation_ids(g, key, vocab, id, 1, &count, &there, err);
    if (!code && count == 0)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is missing: rapt translates from one token to another", g->config_path,
                         key);
    return code;
}

static rapt_code load_pair_generation(rapt_model *m, const rapt_transformer_config *k, const model_source *from, rapt_error *err)
{
    hub_generation g;
    rapt_special_ids *special = &m->translation.special;
    rapt_code code = hub_generation_open(&g, from, err);
    code = code ? code : load_special(&g, "decoder_start_token_id", k, &special->bos, err);
    code = code ? code : load_special(&g, "eos_token_id", k, &special->eos, err);
    code = code ? code : load_special(&g, "pad_token_id", k, &special->pad, err);
    code = code ? code : hub_generation_check_translator(&g, err);
    code = code ? code : hub_generation_policy(&g, k->target_vocab, &m->search, err);
    hub_generation_close(&g);
    special->unk = rapt_tokenizer_special(m->translation.target, "<unk>");
    return code;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

/* Among embeddings and output, counts only the source's embedding, which every model has. */
static config_stack stack_of_encoder(const rapt_transformer_config *k)
{
    const size_t positions = k->positions == RAPT_POSITIONS_LEARNED ? 2 * k->max_positions : 0;
    return (config_stack){.block = &k->block, .layers = k->layers, .attentions = 1, .ffns = 1,
                          .rows = k->source_vocab + positions, .positions = k->positions};
}

static config_stack stack_of_decoder(const rapt_transformer_config *k, const rapt_block_config *block)
{
    return (config_stack){.block = block, .layers = k->decoder_layers, .attentions = 2, .ffns = 1, .positions = k->positions};
}

rapt_code hub_translation_check(const rapt_transformer_config *k, const char *path, rapt_error *err)
{
    const rapt_block_config block = block_of_decoder(k);
    const config_stack encoder = stack_of_encoder(k), decoder = stack_of_decoder(k, &block);
    rapt_code code = config_block_check(&encoder, path, err);
    return code ? code : config_block_check(&decoder, path, err);
}

rapt_code hub_translation_load_text(rapt_model *m, const rapt_transformer_config *k, const model_source *from, rapt_error *err)
{
    rapt_code code = load_pair_tokenizers(&m->translation, k, from->folder, err);
    code = code ? code : load_pair_generation(m, k, from, err);
    return code ? code : load_template(&m->translation, from->folder, err);
}

/* As in nn.Embedding, looking up padding has no gradient; decoders that begin with it look it up. */
static void set_padding(rapt_transformer *net, int32_t id)
{
    rapt_embed_options *const sides[] = {&net->encoder.input.embedding.options, &net->decoder.input.embedding.options};
    for (size_t i = 0; i < 2; i++) {
        sides[i]->has_padding = true;
        sides[i]->padding_idx = id;
    }
}

rapt_code hub_translation_load(rapt_model *m, const hub_family *family, const rapt_transformer_config *k, const weights *w,
                               const model_source *from, rapt_error *err)
{
    rapt_error why = {0};
    m->translation.net = rapt_transformer_new(k, model_source_stays(from) ? RAPT_SEED_UNSET : RAPT_SEED_NONE, &why);
    if (!m->translation.net)
        return rapt_fail(err, why.code, "%s", why.message);
    m->params = m->translation.net->params;
    m->translation.max_len = k->max_positions;
    if (k->positions != RAPT_POSITIONS_RELATIVE) /* all except T5 have a padding_idx */
        set_padding(m->translation.net, m->translation.special.pad);
    const place_model files = {family->places, family->type, m->params, &m->translation.net->config.block};
    return hub_origin_fill(m, &files, w, from, err);
}
