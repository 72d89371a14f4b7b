/* text/bpe/base64.c: decodes base64 for rank files; not a stream. */
#include "text/bpe/base64.h"

#include <stdint.h>

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int base64_value_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52;
    return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

/* One group: `count` letters, 2 to 4, hold count - 1 bytes; the remaining bits must be 0. */
static bool decode_group(const char *letters, size_t count, char *out)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        int value = base64_value_of(letters[i]);
        if (value < 0)
            return false;
        bits |= (uint32_t)value << (18 - 6 * i);
    }
    for (size_t i = 0; i + 1 < count; i++)
        out[i] = (char)(bits >> (16 - 8 * i));
    return count == 4 || (bits & (0xFFFFFFu >> 8 * (count - 1))) == 0;
}

bool base64_decode(const char *letters, size_t size, char *out, size_t *length)
{
    size_t padding = 0;
    *length = 0;
    if (size == 0 || size % 4 != 0)
        return size == 0;
    while (padding < 2 && letters[size - 1 - padding] == '=')
        padding++;
    for (size_t at = 0; at < size; at += 4) {
        size_t count = at + 4 < size ? 4 : 4 - padding;
        if (!decode_group(letters + at, count, out + *length))
            return false;
        *length += count - 1;
    }
    return true;
}

void base64_encode(const char *bytes, size_t size, char *out)
{
    for (size_t at = 0; at < size; at += 3, out += 4) {
        size_t count = size - at < 3 ? size - at : 3;
        uint32_t bits = 0;
        for (size_t i = 0; i < count; i++)
            bits |= (uint32_t)(unsigned char)bytes[at + i] << (16 - 8 * i);
        for (size_t i = 0; i < 4; i++)
            out[i] = (char)(i <= count ? LETTERS[bits >> (18 - 6 * i) & 63] : '=');
    }
}
