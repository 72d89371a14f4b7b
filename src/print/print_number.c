/* print/print_number.c: statistics of elements, one number as text, and how wide a text is. For print_tensor.c,
 * print_table.c and the text of explanations. */
#include "print/printer.h"

#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <math.h>
#include <string.h>

static double sum_of_squares(const rapt_real *x, size_t n, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)x[i] - mean;
        sum += isfinite(x[i]) ? d * d : 0;
    }
    return sum;
}

print_statistics print_statistics_of(const rapt_real *x, size_t n)
{
    print_statistics s = {.count = n, .min = INFINITY, .max = -INFINITY};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        s.finite++;
        s.min = fmin(s.min, (double)x[i]);
        s.max = fmax(s.max, (double)x[i]);
        sum += (double)x[i];
    }
    if (s.finite == 0)
        return (print_statistics){.count = n};
    s.mean = sum / (double)s.finite;
    if (s.finite > 1)
        s.std = sqrt(sum_of_squares(x, n, s.mean) / (double)(s.finite - 1));
    return s;
}

const char *print_number(double x, char text[PRINT_NUMBER])
{
    double size = fabs(x);
    if (isnan(x))
        strcpy(text, "nan");
    else if (isinf(x))
        strcpy(text, x < 0 ? "-inf" : "inf");
    else if (size > 1e8 || (size > 0 && size < 1e-4))
        snprintf(text, PRINT_NUMBER, "%.4e", x);
    else if (x == floor(x))
        snprintf(text, PRINT_NUMBER, "%.0f.", x);
    else
        snprintf(text, PRINT_NUMBER, "%.4f", x);
    return text;
}

/* The columns of the first character of `size` bytes, and its number of bytes; a byte that is not UTF-8 takes one column. */
static size_t character_width(const char *text, size_t size, size_t *used)
{
    uint32_t code;
    *used = utf8_decode(text, size, &code);
    size_t width = *used ? unicode_width(code) : 1;
    *used = *used ? *used : 1;
    return width;
}

size_t print_width(const char *text)
{
    size_t width = 0, used;
    for (size_t left = strlen(text); left > 0; left -= used, text += used)
        width += character_width(text, left, &used);
    return width;
}

void print_padded(FILE *to, const char *text, size_t width)
{
    size_t taken = print_width(text);
    fprintf(to, "%s%*s", text, taken < width ? (int)(width - taken) : 0, "");
}

void print_fitted(FILE *to, const char *text, size_t width)
{
    size_t taken = 0, bytes = 0, used, left = strlen(text), wide;
    if (print_width(text) <= width || width == 0) {
        print_padded(to, text, width);
        return;
    }
    for (; bytes < left && taken + (wide = character_width(text + bytes, left - bytes, &used)) < width; bytes += used)
        taken += wide;
    fwrite(text, 1, bytes, to);
    fprintf(to, "\xe2\x80\xa6%*s", (int)(width - taken - 1), "");
}
