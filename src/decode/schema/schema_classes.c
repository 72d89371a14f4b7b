/* decode/schema/schema_classes.c: ranges of characters, cut where their UTF-8 is no product of ranges of bytes. */
#include "decode/schema/schema_classes.h"

#include <stdlib.h>

/* ---- sets ----------------------------------------------------------------------------------------------------- */

bool code_class_add(code_class *c, uint32_t low, uint32_t high)
{
    if (c->count == CODE_RANGES)
        return false;
    c->list[c->count++] = (struct code_range){low, high};
    return true;
}

static int by_low(const void *a, const void *b)
{
    const struct code_range *p = a, *q = b;
    return (p->low > q->low) - (p->low < q->low);
}

bool code_class_negate(code_class *c, uint32_t last)
{
    code_class out = {.count = 0};
    uint32_t next = 0;
    qsort(c->list, c->count, sizeof *c->list, by_low);
    for (size_t i = 0; i < c->count && next <= last; i++) {
        const uint32_t before = c->list[i].low - 1;
        if (c->list[i].low > next && !code_class_add(&out, next, before < last ? before : last))
            return false;
        next = c->list[i].high >= next ? c->list[i].high + 1 : next;
    }
    if (next <= last && !code_class_add(&out, next, last))
        return false;
    *c = out;
    return true;
}

bool code_class_shorthand(code_class *c, char letter)
{
    static const code_class digits = {{{'0', '9'}}, 1}, words = {{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
                            spaces = {{{'\t', '\r'}, {' ', ' '}}, 2};
    const char lower = (char)(letter | 0x20);
    code_class own = lower == 'd' ? digits : lower == 'w' ? words : spaces;
    bool ok = letter == lower || code_class_negate(&own, CODE_LAST_ASCII);
    for (size_t i = 0; i < own.count && ok; i++)
        ok = code_class_add(c, own.list[i].low, own.list[i].high);
    return ok;
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

typedef struct byte_taker {
    byte_ranges_fn *take;
    void *context;
    bool *some;
} byte_taker;

static bool take_byte_ranges(const byte_taker *t, const uint8_t (*ranges)[2], size_t count)
{
    *t->some = true;
    return t->take(t->context, ranges, count);
}

static size_t put_utf8(uint32_t c, uint8_t out[4])
{
    const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size; i-- > 1; c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(lead[size] | c);
    return size;
}

/* A range of characters whose UTF-8 has one length: cut where a byte of low is not the first or one of high not the last that
 * may stand there, so that each part is a product of ranges of bytes. */
static bool take_utf8(const byte_taker *t, uint32_t low, uint32_t high)
{
    for (int shift = 6; shift <= 18; shift += 6) {
        const uint32_t mask = (1u << shift) - 1;
        if ((low & ~mask) == (high & ~mask))
            break;
        if (low & mask)
            return take_utf8(t, low, low | mask) && take_utf8(t, (low | mask) + 1, high);
        if ((high & mask) != mask)
            return take_utf8(t, low, (high & ~mask) - 1) && take_utf8(t, high & ~mask, high);
    }
    uint8_t from[4], to[4], ranges[4][2];
    const size_t size = put_utf8(low, from);
    put_utf8(high, to);
    for (size_t i = 0; i < size; i++) {
        ranges[i][0] = from[i];
        ranges[i][1] = to[i];
    }
    return take_byte_ranges(t, (const uint8_t (*)[2])ranges, size);
}

/* Control characters, and the two that JSON escapes. */
static bool take_escaped(const byte_taker *t, const struct code_range *range)
{
    static const char escaped[] = "\"\"\\\\b\bf\fn\nr\rt\t"; /* letter, character */
    for (size_t i = 0; escaped[i]; i += 2) {
        const uint32_t c = (uint8_t)escaped[i + 1];
        const uint8_t bytes[2][2] = {{'\\', '\\'}, {(uint8_t)escaped[i], (uint8_t)escaped[i]}};
        if (c >= range->low && c <= range->high && !take_byte_ranges(t, bytes, 2))
            return false;
    }
    return true;
}

/* The parts of a range that are written as they are, then the others. */
static bool take_range(const byte_taker *t, const struct code_range *range)
{
    static const struct code_range plain[] = {{0x20, '"' - 1}, {'"' + 1, '\\' - 1}, {'\\' + 1, 0x7F}, {0x80, 0x7FF},
                                              {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, CODE_LAST}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const uint32_t low = range->low > plain[i].low ? range->low : plain[i].low;
        const uint32_t high = range->high < plain[i].high ? range->high : plain[i].high;
        if (low <= high && !take_utf8(t, low, high))
            return false;
    }
    return take_escaped(t, range);
}

bool code_class_bytes(const code_class *c, byte_ranges_fn *take, void *context, bool *some)
{
    const byte_taker t = {take, context, some};
    *some = false;
    for (size_t i = 0; i < c->count; i++)
        if (!take_range(&t, &c->list[i]))
            return false;
    return true;
}
