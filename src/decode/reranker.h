/* decode/reranker.h: a reranker's work by rows of tokens. For reranker.c and the server. */
#ifndef DECODE_RERANKER_H
#define DECODE_RERANKER_H

#include "decode/text_rows.h"
#include "rapt/rerank.h"

/* Writes the score of each row to `scores`, at the row's place. The rows are of text_rows_of_pairs. RAPT_ERR_INTERRUPTED;
 * RAPT_ERR_MEMORY. */
rapt_code reranker_run_rows(rapt_reranker *r, const text_row *rows, size_t count, rapt_pair_score *scores, rapt_error *err);
/* 1 / (1 + e^-logit). */
rapt_real reranker_sigmoid(rapt_real logit);

#endif
