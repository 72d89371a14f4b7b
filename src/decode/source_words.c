/* decode/source_words.c: encodes the text of a segment with the places of its tokens. Only some lines need them, so that the
 * encoding of all lines does not keep them. */
#include "decode/source_words.h"

#include "decode/known_words.h"
#include "io/model_core.h"
#include "text/prose/sentences.h"

#include <stdlib.h>

rapt_code source_words_read(source_words *w, const translate_item *item, rapt_error *err)
{
    const translate_text *x = item->text;
    const bool tokens = x->tokens && x->tokens[item->line].ids;
    rapt_encode_options o = rapt_encode_options_default();
    *w = (source_words){.m = x->setup->m, .segment = item->source};
    if (tokens)
        return RAPT_OK;
    o.specials = w->m->translation.specials_in_text;
    w->text = (rapt_text){x->lines[item->line].data + item->source->from, item->source->end - item->source->from};
    return rapt_tokenizer_encode_offsets(w->m->translation.source, &w->text, &o, &w->ids, &w->spans, &w->count, err);
}

void source_words_free(source_words *w)
{
    free(w->ids);
    free(w->spans);
}

static rapt_text trimmed_word(rapt_text text)
{
    const size_t from = sentences_skip_spaces(text.data, text.size, 0);
    text.data += from;
    text.size -= from;
    while (text.size > 0 && text.data[text.size - 1] == ' ')
        text.size--;
    return text;
}

bool source_words_span(const source_words *w, size_t i, rapt_span *span)
{
    const source_segment *s = w->segment;
    const size_t at = i - s->head;
    if (i < s->head || i >= s->count || at >= w->count || w->ids[at] != s->ids[i])
        return false;
    *span = w->spans[at];
    return true;
}

rapt_text source_words_at(const source_words *w, size_t i)
{
    const source_segment *s = w->segment;
    rapt_span span;
    size_t size = 0;
    if (i < s->head || i >= s->count)
        return (rapt_text){0};
    if (source_words_span(w, i, &span))
        return trimmed_word((rapt_text){w->text.data + span.begin, span.end - span.begin});
    const char *token = s->ids[i] == known_words_id(w->m->translation.source)
                            ? NULL : rapt_tokenizer_token(w->m->translation.source, s->ids[i], &size);
    return token ? trimmed_word((rapt_text){token, size}) : (rapt_text){0};
}
