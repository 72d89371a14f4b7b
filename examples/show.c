/* examples/show.c: printing for the programs of the book: shapes, corners of tensors as PyTorch prints them, tables
 * with names, and checks that decide the exit status. Not part of the library. */
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 3, FRAME_EDGE = 10 }; /* rows or columns on either side of "..." */

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

void show_ids(const char *name, rapt_tokens tokens)
{
    printf("%s: [%zu, %zu]\n", name, tokens.batch, tokens.time);
    for (size_t b = 0; b < tokens.batch; b++)
        for (size_t i = 0; i < tokens.time; i++)
            printf("%7d%s", tokens.ids[b * tokens.time + i], i + 1 < tokens.time ? "" : "\n");
}

/* ---- as PyTorch prints ---------------------------------------------------------------------------------------- */

/* What to print of row-major numbers of one to four dimensions; `cut` leaves out the middle of long ones. */
typedef struct part {
    const rapt_real *data;
    int ndim;
    const size_t *shape;
    bool cut;
    int width; /* of a number */
} part;

static bool is_cut(const part *p, int dim) { return p->cut && p->shape[dim] > 2 * EDGE; }

static size_t shown_count(const part *p, int dim) { return is_cut(p, dim) ? 2 * EDGE : p->shape[dim]; }

/* The index of the i-th entry that is shown. */
static size_t shown_at(const part *p, int dim, size_t i)
{
    return is_cut(p, dim) && i >= EDGE ? p->shape[dim] - 2 * EDGE + i : i;
}

/* The numbers from one entry of a dimension to the next. */
static size_t step_of(const part *p, int dim)
{
    size_t step = 1;
    for (int k = dim + 1; k < p->ndim; k++)
        step *= p->shape[k];
    return step;
}

static int widest(const part *p, int dim, const rapt_real *x)
{
    if (dim == p->ndim)
        return snprintf(NULL, 0, "%.4f", (double)*x);
    int width = 0;
    for (size_t i = 0; i < shown_count(p, dim); i++) {
        int w = widest(p, dim + 1, x + shown_at(p, dim, i) * step_of(p, dim));
        width = w > width ? w : width;
    }
    return width;
}

/* What stands between two entries: a comma and a space in a row; a comma, a line for each dimension that ends, and the
 * brackets' indent otherwise. */
static void print_between(const part *p, int dim)
{
    if (dim + 1 == p->ndim) {
        printf(", ");
        return;
    }
    putchar(',');
    for (int k = dim + 1; k < p->ndim; k++)
        putchar('\n');
    printf("%*s", dim + 1, "");
}

static void print_part(const part *p, int dim, const rapt_real *x)
{
    if (dim == p->ndim) {
        printf("%*.4f", p->width, (double)*x);
        return;
    }
    putchar('[');
    for (size_t i = 0; i < shown_count(p, dim); i++) {
        if (i > 0)
            print_between(p, dim);
        if (i == EDGE && is_cut(p, dim)) {
            printf(dim + 1 == p->ndim ? " ..." : "...");
            print_between(p, dim);
        }
        print_part(p, dim + 1, x + shown_at(p, dim, i) * step_of(p, dim));
    }
    putchar(']');
}

static void print_tensor(part p)
{
    p.width = widest(&p, 0, p.data);
    print_part(&p, 0, p.data);
    putchar('\n');
}

void show_corner(const char *name, const rapt_tensor *x)
{
    int lead = x->ndim > 2 ? x->ndim - 2 : 0;
    printf("%s", name);
    for (int i = 0; i < lead; i++)
        printf("%s%s", i > 0 ? ", 0" : "[0", i + 1 < lead ? "" : "]");
    printf(" =\n");
    print_tensor((part){.data = x->data, .ndim = x->ndim - lead, .shape = x->shape + lead, .cut = true});
}

void show_whole(const char *name, const rapt_tensor *x)
{
    printf("%s =\n", name);
    print_tensor((part){.data = x->data, .ndim = x->ndim, .shape = x->shape});
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static const char *name_at(const char *const *names, size_t i, char number[24])
{
    if (names)
        return names[i];
    snprintf(number, 24, "%zu", i);
    return number;
}

/* Columns that an UTF-8 text takes, one a character: good for the names that the book has. */
static int columns_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int longest_name(size_t count, const char *const *names)
{
    char number[24];
    int longest = 0;
    for (size_t i = 0; i < count; i++) {
        int n = columns_of(name_at(names, i, number));
        longest = n > longest ? n : longest;
    }
    return longest;
}

static void print_right(const char *text, int width) { printf("%*s%s", width - columns_of(text), "", text); }

/* The column of a frame after j; says "..." where it leaves some out. */
static size_t next_column(size_t j, size_t columns)
{
    if (j + 1 != FRAME_EDGE || columns <= 2 * FRAME_EDGE)
        return j + 1;
    printf(" ...");
    return columns - FRAME_EDGE;
}

void show_frame(size_t rows, size_t columns, const rapt_real *values, const char *const *row_names,
                const char *const *column_names)
{
    char number[24];
    part p = {.data = values, .ndim = 2, .shape = (size_t[]){rows, columns}};
    int first = longest_name(rows, row_names), width = widest(&p, 0, values);
    int longest = longest_name(columns, column_names);
    width = width > longest ? width : longest;
    printf("%*s", first, "");
    for (size_t j = 0; j < columns; j = next_column(j, columns))
        print_right(name_at(column_names, j, number), width + 1);
    putchar('\n');
    for (size_t i = 0; i < rows; i++) {
        print_right(name_at(row_names, i, number), first);
        for (size_t j = 0; j < columns; j = next_column(j, columns))
            printf(" %*.4f", width, (double)values[i * columns + j]);
        putchar('\n');
    }
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
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err); /* 1 is the seed */
    rapt_tape *t = rapt_tape_new(NULL, &err);
    if (!set || !t) {
        fprintf(stderr, "%s\n", err.message);
        show_end(t, set);
        return 1;
    }
    rapt_tape_begin(t, (rapt_pass){0});
    wanted(t, set);
    return show_end(t, set);
}
