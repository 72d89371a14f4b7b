/* base/pages.c: whole pages of any memory. */
#include "base/pages.h"

#include <stdint.h>

void pages_release(void *memory, size_t first, size_t end)
{
    const size_t page = pages_size();
    char *const from = (char *)memory + first, *const to = (char *)memory + end;
    char *const whole = from + (page - (uintptr_t)from % page) % page, *const last = to - (uintptr_t)to % page;
    if (whole < last)
        pages_drop(whole, (size_t)(last - whole));
}
