/* text/text_in.h: texts from files: gzip is expanded, and what is no UTF-8 is refused by name. For whatever reads a text that a
 * user names: training, evaluation, tokenizers, sentence pairs, word vectors. Lines as they arrive are line_stream.h's. */
#ifndef TEXT_TEXT_IN_H
#define TEXT_TEXT_IN_H

#include "base/file.h"

/* A text is read whole: a gzip file that would become more than 64 MiB and 100 times its size is refused (RAPT_ERR_VALUE). */

/* As file_read; `max_bytes` holds for the expanded text: a file that would become larger is refused on the way. */
rapt_code text_in_read(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* As file_map_open of the file at `at`; messages say `name`. A gzip file is expanded into a temporary file without a name in
 * TMPDIR, or /tmp, which lasts until it is closed. */
rapt_code text_in_map(file_map *m, const char *name, const char *at, rapt_error *err);

/* RAPT_ERR_FORMAT where a text is not UTF-8: "NAME: byte 17: not UTF-8 (line 2)", counted from 1; or where it is of another
 * encoding, or compressed, with what helps. Of a mapped file, memory is given back on the way. */
rapt_code text_in_check(const char *name, const char *text, size_t size, rapt_error *err);
rapt_code text_in_check_map(const char *name, const file_map *m, rapt_error *err);

/* What a text that is not UTF-8, or has NULs, seems to be, and what helps: "it is UTF-16, not UTF-8: ..."; NULL: unknown. */
const char *text_in_guess(const char *text, size_t size);

#endif
