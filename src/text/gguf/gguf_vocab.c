/* text/gguf/gguf_vocab.c: the tokens of a GGUF file. */
#include "text/gguf/gguf_tokenizer.h"

#include "text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 1 << 22 };
#define PREFIX "tokenizer.ggml."

rapt_code gguf_vocab_no_memory(const gguf_vocab *v, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", v->file->path);
}

static const gguf_value *vocab_value(const gguf_vocab *v, const char *key)
{
    char whole[64];
    snprintf(whole, sizeof whole, PREFIX "%s", key);
    return gguf_find(v->file, whole);
}

/* An array with an element for each token; NULL if the file has none. */
static rapt_code vocab_column(const gguf_vocab *v, const char *key, gguf_type type, const gguf_value **to, rapt_error *err)
{
    const gguf_value *column = *to = vocab_value(v, key);
    if (column && (!column->is_array || column->type != type))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"" PREFIX "%s\" is no array of %s", v->file->path, key,
                         type == GGUF_F32 ? "f32" : "i32");
    if (column && column->count != v->count)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"" PREFIX "%s\" has %zu elements; there are %zu tokens", v->file->path, key,
                         column->count, v->count);
    return RAPT_OK;
}

static rapt_code vocab_take_tokens(gguf_vocab *v, const gguf_value *tokens, rapt_error *err)
{
    v->tokens = calloc(tokens->count + 1, sizeof *v->tokens);
    if (!v->tokens)
        return gguf_vocab_no_memory(v, err);
    for (; v->count < tokens->count; v->count++) {
        const gguf_text text = v->count ? gguf_text_next(&v->tokens[v->count - 1]) : gguf_text_first(tokens);
        if (utf8_valid_prefix(text.data, text.size) != text.size || memchr(text.data, '\0', text.size))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu is not UTF-8, or holds a NUL", v->file->path, v->count);
        v->tokens[v->count] = text;
    }
    return RAPT_OK;
}

static rapt_code vocab_check_scores(const gguf_vocab *v, rapt_error *err)
{
    for (size_t i = 0; v->scores && i < v->count; i++)
        if (!isfinite(gguf_vocab_score(v, i)))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the score of token %zu is not a finite number", v->file->path, i);
    return RAPT_OK;
}

static rapt_code vocab_check_kinds(const gguf_vocab *v, rapt_error *err)
{
    for (size_t i = 0; v->kinds && i < v->count; i++) {
        int64_t kind = 0;
        if (!gguf_whole(v->kinds, i, &kind) || kind < GGUF_NORMAL || kind > GGUF_BYTE)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu has the type %lld; 1 to 6 are known", v->file->path, i,
                             (long long)kind);
    }
    return RAPT_OK;
}

rapt_code gguf_vocab_open(gguf_vocab *v, const gguf_file *f, rapt_error *err)
{
    *v = (gguf_vocab){.file = f};
    const gguf_value *tokens = vocab_value(v, "tokens");
    if (!tokens)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: there is no \"" PREFIX "tokens\": the file has no tokenizer", f->path);
    if (!tokens->is_array || tokens->type != GGUF_TEXT || tokens->count == 0 || tokens->count > MOST_TOKENS)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"" PREFIX "tokens\" is no array of 1 to %d texts", f->path, MOST_TOKENS);
    rapt_code code = vocab_take_tokens(v, tokens, err);
    code = code ? code : vocab_column(v, "token_type", GGUF_I32, &v->kinds, err);
    code = code ? code : vocab_column(v, "scores", GGUF_F32, &v->scores, err);
    code = code ? code : vocab_check_scores(v, err);
    return code ? code : vocab_check_kinds(v, err);
}

void gguf_vocab_free(gguf_vocab *v)
{
    free(v->tokens);
    v->tokens = NULL;
}

gguf_kind gguf_vocab_kind(const gguf_vocab *v, size_t id)
{
    int64_t kind = GGUF_NORMAL;
    if (v->kinds)
        gguf_whole(v->kinds, id, &kind);
    return (gguf_kind)kind;
}

bool gguf_vocab_is_added(const gguf_vocab *v, size_t id)
{
    const gguf_kind kind = gguf_vocab_kind(v, id);
    return kind == GGUF_UNKNOWN || kind == GGUF_CONTROL || kind == GGUF_USER_DEFINED;
}

double gguf_vocab_score(const gguf_vocab *v, size_t id)
{
    double score = 0;
    if (v->scores)
        gguf_real(v->scores, id, &score);
    return score;
}

rapt_code gguf_vocab_id(const gguf_vocab *v, const char *key, int64_t *id, rapt_error *err)
{
    const gguf_value *value = vocab_value(v, key);
    *id = -1;
    if (!value)
        return RAPT_OK;
    if (!value->is_array && gguf_whole(value, 0, id) && *id >= 0 && *id < (int64_t)v->count)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"" PREFIX "%s\" is none of the %zu tokens", v->file->path, key, v->count);
}

/* Whether a token is ordinary text: texts of special tokens are in brackets, even in a file that calls all tokens normal. */
static bool vocab_is_ordinary(const gguf_vocab *v, size_t id)
{
    const gguf_text *text = &v->tokens[id];
    const bool brackets = text->size > 2 && text->data[0] == '<' && text->data[text->size - 1] == '>';
    return v->kinds && gguf_vocab_kind(v, id) == GGUF_NORMAL && !brackets;
}

rapt_code gguf_vocab_special(const gguf_vocab *v, const char *key, int64_t *id, rapt_error *err)
{
    rapt_code code = gguf_vocab_id(v, key, id, err);
    if (!code && *id == (int64_t)v->count - 1 && vocab_is_ordinary(v, (size_t)*id))
        *id = -1;
    return code;
}

bool gguf_vocab_flag(const gguf_vocab *v, const char *key, bool otherwise)
{
    int64_t flag = otherwise;
    const gguf_value *value = vocab_value(v, key);
    if (value && !value->is_array)
        gguf_whole(value, 0, &flag);
    return flag != 0;
}
