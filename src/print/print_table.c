/* print/print_table.c: matrices as pandas prints them: six digits, each column as wide and with as few decimals as it needs, dots
 * for what is left out of the middle; on request narrower, if a line is too short for all columns. Every column holds numbers. */
#include "print/printer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 6
#define CELL 80
#define NARROW_DIGITS 4 /* as PyTorch has them */
#define NARROW_NAME 6   /* columns of text that the name of a narrow column takes at least: as many as "0.1234" */
#define NARROW_LABEL 12 /* max columns of a row's name */

/* What is shown of a dimension: `edge` items from each end, or all. */
typedef struct span {
    size_t count, edge;
    bool cut;
} span;

typedef struct column_style {
    int decimals;
    bool exponents;
    bool bare; /* no column for the sign, because nothing is negative */
    size_t width;
} column_style;

typedef struct table {
    const rapt_table *f;
    span rows, columns;
    size_t label;          /* width of row labels */
    size_t number;         /* width that column numbers are padded to */
    column_style *styles;  /* styles of the shown columns */
    size_t name_max;       /* columns of text that column names may take; SIZE_MAX: as many as they need */
    bool narrow;           /* fewer digits */
} table;

static span print_table_span_of(size_t count, size_t max)
{
    size_t edge = max / 2 > 0 ? max / 2 : 1;
    bool cut = max > 0 && count > max && count > 2 * edge;
    return (span){count, cut ? edge : 0, cut};
}

static size_t print_table_shown(const span *s)
{
    return s->cut ? 2 * s->edge : s->count;
}

