/* text/json_char.c: the states of json_char.h. The ranges after E0, ED, F0 and F4 are Unicode's table 3-7. */
#include "text/json_char.h"

#include <string.h>

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static uint8_t ground_next(uint8_t c, bool escapes)
{
    if (c == '"')
        return JSON_CHAR_QUOTE;
    if (c == '\\')
        return escapes ? JSON_CHAR_ESCAPE : JSON_CHAR_BAD;
    if (c < 0x80)
        return c < 0x20 ? JSON_CHAR_BAD : JSON_CHAR_GROUND;
    if (c >= 0xC2 && c <= 0xDF)
        return JSON_CHAR_TAIL1;
    if (c >= 0xE0 && c <= 0xEF)
        return c == 0xE0 ? JSON_CHAR_E0 : c == 0xED ? JSON_CHAR_ED : JSON_CHAR_TAIL2;
    if (c >= 0xF0 && c <= 0xF4)
        return c == 0xF0 ? JSON_CHAR_F0 : c == 0xF4 ? JSON_CHAR_F4 : JSON_CHAR_TAIL3;
    return JSON_CHAR_BAD;
}

static uint8_t hex_next(uint8_t state, uint8_t c)
{
    if (!is_hex(c))
        return JSON_CHAR_BAD;
    switch (state) {
    case JSON_CHAR_HEX4: return c == '0' ? JSON_CHAR_ZERO3 : (c | 0x20) == 'd' ? JSON_CHAR_SURROGATE : JSON_CHAR_HEX3;
    case JSON_CHAR_HEX3: return JSON_CHAR_HEX2;
    case JSON_CHAR_HEX2: return JSON_CHAR_HEX1;
    case JSON_CHAR_HEX1: return JSON_CHAR_GROUND;
    case JSON_CHAR_ZERO3: return c == '0' ? JSON_CHAR_ZERO2 : JSON_CHAR_HEX2;
    case JSON_CHAR_ZERO2: return c == '0' ? JSON_CHAR_ZERO1 : JSON_CHAR_HEX1;
    case JSON_CHAR_ZERO1: return c == '0' ? JSON_CHAR_BAD : JSON_CHAR_GROUND;
    default: return c <= '7' ? JSON_CHAR_HEX2 : JSON_CHAR_BAD; /* JSON_CHAR_SURROGATE */
    }
}

uint8_t json_char_next(uint8_t state, uint8_t c, bool escapes)
{
    uint8_t low = 0x80, high = 0xBF, next = JSON_CHAR_TAIL1;
    switch (state) {
    case JSON_CHAR_GROUND: return ground_next(c, escapes);
    case JSON_CHAR_ESCAPE: return c == 'u' ? JSON_CHAR_HEX4 : c && strchr("\"\\/bfnrt", c) ? JSON_CHAR_GROUND : JSON_CHAR_BAD;
    case JSON_CHAR_TAIL1: next = JSON_CHAR_GROUND; break;
    case JSON_CHAR_TAIL2: break;
    case JSON_CHAR_TAIL3: next = JSON_CHAR_TAIL2; break;
    case JSON_CHAR_E0: low = 0xA0; break;
    case JSON_CHAR_ED: high = 0x9F; break;
    case JSON_CHAR_F0: low = 0x90; next = JSON_CHAR_TAIL2; break;
    case JSON_CHAR_F4: high = 0x8F; next = JSON_CHAR_TAIL2; break;
    case JSON_CHAR_QUOTE: case JSON_CHAR_BAD: return JSON_CHAR_BAD;
    default: return hex_next(state, c);
    }
    return c >= low && c <= high ? next : JSON_CHAR_BAD;
}
