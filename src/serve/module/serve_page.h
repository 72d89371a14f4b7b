/* serve/module/serve_page.h: the page at `/`. The bytes are made from the files in src/serve/module/page when rapt is built, by
 * its embed.cmake. */
#ifndef SERVE_MODULE_SERVE_PAGE_H
#define SERVE_MODULE_SERVE_PAGE_H

#include <stddef.h>

/* "text/html; charset=utf-8" */
extern const unsigned char serve_page_html[];
extern const size_t serve_page_html_size;
/* The Content-Security-Policy for the page: it allows style and script by their hashes. */
extern const char serve_page_policy[];

#endif
