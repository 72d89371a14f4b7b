/* text/sources.h: a text that is made of another one, with the place that each of its bytes comes from. For what changes a text
 * before it becomes tokens (the normalizers, the steps of a pipeline), when offsets are asked for: rapt_tokenizer_encode_offsets.
 *
 * A writer has a buffer `text`, and beside it a buffer `from` of a rapt_span a byte of `text`: the bytes of the original text. A
 * reader has a `from` beside its text, which is NULL if nobody asked: then nothing is written but the text. As in the package
 * `tokenizers`, a place is at least one character: all bytes of a character have its place. */
#ifndef TEXT_SOURCES_H
#define TEXT_SOURCES_H

#include "rapt/text.h"

#include "base/buffer.h"

/* The `from` of a text from byte `at` on. */
static inline const rapt_span *sources_at(const rapt_span *from, size_t at)
{
    return from ? from + at : NULL;
}

/* The places that a writer has put; NULL: none. */
static inline const rapt_span *sources_of(const buffer *from)
{
    return from->size > 0 ? (const rapt_span *)(const void *)from->data : NULL;
}

/* Appends bytes that stay as they are, with the places that they have. False on out-of-memory, as below. */
static inline bool sources_copy(buffer *text, buffer *from, const char *bytes, const rapt_span *spans, size_t size)
{
    return buffer_append(text, bytes, size) && (!spans || buffer_append(from, spans, size * sizeof *spans));
}

/* Appends bytes that come from one place: *span, or NULL. */
static inline bool sources_put(buffer *text, buffer *from, const char *bytes, size_t size, const rapt_span *span)
{
    bool ok = buffer_append(text, bytes, size);
    for (size_t i = 0; span && ok && i < size; i++)
        ok = buffer_append(from, span, sizeof *span);
    return ok;
}

/* encode_offsets.c: appends the places of a text's own bytes, which begin at `begin` of the original text. A byte that is not
 * UTF-8 is a character. */
bool sources_begin(buffer *from, const char *text, size_t size, size_t begin);

/* Tokens with their places, as an encoder finds them. Starts as {0}. */
typedef struct placed_ids {
    int32_t *ids;
    rapt_span *spans;
    size_t count, ids_capacity, spans_capacity;
} placed_ids;

/* RAPT_ERR_MEMORY. */
rapt_code placed_ids_put(placed_ids *p, int32_t id, rapt_span span, rapt_error *err);

#endif
