/* rapt/print.h: tensors as PyTorch prints them, and tables as pandas prints them: to compare with a book or with Python, and to
 * look at. Every function returns a text that the caller frees; NULL with `err` (which may be NULL) set, RAPT_ERR_MEMORY, where
 * memory ran out.
 *
 *     char *text = rapt_tensor_text(x, NULL, &err);
 *     fputs(text ? text : err.message, stdout);
 *     free(text);
 */
#ifndef RAPT_PRINT_H
#define RAPT_PRINT_H

#include "rapt/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* torch.set_printoptions; zeroed: PyTorch's defaults. */
typedef struct rapt_tensor_text_options {
    size_t precision;  /* digits after the point, at most 20; 0: 4 */
    size_t threshold;  /* more elements than that are summarized: the first and last of each dimension, with dots between;
                          0: 1000; SIZE_MAX: all elements, always */
    size_t edge_items; /* how many of a dimension are shown at each end in a summary; 0: 3 */
    size_t line_width; /* columns of text; 0: 80 */
} rapt_tensor_text_options;

/* What print(x) prints of a float tensor of any shape, with the newline: "tensor([[0.1200, 3.0000]])". All elements have one
 * width, and exponents where they differ by more than a factor of 1000, or the largest is above 1e8, or the smallest below 1e-4.
 * A ragged tensor is printed as its rows. `options` may be NULL, which means zeroed ones. RAPT_ERR_VALUE: a precision above
 * 20. */
RAPT_API char *rapt_tensor_text(const rapt_tensor *x, const rapt_tensor_text_options *options, rapt_error *err);
/* The same of token ids, [batch, time], or [time] where tokens.batch is 0: "tensor([[627, 315]])". */
RAPT_API char *rapt_tokens_text(rapt_tokens tokens, const rapt_tensor_text_options *options, rapt_error *err);

/* A matrix with the names of its rows and columns; borrowed. */
typedef struct rapt_table {
    const rapt_real *values; /* [rows, columns], row-major */
    size_t rows, columns;
    const char *const *row_names, *const *column_names; /* UTF-8 of any script; NULL: numbers from 0 */
    size_t max_rows, max_columns; /* shown, half of them from each end; 0: all. pandas shows 60 rows, a notebook 20 columns */
    size_t width; /* columns of text that a line may have: fewer columns are shown, two at least; 0: no limit */
    bool narrow;  /* where they are too many for `width`: names are cut, with an ellipsis, and numbers have four digits after the
                     point, so that more columns are shown than by pandas */
} rapt_table;

/* What pandas prints of such a DataFrame of float32, with the newline: six digits, each column with a width and as few decimals
 * as it needs; wide characters count as two columns of text. Where something is left out, the last line says how large it is:
 * "[100 rows x 64 columns]". */
RAPT_API char *rapt_table_text(const rapt_table *table, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
