/* text/lines.h: a text file as checked lines.
 * For data loading, vocabularies, scoring and translation: whatever takes one sentence a line.
 * Not a stream (see line_stream.h): the whole text stays in memory, and the lines point into it. */
#ifndef TEXT_LINES_H
#define TEXT_LINES_H

#include "rapt/base.h"

/* Lines of a text, each NUL-terminated, without its end of line. Freed by `lines_free`. */
struct lines {
    char *text;     /* what the lines point into */
    char **line;    /* [count] */
    size_t *length; /* [count] bytes, the NUL not counted */
    size_t count;
};

/* Reads `path` ("-" is standard input) and splits it. Errors are text_in_read's and lines_split's. */
rapt_code lines_read(const char *path, size_t max_bytes, struct lines *out, rapt_error *err);

/* lines_read, but that a byte order mark stays, as part of the first line: for texts that are compared with what other programs
 * make of the same file. */
rapt_code lines_read_marked(const char *path, size_t max_bytes, struct lines *out, rapt_error *err);

/* Splits `data`, which has capacity for a NUL at data[size] and now belongs to `out` (and is freed on failure).
 * Lines end in LF or CRLF; the last one may lack it; a byte order mark at the start is dropped. Text that is
 * not UTF-8, or holds a NUL, is refused (RAPT_ERR_FORMAT) as "name:line: byte N of the line ...", both counted
 * from 1. */
rapt_code lines_split(const char *name, char *data, size_t size, struct lines *out, rapt_error *err);

/* What lines_split says of text that is not UTF-8 or holds a NUL; `first` is the number of the first line of `text`. If that is
 * 1, it is what text_in_guess knows of the file, first of all. */
rapt_code lines_check(const char *name, size_t first, const char *text, size_t size, rapt_error *err);

/* An iterator over the lines of a text: at its end where `at` is `end`. Any bytes are taken. */
typedef struct line_walk {
    const char *at, *end;
} line_walk;

/* A line of it, which no NUL ends. */
typedef struct line_span {
    const char *at;
    size_t size; /* without its LF or CRLF, which the last line of a text may lack */
} line_span;

/* The line that `w` is at; there must be one. */
line_span lines_next(line_walk *w);
size_t lines_count(line_walk w);

/* Bytes of the byte order mark that `text` begins with, or 0. */
size_t lines_mark(const char *text, size_t size);

/* Frees the lines and empties the struct; fine on an empty one. */
void lines_free(struct lines *lines);

#endif
