/* base/math.c: range reduction and power series with plain + - * /, which IEEE 754 fixes to the bit. For initial
 * values, positions and schedules; the kernels have their own vector versions. Not for huge arguments of sin, cos. */
#include "base/math.h"

#include <math.h>

/* ln 2 and pi/2 in two parts: the first has enough zero bits at its end that multiples of it are exact. */
static const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
static const double HALF_PI_HIGH = 1.57079632673412561417e+00, HALF_PI_MIDDLE = 6.07710050630396597660e-11,
                    HALF_PI_LOW = 2.02226624879595063154e-21;

/* exp(r) - 1 for |r| <= ln(2)/2: the Taylor series in Horner's form. */
static double expm1_series(double r)
{
    double sum = 0;
    for (int i = 15; i >= 1; i--)
        sum = (sum + 1) * r / i;
    return sum;
}

double math_exp(double x)
{
    if (isnan(x))
        return x;
    if (x > 709.0)
        return x > 709.78 ? INFINITY : math_exp(x - 1) * 2.718281828459045235;
    if (x < -745.0)
        return 0;
    double k = floor(x / 6.93147180559945309417e-01 + 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    return ldexp(1 + expm1_series(r), (int)k);
}

double math_log(double x)
{
    if (!(x > 0))
        return x == 0 ? -INFINITY : NAN;
    if (isinf(x))
        return x;
    int exponent;
    double m = frexp(x, &exponent); /* m in [0.5, 1) */
    if (m < 0.70710678118654752440) {
        m *= 2;
        exponent--;
    }
    /* log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716 */
    double s = (m - 1) / (m + 1), square = s * s, series = 0;
    for (int i = 23; i >= 3; i -= 2)
        series = (series + 1.0 / i) * square;
    return exponent * LN2_HIGH + (2 * s + (2 * s * series + exponent * LN2_LOW));
}

double math_pow(double x, double y)
{
    return math_exp(y * math_log(x));
}

static double sin_series(double r)
{
    double square = r * r, sum = 0;
    for (int i = 19; i >= 3; i -= 2)
        sum = (1 - sum) * square / ((double)i * (i - 1));
    return r - r * sum;
}

static double cos_series(double r)
{
    double square = r * r, sum = 0;
    for (int i = 20; i >= 2; i -= 2)
        sum = (1 - sum) * square / ((double)i * (i - 1));
    return 1 - sum;
}

/* sin(x + quarter * pi/2) after reducing x to |r| <= pi/4. */
static double sin_shifted(double x, int quarter)
{
    double k = floor(x / 1.57079632679489661923 + 0.5);
    double r = ((x - k * HALF_PI_HIGH) - k * HALF_PI_MIDDLE) - k * HALF_PI_LOW;
    int turn = (int)(((long long)k + quarter) & 3);
    double y = turn & 1 ? cos_series(r) : sin_series(r);
    return turn & 2 ? -y : y;
}

double math_sin(double x)
{
    return sin_shifted(x, 0);
}

double math_cos(double x)
{
    return sin_shifted(x, 1);
}
