/* print/printer.h: elements as text: statistics, tensors as PyTorch prints them, tables as pandas prints them. For rapt/print.h
 * and the text of explanations. It opens no files and knows no terminals: it writes to the stream that it is given,
 * whose errors (ferror) are the caller's to check. */
#ifndef PRINT_PRINTER_H
#define PRINT_PRINTER_H

#include "rapt/print.h"

#include <stdio.h>

/* Statistics of the finite elements among n; `std` divides by finite - 1, like torch.std. All are 0 if no element is finite;
 * `std` is 0 if only one is. */
typedef struct print_statistics {
    size_t count, finite;
    double min, mean, max, std;
} print_statistics;

print_statistics print_statistics_of(const rapt_real *x, size_t n);

/* One number as it would stand in a tensor alone: "0.1200", "3.", "1.0000e-05", "-inf", "nan". Returns `text`. */
#define PRINT_NUMBER 64
const char *print_number(double x, char text[PRINT_NUMBER]);

/* Elements of a tensor of `ndim` dimensions: real numbers, or token ids. */
typedef struct print_elements {
    const rapt_real *values;
    const int32_t *ids; /* in place of values, or NULL */
    int ndim;
    const size_t *shape; /* [ndim] */
} print_elements;

/* The defaults, for the function that makes options, and for tests, which write other members behind them. */
#define TENSOR_TEXT_DEFAULTS                                                                                            \
    .size = sizeof(rapt_tensor_text_options), .precision = 4, .threshold = 1000, .edge_items = 3, .line_width = 80

/* rapt_tensor_text's text, for `to`, with options that are in range. */
void print_tensor(FILE *to, const print_elements *x, const rapt_tensor_text_options *o);

/* rapt_table_text's, for `to`. RAPT_ERR_MEMORY. */
rapt_code print_table(FILE *to, const rapt_table *table, rapt_error *err);

/* The columns of a terminal that a text takes: wide letters two, combining marks none. */
size_t print_width(const char *text);
/* The text, then spaces up to `width` columns. */
void print_padded(FILE *to, const char *text, size_t width);
/* Prints a text in `width` columns; a longer one is truncated, with an ellipsis at its end. */
void print_fitted(FILE *to, const char *text, size_t width);

#endif
