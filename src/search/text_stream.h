/* search/text_stream.h: turns the bytes of tokens into text that can be shown at once. A token may end within a character or
 * within a stop sequence; bytes whose meaning is still open are held back. */
#ifndef SEARCH_TEXT_STREAM_H
#define SEARCH_TEXT_STREAM_H

#include "rapt/base.h"

typedef struct text_stream text_stream;
/* Takes the next text; a code other than RAPT_OK ends the stream. */
typedef rapt_code text_stream_fn(void *context, const char *text, size_t size, rapt_error *err);

/* RAPT_ERR_VALUE: a stop sequence is empty or not UTF-8; the message counts from 1. */
rapt_code text_stream_check_stops(const char *const *stops, size_t count, rapt_error *err);

/* A stream that hands its text to `sink`. If `sink` returns a code other than RAPT_OK, the stream ends, and the call that pushed
 * returns the code. The stop sequences are copied; the stream ends before the first one that comes. NULL with `err` set: as
 * text_stream_check_stops, or out of memory. */
text_stream *text_stream_new(const char *const *stops, size_t count, text_stream_fn *sink, void *context, rapt_error *err);
void text_stream_free(text_stream *s);

/* Appends bytes, and hands all text that is certain by now to the sink. Bytes that are not UTF-8 become U+FFFD, one for each of
 * the Unicode standard's maximal subparts (section 3.9), as with Python's errors="replace". The text does not depend on how the
 * bytes are divided among calls. Nothing is allocated after text_stream_new, however much is pushed.
 *
 * The stream is done when a stop sequence is complete: the text before it has been handed on, the sequence and everything after
 * it are dropped, and further bytes are ignored. If several sequences are complete with the same character, the longest
 * counts. */
rapt_code text_stream_push(text_stream *s, const char *bytes, size_t size, rapt_error *err);
bool text_stream_done(const text_stream *s);
/* Whether the bytes so far end within a character: its other bytes, or U+FFFD, are still to come. */
bool text_stream_is_open(const text_stream *s);
/* Whether a stop string was complete, also with the U+FFFD of text_stream_finish. */
bool text_stream_stopped(const text_stream *s);

/* Says that no more bytes come: hands on what was held back, an unfinished character as U+FFFD. The stream is then done. */
rapt_code text_stream_finish(text_stream *s, rapt_error *err);

#endif
