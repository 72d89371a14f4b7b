/* base/zero_pages.h: zeroed memory that will be used only in part: pages that are never written are not resident. For the moments
 * of an optimizer that several processes share, and for KV caches with short rows. */
#ifndef BASE_ZERO_PAGES_H
#define BASE_ZERO_PAGES_H

#include <stddef.h>

/* `bytes` (above 0) of zeros, aligned to a page, without huge pages. NULL: out of memory. */
void *zero_pages_map(size_t bytes);
/* Unmaps them; NULL is fine. */
void zero_pages_unmap(void *pages, size_t bytes);
/* Gives bytes first .. end - 1 back to the system; they are zero afterwards. Only whole pages: the pages at the ends hold other
 * bytes too, and keep all. `pages` may also be memory of malloc, whose contents are lost then. */
void zero_pages_give_back(void *pages, size_t first, size_t end);

#endif
