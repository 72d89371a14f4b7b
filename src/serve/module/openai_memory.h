/* serve/module/openai_memory.h: the memory that a request for texts will take, before they are generated. For openai_run.c. */
#ifndef SERVE_MODULE_OPENAI_MEMORY_H
#define SERVE_MODULE_OPENAI_MEMORY_H

#include "serve/module/openai_run.h"

enum { OPENAI_COPIES = 2 }; /* copies of a response's bytes while it is assembled */

/* Asks for it; `at_once`: choices that are with the engine at a time. False, with the error set, as request_asks. */
bool openai_memory_ask(exchange *x, const openai_request *r, size_t at_once, request_error *e);

#endif
