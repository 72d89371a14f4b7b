/* rapt/print.h: tensors as PyTorch prints them, and tables as pandas prints them, to read them and to compare them with a book or
 * with Python. Every function returns a text that the caller frees, or NULL with `err` (which may be NULL) set; RAPT_ERR_MEMORY:
 * out of memory.
 *
 *     char *text = rapt_tensor_text(x, NULL, &err);
 *     fputs(text ? text : err.message, stdout);
 *     free(text);
 */
#ifndef RAPT_PRINT_H
#define RAPT_PRINT_H

#include "rapt/defaults.h"
#include "rapt/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* torch.set_printoptions. */
typedef struct rapt_tensor_text_options {
    size_t size;       /* of this struct; set by rapt_tensor_text_options_default */
    size_t precision;  /* digits after the point, at most 20 */
    size_t threshold;  /* a tensor with more elements is summarized: the first and last items of each dimension, with dots between
                          them; SIZE_MAX: never */
    size_t edge_items; /* items at each end of a dimension that a summary shows, 1 or more */
    size_t line_width; /* columns of text */
} rapt_tensor_text_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_tensor_text_options_init(rapt_tensor_text_options *o, size_t size);
/* PyTorch's: precision 4, threshold 1000, edge_items 3, line_width 80. */
static inline rapt_tensor_text_options rapt_tensor_text_options_default(void)
{
    rapt_tensor_text_options o;
    rapt_tensor_text_options_init(&o, sizeof o);
    return o;
}

/* What print(x) prints for a float tensor of any shape, with the newline: "tensor([[0.1200, 3.0000]])". All elements have the
 * same width. They have exponents if they differ by more than a factor of 1000, if the largest is above 1e8, or if the smallest
 * is below 1e-4. A ragged tensor is printed as [rows, feature]. `options` may be NULL: the defaults. RAPT_ERR_VALUE: options
 * without a size, an option out of range. */
RAPT_API char *rapt_tensor_text(const rapt_tensor *x, const rapt_tensor_text_options *options, rapt_error *err);
/* What print(x) prints for a tensor of token ids, [batch, time], or [time] if tokens.batch is 0: "tensor([[627, 315]])". */
RAPT_API char *rapt_tokens_text(rapt_tokens tokens, const rapt_tensor_text_options *options, rapt_error *err);

/* A matrix with the names of its rows and columns; borrowed. */
typedef struct rapt_table {
    const rapt_real *values; /* [rows, columns], row-major */
    size_t rows, columns;
    const char *const *row_names, *const *column_names; /* UTF-8, in any script; NULL: numbers from 0 */
    size_t max_rows, max_columns; /* max that are shown, half of them from each end; 0: all. pandas shows 60 rows, a notebook 20
                                     columns */
    size_t width; /* max columns of text in a line: fewer columns are shown if need be, but at least two; 0: no limit */
    bool narrow;  /* if the columns do not fit `width`, names are shortened with an ellipsis and numbers have four digits after
                     the point, so that more columns are shown than by pandas */
    const void *reserved[2]; /* NULL, or refused (RAPT_ERR_VALUE) */
} rapt_table;

/* What pandas prints for such a DataFrame of float32, with the newline: six digits, each column as wide and with as few decimals
 * as it needs; wide characters count as two columns of text. If something is left out, the last line tells the full size: "[100
 * rows x 64 columns]". */
RAPT_API char *rapt_table_text(const rapt_table *table, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
