/* base/quote.c: makes foreign text fit for a one-line message. For the readers of files and options, whose errors name keys and
 * values that somebody else wrote. Not an escaping: the original can't be read back. */
#include "base/quote.h"

#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

/* Characters that move the cursor, change the terminal, or reorder the text after them. */
static const range UNSAFE[] = {
    {0, 0x1F},        /* C0: escape, newline, ... */
    {0x7F, 0x9F},     /* delete, and C1, where U+009B begins a terminal sequence */
    {0x61C, 0x61C},   /* Arabic letter mark */
    {0x200E, 0x200F}, /* marks of direction */
    {0x2028, 0x202E}, /* line and paragraph separators, embeddings and overrides of direction */
    {0x2066, 0x206F}, /* isolates, and formatting that Unicode has given up */
    {0xFFF9, 0xFFFB}, /* annotations */
    {0xE0000, 0xE007F} /* tags, which are invisible */
};

bool quote_is_unsafe(uint32_t code)
{
    bool unsafe = false;
    for (size_t i = 0; i < sizeof UNSAFE / sizeof *UNSAFE; i++)
        unsafe = unsafe || (code >= UNSAFE[i].first && code <= UNSAFE[i].last);
    return unsafe;
}

/* The number of bytes that the first byte of a character announces; 1 if it cannot be a first byte. */
static size_t quote_length_of(unsigned char first)
{
    return first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
}

/* Decodes the character at `text`, which ends in NUL; false if the bytes are not UTF-8. */
static bool quote_decode(const char *text, size_t *length, uint32_t *code)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*text;
    size_t n = quote_length_of(first);
    *length = 1;
    *code = n == 1 ? first : first & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return false;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3F);
    }
    if ((n == 1 && first >= 0x80) || *code < min[n] || *code > 0x10FFFF || (*code >= 0xD800 && *code <= 0xDFFF))
        return false;
    *length = n;
    return true;
}

void quote_clean(char *text)
{
    char *to = text;
    size_t length;
    uint32_t code;
    for (const char *at = text; *at; at += length)
        if (!quote_decode(at, &length, &code) || quote_is_unsafe(code))
            *to++ = '?';
        else
            for (size_t i = 0; i < length; i++)
                *to++ = at[i];
    *to = '\0';
}

/* The last place up to `at` where no UTF-8 character is split: a byte 10xxxxxx continues one. */
static size_t cut_before(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

quoted quote_bytes(const char *text, size_t size)
{
    quoted q = {""};
    size_t capacity = sizeof q.text - 1, kept = size <= capacity ? size : cut_before(text, capacity - 3);
    for (size_t i = 0; i < kept; i++)
        q.text[i] = text[i] ? text[i] : '?';
    q.text[kept] = '\0';
    quote_clean(q.text);
    if (kept < size)
        strcat(q.text, "...");
    return q;
}

quoted quote(const char *text)
{
    return quote_bytes(text, strlen(text));
}
