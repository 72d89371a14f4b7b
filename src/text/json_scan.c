/* text/json_scan.c: the grammar of RFC 8259 as states. Texts must be UTF-8, without a NUL and halves of surrogates. */
#include "text/json_scan.h"

#include "text/json_char.h"

#include <string.h>

#define HEX "0123456789abcdefABCDEF"

static bool is_json_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_json_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool scan_to(json_scan *s, json_scan_phase phase)
{
    s->phase = (uint8_t)phase;
    return true;
}

static bool scan_open(json_scan *s, bool object)
{
    if (s->depth == JSON_SCAN_DEPTH)
        return false;
    const uint64_t bit = (uint64_t)1 << s->depth++;
    s->objects = object ? s->objects | bit : s->objects & ~bit;
    return scan_to(s, object ? JSON_SCAN_FIRST_KEY : JSON_SCAN_FIRST_ITEM);
}

static bool scan_close(json_scan *s, uint8_t c)
{
    const bool object = s->objects >> (s->depth - 1) & 1;
    if (c != (object ? '}' : ']'))
        return false;
    return scan_to(s, --s->depth > 0 ? JSON_SCAN_AFTER : JSON_SCAN_DONE);
}

static bool scan_begin(json_scan *s, uint8_t c)
{
    if (is_json_space(c))
        return true;
    if (c == '{' || c == '[')
        return scan_open(s, c == '{');
    if (s->depth == 0)
        return false;
    s->letter = JSON_CHAR_GROUND;
    switch (c) {
    case '"': return scan_to(s, JSON_SCAN_IN_TEXT);
    case '-': return scan_to(s, JSON_SCAN_SIGN);
    case '0': return scan_to(s, JSON_SCAN_ZERO);
    case 't': s->word = "rue"; break;
    case 'f': s->word = "alse"; break;
    case 'n': s->word = "ull"; break;
    default: return is_json_digit(c) && scan_to(s, JSON_SCAN_WHOLE);
    }
    return scan_to(s, JSON_SCAN_IN_WORD);
}

static bool scan_after(json_scan *s, uint8_t c)
{
    if (is_json_space(c))
        return scan_to(s, JSON_SCAN_AFTER);
    if (c == ',')
        return scan_to(s, s->objects >> (s->depth - 1) & 1 ? JSON_SCAN_NEXT_KEY : JSON_SCAN_VALUE);
    return scan_close(s, c);
}

/* \ud83d\ude42 from its "8" on, which json_char.h has no state for. */
static bool scan_pair(json_scan *s, uint8_t c)
{
    static const char *const allowed[] = {HEX, HEX, "cdefCDEF", "dD", "u", "\\", HEX, HEX};
    s->letter = JSON_CHAR_GROUND;
    return c && strchr(allowed[--s->pair], c);
}

static bool scan_text(json_scan *s, uint8_t c, json_scan_phase after)
{
    if (s->pair > 0)
        return scan_pair(s, c);
    if (s->letter == JSON_CHAR_SURROGATE && c && strchr("89abAB", c)) {
        s->pair = 8;
        return true;
    }
    s->letter = json_char_next(s->letter, c, true);
    return s->letter == JSON_CHAR_QUOTE ? scan_to(s, after) : s->letter != JSON_CHAR_BAD;
}

/* A byte after the digits of a number, or at its end. */
static bool scan_number(json_scan *s, uint8_t c)
{
    const bool fraction = s->phase == JSON_SCAN_ZERO || s->phase == JSON_SCAN_WHOLE;
    if (s->phase != JSON_SCAN_ZERO && is_json_digit(c))
        return true;
    if (c == '.' && fraction)
        return scan_to(s, JSON_SCAN_POINT);
    if ((c == 'e' || c == 'E') && s->phase != JSON_SCAN_EXPONENT_DIGITS)
        return scan_to(s, JSON_SCAN_EXPONENT);
    return scan_after(s, c);
}

bool json_scan_next(json_scan *s, uint8_t c)
{
    switch ((json_scan_phase)s->phase) {
    case JSON_SCAN_VALUE: return scan_begin(s, c);
    case JSON_SCAN_FIRST_ITEM: return c == ']' ? scan_close(s, c) : scan_begin(s, c);
    case JSON_SCAN_FIRST_KEY:
    case JSON_SCAN_NEXT_KEY:
        if (is_json_space(c) || (c == '}' && s->phase == JSON_SCAN_FIRST_KEY))
            return is_json_space(c) || scan_close(s, c);
        s->letter = JSON_CHAR_GROUND;
        return c == '"' && scan_to(s, JSON_SCAN_IN_KEY);
    case JSON_SCAN_IN_KEY: return scan_text(s, c, JSON_SCAN_COLON);
    case JSON_SCAN_COLON: return is_json_space(c) || (c == ':' && scan_to(s, JSON_SCAN_VALUE));
    case JSON_SCAN_IN_TEXT: return scan_text(s, c, JSON_SCAN_AFTER);
    case JSON_SCAN_IN_WORD: return c == (uint8_t)*s->word && (*++s->word || scan_to(s, JSON_SCAN_AFTER));
    case JSON_SCAN_SIGN: return is_json_digit(c) && scan_to(s, c == '0' ? JSON_SCAN_ZERO : JSON_SCAN_WHOLE);
    case JSON_SCAN_POINT: return is_json_digit(c) && scan_to(s, JSON_SCAN_DIGITS);
    case JSON_SCAN_EXPONENT:
        if (c == '+' || c == '-')
            return scan_to(s, JSON_SCAN_EXPONENT_SIGN);
        return is_json_digit(c) && scan_to(s, JSON_SCAN_EXPONENT_DIGITS);
    case JSON_SCAN_EXPONENT_SIGN: return is_json_digit(c) && scan_to(s, JSON_SCAN_EXPONENT_DIGITS);
    case JSON_SCAN_ZERO: case JSON_SCAN_WHOLE: case JSON_SCAN_DIGITS: case JSON_SCAN_EXPONENT_DIGITS: return scan_number(s, c);
    case JSON_SCAN_AFTER: return scan_after(s, c);
    default: return false;
    }
}
