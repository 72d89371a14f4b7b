/* decode/text_stream.h: the bytes of tokens in, text that can be shown at once out. A token may end within a character
 * or within a stop string; what could still change its meaning is held back until more is known. */
#ifndef DECODE_TEXT_STREAM_H
#define DECODE_TEXT_STREAM_H

#include "rapt/generate.h"

typedef struct text_stream text_stream;

/* RAPT_ERR_VALUE where a stop string is empty or not UTF-8; the message counts from 1. */
rapt_code text_stream_check_stops(const char *const *stops, size_t count, rapt_error *err);

/* A stream that hands its text to `sink`; where that returns another code than RAPT_OK the stream ends, and the call that pushed
 * returns it. The strings are copied; the stream ends before the first of them. NULL with `err` set: as
 * text_stream_check_stops says, or out of memory. */
text_stream *text_stream_new(const char *const *stops, size_t count, rapt_text_fn *sink, void *context, rapt_error *err);
void text_stream_free(text_stream *s);

/* Appends bytes, and hands all text that is certain by now to the sink. Bytes that are not UTF-8 become U+FFFD, one for
 * each of the Unicode standard's maximal subparts (section 3.9), as Python's errors="replace" has it. The text does not depend on
 * how the bytes are divided among calls. Memory is that of text_stream_new, however much is pushed.
 *
 * The stream is done where a stop string is complete: it and what follows are dropped, what stands before it has been
 * handed on. If several are complete with the same character, it is the longest. Further bytes are ignored. */
rapt_code text_stream_push(text_stream *s, const char *bytes, size_t size, rapt_error *err);
bool text_stream_done(const text_stream *s);
/* Whether the bytes so far end within a character: its other bytes, or U+FFFD, are to come. */
bool text_stream_is_open(const text_stream *s);
/* Whether a stop string was complete, also with the U+FFFD of text_stream_finish. */
bool text_stream_stopped(const text_stream *s);

/* No more bytes: hands on what was held back, an unfinished character as U+FFFD. The stream is done then. */
rapt_code text_stream_finish(text_stream *s, rapt_error *err);

#endif
