/* serve/module/exchange_parts.h: what http_exchange.c is made of: the target and fields of a request, and the unread bytes of its
 * response. */
#ifndef SERVE_MODULE_EXCHANGE_PARTS_H
#define SERVE_MODULE_EXCHANGE_PARTS_H

#include "base/buffer.h"
#include "serve/module/exchange_work.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- field_list.c: names with values, as the fields of a header or the parameters of a query are. For http_exchange.c and
 * target.c. */

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

/* ---- target.c: the target of a request line, taken apart: "/v1/models?a=b%20c". For http_exchange.c. */

/* Decodes path and query. A target in absolute form ("http://host/path"), which proxies may send, counts as its path; "*" is also
 * a path. False, with nothing to free: out of memory, another form of target, a wrong escape, or %00. */
bool target_read(const char *target, char **path, field_list *query);

/* ---- exchange_unread.c: the bytes of a response that its client has not read yet. A part of each exchange, under its lock. */

/* Zeroed: empty. */
typedef struct exchange_unread {
    buffer bytes;
    size_t taken; /* bytes of these that the transport has taken */
} exchange_unread;

/* Adds bytes. Asks for memory for bytes beyond EXCHANGE_UNREAD; false: it is refused. */
bool exchange_unread_add(exchange_unread *u, exchange_work *w, const char *bytes, size_t size);
/* Moves up to `size` bytes to `to`, and says how many; memory that was asked for is given back when all are. */
size_t exchange_unread_take(exchange_unread *u, exchange_work *w, char *to, size_t size);
/* How many there are. */
static inline size_t exchange_unread_size(const exchange_unread *u)
{
    return u->bytes.size - u->taken;
}

#endif
