/* decode/schema/schema_bounds.c: bounds of numbers become bounds of integers. */
#include "decode/schema/schema_bounds.h"

#include <math.h>

enum { MAX_DECIMALS = 6 };

static int64_t clamp_whole(double x)
{
    return x > (double)SCHEMA_INTEGER ? SCHEMA_INTEGER : x < -(double)SCHEMA_INTEGER ? -SCHEMA_INTEGER : (int64_t)x;
}

/* The smallest integer whose quotient by `unit` is a bound from below, or above it. The quotient is rounded as whoever reads the
 * decimal number rounds it, because both are exact doubles. */
static int64_t smallest(double bound, bool open, double unit)
{
    int64_t x = clamp_whole(floor(bound * unit) - 2);
    while ((double)x / unit < bound || (open && (double)x / unit == bound))
        x++;
    return x;
}

static bool has_room(double bound, double unit)
{
    return isinf(bound) || fabs(bound) * unit < (double)SCHEMA_INTEGER - 8;
}

rapt_code schema_bounds(const schema_work *w, const schema_facts *f, unsigned types, schema_shape *out, rapt_error *err)
{
    const bool whole = !(types & TYPE_FRACTION) || f->multiple > 0;
    double unit = 1;
    *out = (schema_shape){.kind = SCHEMA_NUMBER, .step = 1, .count = 1};
    if (!whole && isinf(f->low) && isinf(f->high))
        return RAPT_OK;
    out->kind = SCHEMA_FIXED;
    out->step = f->multiple ? f->multiple : 1;
    out->low = -SCHEMA_INTEGER;
    out->high = SCHEMA_INTEGER;
    for (int i = 0; i < MAX_DECIMALS && !whole && has_room(f->low, 10 * unit) && has_room(f->high, 10 * unit); i++) {
        unit *= 10;
        out->decimals++;
    }
    if ((f->low > 0 && !has_room(f->low, 1)) || (f->high < 0 && !has_room(f->high, 1)))
        return schema_refuse(w, f->number_of, err, "numbers beyond 2^53 are not supported");
    if (f->low > -INFINITY && has_room(f->low, unit))
        out->low = smallest(f->low, f->above, unit);
    if (f->high < INFINITY && has_room(f->high, unit))
        out->high = -smallest(-f->high, f->below, unit);
    out->count = out->low <= out->high && schema_digits_exist(out);
    if (!whole && out->count == 0 && f->low <= f->high)
        return schema_refuse(w, f->number_of, err, "no number of %d decimals lies between the bounds", out->decimals);
    return RAPT_OK;
}
