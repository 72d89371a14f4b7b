/* explain/print/print.h: elements as text: statistics, tensors as PyTorch prints them, tables as pandas prints them.
 * For `rapt explain` and the examples. It opens no files and knows no terminals: it writes to the stream that it is given,
 * whose errors (ferror) are the caller's to check. */
#ifndef EXPLAIN_PRINT_PRINT_H
#define EXPLAIN_PRINT_PRINT_H

#include "rapt/base.h"

#include <stdio.h>

/* Of the finite elements among n; `std` divides by finite - 1, as torch.std does. All are 0 where there is no finite
 * element, and `std` where there is only one. */
typedef struct print_statistics {
    size_t count, finite;
    double min, mean, max, std;
} print_statistics;

print_statistics print_statistics_of(const rapt_real *x, size_t n);

/* One number as it would stand in a tensor alone: "0.1200", "3.", "1.0000e-05", "-inf", "nan". Returns `text`. */
#define PRINT_NUMBER 64
const char *print_number(double x, char text[PRINT_NUMBER]);

/* What PyTorch's print(x) prints of a float tensor, with the newline: 4 digits after the point, the same width for all
 * that is shown, exponents where elements differ by orders of magnitude, lines of 80 columns. More than `max` elements (1000
 * in PyTorch) are summarized: three at each end of each dimension, with dots between. `ndim` is at least 1. */
void print_tensor(FILE *to, const rapt_real *x, int ndim, const size_t *shape, size_t max);

/* A matrix with its row and column numbers, as pandas prints a DataFrame. */
typedef struct print_frame {
    const rapt_real *values; /* [rows, columns], row-major */
    size_t rows, columns;
    const char *const *row_names, *const *column_names; /* UTF-8 of any script; NULL: numbers from 0 */
    size_t max_rows, max_columns; /* shown, half of them from each end; 0: all */
    size_t width; /* columns of text that a line may have: fewer columns are shown, two at least; 0: no limit */
} print_frame;

/* Where something is left out, the last line says how large it is: "[100 rows x 64 columns]". RAPT_ERR_MEMORY. */
rapt_code print_table(FILE *to, const print_frame *frame, rapt_error *err);

/* The columns of a terminal that a text takes: wide letters two, combining marks none. */
size_t print_width(const char *text);
/* The text, then spaces up to `width` columns. */
void print_padded(FILE *to, const char *text, size_t width);

#endif
