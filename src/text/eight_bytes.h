/* text/eight_bytes.h: eight bytes of a text at once, in a number: the first byte is the lowest. For the loops of byte-level BPE
 * that see every byte; it needs no vector instructions. */
#ifndef TEXT_EIGHT_BYTES_H
#define TEXT_EIGHT_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the first byte of a text is the lowest of a number here"
#endif

#define EIGHT_TIMES(byte) (0x0101010101010101u * (byte)) /* the same byte eight times */

/* The bytes from `at` <= size on; zeros stand for those beyond the end, which are not read. */
static inline uint64_t eight_bytes(const void *text, size_t size, size_t at)
{
    const char *from = text;
    const size_t left = size - at;
    uint64_t bytes = 0;
    if (left >= 8)
        memcpy(&bytes, from + at, 8);
    else if (size >= 8 && left > 0) {
        memcpy(&bytes, from + size - 8, 8);
        bytes >>= 8 * (8 - left);
    } else
        for (size_t i = 0; i < left; i++)
            bytes |= (uint64_t)(unsigned char)from[at + i] << 8 * i;
    return bytes;
}

/* The high bit of each byte that is no ASCII letter; all other bits are 0. */
static inline uint64_t eight_no_letters(uint64_t bytes)
{
    const uint64_t folded = (bytes | EIGHT_TIMES(0x20)) & EIGHT_TIMES(0x7F);
    const uint64_t letters = (folded + EIGHT_TIMES(0x80 - 'a')) & ~(folded + EIGHT_TIMES(0x7F - 'z'));
    return (~letters | bytes) & EIGHT_TIMES(0x80);
}

/* The number of bytes before the first one with its high bit; eight if none has. */
static inline size_t eight_before(uint64_t high_bits)
{
    return high_bits ? (size_t)__builtin_ctzll(high_bits) / 8 : 8;
}

#endif
