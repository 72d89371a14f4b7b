/* base/windows/windows_chars.c: searches, which the C library of Windows lacks. */
#include "base/chars.h"

#include <string.h>

char *chars_find(const void *text, size_t size, const void *part, size_t part_size)
{
    const char *at = text, *const end = at + size, *const first = part;
    if (part_size == 0)
        return (char *)at;
    while ((size_t)(end - at) >= part_size && (at = memchr(at, *first, (size_t)(end - at) - part_size + 1)) != NULL) {
        if (memcmp(at, part, part_size) == 0)
            return (char *)at;
        at++;
    }
    return NULL;
}
