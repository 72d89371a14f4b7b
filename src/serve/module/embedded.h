/* serve/module/embedded.h: the files that are put into the module when rapt is built. */
#ifndef SERVE_MODULE_EMBEDDED_H
#define SERVE_MODULE_EMBEDDED_H

#include <stddef.h>

/* ---- the document openapi.json, which embed_openapi.cmake puts into the module. */

extern const unsigned char openapi_text[];
extern const size_t openapi_text_size;

/* ---- the page at `/`. The bytes are made from the files in src/serve/module/page when rapt is built, by its embed.cmake. */

/* "text/html; charset=utf-8" */
extern const unsigned char serve_page_html[];
extern const size_t serve_page_html_size;
/* The Content-Security-Policy for the page: it allows style and script by their hashes. */
extern const char serve_page_policy[];

#endif
