/* decode/text_rows.h: texts as rows of tokens for an encoder: encoded, and truncated to its max length. For embedder.c and the
 * server. */
#ifndef DECODE_TEXT_ROWS_H
#define DECODE_TEXT_ROWS_H

#include "rapt/io.h"

typedef struct text_row {
    int32_t *ids;
    size_t count, index; /* tokens; the place of the text among those that were given */
    bool cut;
} text_row;

/* The rows of all texts, the shortest first; `prompt`, or NULL, goes before each text. A row is truncated to the max length but
 * keeps its last special tokens, as tokenizers that truncate on the right do. NULL with `err` set, whose message names the
 * text. */
text_row *text_rows_new(const rapt_encoder_model *m, const char *prompt, const rapt_text *texts, size_t count, rapt_error *err);
/* Checks rows that the caller has filled, each with its own place, and sorts them as text_rows_new does. RAPT_ERR_VALUE: a row
 * has no tokens, or one that the model does not compute. */
rapt_code text_rows_order(const rapt_encoder_model *m, text_row *rows, size_t count, rapt_error *err);
/* Frees an array of rows; NULL is fine. */
void text_rows_free(text_row *rows, size_t count);

#endif
