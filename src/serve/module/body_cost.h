/* serve/module/body_cost.h: memory that a body takes once it is read, before it is read. For fields.c. */
#ifndef SERVE_MODULE_BODY_COST_H
#define SERVE_MODULE_BODY_COST_H

#include <stddef.h>

/* Bytes at most of jansson's tree of a JSON text, with all that reading it takes, and of its copy of an object's members that
 * `fields` has; whatever the text is, also none of JSON. */
size_t body_cost_json(const char *text, size_t size);
/* The same of a form. */
size_t body_cost_form(const char *text, size_t size);

#endif
