/* io/hub/hub_embedding.c: loads an encoder's tokenizer, pooling and limits. */
#include "io/hub/hub_parts.h"

#include "base/file.h"
#include "io/hub/hub_sentence.h"
#include "io/hub/hub_weights.h"
#include "io/json_file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SETTINGS ((size_t)16 << 20)

/* ---- as a task ------------------------------------------------------------------------------------------------ */

/* Encoders are in no folder of ours. */
const model_task model_encoder = {.what = "an encoder", .program = "rapt embed"};
const model_task model_cross_encoder = {.what = "a cross-encoder", .program = "rapt rerank"};

/* ---- text ----------------------------------------------------------------------------------------------------- */

/* The path of a file in the folder, to be freed, and whether it is there. */
static rapt_code find_text_file(const char *folder, const char *name, char **path, bool *there, rapt_error *err)
{
    *there = false;
    rapt_code code = file_path(folder, name, path, err);
    return code ? code : file_is_there(*path, there, err);
}

/* Loads tokenizer.json, or else vocab.txt, or RoBERTa's vocab.json and merges.txt, which do not say how two texts become one.
 * A SentencePiece model alone has other ids than XLM-RoBERTa. */
static rapt_code load_encoder_tokenizer(rapt_encoder_model *e, const hub_family *family, const char *folder, bool of_pairs,
                                        rapt_error *err)
{
    const bool word_piece = !family->skips_padding;
    char *path = NULL, *vocab = NULL;
    bool there, has_vocab = false;
    rapt_code code = find_text_file(folder, "tokenizer.json", &path, &there, err);
    if (!code && !there && of_pairs && !word_piece)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s: tokenizer.json is missing, which says how two texts become one", folder);
    if (!code && !there)
        code = find_text_file(folder, word_piece ? "vocab.txt" : "merges.txt", &vocab, &has_vocab, err);
    if (!code && !there && !has_vocab)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s: %s is missing, which has the tokenizer", folder,
                         word_piece ? "tokenizer.json or vocab.txt" : "tokenizer.json or merges.txt");
    if (!code)
        e->tokenizer = there ? rapt_tokenizer_load(path, err)
                       : word_piece ? hub_vocab_load(folder, err) : rapt_tokenizer_load(folder, err);
    free(path);
    free(vocab);
    return e->tokenizer ? RAPT_OK : code ? code : RAPT_ERR_FORMAT;
}

/* Whether a list has a text. */
static bool has_word(const json_t *list, const char *word)
{
    bool has = false;
    for (size_t i = 0; i < json_array_size(list) && !has; i++) {
        const char *one = json_string_value(json_array_get(list, i));
        has = one && strcmp(one, word) == 0;
    }
    return has;
}

/* The length to which texts are truncated; transformers writes a huge number if there is none. */
static rapt_code read_text_limit(rapt_encoder_model *e, const json_t *settings, const char *path, rapt_error *err)
{
    hub_config c = {.root = settings, .path = path, .err = err};
    const json_t *inputs = hub_value(&c, "model_input_names");
    const double most = hub_within(&c, "model_max_length", (double)e->max_len, 1, 1e31);
    if (strcmp(hub_word(&c, "truncation_side", "right"), "right") != 0)
        hub_refuse(&c, "truncation_side", "rapt cuts texts off on the right");
    e->max_len = most < (double)e->max_len ? (size_t)most : e->max_len;
    e->typed_pairs = e->typed_pairs && (!inputs || has_word(inputs, "token_type_ids"));
    return c.code;
}

static rapt_code load_text_limit(rapt_encoder_model *e, const char *folder, rapt_error *err)
{
    char *path = NULL;
    bool there;
    rapt_code code = find_text_file(folder, "tokenizer_config.json", &path, &there, err);
    json_t *settings = !code && there ? json_file_read(path, MAX_SETTINGS, err) : NULL;
    if (!code && there)
        code = settings ? read_text_limit(e, settings, path, err) : RAPT_ERR_FORMAT;
    json_decref(settings);
    free(path);
    return code;
}

rapt_code hub_embedding_load_text(rapt_model *m, const hub_family *family, const rapt_transformer_config *k,
                                  const model_source *from, rapt_error *err)
{
    rapt_encoder_model *e = &m->encoder;
    e->max_len = k->max_positions;
    e->skipped = family->skips_padding ? 1 : -1;
    e->pooling = RAPT_POOLING_MEAN;
    e->typed_pairs = k->token_types > 1;
    const bool of_pairs = k->labels > 0;
    rapt_code code = load_encoder_tokenizer(e, family, from->folder, of_pairs, err);
    code = code ? code : load_text_limit(e, from->folder, err);
    return code ? code : (of_pairs ? hub_sentence_load_pairs : hub_sentence_load)(e, k, from->folder, err);
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

config_stack hub_embedding_stack(const rapt_transformer_config *k)
{
    return (config_stack){.block = &k->block, .layers = k->layers, .attentions = 1, .ffns = 1,
                          .rows = k->source_vocab + k->max_positions + k->token_types, .positions = k->positions};
}

rapt_code hub_embedding_load(rapt_model *m, const hub_family *family, const rapt_transformer_config *k, const weights *w,
                             const model_source *from, rapt_error *err)
{
    rapt_error why = {0};
    m->encoder.net = rapt_encoder_only_new(k, from->inference ? RAPT_SEED_UNSET : RAPT_SEED_NONE, &why);
    if (!m->encoder.net)
        return rapt_fail(err, why.code, "%s", why.message);
    m->params = m->encoder.net->params;
    const place_model files = {family->places, family->type, m->params, &m->encoder.net->config.block};
    return hub_fill(m->params, &files, w, from, NULL, err);
}
