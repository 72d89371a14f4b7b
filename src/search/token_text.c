/* search/token_text.c: the text that each new token adds. The tokens of most tokenizers are bytes, which are pushed unchanged. A
 * pipeline has a decoder: a token adds what follows the text of the tokens before it when they are decoded together. The last of
 * these tokens that added text are enough for that. */
#include "search/token_text.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"

enum { WAITING = 16 }; /* tokens that may wait for each other and are tried each time; a character has fewer */

void token_text_begin(token_text *t, const rapt_tokenizer *tokenizer, size_t count)
{
    *t = (token_text){tokenizer, 0, count, count};
}

static bool ends_unfinished(const char *text, size_t size)
{
    return size >= 3 && memcmp(text + size - 3, REPLACEMENT, 3) == 0;
}

static rapt_code push_decoded(token_text *t, const int32_t *tokens, size_t count, bool last, text_stream *out, rapt_error *err)
{
    size_t before = 0, size = 0;
    if (count < t->next && !last)
        return RAPT_OK;
    t->next = count + 1 + (count - t->shown) / WAITING; /* seldom, where all of a long text waits */
    char *shown = rapt_tokenizer_decode(t->tokenizer, tokens + t->from, t->shown - t->from, &before);
    char *all = rapt_tokenizer_decode(t->tokenizer, tokens + t->from, count - t->from, &size);
    rapt_code code = shown && all ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    if (!code && size > before && (last || !ends_unfinished(all, size))) {
        code = text_stream_push(out, all + before, size - before, err);
        t->from = t->shown;
        t->shown = count;
        t->next = count + 1;
    }
    free(shown);
    free(all);
    return code;
}

rapt_code token_text_next(token_text *t, const int32_t *tokens, size_t count, text_stream *out, rapt_error *err)
{
    size_t size;
    if (rapt_tokenizer_kind_of(t->tokenizer) == RAPT_TOKENIZER_PIPELINE)
        return push_decoded(t, tokens, count, false, out, err);
    const char *bytes = rapt_tokenizer_token(t->tokenizer, tokens[count - 1], &size);
    return bytes ? text_stream_push(out, bytes, size, err) : RAPT_OK;
}

bool token_text_is_open(const token_text *t, size_t count)
{
    return rapt_tokenizer_kind_of(t->tokenizer) == RAPT_TOKENIZER_PIPELINE && t->shown < count;
}

rapt_code token_text_finish(token_text *t, const int32_t *tokens, size_t count, text_stream *out, rapt_error *err)
{
    return token_text_is_open(t, count) ? push_decoded(t, tokens, count, true, out, err) : RAPT_OK;
}
