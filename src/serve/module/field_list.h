/* serve/module/field_list.h: names with values, as the fields of a header or the parameters of a query are. For
 * http_exchange.c and target.c. */
#ifndef SERVE_MODULE_FIELD_LIST_H
#define SERVE_MODULE_FIELD_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct named_text {
    char *name, *value;
} named_text;

/* A zeroed one is empty. */
typedef struct field_list {
    named_text *at; /* [count] in the order in which they came */
    size_t count, capacity;
} field_list;

/* Copies the first `name_size` and `value_size` bytes of both texts. False: out of memory. */
bool field_list_add(field_list *p, const char *name, size_t name_size, const char *value, size_t value_size);
/* The value of the first entry with a name; NULL: there is none. */
const char *field_list_find(const field_list *p, const char *name, bool any_case);
void field_list_free(field_list *p); /* empty afterwards */

#endif
