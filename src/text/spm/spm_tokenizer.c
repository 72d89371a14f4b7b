/* text/spm/spm_tokenizer.c: SentencePiece models as tokenizers: making, describing and saving them. For rapt_tokenizer_load.
 * Reading is in spm_read.c, encoding in spm_encode.c, decoding in spm_decode.c. */
#include "text/spm/spm.h"

#include "base/rng.h"
#include "text/bpe/base64.h"
#include "text/encode_run.h"
#include "text/spm/protobuf.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const tokenizer_ops SPM_OPS;

static spm *spm_new(void)
{
    spm *k = calloc(1, sizeof *k);
    if (k) {
        k->base.ops = &SPM_OPS;
        k->unknown = -1;
        memset(k->bytes, 0xFF, sizeof k->bytes);
    }
    return k;
}

void spm_free(spm *k)
{
    if (!k)
        return;
    token_list_free(&k->pieces);
    token_list_free(&k->reserved);
    token_list_free(&k->tokens);
    piece_trie_free(&k->kept);
    unigram_free(&k->unigram);
    free(k->kinds);
    free(k->scores);
    free(k->file);
    free(k);
}

static void spm_free_base(rapt_tokenizer *k)
{
    spm_free((spm *)k);
}

static size_t spm_size(const rapt_tokenizer *k)
{
    return spm_of(k)->pieces.size;
}

static const char *spm_token(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    return token_list_at(&spm_of(k)->tokens, id, size);
}

/* <unk> and control pieces: those that no text becomes. */
static int32_t spm_special(const rapt_tokenizer *k, const char *text)
{
    const int32_t id = token_list_find(&spm_of(k)->reserved, text, strlen(text));
    return id >= 0 && spm_of(k)->kinds[id] != SPM_BYTE ? id : -1;
}

static uint64_t spm_hash(const rapt_tokenizer *k)
{
    return rng_mix(rng_hash_text("sentencepiece"), XXH3_64bits(spm_of(k)->file, spm_of(k)->file_size));
}

/* ---- files -------------------------------------------------------------------------------------------------- */

static json_t *spm_to_json(const rapt_tokenizer *base)
{
    const spm *k = spm_of(base);
    char *letters = malloc(BASE64_CAPACITY(k->file_size) + 1);
    if (!letters)
        return NULL;
    base64_encode(k->file, k->file_size, letters);
    json_t *root = json_pack("{s:s, s:i, s:s, s:s%}", "format", TOKENIZER_FORMAT, "version", TOKENIZER_VERSION, "type",
                             "sentencepiece", "model", letters, BASE64_CAPACITY(k->file_size));
    free(letters);
    return root;
}

const char *spm_file(const rapt_tokenizer *base, size_t *size)
{
    if (base->ops != &SPM_OPS)
        return NULL;
    *size = spm_of(base)->file_size;
    return spm_of(base)->file;
}

spm *spm_open(char *file, size_t size, const char *path, rapt_error *err)
{
    rapt_error why = {0};
    spm *k = file ? spm_new() : NULL;
    if (!k) {
        free(file);
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", path);
        return NULL;
    }
    k->file = file;
    k->file_size = size;
    if (spm_read(k, &why) == RAPT_OK)
        return k;
    if (ranks_look_like(file, size)) /* Llama 3's tokenizer.model */
        ranks_refuse(path, NULL, file, size, err);
    else
        rapt_fail(err, why.code, "%s: as a SentencePiece model: %s", path, why.message);
    spm_free(k);
    return NULL;
}

rapt_tokenizer *spm_from_bytes(const char *bytes, size_t size, const char *path, rapt_error *err)
{
    char *copy = malloc(size + 1);
    if (copy && size > 0)
        memcpy(copy, bytes, size);
    spm *k = spm_open(copy, size, path, err);
    return k ? &k->base : NULL;
}

spm *spm_open_json(const json_t *root, const char *path, rapt_error *err)
{
    const json_t *model = json_object_get(root, "model");
    const char *letters = json_string_value(model);
    const size_t size = json_string_length(model);
    char *file = malloc(size / 4 * 3 + 1);
    size_t length = 0;
    if (file && (!letters || !base64_decode(letters, size, file, &length))) {
        free(file);
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"model\" is not base64", path);
        return NULL;
    }
    return spm_open(file, length, path, err);
}

rapt_tokenizer *spm_from_json(const json_t *root, const char *path, rapt_error *err)
{
    spm *k = spm_open_json(root, path, err);
    return k ? &k->base : NULL;
}

bool spm_looks_like(const char *bytes, size_t size, bool named)
{
    static const char spaces[] = " \t\r\n"; /* the tag of a piece is also a line feed */
    protobuf model = {bytes, bytes + size};
    protobuf_field first = {0}, member = {0};
    size_t at = 0;
    while (at < size && bytes[at] && strchr(spaces, bytes[at]))
        at++;
    if (at < size && (bytes[at] == '{' || bytes[at] == '['))
        return false;
    if (named)
        return true;
    if (!protobuf_next(&model, &first) || first.number != 1 || first.type != PROTOBUF_BYTES)
        return false;
    protobuf piece = {first.data, first.data + first.size};
    return protobuf_next(&piece, &member) && member.number <= 3;
}

static const tokenizer_ops SPM_OPS = {
    RAPT_TOKENIZER_SENTENCEPIECE, spm_free_base, spm_size, spm_token, spm_special, spm_hash, spm_encode_to, encode_run_whole,
    spm_decode, spm_to_json, /* encode_run_whole: the text is one sentence, which cannot be cut */
    .encode_offsets = spm_encode_offsets};
