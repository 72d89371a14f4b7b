/* text/double_array.h: the units of a double array, u32 in little-endian order, as Darts-clone writes them (darts.h,
 * DoubleArrayUnit): the label in bits 0-7, bit 8 where a value is below, an offset from bit 10 on, 256 times as large where bit 9
 * is set; the unit of a value has bit 31 set, and the value in the others. For the two readers of character maps, which differ in
 * what they accept and in which of several matches they take. */
#ifndef TEXT_DOUBLE_ARRAY_H
#define TEXT_DOUBLE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DOUBLE_ARRAY_UNIT = 4 }; /* bytes */
#define DOUBLE_ARRAY_VALUE (UINT32_C(1) << 31)
#define DOUBLE_ARRAY_VALUE_BELOW (UINT32_C(1) << 8)
#define DOUBLE_ARRAY_FAR (UINT32_C(1) << 9)
#define DOUBLE_ARRAY_LABEL UINT32_C(0xFF)

static inline uint32_t double_array_u32(const void *bytes)
{
    const unsigned char *b = bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Unit `i` of an array that begins at `units`. */
static inline uint32_t double_array_at(const void *units, size_t i)
{
    return double_array_u32((const unsigned char *)units + i * DOUBLE_ARRAY_UNIT);
}

static inline size_t double_array_offset(uint32_t unit)
{
    return (size_t)(unit >> 10) << (unit & DOUBLE_ARRAY_FAR ? 8 : 0);
}

/* Whether the unit that a label led to is that label's. */
static inline bool double_array_is(uint32_t unit, unsigned char label)
{
    return (unit & (DOUBLE_ARRAY_VALUE | DOUBLE_ARRAY_LABEL)) == label;
}

/* Moves *at along a label, in an array of `count` units; *unit: the label's, whose value, if there is one below it, is at *at.
 * False if no text continues so. A walk begins at the offset of unit 0. */
static inline bool double_array_step(const void *units, size_t count, size_t *at, char label, uint32_t *unit)
{
    *at ^= (unsigned char)label;
    *unit = *at < count ? double_array_at(units, *at) : 0;
    *at ^= double_array_offset(*unit);
    return *at < count && double_array_is(*unit, (unsigned char)label);
}

#endif
