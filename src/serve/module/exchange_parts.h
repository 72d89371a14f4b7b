/* serve/module/exchange_parts.h: what http_exchange.c is made of: the target and fields of a request, the unread bytes of its
 * response, and the exchange itself. */
#ifndef SERVE_MODULE_EXCHANGE_PARTS_H
#define SERVE_MODULE_EXCHANGE_PARTS_H

#include "base/buffer.h"
#include "serve/module/exchange_work.h"

#include <pthread.h>
#include <stdatomic.h>
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
    exchange_held held; /* with bytes: all of the body, in place of `bytes` */
    size_t taken; /* bytes of these that the transport has taken */
} exchange_unread;

/* Adds bytes. Asks for memory for bytes beyond EXCHANGE_UNREAD; false: it is refused. */
bool exchange_unread_add(exchange_unread *u, exchange_work *w, const char *bytes, size_t size);
/* Moves up to `size` bytes to `to`, and says how many; memory that was asked for is given back when all are. */
size_t exchange_unread_take(exchange_unread *u, exchange_work *w, char *to, size_t size);
/* How many there are. */
static inline size_t exchange_unread_size(const exchange_unread *u)
{
    return u->bytes.size + u->held.size - u->taken;
}
/* Bytes of memory that they take from others. */
static inline size_t exchange_unread_memory(const exchange_unread *u)
{
    return u->bytes.size - (u->held.bytes ? 0 : u->taken);
}
/* Frees them; none are left. */
void exchange_unread_free(exchange_unread *u);

/* ---- the exchange, for http_exchange.c, and for exchange_notes.c: what its log line says */

enum { NOTES_MAX = 16, ID_TEXT = 17, ADDRESS_TEXT = 64, MODEL_TEXT = 96, OWNER_TEXT = 64 };

typedef struct exchange_note_entry {
    char name[32];
    double value;
} exchange_note_entry;

struct exchange {
    /* the request */
    char *method, *path, id[ID_TEXT], address[ADDRESS_TEXT];
    field_list query, header;
    buffer body;
    /* the connection, under transport_lock */
    pthread_mutex_t transport_lock;
    exchange_transport transport;
    void *context;
    atomic_bool detached;
    /* the response and the rest, under `lock` */
    pthread_mutex_t lock;
    size_t holders;
    int status;
    char *type;
    field_list fields, result_fields; /* result_fields: only if the response is no error */
    exchange_unread out;
    bool whole, ended, dropped;
    void (*done)(void *context);
    void *done_context;
    void (*freed)(void *context);
    void *freed_context;
    exchange_work work;
    const char *route;
    char model[MODEL_TEXT], owner[OWNER_TEXT];
    exchange_note_entry notes[NOTES_MAX];
    size_t note_count;
};

#endif
