/* serve/module/exchange_unread.h: what its client has not read yet of a response. A part of each exchange, under its lock. */
#ifndef SERVE_MODULE_EXCHANGE_UNREAD_H
#define SERVE_MODULE_EXCHANGE_UNREAD_H

#include "serve/module/exchange_work.h"

#include "base/buffer.h"

/* Zeroed: none. */
typedef struct exchange_unread {
    buffer bytes;
    size_t taken; /* of these, by the transport */
} exchange_unread;

/* Adds bytes. What is more than EXCHANGE_UNREAD then asks for memory; false: there is none. */
bool exchange_unread_add(exchange_unread *u, exchange_work *w, const char *bytes, size_t size);
/* Moves up to `size` bytes to `to`, and says how many; memory that was asked for is given back when all are. */
size_t exchange_unread_take(exchange_unread *u, exchange_work *w, char *to, size_t size);
/* How many there are. */
static inline size_t exchange_unread_size(const exchange_unread *u)
{
    return u->bytes.size - u->taken;
}

#endif
