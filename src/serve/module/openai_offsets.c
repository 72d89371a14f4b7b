/* serve/module/openai_offsets.c: tokens become text as in the engine, except that no stop text holds anything back. */
#include "serve/module/openai_run.h"

#include <stdlib.h>
#include <string.h>

/* Characters that begin in these bytes. */
static size_t begun_characters(const char *bytes, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return count;
}

/* A rapt_text_fn. */
static rapt_code offsets_count(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)err;
    openai_offsets *o = context;
    o->bytes += size;
    o->characters += begun_characters(text, size);
    return RAPT_OK;
}

/* Begins to count after `count` tokens of the prompt. */
static bool offsets_begin(openai_offsets *o, size_t count)
{
    text_stream_free(o->out);
    o->out = text_stream_new(NULL, 0, offsets_count, o, NULL);
    token_text_begin(&o->shown, o->tokenizer, count);
    return o->out && !text_tokens_put(&o->tokens, 0, o->prompt->ids, count, NULL);
}

static bool offsets_take(openai_offsets *o, int32_t id, size_t *offset)
{
    *offset = o->characters + (text_stream_is_open(o->out) || token_text_is_open(&o->shown, o->tokens.count));
    return !text_tokens_put(&o->tokens, o->tokens.count, &id, 1, NULL) &&
           !token_text_next(&o->shown, o->tokens.ids, o->tokens.count, o->out, NULL);
}

/* Whether the prompt has the bytes at its next place, unless it ends before them. */
static bool prompt_has_next(const openai_offsets *o, const char *bytes, size_t size)
{
    const size_t rest = o->bytes < o->prompt->size ? o->prompt->size - o->bytes : 0;
    return size <= rest && memcmp(o->prompt->text + o->bytes, bytes, size) == 0;
}

bool openai_offsets_of_prompt(openai_offsets *o, int32_t id, size_t *offset)
{
    size_t size = 0;
    const char *bytes = rapt_tokenizer_token(o->tokenizer, id, &size);
    const bool pieces = rapt_tokenizer_kind_of(o->tokenizer) == RAPT_TOKENIZER_SENTENCEPIECE;
    if (!o->out && !offsets_begin(o, 0))
        return false;
    *offset = o->characters;
    const bool special = bytes && strlen(bytes) == size && rapt_tokenizer_special(o->tokenizer, bytes) == id;
    if (!bytes || (special && !prompt_has_next(o, bytes, size)))
        return true;
    if (pieces && o->bytes == 0 && bytes[0] == ' ' && !prompt_has_next(o, " ", 1)) /* SentencePiece begins texts with a space */
        return !text_stream_push(o->out, bytes + 1, size - 1, NULL);
    return offsets_take(o, id, offset);
}

bool openai_offsets_of_next(openai_offsets *o, int32_t id, size_t *offset)
{
    if (!o->generated && !offsets_begin(o, o->prompt->count))
        return false;
    if (!o->generated)
        o->characters = begun_characters(o->prompt->text, o->prompt->size);
    o->generated = true;
    return offsets_take(o, id, offset);
}

void openai_offsets_free(openai_offsets *o)
{
    text_stream_free(o->out);
    free(o->tokens.ids);
    *o = (openai_offsets){.prompt = NULL};
}
