/* base/ends.c: compares the end of a text. */
#include "base/ends.h"

#include <string.h>

bool ends_in(const char *text, const char *end)
{
    size_t size = strlen(text), wanted = strlen(end);
    return size >= wanted && strcmp(text + size - wanted, end) == 0;
}
