/* decode/text_rows.h: texts as the rows of tokens that an encoder takes: encoded, and cut to what it takes. For embedder.c. */
#ifndef DECODE_TEXT_ROWS_H
#define DECODE_TEXT_ROWS_H

#include "rapt/io.h"

typedef struct text_row {
    int32_t *ids;
    size_t count, index; /* tokens; the place of the text among those that were given */
    bool cut;
} text_row;

/* The rows of all texts, the shortest first; `prompt`, or NULL, is put before each. A row is cut to the maximum, its last special
 * tokens staying: as tokenizers do it that cut on the right. NULL with `err` set, whose message names the text. */
text_row *text_rows_new(const rapt_encoder_model *m, const char *prompt, const char *const *texts, size_t count,
                        rapt_error *err);
/* Frees an array of rows, or nothing. */
void text_rows_free(text_row *rows, size_t count);

#endif
