/* base/zero_pages.h: memory of zeros of which only a part is going to be used: pages that nobody writes to are not resident. For
 * the moments of an optimizer that several processes share. */
#ifndef BASE_ZERO_PAGES_H
#define BASE_ZERO_PAGES_H

#include <stddef.h>

/* `bytes` (above 0) of zeros, aligned to a page; huge pages are never made of them. NULL: out of memory. */
void *zero_pages_map(size_t bytes);
/* Gives them back; NULL is fine. */
void zero_pages_unmap(void *pages, size_t bytes);

#endif
