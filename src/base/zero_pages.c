/* base/zero_pages.c: see zero_pages.h. They are mapped here, not by malloc, which may give out memory that was in use before
 * and has to be cleared, and they are not reserved: all of them together may be more than the machine has. */
#define _GNU_SOURCE
#include "base/zero_pages.h"

#include <sys/mman.h>

void *zero_pages_map(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, bytes, MADV_NOHUGEPAGE); /* or one number would make 2 MB of its neighborhood */
    return pages;
}

void zero_pages_unmap(void *pages, size_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}
