/* text/lines.h: a text file as checked lines. For data loading, vocabularies, scoring and translation: all readers of one
 * sentence a line. Not a stream: the whole text stays in memory, and the lines point into it. */
#ifndef TEXT_LINES_H
#define TEXT_LINES_H

#include "rapt/base.h"

/* Lines of a text, each NUL-terminated, without its end of line. Freed by `lines_free`. */
struct lines {
    char *text;     /* the lines point into it */
    char **line;    /* [count] */
    size_t *length; /* [count] bytes, the NUL not counted */
    size_t count;
};

/* Reads `path` ("-" is standard input) and splits it. Errors are text_in_read's and lines_split's. */
rapt_code lines_read(const char *path, size_t max_bytes, struct lines *out, rapt_error *err);

/* Like lines_read, but a byte order mark stays as part of the first line: for texts that are compared with the results of other
 * programs for the same file. */
rapt_code lines_read_marked(const char *path, size_t max_bytes, struct lines *out, rapt_error *err);

/* Splits `data`, which has capacity for a NUL at data[size] and now belongs to `out` (and is freed on failure).
 * Lines end in LF or CRLF; the last one may lack it; a byte order mark at the start is dropped. Text that is
 * not UTF-8, or holds a NUL, is refused (RAPT_ERR_FORMAT) as "name:line: byte N of the line ...", both counted
 * from 1. */
rapt_code lines_split(const char *name, char *data, size_t size, struct lines *out, rapt_error *err);

/* The check of lines_split for text that is not UTF-8 or has a NUL; `first` is the number of the first line of `text`. If that is
 * 1, the error is text_in_guess's finding about the file, if it has one. */
rapt_code lines_check(const char *name, size_t first, const char *text, size_t size, rapt_error *err);

/* An iterator over the lines of a text: at its end if `at` is `end`. The text may have any bytes. */
typedef struct line_walk {
    const char *at, *end;
} line_walk;

/* A line of it, without a NUL at the end. */
typedef struct line_span {
    const char *at;
    size_t size; /* without its LF or CRLF; the last line of a text may have none */
} line_span;

/* The line that `w` is at; there must be one. */
line_span lines_next(line_walk *w);
size_t lines_count(line_walk w);

/* Bytes of the byte order mark that `text` begins with, or 0. */
size_t lines_mark(const char *text, size_t size);

/* Frees the lines and empties the struct; fine on an empty one. */
void lines_free(struct lines *lines);

#endif
