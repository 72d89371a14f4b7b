/* search/text_stream.c: makes whole characters from bytes, and finds stop sequences. For text that is generated token by token.
 * Not a tokenizer: it knows neither tokens nor models. */
#include "search/text_stream.h"

#include "base/arena.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define PORTION 4096 /* max bytes handed to the sink at once, without the bytes that are held back */
#define LONGEST_CHARACTER 4

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* A stop string and how far the text ends like it (Knuth, Morris, Pratt 1977). */
typedef struct stop {
    const char *text;
    size_t size;
    size_t matched;  /* the longest beginning of `text` that the text so far ends with */
    size_t *shorter; /* [size] shorter[n - 1]: the next longest, when it was n */
} stop;

struct text_stream {
    text_stream_fn *sink;
    void *context;
    stop *stops;
    size_t stop_count;
    bool done, stopped; /* stopped: by a stop string */
    utf8_scan scan;
    char *text; /* not handed to the sink yet */
    size_t size, capacity;
    arena memory;
};

/* ---- stop strings ------------------------------------------------------------------------------------------------ */

/* The longest beginning of the stop string that the text ends with after one more byte. */
static size_t text_stream_follow(const stop *p, size_t matched, char byte)
{
    while (matched > 0 && p->text[matched] != byte)
        matched = p->shorter[matched - 1];
    return p->text[matched] == byte ? matched + 1 : 0;
}

rapt_code text_stream_check_stops(const char *const *stops, size_t count, rapt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(stops[i]), valid = utf8_valid_prefix(stops[i], size);
        if (size == 0)
            return rapt_fail(err, RAPT_ERR_VALUE, "stop string %zu is empty", i + 1);
        if (valid < size)
            return rapt_fail(err, RAPT_ERR_VALUE, "stop string %zu is not UTF-8: byte %zu", i + 1, valid + 1);
    }
    return RAPT_OK;
}

static rapt_code add_stop(text_stream *s, const char *text, rapt_error *err)
{
    size_t size = strlen(text);
    stop *p = &s->stops[s->stop_count++];
    *p = (stop){arena_string(&s->memory, text), size, 0, arena_array(&s->memory, size, sizeof *p->shorter)};
    if (!p->text || !p->shorter)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for stop string %zu", s->stop_count);
    p->shorter[0] = 0;
    for (size_t i = 1; i < p->size; i++)
        p->shorter[i] = text_stream_follow(p, p->shorter[i - 1], p->text[i]);
    return RAPT_OK;
}

/* Advances the matching by one byte. Returns the size of the longest stop string that is complete now, or 0. */
static size_t text_stream_complete(text_stream *s, char byte)
{
    size_t longest = 0;
    for (stop *p = s->stops; p < s->stops + s->stop_count; p++) {
        p->matched = text_stream_follow(p, p->matched, byte);
        if (p->matched == p->size && p->size > longest)
            longest = p->size;
    }
    return longest;
}

/* Bytes at the end of the text that may be the beginning of a stop string. */
static size_t held_back(const text_stream *s)
{
    size_t max = 0;
    for (size_t i = 0; i < s->stop_count; i++)
        max = s->stops[i].matched > max ? s->stops[i].matched : max;
    return max;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* Hands all but the last `keep` bytes to the sink. A stop sequence begins with a whole character, so no character is split. */
static rapt_code text_stream_flush(text_stream *s, size_t keep, rapt_error *err)
{
    size_t size = s->size - keep;
    rapt_code code = size > 0 ? s->sink(s->context, s->text, size, err) : RAPT_OK;
    memmove(s->text, s->text + size, keep);
    s->size = keep;
    s->done = s->done || code != RAPT_OK;
    return code;
}

/* A stop string can be complete only with the last byte of a character. */
static rapt_code put_character(text_stream *s, const char *bytes, size_t length, rapt_error *err)
{
    size_t stopped = 0;
    memcpy(s->text + s->size, bytes, length);
    s->size += length;
    for (size_t i = 0; i < length; i++)
        stopped = text_stream_complete(s, bytes[i]);
    if (stopped > 0) {
        s->done = s->stopped = true;
        s->size -= stopped;
        return text_stream_flush(s, 0, err);
    }
    return s->size + LONGEST_CHARACTER > s->capacity ? text_stream_flush(s, held_back(s), err) : RAPT_OK;
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* Emits U+FFFD for bytes that are not a character. */
static rapt_code text_stream_replace(text_stream *s, rapt_error *err)
{
    s->scan = (utf8_scan){0};
    return put_character(s, REPLACEMENT, sizeof REPLACEMENT - 1, err);
}

static rapt_code put_byte(text_stream *s, char byte, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    bool within = s->scan.begun > 0, fits = utf8_scan_byte(&s->scan, byte);
    if (!fits && within) { /* the byte ends the unfinished character, and perhaps begins another */
        code = text_stream_replace(s, err);
        fits = !s->done && utf8_scan_byte(&s->scan, byte);
    }
    if (s->done)
        return code;
    if (!fits)
        return text_stream_replace(s, err);
    return s->scan.begun == 0 ? put_character(s, s->scan.bytes, s->scan.length, err) : RAPT_OK;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

static rapt_code text_stream_set_up(text_stream *s, const char *const *stops, size_t count, rapt_error *err)
{
    size_t longest = 0;
    rapt_code code = text_stream_check_stops(stops, count, err);
    if (code)
        return code;
    s->stops = arena_array(&s->memory, count, sizeof *s->stops);
    if (!s->stops)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu stop strings", count);
    for (size_t i = 0; i < count; i++) {
        code = add_stop(s, stops[i], err);
        if (code)
            return code;
        longest = s->stops[i].size > longest ? s->stops[i].size : longest;
    }
    s->capacity = longest + PORTION;
    s->text = arena_alloc(&s->memory, s->capacity);
    return s->text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to stream text");
}

text_stream *text_stream_new(const char *const *stops, size_t count, text_stream_fn *sink, void *context, rapt_error *err)
{
    text_stream *s = calloc(1, sizeof *s);
    if (!s) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to stream text");
        return NULL;
    }
    s->sink = sink;
    s->context = context;
    arena_init(&s->memory, PORTION);
    if (text_stream_set_up(s, stops, count, err)) {
        text_stream_free(s);
        return NULL;
    }
    return s;
}

void text_stream_free(text_stream *s)
{
    if (!s)
        return;
    arena_free(&s->memory);
    free(s);
}

rapt_code text_stream_push(text_stream *s, const char *bytes, size_t size, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < size && !s->done; i++)
        code = put_byte(s, bytes[i], err);
    return s->done ? code : text_stream_flush(s, held_back(s), err);
}

bool text_stream_done(const text_stream *s)
{
    return s->done;
}

bool text_stream_is_open(const text_stream *s)
{
    return s->scan.begun > 0;
}

bool text_stream_stopped(const text_stream *s)
{
    return s->stopped;
}

rapt_code text_stream_finish(text_stream *s, rapt_error *err)
{
    rapt_code code = !s->done && s->scan.begun > 0 ? text_stream_replace(s, err) : RAPT_OK;
    if (!s->done)
        code = text_stream_flush(s, 0, err);
    s->done = true;
    return code;
}