static size_t index_of(const span *s, size_t i)
{
    return s->cut && i >= s->edge ? s->count - 2 * s->edge + i : i;
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

static const char *print_table_label_of(const char *const *names, size_t i, char text[CELL])
{
    if (names)
        return names[i];
    snprintf(text, CELL, "%zu", i);
    return text;
}

static size_t widest_label(const char *const *names, const span *s)
{
    char text[CELL];
    size_t max = 0;
    for (size_t i = 0; i < print_table_shown(s); i++) {
        size_t width = print_width(print_table_label_of(names, index_of(s, i), text));
        max = width > max ? width : max;
    }
    return max;
}

/* Numbers of columns are all as wide as the widest, with spaces after them; names are not. */
static size_t header_width(const table *t, size_t column)
{
    char text[CELL];
    size_t width = print_width(print_table_label_of(t->f->column_names, column, text));
    width = width < t->name_max ? width : t->name_max;
    return t->f->column_names ? width : t->number;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static size_t print_table_write_cell(const column_style *s, double x, char cell[CELL])
{
    if (isnan(x))
        strcpy(cell, "NaN");
    else if (isinf(x))
        strcpy(cell, x < 0 ? "-inf" : s->bare ? "inf" : " inf");
    else
        snprintf(cell, CELL, s->exponents ? s->bare ? "%.*e" : "% .*e" : s->bare ? "%.*f" : "% .*f", s->decimals, x);
    return strlen(cell);
}

/* The decimals that a number needs, 1 at least, when six are written. */
static int decimals_of(double x)
{
    char cell[CELL];
    int unused = 0;
    for (size_t n = print_table_write_cell(&(column_style){.decimals = DIGITS}, x,
                                           cell); unused < DIGITS - 1 && cell[n - 1] == '0'; n--)
        unused++;
    return DIGITS - unused;
}

static double value(const table *t, size_t row, size_t column)
{
    return (double)t->f->values[index_of(&t->rows, row) * t->f->columns + column];
}

static size_t widest_cell(const table *t, const column_style *s, size_t column)
{
    char cell[CELL];
    size_t max = 0;
    for (size_t i = 0; i < print_table_shown(&t->rows); i++) {
        size_t width = print_table_write_cell(s, value(t, i, column), cell);
        max = width > max ? width : max;
    }
    return max;
}

/* A column has exponents if six decimals would show a number as 0, or if a number above a million needs many digits; a narrow
 * column, only if all its numbers would be shown as 0. */
static column_style style_of(const table *t, size_t column)
{
    column_style s = {.decimals = 1};
    bool small = false, large = false, negative = false;
    double most = 0;
    for (size_t i = 0; i < print_table_shown(&t->rows); i++) {
        double x = value(t, i, column), size = fabs(x);
        int decimals = isfinite(x) ? decimals_of(x) : 1;
        s.decimals = decimals > s.decimals ? decimals : s.decimals;
        negative = negative || signbit(x);
        most = isfinite(x) && size > most ? size : most;
        small = small || (size > 0 && (float)size < 1e-6f); /* pandas compares numbers as they are stored */
        large = large || size > 1e6;
    }
    if (t->narrow) {
        s.decimals = s.decimals < NARROW_DIGITS ? s.decimals : NARROW_DIGITS;
        small = most > 0 && most < 1e-3;
        s.bare = !negative;
    }
    s.exponents = small || (large && widest_cell(t, &s, column) > DIGITS + 6);
    if (s.exponents)
        s.decimals = t->narrow ? NARROW_DIGITS / 2 : DIGITS;
    size_t cells = widest_cell(t, &s, column), header = !s.bare + header_width(t, column);
    s.width = cells > header ? cells : header;
    return s;
}

static size_t print_table_line_width(const table *t)
{
    size_t width = t->label + (t->columns.cut ? 1 + 4 : 0);
    for (size_t j = 0; j < print_table_shown(&t->columns); j++)
        width += 1 + t->styles[j].width;
    return width;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static void print_dots(FILE *to, const table *t, size_t after)
{
    if (t->columns.cut && after == t->columns.edge)
        fputs("  ...", to);
}

static void print_table_header(FILE *to, const table *t)
{
    char text[CELL];
    fprintf(to, "%*s", (int)t->label, "");
    for (size_t j = 0; j < print_table_shown(&t->columns); j++) {
        size_t column = index_of(&t->columns, j), width = header_width(t, column);
        print_dots(to, t, j);
        fprintf(to, "%*s", (int)(1 + t->styles[j].width - width), "");
        print_fitted(to, print_table_label_of(t->f->column_names, column, text), width);
    }
    fputc('\n', to);
}

static void print_table_row(FILE *to, const table *t, size_t row)
{
    char text[CELL];
    print_fitted(to, print_table_label_of(t->f->row_names, index_of(&t->rows, row), text), t->label);
    for (size_t j = 0; j < print_table_shown(&t->columns); j++) {
        print_dots(to, t, j);
        print_table_write_cell(&t->styles[j], value(t, row, index_of(&t->columns, j)), text);
        fprintf(to, " %*s", (int)t->styles[j].width, text);
    }
    fputc('\n', to);
}

static void print_row_of_dots(FILE *to, const table *t)
{
    print_padded(to, t->label > 3 ? "..." : "..", t->label);
    for (size_t j = 0; j < print_table_shown(&t->columns); j++) {
        print_dots(to, t, j);
        fprintf(to, " %*s", (int)t->styles[j].width, t->styles[j].width > 3 ? "..." : "..");
    }
    fputc('\n', to);
}

static void print_lines(FILE *to, const table *t)
{
    print_table_header(to, t);
    for (size_t i = 0; i < print_table_shown(&t->rows); i++) {
        if (t->rows.cut && i == t->rows.edge)
            print_row_of_dots(to, t);
        print_table_row(to, t, i);
    }
    if (t->rows.cut || t->columns.cut)
        fprintf(to, "\n[%zu rows x %zu columns]\n", t->f->rows, t->f->columns);
}

/* ---- how many columns ------------------------------------------------------------------------------------------- */

static void print_table_lay_out(table *t, size_t max_columns)
{
    t->columns = print_table_span_of(t->f->columns, max_columns);
    t->number = t->f->column_names ? 0 : widest_label(NULL, &t->columns);
    for (size_t j = 0; j < print_table_shown(&t->columns); j++)
        t->styles[j] = style_of(t, index_of(&t->columns, j));
}

/* As many columns as are wanted and fit; a column takes four at least, and one for the gap. */
static void fit(table *t)
{
    const rapt_table *f = t->f;
    size_t max = f->max_columns && f->max_columns < f->columns ? f->max_columns : f->columns;
    if (f->width && max > f->width / 5 + 1)
        max = f->width / 5 + 1;
    print_table_lay_out(t, max);
    while (f->width && max > 2 && print_table_line_width(t) > f->width) {
        max = max % 2 ? max - 1 : max - 2;
        print_table_lay_out(t, max);
    }
}

/* Uses fewer digits and truncates names to the width of the numbers; then lengthens names as far as they fit. */
static void print_table_narrow(table *t)
{
    t->narrow = true;
    t->label = t->label < NARROW_LABEL ? t->label : NARROW_LABEL;
    t->name_max = NARROW_NAME;
    fit(t);
    size_t shown = print_table_shown(&t->columns), widest = t->f->column_names ? CELL : NARROW_NAME;
    for (bool fits = true; fits && t->name_max < widest;) {
        t->name_max++;
        print_table_lay_out(t, shown);
        fits = print_table_line_width(t) <= t->f->width;
        t->name_max -= !fits;
    }
    print_table_lay_out(t, shown);
}

rapt_code print_table(FILE *to, const rapt_table *wanted, rapt_error *err)
{
    table t = {.f = wanted, .rows = print_table_span_of(wanted->rows, wanted->max_rows), .name_max = SIZE_MAX};
    t.label = widest_label(wanted->row_names, &t.rows);
    if (t.rows.cut && t.label < 2) /* the dots take room in the column of labels */
        t.label = 2;
    t.styles = malloc((wanted->columns + 2) * sizeof *t.styles);
    if (!t.styles)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a table of %zu columns", wanted->columns);
    fit(&t);
    const span asked = print_table_span_of(wanted->columns, wanted->max_columns);
    if (wanted->narrow && print_table_shown(&t.columns) < print_table_shown(&asked))
        print_table_narrow(&t);
    print_lines(to, &t);
    free(t.styles);
    return RAPT_OK;
}
