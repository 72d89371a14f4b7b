/* print/print_tensor.c: tensors and token ids as PyTorch prints them: the same digits, widths, line breaks and dots
 * (torch/_tensor_str.py). For comparisons with a book or with Python; four digits are not enough to read elements back. */
#include "print/printer.h"

#include <math.h>
#include <string.h>

#define CELL 96 /* the largest float has 39 digits before the point */

/* How every number of a tensor is written; it follows from those that are shown. */
typedef struct style {
    bool ids, whole, exponents;
    int precision;
    double min, max; /* sizes of those that are finite and not 0 */
    size_t width;
} style;

typedef struct tensor_text {
    FILE *to;
    const print_elements *x;
    size_t edge, line;
    bool cut; /* dimensions longer than two edges are */
    style style;
} tensor_text;

static double element(const tensor_text *t, size_t i)
{
    return t->x->ids ? (double)t->x->ids[i] : (double)t->x->values[i];
}

static void print_tensor_write_cell(const style *s, double x, char cell[CELL])
{
    if (isnan(x))
        strcpy(cell, "nan");
    else if (isinf(x))
        strcpy(cell, x < 0 ? "-inf" : "inf");
    else if (s->exponents)
        snprintf(cell, CELL, "%.*e", s->precision, x);
    else if (s->ids || s->whole)
        snprintf(cell, CELL, s->ids ? "%.0f" : "%.0f.", x);
    else
        snprintf(cell, CELL, "%.*f", s->precision, x);
}

/* ---- the style: two passes over what is shown --------------------------------------------------------------------- */

static void see_size(style *s, double x)
{
    if (!isfinite(x) || x == 0)
        return;
    s->min = fmin(s->min, fabs(x));
    s->max = fmax(s->max, fabs(x));
    s->whole = s->whole && x == floor(x);
}

static void see_width(style *s, double x)
{
    char cell[CELL];
    if (!s->ids && (!isfinite(x) || x == 0)) /* PyTorch ignores them, even if they are wider */
        return;
    print_tensor_write_cell(s, x, cell);
    s->width = strlen(cell) > s->width ? strlen(cell) : s->width;
}

static bool is_cut(const tensor_text *t, int dim)
{
    return t->cut && t->x->shape[dim] > 2 * t->edge;
}

static size_t print_tensor_next(const tensor_text *t, int dim, size_t i)
{
    return is_cut(t, dim) && i + 1 == t->edge ? t->x->shape[dim] - t->edge : i + 1;
}

/* Numbers from one index of a dimension to the next. */
static size_t stride_of(const tensor_text *t, int dim)
{
    size_t stride = 1;
    for (int i = dim + 1; i < t->x->ndim; i++)
        stride *= t->x->shape[i];
    return stride;
}

/* Visits elements from number `at` on, through dimension `dim` and all later dimensions. */
static void see_elements(tensor_text *t, int dim, size_t at, void (*see)(style *, double))
{
    if (dim == t->x->ndim) {
        see(&t->style, element(t, at));
        return;
    }
    for (size_t i = 0; i < t->x->shape[dim]; i = print_tensor_next(t, dim, i))
        see_elements(t, dim + 1, at + i * stride_of(t, dim), see);
}

static void choose_style(tensor_text *t, int precision)
{
    style *s = &t->style;
    *s = (style){.ids = t->x->ids != NULL, .whole = true, .precision = precision, .min = INFINITY, .width = 1};
    see_elements(t, 0, 0, see_size);
    s->exponents = !s->ids && s->max > 0 && (s->max / s->min > 1000 || s->max > 1e8 || s->min < 1e-4);
    see_elements(t, 0, 0, see_width);
}

/* ---- the text --------------------------------------------------------------------------------------------------- */

/* A comma and, after as many cells as a line holds, a new one; the dots count as a cell. */
static void print_comma(const tensor_text *t, size_t cells, size_t a_line, int indent)
{
    if (cells == 0)
        return;
    if (cells % a_line == 0)
        fprintf(t->to, ",\n%*s", indent + 1, "");
    else
        fputs(", ", t->to);
}

static void print_cell(const tensor_text *t, size_t at)
{
    char cell[CELL];
    print_tensor_write_cell(&t->style, element(t, at), cell);
    fprintf(t->to, "%*s", (int)t->style.width, cell);
}

static void print_vector(const tensor_text *t, size_t at, int indent)
{
    int dim = t->x->ndim - 1;
    size_t width = (size_t)indent < t->line ? t->line - (size_t)indent : 0, a_line = width / (t->style.width + 2), cells = 0;
    a_line = a_line ? a_line : 1;
    fputc('[', t->to);
    for (size_t i = 0; i < t->x->shape[dim]; i = print_tensor_next(t, dim, i)) {
        print_comma(t, cells++, a_line, indent);
        print_cell(t, at + i);
        if (is_cut(t, dim) && i + 1 == t->edge) {
            print_comma(t, cells++, a_line, indent);
            fputs(" ...", t->to);
        }
    }
    fputc(']', t->to);
}

/* Between two slices: the more dimensions a slice has, the more empty lines. */
static void print_break(const tensor_text *t, int dim, int indent)
{
    fputc(',', t->to);
    for (int i = dim + 1; i < t->x->ndim; i++)
        fputc('\n', t->to);
    fprintf(t->to, "%*s", indent + 1, "");
}

static void print_slices(const tensor_text *t, int dim, size_t at, int indent)
{
    if (dim + 1 >= t->x->ndim) {
        if (t->x->ndim > 0)
            print_vector(t, at, indent);
        else
            print_cell(t, at);
        return;
    }
    fputc('[', t->to);
    for (size_t i = 0; i < t->x->shape[dim]; i = print_tensor_next(t, dim, i)) {
        if (i > 0)
            print_break(t, dim, indent);
        print_slices(t, dim + 1, at + i * stride_of(t, dim), indent + 1);
        if (is_cut(t, dim) && i + 1 == t->edge) {
            print_break(t, dim, indent);
            fputs("...", t->to);
        }
    }
    fputc(']', t->to);
}

void print_tensor(FILE *to, const print_elements *x, const rapt_tensor_text_options *o)
{
    tensor_text t = {.to = to, .x = x, .edge = o->edge_items, .line = o->line_width};
    t.cut = stride_of(&t, -1) > o->threshold;
    choose_style(&t, (int)o->precision);
    fputs("tensor(", to);
    print_slices(&t, 0, 0, 7);
    fputs(")\n", to);
}
