/* base/zero_pages.c: maps pages of zeros. Not with malloc, which may return used memory that has to be cleared; and without a
 * reservation, because all of them together may be more than the machine has. */
#define _GNU_SOURCE
#include "base/zero_pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void *zero_pages_map(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, bytes, MADV_NOHUGEPAGE); /* with huge pages, writing one number would make 2 MB resident */
    return pages;
}

void zero_pages_unmap(void *pages, size_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}

void zero_pages_give_back(void *pages, size_t first, size_t end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const from = (char *)pages + first, *const to = (char *)pages + end;
    char *const whole = from + (page - (uintptr_t)from % page) % page, *const last = to - (uintptr_t)to % page;
    if (whole < last)
        madvise(whole, (size_t)(last - whole), MADV_DONTNEED);
}
