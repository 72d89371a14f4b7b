/* examples/show.h: how the programs of the book (01_embedding.c and so on) print what they computed. Not part of the
 * library: applications print in their own way. */
#ifndef SHOW_H
#define SHOW_H

#include <rapt.h>

/* A line "Q: [32, 50, 512]". */
void show_shape(const char *name, const rapt_tensor *x);
/* The shape of a mask that keeps or hides whole keys, as it is given and as it is read: for all heads and queries. */
void show_mask(size_t batch, size_t keys);
/* "Q: from -2.1 to 2.3": the minimum and the maximum. */
void show_range(const char *name, const rapt_tensor *x);
/* A vector: its shape, and all its numbers, eight a line, in a format for one double. */
void show_row(const char *name, size_t count, const rapt_real *values, const char *format);
/* Token ids with their shape, as PyTorch prints them. */
void show_ids(const char *name, rapt_tokens tokens);

/* x, as PyTorch's print(x) prints it: of more than 1000 numbers the first and the last three of each dimension. */
void show_tensor(const char *name, const rapt_tensor *x);
/* The first matrix of x in that form: of more than six rows or columns the first and the last three. The name gets the
 * indices: "scores[0, 0]" for x [batch, head, query, key]. */
void show_corner(const char *name, const rapt_tensor *x);

/* A matrix with a name at each row and column, as a notebook shows a DataFrame of pandas: of more than 20 columns the first
 * and the last ten. Names may be NULL: 0, 1, ... */
void show_frame(size_t rows, size_t columns, const rapt_real *values, const char *const *row_names,
                const char *const *column_names);
/* A matrix as tab-separated text for `rapt plot table`: names in the first row and the first column. */
void show_table(size_t rows, size_t columns, const rapt_real *values, const char *const *row_names,
                const char *const *column_names);
/* show_table of the first `columns` columns of x. */
void show_table_part(size_t rows, size_t columns, const rapt_tensor *x, const char *const *row_names);
/* True for the argument --table: print the matrix of the picture and nothing else. Ends the program (2) for others. */
bool show_wants_table(int argc, char **argv);

/* A line that says whether `text` holds; one that doesn't makes the program fail. Returns `ok`. */
bool show_check(const char *text, bool ok);
/* The largest |a[i] - b[i]|, NaN if there is one. */
double show_difference(size_t count, const rapt_real *a, const rapt_real *b);

/* Operations don't fail visibly: call it between computing and looking. False, with the cause on stderr. */
bool show_ready(const rapt_tape *t, const rapt_params *set);
/* A tape and a set of parameters, of seed 1. False, with the cause on stderr and nothing to free, when out of memory. */
bool show_begin(rapt_tape **t, rapt_params **set);
/* Frees both; returns the exit status: 0, or 1 where a check or a computation failed. */
int show_end(rapt_tape *t, rapt_params *set);

/* A program that needs a tape and a set of parameters (seed 1) and no more: runs `picture` for --table, else `chapter`, in
 * one pass without gradients. Returns the exit status. */
typedef void show_part(rapt_tape *t, rapt_params *set);
int show_run(int argc, char **argv, show_part *chapter, show_part *picture);

#endif
