/* text/json_text.c: writes into memory of the right size, so that it cannot run out of memory in the middle. */
#include "text/json_text.h"

#include "base/number.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION JSON_REAL_PRECISION(0x1F)

/* As jansson writes a real: a point or an exponent, and no zeros before the exponent's digits. */
static void write_real(double value, char text[NUMBER_TEXT + 2])
{
    number_write(value, text);
    char *e = strchr(text, 'e');
    if (!e && !strchr(text, '.'))
        strcat(text, ".0");
    if (!e)
        return;
    char *to = e + 1, *digits = e + 1 + strspn(e + 1, "+-0");
    to += *to == '-';
    memmove(to, digits, strlen(digits) + 1);
}

/* Bytes of the string that begins here, at most `size`. */
static size_t string_size(const char *text, size_t size)
{
    size_t at = 1;
    while (at < size && text[at] != '"')
        at += text[at] == '\\' ? 2 : 1;
    return at < size ? at + 1 : size;
}

static size_t number_size(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size && text[at] && strchr("0123456789+-.eE", text[at]))
        at++;
    return at;
}

/* Whether a number has only digits, with or without a sign, and does not fit 64 bits. */
static bool is_too_large(const char *number, size_t size)
{
    static const char limit[] = "9223372036854775808";
    const size_t sign = *number == '-', digits = size - sign, most = sizeof limit - 1;
    for (size_t i = sign; i < size; i++)
        if (number[i] < '0' || number[i] > '9')
            return false;
    return digits > most || (digits == most && memcmp(number + sign, limit, most) >= (int)sign);
}

json_t *json_text_read(char *text, size_t size, size_t flags, json_error_t *where)
{
    for (size_t at = 0, used; at < size; at += used) {
        used = text[at] == '"' ? string_size(text + at, size - at) : number_size(text + at, size - at);
        if (text[at] != '"' && used > 0 && is_too_large(text + at, used))
            memcpy(text + at + used - 2, "e2", 2); /* 12345 becomes 123e2, which has the same length */
        used = used ? used : 1;
    }
    return json_loadb(text, size, flags, where);
}

static size_t string_length(const char *text)
{
    size_t length = 1;
    while (text[length] && text[length] != '"')
        length += text[length] == '\\' && text[length + 1] ? 2 : 1;
    return length + (text[length] == '"');
}

static bool is_real(const char *number, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(".eE", number[i]))
            return strchr("-0123456789", *number) != NULL;
    return false;
}

/* Writes every real again with the fewest digits, unless an exponent would make it longer: 1234567890123450.0. */
static void shorten_reals(char *text)
{
    char *to = text;
    for (size_t length; *text; text += length) {
        char real[NUMBER_TEXT + 2];
        length = strspn(text, "0123456789+-.eE");
        if (is_real(text, length)) {
            write_real(number_read(text, NULL), real);
            const bool fits = strlen(real) <= length;
            const size_t size = fits ? strlen(real) : length;
            memmove(to, fits ? real : text, size); /* no NUL: the rest may begin there */
            to += size;
            continue;
        }
        length = *text == '"' ? string_length(text) : length > 0 ? length : 1;
        memmove(to, text, length);
        to += length;
    }
    *to = '\0';
}

char *json_text(const json_t *root, size_t flags)
{
    size_t size = root ? json_dumpb(root, NULL, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (text && json_dumpb(root, text, size, flags) == size) {
        text[size] = '\0';
        if ((flags & PRECISION) == 0)
            shorten_reals(text);
        return text;
    }
    free(text);
    return NULL;
}
