/* text/text_in.h: texts from files: expands gzip, and refuses a text that is not UTF-8 with its name. For all that read a text
 * named by a user: training, evaluation, tokenizers, sentence pairs, word vectors. line_stream.h has lines as they arrive. */
#ifndef TEXT_TEXT_IN_H
#define TEXT_TEXT_IN_H

#include "base/file.h"

/* A text is read whole: a gzip file that would become more than 64 MiB and 100 times its size is refused (RAPT_ERR_VALUE). */

/* As file_read; `max_bytes` holds for the expanded text: a file that would become larger is refused on the way. */
rapt_code text_in_read(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* Like file_map_open for the file at `at`; messages say `name`. A gzip file is expanded into a temporary file without a name in
 * TMPDIR, or /tmp, which lasts until it is closed. */
rapt_code text_in_map(file_map *m, const char *name, const char *at, rapt_error *err);

/* RAPT_ERR_FORMAT if a text is not UTF-8: "NAME: byte 17: not UTF-8 (line 2)", counted from 1; or if it has another encoding, or
 * is compressed, with advice. Memory of a mapped file is given back during the check. */
rapt_code text_in_check(const char *name, const char *text, size_t size, rapt_error *err);
rapt_code text_in_check_map(const char *name, const file_map *m, rapt_error *err);

/* A guess of the encoding of a text that is not UTF-8 or has NULs, with advice: "it is UTF-16, not UTF-8: ..."; NULL: unknown. */
const char *text_in_guess(const char *text, size_t size);

#endif
