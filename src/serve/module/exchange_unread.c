/* serve/module/exchange_unread.c: the bytes of a response that its client has not read yet. */
#include "serve/module/exchange_unread.h"

bool exchange_unread_add(exchange_unread *u, exchange_work *w, const char *bytes, size_t size)
{
    const size_t all = exchange_unread_size(u) + size;
    const size_t had = all > EXCHANGE_UNREAD ? w->ticket.bytes[ADMISSION_SENDING] : EXCHANGE_UNREAD;
    const bool fits = all <= had || (w->memory && admission_set(w->memory, &w->ticket, ADMISSION_SENDING, all + all / 4) ==
                                                      ADMISSION_GIVEN);
    return fits && buffer_append(&u->bytes, bytes, size);
}

static void unread_forget(exchange_unread *u, exchange_work *w)
{
    u->taken = u->bytes.size = 0;
    if (u->bytes.capacity <= EXCHANGE_UNREAD)
        return;
    buffer_free(&u->bytes);
    if (w->memory)
        admission_set(w->memory, &w->ticket, ADMISSION_SENDING, 0);
}

size_t exchange_unread_take(exchange_unread *u, exchange_work *w, char *to, size_t size)
{
    const size_t unread = exchange_unread_size(u), n = unread < size ? unread : size;
    if (n)
        memcpy(to, u->bytes.data + u->taken, n);
    u->taken += n;
    if (n == unread)
        unread_forget(u, w);
    else if (u->taken > u->bytes.size / 2) {
        memmove(u->bytes.data, u->bytes.data + u->taken, unread - n);
        u->bytes.size = unread - n;
        u->taken = 0;
    }
    return n;
}
