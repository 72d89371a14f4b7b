/* explain/page/page_numbers.c: elements as base64, in the formats of page_steps.h, little-endian. page_plan.c
 * chooses the format. */
#include "explain/page/page.h"
#include "explain/page/page_steps.h"

#include "text/bpe/base64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION = 768 }; /* floats at once: their bytes fill whole groups of three */

/* ---- exact --------------------------------------------------------------------------------------------------------- */

/* Writes the lowest byte first on every machine. */
static void put_float(char *to, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 4; i++)
        to[i] = (char)(bits >> (8 * i) & 0xff);
}

char *page_numbers(const rapt_real *x, size_t n)
{
    char bytes[4 * PORTION], *letters = malloc(BASE64_CAPACITY(4 * n) + 1), *to = letters;
    for (size_t i = 0; letters && i < n; i += PORTION) {
        size_t count = n - i < PORTION ? n - i : PORTION;
        for (size_t j = 0; j < count; j++)
            put_float(bytes + 4 * j, (float)x[i + j]);
        base64_encode(bytes, 4 * count, to);
        to += BASE64_CAPACITY(4 * count);
    }
    if (letters)
        *to = '\0';
    return letters;
}

static void put_exact(const float *x, size_t n, char *to)
{
    for (size_t i = 0; i < n; i++)
        put_float(to + 4 * i, x[i]);
}

/* ---- 16 bits --------------------------------------------------------------------------------------------------------- */

/* IEEE 754 binary16, rounded to nearest even. */
static uint16_t half_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (isnan(x))
        return 0x7e00;
    if (fabsf(x) >= 65520) /* numbers that would round to the next power of two become infinite */
        return sign | 0x7c00;
    if (fabsf(x) < 0x1p-14f) /* subnormal numbers: multiples of 2^-24 */
        return sign | (uint16_t)rint(fabs((double)x) * 0x1p24);
    bits = (bits & 0x7fffffff) + 0xfff + (bits >> 13 & 1);
    return sign | (uint16_t)((bits >> 13) - (112 << 10));
}

static float page_numbers_max_of(const float *x, size_t n)
{
    float max = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && fabsf(x[i]) > max)
            max = fabsf(x[i]);
    return max;
}

/* The power of two that brings the largest number near the largest that 16 bits hold. */
static int exponent_of(const float *x, size_t n)
{
    float max = page_numbers_max_of(x, n);
    int exponent = 15;
    if (max > 0)
        frexpf(max, &exponent);
    return exponent - 15;
}

static void put_half(const float *x, size_t n, int exponent, char *to)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half = half_of(ldexpf(x[i], -exponent));
        to[2 * i] = (char)(half & 0xff);
        to[2 * i + 1] = (char)(half >> 8);
    }
}

/* ---- 8 bits ---------------------------------------------------------------------------------------------------------- */

/* -128 is minus infinity. */
static char page_numbers_byte_of(float x, float max, bool negative)
{
    if (isinf(x))
        return (char)-128;
    float q = max > 0 ? sqrtf(fabsf(x) / max) : 0;
    if (!negative)
        return (char)(unsigned char)lrintf(255 * q);
    return (char)(signed char)copysignf(rintf(127 * q), x);
}

static void page_numbers_put_bytes(const float *x, size_t n, float max, bool negative, char *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = page_numbers_byte_of(x[i], max, negative);
}

/* ---- a step ---------------------------------------------------------------------------------------------------------- */

static size_t page_numbers_bytes_of(page_format format)
{
    return format == PAGE_EXACT ? 4 : format == PAGE_HALF ? 2 : 1;
}

/* Row by row, as far as they are kept; the largest number of each to `max`. */
static void put_rows(const page_step *s, int exponent, char *to, char *max)
{
    for (size_t row = 0; row < s->groups * s->rows; row++) {
        const float *x = s->x + row * s->columns;
        size_t n = s->lower ? row % s->rows + 1 : s->columns;
        float largest = page_numbers_max_of(x, n);
        put_float(max + 4 * row, largest);
        if (s->format == PAGE_EXACT)
            put_exact(x, n, to);
        else if (s->format == PAGE_HALF)
            put_half(x, n, exponent, to);
        else
            page_numbers_put_bytes(x, n, largest, s->negative, to);
        to += n * page_numbers_bytes_of(s->format);
    }
}

static bool set_letters(json_t *o, const char *key, const char *bytes, size_t size)
{
    char *letters = malloc(BASE64_CAPACITY(size) + 1);
    if (letters)
        base64_encode(bytes, size, letters);
    bool ok = letters && json_object_set_new(o, key, json_stringn_nocheck(letters, BASE64_CAPACITY(size))) == 0;
    free(letters);
    return ok;
}

static bool set_format(const page_step *s, json_t *o, int exponent, const char *max)
{
    bool ok = !s->lower || json_object_set_new(o, "above", isinf(s->above) ? json_string("-inf") : json_integer(0)) == 0;
    if (s->format == PAGE_HALF)
        return ok && json_object_set_new(o, "exponent", json_integer(exponent)) == 0;
    if (s->format == PAGE_BYTE)
        return ok && json_object_set_new(o, "signed", json_boolean(s->negative)) == 0 &&
               set_letters(o, "most", max, 4 * s->groups * s->rows);
    return ok;
}

static bool put_values(const page_step *s, json_t *o)
{
    size_t stored = page_step_stored(s), size = stored * page_numbers_bytes_of(s->format), rows = s->groups * s->rows;
    int exponent = s->format == PAGE_HALF ? exponent_of(s->x, s->groups * s->rows * s->columns) : 0;
    char *bytes = malloc(size + 1), *max = malloc(4 * rows + 1);
    bool ok = bytes && max;
    if (ok)
        put_rows(s, exponent, bytes, max);
    ok = ok && set_format(s, o, exponent, max) && set_letters(o, "values", bytes, size);
    free(bytes);
    free(max);
    return ok;
}

/* `ids` may be NULL: nothing was left out. */
static bool put_kept(json_t *o, const char *key, const size_t *ids, size_t count)
{
    if (!ids)
        return true;
    json_t *list = json_array();
    bool ok = json_object_set_new(o, key, list) == 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = json_array_append_new(list, json_integer((json_int_t)ids[i])) == 0;
    return ok;
}

bool page_numbers_put(const page_step *s, json_t *o)
{
    static const char *const names[] = {"none", "byte", "half", "exact"};
    if (s->source)
        return json_object_set_new(o, "same", json_string(s->source)) == 0 &&
               (!s->split || json_object_set_new(o, "split", json_true()) == 0);
    if (!s->known)
        return true;
    bool ok = json_object_set_new(o, "format", json_string(names[s->format])) == 0;
    if (s->format == PAGE_LEFT_OUT)
        return ok;
    return ok && put_kept(o, "kept", s->kept, s->columns) && put_kept(o, "kept_rows", s->kept_rows, s->rows) && put_values(s, o);
}
