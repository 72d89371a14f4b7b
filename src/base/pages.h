/* base/pages.h: memory in pages, of files and of the system. For file maps, KV caches, moments and arenas. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

size_t pages_size(void); /* bytes of one */

/* The first `size` bytes (above 0) of an open file, read-only; NULL with errno set. */
void *pages_map_file(int file, size_t size);
void pages_unmap_file(void *pages, size_t size);
/* Whole pages of a mapped file leave memory, and are read again when they are needed. */
void pages_forget(void *pages, size_t size);

/* Zeroed memory that will be used only in part, aligned to a page: what is never written is not resident, nor reserved where the
 * system can do without. For the moments of an optimizer that several processes share, and for KV caches with short rows. NULL:
 * out of memory. */
void *pages_map(size_t size);
void pages_unmap(void *pages, size_t size); /* NULL is fine */
/* Bytes first .. end - 1, of pages_map or of malloc, whose contents are not needed any more: their memory goes back to the
 * system. Only whole pages: the pages at the ends hold other bytes too, and keep all. */
void pages_release(void *memory, size_t first, size_t end);
/* pages_release for whole pages. */
void pages_drop(void *pages, size_t size);

/* Whether memory of malloc shall have huge pages, as far as its pages are whole; an advice. */
void pages_advise(void *memory, size_t size, bool huge);
/* pages_advise for whole pages. */
void pages_want(void *pages, size_t size, bool huge);

#endif
