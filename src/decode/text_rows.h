/* decode/text_rows.h: texts, and pairs of texts, as rows of tokens for an encoder: encoded, and truncated to its max length. For
 * embedder.c, reranker.c and the server. */
#ifndef DECODE_TEXT_ROWS_H
#define DECODE_TEXT_ROWS_H

#include "rapt/io.h"
#include "rapt/rerank.h"

typedef struct text_row {
    int32_t *ids;
    size_t count, index; /* tokens; the place of the text among those that were given */
    size_t second;       /* the first token of type 1; 0: there is none */
    bool cut;
} text_row;

/* The rows of all texts, the shortest first; `prompt`, or NULL, goes before each text. A row is truncated to the max length but
 * keeps its last special tokens, as tokenizers that truncate on the right do. NULL with `err` set, whose message names the
 * text. */
text_row *text_rows_new(const rapt_encoder_model *m, const char *prompt, const rapt_text *texts, size_t count, rapt_error *err);
/* The rows of pairs, likewise. If both texts together are too long, the longer one is truncated, as tokenizers do by default
 * ("longest_first"); a first text that several pairs share (the same bytes in memory) is encoded once. RAPT_ERR_VALUE: all rows
 * together have more than `most` tokens, which is noticed before there are that many. */
text_row *text_rows_of_pairs(const rapt_encoder_model *m, const rapt_text_pair *pairs, size_t count, size_t most,
                             rapt_error *err);
/* RAPT_ERR_VALUE: the model has no rows of two texts: its tokenizer does not say how they are made, or no text fits. */
rapt_code text_rows_check_pairs(const rapt_encoder_model *m, rapt_error *err);
/* Checks rows that the caller has filled, each with its own place, and sorts them as text_rows_new does. RAPT_ERR_VALUE: a row
 * has no tokens, or one that the model does not compute. */
rapt_code text_rows_order(const rapt_encoder_model *m, text_row *rows, size_t count, rapt_error *err);
/* Frees an array of rows; NULL is fine. */
void text_rows_free(text_row *rows, size_t count);

#endif
