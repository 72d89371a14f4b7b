/* base/pages.c: whole pages of any memory. The system refuses others. */
#include "base/pages.h"

#include <stdint.h>

typedef struct whole_pages {
    char *first;
    size_t size; /* bytes; 0: there are none */
} whole_pages;

static whole_pages pages_within(void *memory, size_t first, size_t end)
{
    const size_t page = pages_size();
    char *const from = (char *)memory + first, *const to = (char *)memory + end;
    char *const whole = from + (page - (uintptr_t)from % page) % page, *const last = to - (uintptr_t)to % page;
    return (whole_pages){whole, whole < last ? (size_t)(last - whole) : 0};
}

void pages_release(void *memory, size_t first, size_t end)
{
    const whole_pages p = pages_within(memory, first, end);
    if (p.size > 0)
        pages_drop(p.first, p.size);
}

void pages_advise(void *memory, size_t size, bool huge)
{
    const whole_pages p = pages_within(memory, 0, size);
    if (p.size > 0)
        pages_want(p.first, p.size, huge);
}
