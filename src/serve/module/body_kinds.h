/* serve/module/body_kinds.h: bodies of requests: forms, and the memory that a body takes. For fields.c. */
#ifndef SERVE_MODULE_BODY_KINDS_H
#define SERVE_MODULE_BODY_KINDS_H

#include <jansson.h>
#include <stddef.h>

/* ---- body_cost.c: memory that a body takes once it is read, before it is read. For fields.c. */

/* An upper bound in bytes for jansson's tree of a JSON text, for the memory of reading it, and for the copy of an object's
 * members in `fields`. It holds for every text, also one that is not JSON. */
size_t body_cost_json(const char *text, size_t size);
/* The same bound for a form. */
size_t body_cost_form(const char *text, size_t size);

/* ---- form.c: bodies of type application/x-www-form-urlencoded (WHATWG's URL standard, section 5.1) as JSON, so that an
 * endpoint need not know in which of the two a request came. */

/* An object of texts: "q=a+b&target=de" is {"q": "a b", "target": "de"}; a name that comes several times has a list of its
 * values. NULL with *reason set: what is wrong with the form, or NULL: out of memory. */
json_t *form_read(const char *text, size_t size, const char **reason);

#endif
