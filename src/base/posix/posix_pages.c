/* base/posix/posix_pages.c: mmap and what it can be told. */
#define _GNU_SOURCE
#include "base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

/* Linux reserves nothing then; elsewhere nothing is reserved anyway. */
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
/* Linux takes pages away at once; elsewhere that advice only says which pages to take first, and this one gives them back. */
#ifdef __linux__
#define DROP MADV_DONTNEED
#else
#define DROP MADV_FREE
#endif

size_t pages_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *pages_map_file(int file, size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void pages_unmap_file(void *pages, size_t size)
{
    munmap(pages, size);
}

void pages_forget(void *pages, size_t size)
{
    madvise(pages, size, MADV_DONTNEED);
}

/* Not malloc, which may return used memory that has to be cleared. */
void *pages_map(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    pages_want(pages, size, false); /* with huge pages, writing one number would make 2 MB resident */
    return pages;
}

void pages_unmap(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size);
}

void pages_drop(void *pages, size_t size)
{
    madvise(pages, size, DROP);
}

void pages_want(void *pages, size_t size, bool huge)
{
#ifdef MADV_HUGEPAGE
    madvise(pages, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
    (void)pages;
    (void)size;
    (void)huge;
#endif
}
