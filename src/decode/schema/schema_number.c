/* decode/schema/schema_number.c: numbers digit by digit, so that what is written can always be completed: a prefix stays if some
 * continuation lies between the bounds and is a multiple of the step. */
#include "decode/schema/schema_shape.h"

enum { START, MINUS, ZERO, INTEGER, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS };

static bool is_number_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* ---- without bounds ------------------------------------------------------------------------------------------- */

static bool number_next(schema_digits *d, uint8_t c)
{
    const uint8_t before = d->phase;
    const bool more = is_number_digit(c) && d->count < (before == EXPONENT_DIGITS ? 2 : SCHEMA_DIGITS);
    switch (before) {
    case START: d->phase = c == '-' ? MINUS : c == '0' ? ZERO : INTEGER; break;
    case MINUS: d->phase = c == '0' ? ZERO : INTEGER; break;
    case ZERO: case INTEGER: case FRACTION:
        if (more && before != ZERO)
            break;
        if (c == '.' && before != FRACTION)
            d->phase = POINT;
        else if (c == 'e' || c == 'E')
            d->phase = EXPONENT;
        else
            return false;
        break;
    case POINT: d->phase = FRACTION; break;
    case EXPONENT: d->phase = c == '+' || c == '-' ? EXPONENT_SIGN : EXPONENT_DIGITS; break;
    default: d->phase = EXPONENT_DIGITS; break;
    }
    if (d->phase == MINUS || d->phase == POINT || d->phase == EXPONENT || d->phase == EXPONENT_SIGN) {
        d->count = 0;
        return true;
    }
    d->count++;
    return is_number_digit(c) && (d->phase != EXPONENT_DIGITS || d->count <= 2);
}

/* ---- with bounds ---------------------------------------------------------------------------------------------- */

/* The bounds of the integer without its sign. False: there is none of this sign. */
static bool magnitudes(const schema_shape *s, bool negative, uint64_t *low, uint64_t *high)
{
    if (negative) {
        *low = s->high < 0 ? (uint64_t)-s->high : 1;
        *high = s->low < 0 ? (uint64_t)-s->low : 0;
        return s->low < 0;
    }
    *low = s->low > 0 ? (uint64_t)s->low : 0;
    *high = s->high > 0 ? (uint64_t)s->high : 0;
    return s->high >= 0;
}

static bool has_multiple(uint64_t low, uint64_t high, uint64_t step)
{
    return low <= high && (low + step - 1) / step <= high / step;
}

/* Whether value * unit .. (value + 1) * unit - 1 has a number of the shape. */
static bool range_fits(const schema_shape *s, const schema_digits *d, uint64_t unit)
{
    uint64_t low, high;
    if (!magnitudes(s, d->negative, &low, &high) || d->value > high / unit)
        return false;
    const uint64_t from = d->value * unit, to = from + unit - 1;
    return has_multiple(from > low ? from : low, to < high ? to : high, (uint64_t)s->step);
}

static uint64_t power_of_ten(int exponent)
{
    uint64_t power = 1;
    for (; exponent > 0; exponent--)
        power *= 10;
    return power;
}

/* Bounds are below 2^53, so that units up to 10^16 suffice. */
static bool fixed_fits(const schema_shape *s, const schema_digits *d)
{
    uint64_t low, high;
    if (!magnitudes(s, d->negative, &low, &high))
        return false;
    if (d->phase == MINUS)
        return has_multiple(low, high, (uint64_t)s->step);
    if (d->phase == POINT || d->phase == FRACTION)
        return range_fits(s, d, power_of_ten(s->decimals - d->count));
    for (int exponent = s->decimals; exponent <= 16; exponent++) {
        if (range_fits(s, d, power_of_ten(exponent)))
            return true;
        if (d->phase == ZERO)
            return false;
    }
    return false;
}

static bool fixed_next(const schema_shape *s, schema_digits *d, uint8_t c)
{
    const bool digit = is_number_digit(c);
    if (d->phase == START && c == '-') {
        d->negative = true;
        d->phase = MINUS;
    } else if (d->phase <= MINUS && digit) {
        d->phase = c == '0' ? ZERO : INTEGER;
    } else if ((d->phase == ZERO || d->phase == INTEGER) && c == '.' && s->decimals > 0) {
        d->phase = POINT;
        d->count = 0;
    } else if ((d->phase == POINT || d->phase == FRACTION) && digit && d->count < s->decimals) {
        d->phase = FRACTION;
        d->count++;
    } else if (d->phase != INTEGER || !digit) {
        return false;
    }
    if (digit)
        d->value = d->value * 10 + (uint64_t)(c - '0');
    return fixed_fits(s, d);
}

bool schema_digits_next(const schema_shape *s, schema_digits *d, uint8_t c)
{
    schema_digits next = *d;
    if (!(s->kind == SCHEMA_NUMBER ? number_next(&next, c) : fixed_next(s, &next, c)))
        return false;
    *d = next;
    return true;
}

bool schema_digits_end(const schema_shape *s, const schema_digits *d)
{
    const bool whole = d->phase == ZERO || d->phase == INTEGER || d->phase == FRACTION || d->phase == EXPONENT_DIGITS;
    if (!whole || s->kind == SCHEMA_NUMBER)
        return whole;
    uint64_t low, high, unit = power_of_ten(s->decimals - (d->phase == FRACTION ? d->count : 0));
    if (!magnitudes(s, d->negative, &low, &high) || d->value > high / unit)
        return false;
    return has_multiple(d->value * unit > low ? d->value * unit : low, d->value * unit, (uint64_t)s->step);
}

bool schema_digits_exist(const schema_shape *s)
{
    uint64_t low, high;
    const bool positive = magnitudes(s, false, &low, &high) && has_multiple(low, high, (uint64_t)s->step);
    return positive || (magnitudes(s, true, &low, &high) && has_multiple(low, high, (uint64_t)s->step));
}
