/* base/posix/posix_chars.c: searches of the C library, which read many bytes at once. */
#define _GNU_SOURCE
#include "base/chars.h"

#include <string.h>

char *chars_find(const void *text, size_t size, const void *part, size_t part_size)
{
    return memmem(text, size, part, part_size);
}
