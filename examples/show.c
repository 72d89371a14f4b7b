/* examples/show.c: printing for the programs of the book: shapes, tensors and tables by the library's rapt/print.h, and checks
 * that decide the exit status. Not part of the library. */
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_COLUMNS = 20 }; /* of a DataFrame, as a notebook shows it */

static int failures; /* checks and computations of this program */
static bool told;    /* why a computation failed, once */

void show_shape(const char *name, const rapt_tensor *x)
{
    char text[96];
    printf("%s: %s\n", name, rapt_shape_text(x, text, sizeof text));
}

void show_mask(size_t batch, size_t keys)
{
    show_shape("mask, 1 keeps a key", &(rapt_tensor){.ndim = 3, .shape = {batch, 1, keys}});
    show_shape("for every head and query", &(rapt_tensor){.ndim = 4, .shape = {batch, 1, 1, keys}});
}

void show_range(const char *name, const rapt_tensor *x)
{
    rapt_real low = x->data[0], high = x->data[0];
    for (size_t i = 1; i < rapt_tensor_size(x); i++) {
        low = x->data[i] < low ? x->data[i] : low;
        high = x->data[i] > high ? x->data[i] : high;
    }
    printf("%s: from %.4f to %.4f\n", name, (double)low, (double)high);
}

void show_row(const char *name, size_t count, const rapt_real *values, const char *format)
{
    show_shape(name, &(rapt_tensor){.ndim = 1, .shape = {count}});
    for (size_t i = 0; i < count; i++) {
        fputs("  ", stdout);
        printf(format, (double)values[i]);
        if (i % 8 == 7 || i + 1 == count)
            putchar('\n');
    }
}

/* ---- as PyTorch and pandas print ---------------------------------------------------------------------------------- */

/* Prints a text of the library's and frees it; NULL is a failure. */
static void print_text(char *text, const rapt_error *err)
{
    if (text)
        fputs(text, stdout);
    else
        fprintf(stderr, "%s\n", err->message);
    failures += !text;
    free(text);
}

void show_ids(const char *name, rapt_tokens tokens)
{
    rapt_error err = {0};
    if (tokens.batch > 0)
        printf("%s: [%zu, %zu]\n", name, tokens.batch, tokens.time);
    else
        printf("%s: [%zu]\n", name, tokens.time);
    print_text(rapt_tokens_text(tokens, NULL, &err), &err);
}

void show_tensor(const char *name, const rapt_tensor *x)
{
    rapt_error err = {0};
    printf("%s =\n", name);
    print_text(rapt_tensor_text(x, NULL, &err), &err);
}

void show_corner(const char *name, const rapt_tensor *x)
{
    rapt_error err = {0};
    int lead = x->ndim > 2 ? x->ndim - 2 : 0;
    rapt_tensor first = {.data = x->data, .ndim = x->ndim - lead};
    memcpy(first.shape, x->shape + lead, (size_t)first.ndim * sizeof *first.shape);
    printf("%s", name);
    for (int i = 0; i < lead; i++)
        printf("%s%s", i > 0 ? ", 0" : "[0", i + 1 < lead ? "" : "]");
    printf(" =\n");
    rapt_tensor_text_options options = rapt_tensor_text_options_default();
    options.threshold = 1;
    print_text(rapt_tensor_text(&first, &options, &err), &err);
}

void show_frame(size_t rows, size_t columns, const rapt_real *values, const char *const *row_names,
                const char *const *column_names)
{
    rapt_error err = {0};
    const rapt_table table = {.values = values, .rows = rows, .columns = columns, .row_names = row_names,
                              .column_names = column_names, .max_columns = FRAME_COLUMNS};
    print_text(rapt_table_text(&table, &err), &err);
}

/* ---- tables for pictures ----------------------------------------------------------------------------------------- */

static const char *name_at(const char *const *names, size_t i, char number[24])
{
    if (names)
        return names[i];
    snprintf(number, 24, "%zu", i);
    return number;
}

void show_table(size_t rows, size_t columns, const rapt_real *values, const char *const *row_names,
                const char *const *column_names)
{
    char number[24];
    for (size_t j = 0; j < columns; j++)
        printf("\t%s", name_at(column_names, j, number));
    putchar('\n');
    for (size_t i = 0; i < rows; i++) {
        printf("%s", name_at(row_names, i, number));
        for (size_t j = 0; j < columns; j++)
            printf("\t%.6g", (double)values[i * columns + j]);
        putchar('\n');
    }
}

void show_table_part(size_t rows, size_t columns, const rapt_tensor *x, const char *const *row_names)
{
    rapt_real *values = calloc(rows * columns, sizeof *values);
    for (size_t n = 0; values && n < rows * columns; n++)
        values[n] = x->data[n / columns * rapt_tensor_features(x) + n % columns];
    if (values)
        show_table(rows, columns, values, row_names, NULL);
    failures += !values;
    free(values);
}

bool show_wants_table(int argc, char **argv)
{
    if (argc == 1)
        return false;
    if (argc == 2 && strcmp(argv[1], "--table") == 0)
        return true;
    fprintf(stderr, "usage: %s [--table]\n", argv[0]);
    exit(2);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

bool show_check(const char *text, bool ok)
{
    printf("%s %s\n", ok ? "[ok]    " : "[FAILED]", text);
    failures += !ok;
    return ok;
}

double show_difference(size_t count, const rapt_real *a, const rapt_real *b)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (!(d <= largest)) /* NaN too, and it stays */
            largest = d;
        if (isnan(largest))
            break;
    }
    return largest;
}

bool show_ready(const rapt_tape *t, const rapt_params *set)
{
    const rapt_error *err = rapt_params_error(set)->code ? rapt_params_error(set) : rapt_tape_error(t);
    if (err->code == RAPT_OK)
        return true;
    if (!told)
        fprintf(stderr, "%s\n", err->message);
    told = true;
    failures++;
    return false;
}

bool show_begin(rapt_tape **t, rapt_params **set)
{
    rapt_error err = {0};
    *set = rapt_params_new(1, &err); /* 1 is the seed */
    *t = rapt_tape_new(NULL, &err);
    if (*set && *t)
        return true;
    fprintf(stderr, "%s\n", err.message);
    show_end(*t, *set);
    return false;
}

int show_end(rapt_tape *t, rapt_params *set)
{
    rapt_tape_free(t);
    rapt_params_free(set);
    if (fflush(stdout) != 0 || ferror(stdout))
        failures++;
    return failures > 0;
}

int show_run(int argc, char **argv, show_part *chapter, show_part *picture)
{
    show_part *wanted = show_wants_table(argc, argv) ? picture : chapter;
    rapt_params *set;
    rapt_tape *t;
    if (!show_begin(&t, &set))
        return 1;
    rapt_tape_begin(t, (rapt_pass){0});
    wanted(t, set);
    return show_end(t, set);
}
