/* text/pipeline/pipeline_model.c: WordPiece and WordLevel; pipeline_bpe.c has BPE, pipeline_unigram.c Unigram. */
#include "text/pipeline/pipeline_model.h"

#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

void pipeline_model_free(pipeline_model *m)
{
    token_list_free(&m->vocab);
    pair_table_free(&m->pairs);
    unigram_free(&m->unigram);
    free(m->unk_token);
    free(m->prefix);
    free(m->suffix);
    *m = (pipeline_model){0};
}

/* For a piece of `size` bytes. */
static rapt_code put_unknown(const pipeline_model *m, size_t size, model_work *w, rapt_error *err)
{
    int32_t unk = pipeline_model_unknown(m, err);
    return unk < 0 ? RAPT_ERR_VALUE : model_work_put(w, unk, 0, size, err);
}

/* ---- WordPiece ---------------------------------------------------------------------------------------------- */

static size_t count_characters(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* The longest token with which the text begins after the bytes that lead to a node, and its bytes after them; -1: none. */
static int32_t longest_token(const pipeline_model *m, int32_t node, const char *text, size_t size, size_t *length)
{
    int32_t longest = -1, id;
    for (size_t i = 0; i < size && piece_trie_step(&m->unigram.trie, &node, text[i], &id); i++) {
        longest = id >= 0 ? id : longest;
        *length = id >= 0 ? i + 1 : *length;
    }
    return longest;
}

/* Tokens after the first have the prefix. */
static rapt_code word_piece_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    size_t begun = model_work_count(w), length = 0;
    rapt_code code = RAPT_OK;
    if (count_characters(text, size) > m->max_characters)
        return put_unknown(m, size, w, err);
    for (size_t at = 0; at < size && !code; at += length) {
        int32_t id = longest_token(m, at == 0 ? 0 : m->after_prefix, text + at, size - at, &length);
        if (id < 0) {
            model_work_take_back(w, begun);
            return put_unknown(m, size, w, err);
        }
        code = model_work_put(w, id, at, at + length, err);
    }
    return code;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static rapt_code word_level_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    int32_t id = token_list_find(&m->vocab, text, size);
    return id >= 0 ? model_work_put(w, id, 0, size, err) : put_unknown(m, size, w, err);
}

rapt_code pipeline_model_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    switch (m->kind) {
    case MODEL_WORD_PIECE: return word_piece_encode(m, text, size, w, err);
    case MODEL_WORD_LEVEL: return word_level_encode(m, text, size, w, err);
    case MODEL_UNIGRAM: return pipeline_unigram_encode(m, text, size, w, err);
    default: return pipeline_bpe_encode(m, text, size, w, err);
    }
}
