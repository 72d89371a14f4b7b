/* serve/module/exchange_unread.h: the bytes of a response that its client has not read yet. A part of each exchange, under its
 * lock. */
#ifndef SERVE_MODULE_EXCHANGE_UNREAD_H
#define SERVE_MODULE_EXCHANGE_UNREAD_H

#include "serve/module/exchange_work.h"

#include "base/buffer.h"

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
