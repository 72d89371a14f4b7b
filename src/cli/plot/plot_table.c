/* cli/plot/plot_table.c: `rapt plot table`: a table of numbers from any program as a heat map. */
#include "cli/plot/cmd_plot.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "text/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct table_arguments {
    const char *file;
    bool names;
    plot_options o;
} table_arguments;

#define ARGUMENTS table_arguments
static const cli_option OPTIONS[] = {
    OPTION_FLAG("names", AT(names), "The first line and the first column are names; the corner is ignored"),
    OPTION_TABLE(plot_range_rows, AT(o)),
    {0}};

static void plot_table_finish(void *arguments)
{
    plot_options_finish(&((table_arguments *)arguments)->o);
}

const cli_command plot_table_command = {
    .options = OPTIONS, .operands = "FILE -o PICTURE",
    .about = "Plot a table of numbers as a heat map: a line for each row, tabs between columns.",
    .notes = "FILE can be - for standard input. nan is drawn gray, infinities as the ends of the color scale.",
    .least = 1, .missing = "FILE; - is standard input", .most = 1, .takes = "one file", .operand = {AT(file)},
    .finish = plot_table_finish};

/* ---- reading ----------------------------------------------------------------------------------------------- */

typedef struct table {
    const char *path;
    struct lines lines;
    bool names;
    size_t rows, columns;
    rapt_real *values;         /* [rows, columns] */
    const char **row_names;    /* [rows]; with names */
    const char **column_names; /* [columns + 1]; the first is the corner */
} table;

/* Ends the cell that begins at `text`; returns the beginning of the next one, NULL after the last. */
static char *cut_cell(char *text)
{
    char *tab = strchr(text, '\t');
    if (!tab)
        return NULL;
    *tab = '\0';
    return tab + 1;
}

static size_t count_cells(const char *line)
{
    size_t count = 1;
    for (; (line = strchr(line, '\t')) != NULL; line++)
        count++;
    return count;
}

static rapt_code plot_table_take_number(const table *t, size_t line, size_t column, const char *text, rapt_real *value,
                                        rapt_error *err)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || end[strspn(end, " ")])
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: column %zu: \"%s\" is not a number", t->path, line + 1, column + 1,
                         quote(text).text);
    *value = (rapt_real)x;
    if (isfinite(x) && !isfinite(*value))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: column %zu: %s is too large", t->path, line + 1, column + 1,
                         quote(text).text);
    return RAPT_OK;
}

static rapt_code take_row(table *t, size_t row, rapt_error *err)
{
    size_t line = row + t->names, cells = count_cells(t->lines.line[line]), wanted = t->columns + t->names;
    rapt_code code = RAPT_OK;
    char *cell = t->lines.line[line], *next;
    if (cells != wanted)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: %zu column%s, line 1 has %zu", t->path, line + 1, cells,
                         cells == 1 ? "" : "s", wanted);
    for (size_t j = 0; j < cells && !code; j++, cell = next) {
        next = cut_cell(cell);
        if (t->names && j == 0)
            t->row_names[row] = cell;
        else
            code = plot_table_take_number(t, line, j, cell, &t->values[row * t->columns + j - t->names], err);
    }
    return code;
}

static void take_column_names(table *t)
{
    char *cell = t->lines.line[0];
    for (size_t j = 0; cell; j++) {
        t->column_names[j] = cell;
        cell = cut_cell(cell);
    }
}

static rapt_code take_size(table *t, rapt_error *err)
{
    size_t cells = t->lines.count ? count_cells(t->lines.line[0]) : 0;
    if (t->lines.count <= t->names || cells <= t->names)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: no number%s", t->path, t->names ? " beside the names" : "");
    t->rows = t->lines.count - t->names;
    t->columns = cells - t->names;
    t->values = calloc(t->rows, t->columns * sizeof *t->values);
    t->row_names = calloc(t->rows, sizeof *t->row_names);
    t->column_names = calloc(cells, sizeof *t->column_names);
    if (!t->values || !t->row_names || !t->column_names)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu x %zu numbers", t->path, t->rows, t->columns);
    return RAPT_OK;
}

static rapt_code read_table(const char *file, table *t, rapt_error *err)
{
    t->path = strcmp(file, "-") == 0 ? "standard input" : file;
    rapt_code code = lines_read(file, CLI_MAX_TEXT, &t->lines, err);
    if (!code)
        code = take_size(t, err);
    if (!code && t->names)
        take_column_names(t);
    for (size_t i = 0; i < t->rows && !code; i++)
        code = take_row(t, i, err);
    return code;
}

static void free_table(table *t)
{
    lines_free(&t->lines);
    free(t->values);
    free(t->row_names);
    free(t->column_names);
}

int plot_table(int argc, char **argv)
{
    table_arguments a = {0};
    rapt_error err = {0};
    options_parse(&plot_table_command, argc, argv, &a);
    table t = {.names = a.names};
    rapt_code code = read_table(a.file, &t, &err);
    if (!code) {
        draw_heat map = {.rows = t.rows, .columns = t.columns, .values = t.values};
        map.row_names = t.names ? t.row_names : NULL;
        map.column_names = t.names ? t.column_names + 1 : NULL;
        code = plot_heat_maps(&a.o, &map, 1, 1, NULL, &err);
    }
    free_table(&t);
    return code ? cli_fail(&err) : 0;
}
