/* decode/embedder.h: an embedder's work by rows of tokens. For embedder.c and the server, whose requests bring token ids. */
#ifndef DECODE_EMBEDDER_H
#define DECODE_EMBEDDER_H

#include "decode/text_rows.h"
#include "rapt/embed.h"

/* Writes the vector of each row, cut to `dimensions` (1 to d_model), to vectors [..., dimensions], at the row's place. The rows
 * are of text_rows_new or text_rows_order. RAPT_ERR_INTERRUPTED; RAPT_ERR_MEMORY. */
rapt_code embedder_run_rows(rapt_embedder *e, const text_row *rows, size_t count, size_t dimensions, rapt_real *vectors,
                            rapt_error *err);
/* The most features that a vector may have. */
size_t embedder_max_features(const rapt_embedder *e);

#endif
