/* serve/module/exchange_unread.c: the bytes of a response that its client has not read yet. */
#include "serve/module/exchange_parts.h"

bool exchange_unread_add(exchange_unread *u, exchange_work *w, const char *bytes, size_t size)
{
    const size_t all = u->bytes.size + size; /* with what is taken and not forgotten yet */
    const size_t had = all > EXCHANGE_UNREAD ? w->ticket.bytes[ADMISSION_SENDING] : EXCHANGE_UNREAD;
    const bool fits = all <= had || (w->memory && admission_set(w->memory, &w->ticket, ADMISSION_SENDING, all + all / 4) ==
                                                      ADMISSION_GIVEN);
    return fits && buffer_append(&u->bytes, bytes, size);
}

void exchange_unread_free(exchange_unread *u)
{
    if (u->held.release)
        u->held.release(u->held.context);
    buffer_free(&u->bytes);
    *u = (exchange_unread){.taken = 0};
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

/* Gives back the memory of bytes that are taken: a client that reads slowly would hold it from others. */
static void unread_shrink(exchange_unread *u, exchange_work *w)
{
    const size_t left = exchange_unread_size(u);
    memmove(u->bytes.data, u->bytes.data + u->taken, left);
    u->bytes.size = left;
    u->taken = 0;
    char *less = u->bytes.capacity > EXCHANGE_UNREAD ? realloc(u->bytes.data, left + 1) : NULL;
    if (!less)
        return;
    less[left] = '\0';
    u->bytes.data = less;
    u->bytes.capacity = left + 1;
    if (w->memory && left < w->ticket.bytes[ADMISSION_SENDING])
        admission_set(w->memory, &w->ticket, ADMISSION_SENDING, left > EXCHANGE_UNREAD ? left : 0);
}

size_t exchange_unread_take(exchange_unread *u, exchange_work *w, char *to, size_t size)
{
    const size_t unread = exchange_unread_size(u), n = unread < size ? unread : size;
    if (n)
        memcpy(to, (u->held.bytes ? u->held.bytes : u->bytes.data) + u->taken, n);
    u->taken += n;
    if (u->held.bytes && n == unread)
        exchange_unread_free(u);
    else if (n == unread)
        unread_forget(u, w);
    else if (!u->held.bytes && u->taken > u->bytes.size / 2)
        unread_shrink(u, w);
    return n;
}
