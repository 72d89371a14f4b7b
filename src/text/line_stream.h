/* text/line_stream.h: the lines of a text as they arrive, for commands that answer before their input ends. lines.h has whole
 * texts, with the same rules for a line. */
#ifndef TEXT_LINE_STREAM_H
#define TEXT_LINE_STREAM_H

#include "text/lines.h"

/* A longer line is an error (RAPT_ERR_VALUE): it is held in memory. */
#define LINE_STREAM_LONGEST ((size_t)256 << 20)

typedef struct line_stream line_stream;

/* Lines that were read together. They stay valid until the next call. */
typedef struct line_block {
    const rapt_text *line; /* [count], each with a NUL behind it */
    size_t count, first;   /* `first`: the number of line[0], from 1 */
} line_block;

/* "-" is standard input. NULL with `err` set. */
line_stream *line_stream_open(const char *path, rapt_error *err);
void line_stream_free(line_stream *s);

/* Waits for a line, and also takes further text that has arrived, but at most `max` lines and hardly more than 16 MB. No lines:
 * the text is at its end. A line that cannot be read (not UTF-8, a NUL, too long) is an error in the call after the one that
 * handed out the lines before it, regardless of what arrived together. The same holds for an error of the system. */
rapt_code line_stream_next(line_stream *s, size_t max, line_block *out, rapt_error *err);

#endif
