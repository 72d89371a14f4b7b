/* serve/module/body_cost.h: memory that a body takes once it is read, before it is read. For fields.c. */
#ifndef SERVE_MODULE_BODY_COST_H
#define SERVE_MODULE_BODY_COST_H

#include <stddef.h>

/* An upper bound in bytes for jansson's tree of a JSON text, for the memory of reading it, and for the copy of an object's
 * members in `fields`. It holds for every text, also one that is not JSON. */
size_t body_cost_json(const char *text, size_t size);
/* The same bound for a form. */
size_t body_cost_form(const char *text, size_t size);

#endif
