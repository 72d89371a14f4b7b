/* io/hub/hub_translation.c: see hub_translation.h. */
#include "io/hub/hub_translation.h"

#include "base/file.h"
#include "io/config_block.h"
#include "io/hub/hub_generation.h"
#include "io/hub/hub_weights.h"
#include "nn/block.h"

#include <stdlib.h>

/* ---- tokenizers ----------------------------------------------------------------------------------------------- */

static rapt_tokenizer *load_side_tokenizer(const char *folder, const char *name, size_t vocab, rapt_error *err)
{
    char *path;
    rapt_tokenizer *k = file_path(folder, name, &path, err) ? NULL : rapt_tokenizer_load(path, err);
    if (k && rapt_tokenizer_size(k) > vocab) {
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu tokens; the model has %zu", path, rapt_tokenizer_size(k), vocab);
        rapt_tokenizer_free(k);
        k = NULL;
    }
    free(path);
    return k;
}

static rapt_code load_pair_tokenizers(rapt_translation_model *t, const rapt_transformer_config *k, const char *folder,
                                      rapt_error *err)
{
    t->source = load_side_tokenizer(folder, "source.spm", k->source_vocab, err);
    t->target = t->source ? load_side_tokenizer(folder, "target.spm", k->target_vocab, err) : NULL;
    return t->target ? RAPT_OK : RAPT_ERR_FORMAT;
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
    code = code ? code : hub_generation_policy(&g, k->target_vocab, &m->search, err);
    hub_generation_close(&g);
    special->unk = rapt_tokenizer_special(m->translation.target, "<unk>");
    return code;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

/* Of embeddings and output, only the source's embedding is counted, which every model has. */
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

/* So that a damaged configuration does not allocate a model that the files cannot hold. */
static rapt_code check_pair_sizes(const rapt_transformer_config *k, const weights *w, const char *folder, rapt_error *err)
{
    const rapt_block_config block = block_of_decoder(k);
    const config_stack encoder = stack_of_encoder(k), decoder = stack_of_decoder(k, &block);
    const double numbers = (config_block_min_bytes(&encoder) + config_block_min_bytes(&decoder)) / sizeof(rapt_real);
    if ((double)weights_parameters(w) >= numbers)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the files of tensors hold %zu numbers; the model of config.json takes more than "
                     "%.0f", folder, weights_parameters(w), numbers);
}

rapt_code hub_translation_load(rapt_model *m, const hub_family *family, const rapt_transformer_config *k, const weights *w,
                               const model_source *from, rapt_error *err)
{
    rapt_code code = check_pair_sizes(k, w, from->folder, err);
    if (!code)
        code = load_pair_tokenizers(&m->translation, k, from->folder, err);
    if (!code)
        code = load_pair_generation(m, k, from, err);
    m->translation.net = code ? NULL : rapt_transformer_new(k, RAPT_SEED_NONE, err);
    if (!m->translation.net)
        return code ? code : RAPT_ERR_FORMAT;
    m->params = m->translation.net->params;
    m->translation.max_len = k->max_positions;
    return hub_fill(m->params, &m->translation.net->config.block, family, w, from->folder, err);
}
