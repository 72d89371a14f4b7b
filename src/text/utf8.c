/* text/utf8.c: UTF-8, classes of code points and lower case of texts. For line reading, tokenizers and metrics. Not a normalizer.
 * Only this file needs to tell cased letters from others. */
#include "text/utf8.h"

#include "text/unicode/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { CAPITAL_I_DOT = 0x130, COMBINING_DOT = 0x307, CAPITAL_SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t code, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Length that the first byte promises, and its payload bits; 0 for bytes that cannot start a code point. */
static size_t decode_lead(unsigned char byte, uint32_t *bits)
{
    *bits = byte & (byte < 0x80 ? 0x7Fu : byte < 0xE0 ? 0x1Fu : byte < 0xF0 ? 0x0Fu : 0x07u);
    return byte < 0x80 ? 1 : byte < 0xC2 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 0;
}

static bool is_scalar_value(uint32_t code)
{
    return code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
}

size_t utf8_decode(const char *text, size_t size, uint32_t *code)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000}; /* below it the form is overlong */
    if (size == 0)
        return 0;
    size_t length = decode_lead((unsigned char)text[0], code);
    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (!is_continuation((unsigned char)text[i]))
            return 0;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3F);
    }
    return *code >= smallest[length] && is_scalar_value(*code) ? length : 0;
}

size_t utf8_valid_prefix(const char *text, size_t size)
{
    uint32_t code;
    size_t at = 0, used = 1;
    while (at < size && used > 0) {
        used = (unsigned char)text[at] < 0x80 ? 1 : utf8_decode(text + at, size - at, &code);
        at += used;
    }
    return at;
}

/* Whether the byte can follow the bytes of an unfinished character: Unicode's table 3-7, which excludes overlong forms,
 * surrogates and codes above 10FFFF by the second byte. */
static bool scan_continues(const utf8_scan *s, unsigned char byte)
{
    unsigned char first = (unsigned char)s->bytes[0], low = 0x80, high = 0xBF;
    if (s->begun == 1) {
        low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    }
    return byte >= low && byte <= high;
}

bool utf8_scan_byte(utf8_scan *s, char byte)
{
    uint32_t bits;
    size_t length = s->begun > 0 ? s->length : decode_lead((unsigned char)byte, &bits);
    if (length == 0 || (s->begun > 0 && !scan_continues(s, (unsigned char)byte)))
        return false;
    s->length = (unsigned char)length;
    s->bytes[s->begun++] = byte;
    if (s->begun == s->length)
        s->begun = 0;
    return true;
}

size_t utf8_put(uint32_t code, char out[4])
{
    static const unsigned char marks[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    if (!is_scalar_value(code))
        return 0;
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(marks[length] | code);
    return length;
}

/* A group of categories is a span of their numbers. */
static bool category_between(uint32_t code, unicode_category first, unicode_category last)
{
    unicode_category category = unicode_category_of(code);
    return category >= first && category <= last;
}

bool utf8_is_letter(uint32_t code)
{
    return category_between(code, UNICODE_LU, UNICODE_LO);
}

bool utf8_is_lower(uint32_t code)
{
    return category_between(code, UNICODE_LL, UNICODE_LL);
}

bool utf8_is_number(uint32_t code)
{
    return category_between(code, UNICODE_ND, UNICODE_NO);
}

bool utf8_is_punctuation(uint32_t code)
{
    return category_between(code, UNICODE_PC, UNICODE_PO);
}

bool utf8_is_symbol(uint32_t code)
{
    return category_between(code, UNICODE_SM, UNICODE_SO);
}

bool utf8_is_space(uint32_t code)
{
    static const struct range spaces[] = {
        {0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
        {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
    };
    return in_ranges(code, spaces, code < 0x80 ? 2 : sizeof spaces / sizeof *spaces);
}

/* Unicode's Case_Ignorable: characters that a word may have between its letters, such as accents and apostrophes. The listed
 * marks are its Word_Break members (MidLetter, MidNumLet, Single_Quote), which are not a category. */
static bool is_case_ignorable(uint32_t code)
{
    static const struct range marks[] = {
        {0x27, 0x27},     {0x2E, 0x2E},     {0x3A, 0x3A},     {0xB7, 0xB7},
        {0x387, 0x387},   {0x55F, 0x55F},   {0x5F4, 0x5F4},   {0x2018, 0x2019},
        {0x2024, 0x2024}, {0x2027, 0x2027}, {0xFE13, 0xFE13}, {0xFE52, 0xFE52},
        {0xFE55, 0xFE55}, {0xFF07, 0xFF07}, {0xFF0E, 0xFF0E}, {0xFF1A, 0xFF1A},
    };
    switch (unicode_category_of(code)) {
    case UNICODE_MN:
    case UNICODE_ME:
    case UNICODE_CF:
    case UNICODE_LM:
    case UNICODE_SK:
        return true;
    default:
        return in_ranges(code, marks, sizeof marks / sizeof *marks);
    }
}

/* Unicode's Cased, for code points that are not case-ignorable: cased letters, and the signs made of letters
 * (ordinals, Roman numerals, circled and squared letters) that have a case without being such a letter. */
static bool is_cased(uint32_t code)
{
    static const struct range signs[] = {
        {0xAA, 0xAA},       {0xBA, 0xBA},       {0x2160, 0x217F},   {0x24B6, 0x24E9},
        {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189},
    };
    return category_between(code, UNICODE_LU, UNICODE_LT) ||
           in_ranges(code, signs, sizeof signs / sizeof *signs);
}

/* Whether a cased letter follows, over ignorable marks: then a sigma is not the last letter of its word. */
static bool cased_follows(const char *text, size_t size)
{
    uint32_t code;
    for (size_t at = 0, used; (used = utf8_decode(text + at, size - at, &code)) > 0; at += used)
        if (!is_case_ignorable(code))
            return is_cased(code);
    return false;
}

/* Lowers one code point that is not ASCII into `out`; `after_cased` tells a sigma in a word from one alone.
 */
static size_t lower_one(uint32_t code, bool after_cased, const char *rest, size_t rest_size, char *out)
{
    if (code == CAPITAL_I_DOT) {
        out[0] = 'i';
        return 1 + utf8_put(COMBINING_DOT, out + 1);
    }
    if (code == CAPITAL_SIGMA && after_cased && !cased_follows(rest, rest_size))
        return utf8_put(FINAL_SIGMA, out);
    return utf8_put(unicode_lower(code), out);
}

char *utf8_lowercase(const char *text, size_t size, size_t *lower_size)
{
    char *lower = malloc(size + size / 2 + 4); /* no lower case is longer than 3 bytes for 2 */
    if (!lower)
        return NULL;
    uint32_t code = 0;
    size_t put = 0;
    bool after_cased = false; /* the last code point that is not case-ignorable was a cased one */
    for (size_t at = 0, used; (used = utf8_decode(text + at, size - at, &code)) > 0;) {
        at += used;
        if (code < 0x80)
            lower[put++] = (char)(code >= 'A' && code <= 'Z' ? code + 32 : code);
        else
            put += lower_one(code, after_cased, text + at, size - at, lower + put);
        if (!is_case_ignorable(code))
            after_cased = is_cased(code);
    }
    lower[put] = '\0';
    *lower_size = put;
    return lower;
}

bool utf8_is_blank(const char *text)
{
    uint32_t code = ' ';
    size_t used = 1;
    for (const char *at = text, *end = text + strlen(text); at < end && used > 0 && utf8_is_space(code); at += used)
        used = utf8_decode(at, (size_t)(end - at), &code);
    return utf8_is_space(code);
}
