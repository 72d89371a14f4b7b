/* base/chars.c: strings in memory of their own. Searches are the system's (posix, windows), which are faster than a loop. */
#include "base/chars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *chars_copy_part(const char *text, size_t most)
{
    const size_t size = chars_length(text, most);
    char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *chars_copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *chars_print_list(const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    const int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (text)
        vsnprintf(text, (size_t)size + 1, format, values);
    return text;
}

char *chars_print(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = chars_print_list(format, values);
    va_end(values);
    return text;
}

size_t chars_length(const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);
    return end ? (size_t)(end - text) : size;
}

char *chars_cut(char **rest, const char *separators)
{
    char *piece = *rest;
    if (!piece)
        return NULL;
    char *end = piece + strcspn(piece, separators);
    *rest = *end ? end + 1 : NULL;
    *end = '\0';
    return piece;
}

static int lower_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool chars_alike(const char *a, const char *b)
{
    while (*a && lower_letter(*a) == lower_letter(*b)) {
        a++;
        b++;
    }
    return lower_letter(*a) == lower_letter(*b);
}
