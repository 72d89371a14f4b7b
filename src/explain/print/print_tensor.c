/* explain/print/print_tensor.c: tensors as PyTorch prints them: the same digits, widths, line breaks and dots. For
 * comparisons with a book or with Python; four digits are not enough to read elements back. */
#include "explain/print/print.h"

#include <math.h>
#include <string.h>

#define LINE 80
#define EDGE 3            /* shown at each end of a dimension */
#define CELL 64

/* How every number of a tensor is written; it follows from those that are shown. */
typedef struct style {
    bool whole, exponents;
    double min, max; /* sizes of those that are finite and not 0 */
    size_t width;
} style;

typedef struct tensor_text {
    FILE *to;
    int ndim;
    const size_t *shape;
    bool cut; /* dimensions longer than two edges are */
    style style;
} tensor_text;

static void print_tensor_write_cell(const style *s, double x, char cell[CELL])
{
    if (isnan(x))
        strcpy(cell, "nan");
    else if (isinf(x))
        strcpy(cell, x < 0 ? "-inf" : "inf");
    else if (s->exponents)
        snprintf(cell, CELL, "%.4e", x);
    else
        snprintf(cell, CELL, s->whole ? "%.0f." : "%.4f", x);
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
    if (!isfinite(x) || x == 0) /* they have no say, even where they are wider */
        return;
    print_tensor_write_cell(s, x, cell);
    s->width = strlen(cell) > s->width ? strlen(cell) : s->width;
}

static bool is_cut(const tensor_text *t, int dim)
{
    return t->cut && t->shape[dim] > 2 * EDGE;
}

static size_t print_tensor_next(const tensor_text *t, int dim, size_t i)
{
    return is_cut(t, dim) && i + 1 == EDGE ? t->shape[dim] - EDGE : i + 1;
}

/* Numbers from one index of a dimension to the next. */
static size_t stride_of(const tensor_text *t, int dim)
{
    size_t stride = 1;
    for (int i = dim + 1; i < t->ndim; i++)
        stride *= t->shape[i];
    return stride;
}

static void see_elements(tensor_text *t, int dim, const rapt_real *x, void (*see)(style *, double))
{
    size_t stride = stride_of(t, dim);
    for (size_t i = 0; i < t->shape[dim]; i = print_tensor_next(t, dim, i)) {
        if (dim + 1 == t->ndim)
            see(&t->style, (double)x[i]);
        else
            see_elements(t, dim + 1, x + i * stride, see);
    }
}

static void choose_style(tensor_text *t, const rapt_real *x)
{
    style *s = &t->style;
    *s = (style){.whole = true, .min = INFINITY, .width = 1};
    see_elements(t, 0, x, see_size);
    s->exponents = s->max > 0 && (s->max / s->min > 1000 || s->max > 1e8 || s->min < 1e-4);
    see_elements(t, 0, x, see_width);
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

static void print_vector(const tensor_text *t, const rapt_real *x, int indent)
{
    char cell[CELL];
    int dim = t->ndim - 1;
    size_t width = indent < LINE ? (size_t)(LINE - indent) : 0, a_line = width / (t->style.width + 2), cells = 0;
    a_line = a_line ? a_line : 1;
    fputc('[', t->to);
    for (size_t i = 0; i < t->shape[dim]; i = print_tensor_next(t, dim, i)) {
        print_comma(t, cells++, a_line, indent);
        print_tensor_write_cell(&t->style, (double)x[i], cell);
        fprintf(t->to, "%*s", (int)t->style.width, cell);
        if (is_cut(t, dim) && i + 1 == EDGE) {
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
    for (int i = dim + 1; i < t->ndim; i++)
        fputc('\n', t->to);
    fprintf(t->to, "%*s", indent + 1, "");
}

static void print_slices(const tensor_text *t, int dim, const rapt_real *x, int indent)
{
    size_t stride = stride_of(t, dim);
    if (dim + 1 == t->ndim) {
        print_vector(t, x, indent);
        return;
    }
    fputc('[', t->to);
    for (size_t i = 0; i < t->shape[dim]; i = print_tensor_next(t, dim, i)) {
        if (i > 0)
            print_break(t, dim, indent);
        print_slices(t, dim + 1, x + i * stride, indent + 1);
        if (is_cut(t, dim) && i + 1 == EDGE) {
            print_break(t, dim, indent);
            fputs("...", t->to);
        }
    }
    fputc(']', t->to);
}

void print_tensor(FILE *to, const rapt_real *x, int ndim, const size_t *shape, size_t max)
{
    tensor_text t = {.to = to, .ndim = ndim, .shape = shape};
    t.cut = shape[0] * stride_of(&t, 0) > max;
    choose_style(&t, x);
    fputs("tensor(", to);
    print_slices(&t, 0, x, 7);
    fputs(")\n", to);
}
