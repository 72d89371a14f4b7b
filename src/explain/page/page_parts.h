/* explain/page/page_parts.h: the page without its data. For page.c. The bytes are made from the files in src/explain/page when
 * rapt is built, by src/explain/page/embed.cmake: page.html with style and scripts in their places, in two parts, between which
 * the data go. */
#ifndef EXPLAIN_PAGE_PAGE_PARTS_H
#define EXPLAIN_PAGE_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char page_head[], page_tail[];
extern const size_t page_head_size, page_tail_size;

#endif
