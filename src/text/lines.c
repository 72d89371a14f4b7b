/* text/lines.c: checks a text and cuts it into lines, in place. For all readers of one sentence a line. Not a stream, and not a
 * tokenizer: a line is kept unchanged, including spaces. */
#include "text/lines.h"

#include "text/text_in.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

line_span lines_next(line_walk *w)
{
    const char *start = w->at, *newline = memchr(start, '\n', (size_t)(w->end - start)), *stop = newline ? newline : w->end;
    w->at = newline ? newline + 1 : w->end;
    if (stop > start && stop[-1] == '\r')
        stop--;
    return (line_span){start, (size_t)(stop - start)};
}

size_t lines_count(line_walk w)
{
    size_t count = 0;
    for (; w.at < w.end; count++)
        lines_next(&w);
    return count;
}

/* Names line and byte of the offset `bad` in a text whose first line has the number `line`. A byte order mark that was dropped
 * counts as bytes of its line. */
static rapt_code lines_fail_at(const char *name, size_t line, const char *text, size_t bad, rapt_error *err)
{
    size_t start = 0;
    for (const char *newline; (newline = memchr(text + start, '\n', bad - start)) != NULL; line++)
        start = (size_t)(newline - text) + 1;
    const char *problem = text[bad] ? "is not valid UTF-8" : "is a NUL";
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: byte %zu of the line (0x%02x) %s", name, line,
                     bad - start + 1, (unsigned char)text[bad], problem);
}

rapt_code lines_check(const char *name, size_t first, const char *text, size_t size, rapt_error *err)
{
    size_t valid = utf8_valid_prefix(text, size);
    const char *nul = memchr(text, '\0', valid), *guess = first == 1 && (nul || valid < size) ? text_in_guess(text, size) : NULL;
    if (guess)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%.300s: %s", name, guess);
    if (nul)
        return lines_fail_at(name, first, text, (size_t)(nul - text), err);
    return valid < size ? lines_fail_at(name, first, text, valid, err) : RAPT_OK;
}

size_t lines_mark(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* Replaces the LF or CRLF of each remaining line of `w` by a NUL. */
static void lines_cut(struct lines *out, line_walk w)
{
    for (size_t i = 0; i < out->count; i++) {
        line_span s = lines_next(&w);
        out->line[i] = out->text + (s.at - out->text);
        out->length[i] = s.size;
        out->line[i][s.size] = '\0';
    }
}

/* Without the first `skip` bytes. */
static rapt_code split_behind(size_t skip, const char *name, char *data, size_t size, struct lines *out, rapt_error *err)
{
    line_walk all = {data + skip, data + size};
    *out = (struct lines){.text = data};
    rapt_code code = lines_check(name, 1, data, size, err);
    if (code == RAPT_OK) {
        out->count = lines_count(all);
        out->line = malloc((out->count + 1) * sizeof *out->line);
        out->length = malloc((out->count + 1) * sizeof *out->length);
        if (!out->line || !out->length)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu lines", name, out->count);
    }
    if (code == RAPT_OK)
        lines_cut(out, all);
    else
        lines_free(out);
    return code;
}

rapt_code lines_split(const char *name, char *data, size_t size, struct lines *out, rapt_error *err)
{
    return split_behind(lines_mark(data, size), name, data, size, out, err);
}

static rapt_code lines_read_behind(const char *path, size_t max_bytes, bool drop_mark, struct lines *out, rapt_error *err)
{
    char *data;
    size_t size;
    *out = (struct lines){0};
    rapt_code code = text_in_read(path, max_bytes, &data, &size, err);
    if (code != RAPT_OK)
        return code;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    return split_behind(drop_mark ? lines_mark(data, size) : 0, name, data, size, out, err);
}

rapt_code lines_read(const char *path, size_t max_bytes, struct lines *out, rapt_error *err)
{
    return lines_read_behind(path, max_bytes, true, out, err);
}

rapt_code lines_read_marked(const char *path, size_t max_bytes, struct lines *out, rapt_error *err)
{
    return lines_read_behind(path, max_bytes, false, out, err);
}

void lines_free(struct lines *lines)
{
    free(lines->text);
    free(lines->line);
    free(lines->length);
    *lines = (struct lines){0};
}
