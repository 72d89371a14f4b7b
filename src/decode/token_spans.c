/* decode/token_spans.c: where tokens are in texts. A translation's text is not simply its tokens one after the other: spaces come
 * and go where tokens and segments are joined, words are detokenized, capitalized and replaced. So the bytes of the tokens are
 * compared with the text, and where they differ, the nearest place counts from which both continue alike. */
#include "decode/token_spans.h"

#include "base/buffer.h"
#include "decode/source_words.h"
#include "io/model_core.h"
#include "search/whole_text.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that may be skipped where two texts differ, and the bytes that are to be alike behind them. */
enum { SKIPPED = 32, ALIKE = 3 };

/* The bytes of a text without ASCII's spaces, its letters in lower case. */
typedef struct shown_bytes {
    unsigned char *byte; /* [count] */
    size_t *at;          /* [count + 1]: the place of each, and the end of the text */
    size_t count;
} shown_bytes;

static void shown_bytes_free(shown_bytes *s)
{
    free(s->byte);
    free(s->at);
}

static bool shown_bytes_take(shown_bytes *s, const char *text, size_t size)
{
    *s = (shown_bytes){malloc(size + 1), malloc((size + 1) * sizeof *s->at), 0};
    if (!s->byte || !s->at)
        return false;
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte > ' ') {
            s->at[s->count] = i;
            s->byte[s->count++] = byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte + 'a' - 'A') : byte;
        }
    }
    s->at[s->count] = size;
    return true;
}

static bool continue_alike(const shown_bytes *a, size_t i, const shown_bytes *b, size_t j)
{
    for (size_t k = 0; k < ALIKE; k++) {
        if (i + k == a->count || j + k == b->count)
            return i + k == a->count && j + k == b->count;
        if (a->byte[i + k] != b->byte[j + k])
            return false;
    }
    return true;
}

/* How many bytes of both to skip until they are alike again: the fewest together; one of each if that is too far. */
static void skip_difference(const shown_bytes *a, size_t i, const shown_bytes *b, size_t j, size_t *of_a, size_t *of_b)
{
    for (size_t sum = 1; sum <= 2 * SKIPPED; sum++)
        for (size_t x = sum > SKIPPED ? sum - SKIPPED : 0; x <= sum && x <= SKIPPED; x++)
            if (i + x <= a->count && j + sum - x <= b->count && continue_alike(a, i + x, b, j + sum - x)) {
                *of_a = x, *of_b = sum - x;
                return;
            }
    *of_a = i < a->count, *of_b = j < b->count;
}

/* to[i]: the byte of `b` for byte i of `a`, and b->count for the end. */
static void map_bytes(const shown_bytes *a, const shown_bytes *b, size_t *to)
{
    size_t i = 0, j = 0;
    while (i < a->count) {
        size_t of_a = 1, of_b = 1;
        if (j == b->count || a->byte[i] != b->byte[j])
            skip_difference(a, i, b, j, &of_a, &of_b);
        for (size_t end = i + of_a; i < end; i++)
            to[i] = j;
        j += of_b;
    }
    to[a->count] = b->count;
}

/* From byte `from` of b to byte `end`, moved to beginnings of characters. */
static rapt_span span_of(rapt_text text, const shown_bytes *b, size_t from, size_t end)
{
    rapt_span span = {b->at[from], from < end ? b->at[end - 1] + 1 : b->at[from]};
    while (span.begin > 0 && span.begin < text.size && ((unsigned char)text.data[span.begin] & 0xC0) == 0x80)
        span.begin--;
    while (span.end > span.begin && span.end < text.size && ((unsigned char)text.data[span.end] & 0xC0) == 0x80)
        span.end--;
    if (from == end)
        span.end = span.begin;
    return span;
}

bool token_spans_map(const char *from, const size_t *ends, size_t count, rapt_text text, rapt_span *spans)
{
    const size_t size = count > 0 ? ends[count - 1] : 0;
    shown_bytes a = {0}, b = {0};
    size_t *to = malloc((size + 1) * sizeof *to);
    const bool ok = to && shown_bytes_take(&a, from, size) && shown_bytes_take(&b, text.data, text.size);
    if (ok)
        map_bytes(&a, &b, to);
    size_t at = 0; /* of a */
    for (size_t i = 0; ok && i < count; i++) {
        const size_t first = at;
        while (at < a.count && a.at[at] < ends[i])
            at++;
        spans[i] = span_of(text, &b, to[first], to[at]);
    }
    shown_bytes_free(&a);
    shown_bytes_free(&b);
    free(to);
    return ok;
}

/* ---- the tokens of a translation ------------------------------------------------------------------------------------------ */

static bool find_target_spans(const rapt_tokenizer *k, rapt_hypothesis *h)
{
    buffer bytes = {0};
    size_t *ends = malloc((h->token_count + 1) * sizeof *ends);
    bool ok = ends && buffer_reserve(&bytes, 1);
    for (size_t i = 0; i < h->token_count && ok; i++) {
        size_t size = 0;
        const char *token = whole_text_bytes(k, h->tokens[i], &size);
        ok = !token || buffer_append(&bytes, token, size);
        ends[i] = bytes.size;
    }
    ok = ok && (h->spans = malloc((h->token_count + 1) * sizeof *h->spans));
    ok = ok && token_spans_map(bytes.data, ends, h->token_count, rapt_text_of(h->text), h->spans);
    buffer_free(&bytes);
    free(ends);
    return ok;
}

/* `to` has a span for each of the segment's tokens without <eos>. */
static rapt_code find_source_spans(const translate_item *item, rapt_span *to, size_t count, rapt_error *err)
{
    source_words w;
    rapt_code code = source_words_read(&w, item, err);
    for (size_t i = 0; i < count && !code; i++) {
        rapt_span span;
        to[i] = source_words_span(&w, i, &span) ? (rapt_span){item->source->from + span.begin, item->source->from + span.end}
                                                : (rapt_span){0, 0};
    }
    source_words_free(&w);
    return code;
}

rapt_code token_spans_find(const translate_text *x, size_t first, size_t count, rapt_translation *t, rapt_error *err)
{
    const rapt_translation_model *m = &x->setup->m->translation;
    size_t at = 0;
    rapt_code code = RAPT_OK;
    if (!(t->source_spans = calloc(t->source_count + 1, sizeof *t->source_spans)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the places of tokens");
    for (size_t i = 0; i < count && !code && at < t->source_count; i++) {
        const source_segment *s = x->items[first + i].source;
        const size_t own = s->count - (s->count > 0 && s->ids[s->count - 1] == m->special.eos);
        const size_t more = own < t->source_count - at ? own : t->source_count - at;
        code = find_source_spans(&x->items[first + i], t->source_spans + at, more, err);
        at += more;
    }
    for (size_t n = 0; n < t->count && !code; n++)
        if (!find_target_spans(m->target, &t->hypotheses[n]))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the places of tokens");
    return code;
}
