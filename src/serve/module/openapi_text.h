/* serve/module/openapi_text.h: the document openapi.json, which embed_openapi.cmake puts into the module. */
#ifndef SERVE_MODULE_OPENAPI_TEXT_H
#define SERVE_MODULE_OPENAPI_TEXT_H

#include <stddef.h>

extern const unsigned char openapi_text[];
extern const size_t openapi_text_size;

#endif
