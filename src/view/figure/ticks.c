/* view/figure/ticks.c: where axes are marked, and the numbers there. For axes and color bars, which draw them. */
#include "view/figure/ticks.h"

#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLACK 1e-9 /* a share of a step: 0.3 is 2.9999999999999996 steps of 0.1, and must count as 3 */
enum { MAX_DECIMALS = 5, MAX_DIGITS = 6 };

/* 1, 2 or 5 times a power of ten, not less than x except for rounding. */
static double round_up(double x)
{
    double ten = pow(10, floor(log10(x)));
    double parts[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (parts[i] * ten >= x * (1 - SLACK))
            return parts[i] * ten;
    return 10 * ten;
}

ticks ticks_within(double low, double high, double wanted)
{
    ticks t = {.step = round_up((high - low) / wanted)};
    if (t.step < DBL_MIN) // powers of ten have few digits there, or are 0
        return t;
    t.first = ceil(low / t.step - SLACK);
    double last = floor(high / t.step + SLACK);
    t.count = last >= t.first ? (size_t)(last - t.first) + 1 : 0;
    int power = (int)floor(log10(t.step) + SLACK);
    t.decimals = power < 0 ? -power : 0;
    return t;
}

enum { MARKS = sizeof ((ticks *)0)->marks / sizeof(double) };

static void add_mark(ticks *t, double low, double high, double mark)
{
    double at = log10(mark);
    if (t->count < MARKS && at >= low - SLACK && at <= high + SLACK)
        t->marks[t->count++] = mark;
}

ticks ticks_of_logarithm(double low, double high, double wanted)
{
    ticks t = {.log = true};
    if (high - low < log10(2)) {
        const ticks even = ticks_within(pow(10, low), pow(10, high), wanted);
        for (size_t i = 0; i < even.count; i++)
            add_mark(&t, low, high, ticks_at(&even, i));
        return t;
    }
    const double stride = fmax(1, ceil((high - low) / fmin(wanted, MARKS - 1)));
    for (double power = stride * floor(low / stride); power <= high; power += stride) {
        add_mark(&t, low, high, pow(10, power));
        for (int part = 2; part <= 5 && high - low < wanted / 3; part += 3)
            add_mark(&t, low, high, part * pow(10, power));
    }
    return t;
}

double ticks_at(const ticks *t, size_t i)
{
    if (t->log)
        return log10(t->marks[i]);
    return (t->first + (double)i) * t->step;
}

static bool has_decimals(double value, int decimals)
{
    return decimals <= MAX_DECIMALS && fabs(value) < pow(10, MAX_DIGITS);
}

static tick_label with_minus(const char *plain)
{
    tick_label label;
    bool negative = plain[0] == '-';
    snprintf(label.text, sizeof label.text, "%s%s", negative ? "\u2212" : "", plain + negative);
    return label;
}

tick_label ticks_label(const ticks *t, size_t i)
{
    double value = t->log ? t->marks[i] : ticks_at(t, i);
    char plain[NUMBER_TEXT];
    if (!t->log && has_decimals(value, t->decimals))
        number_write_fixed(fabs(value) < t->step / 2 ? 0 : value, t->decimals, plain);
    else
        number_write_digits(value, 6, plain);
    return with_minus(plain);
}

tick_label range_label(draw_range r, double value)
{
    char plain[NUMBER_TEXT];
    double hundredth = (r.high - r.low) / 100;
    int decimals = hundredth < DBL_MIN ? MAX_DECIMALS + 1 : (int)fmax(0, -floor(log10(hundredth) + SLACK));
    if (has_decimals(value, decimals)) {
        number_write_fixed(value, decimals, plain);
        for (size_t end = strlen(plain); strchr(plain, '.') && (plain[end - 1] == '0' || plain[end - 1] == '.'); end--)
            plain[end - 1] = '\0';
    } else
        number_write_digits(value, 3, plain);
    return with_minus(strcmp(plain, "-0") == 0 ? "0" : plain);
}

size_t ticks_whole_step(double min)
{
    return min <= 1 ? 1 : (size_t)(round_up(min) + 0.5);
}

void range_take(draw_range *r, double value)
{
    if (!isfinite(value))
        return;
    r->low = value < r->low ? value : r->low;
    r->high = value > r->high ? value : r->high;
}

draw_range range_settle(draw_range r, double pad)
{
    if (r.given)
        return r;
    if (r.low > r.high)
        return (draw_range){0, 1, true};
    double wider = r.low == r.high ? fmax(0.5, fabs(r.low) * 1e-6) : pad * (r.high - r.low);
    return (draw_range){r.low - wider, r.high + wider, true};
}

rapt_code range_check(draw_range r, const char *what, rapt_error *err)
{
    if (!(r.low < r.high))
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw %s from %g to %g: the first is not less", what, r.low, r.high);
    if (!isfinite(r.high - r.low))
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw %s from %g to %g: too far apart", what, r.low, r.high);
    return RAPT_OK;
}
