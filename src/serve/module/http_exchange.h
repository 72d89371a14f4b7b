/* serve/module/http_exchange.h: one HTTP request and its response, apart from any socket: http.c moves the bytes, tests call the
 * router without one. */
#ifndef SERVE_MODULE_HTTP_EXCHANGE_H
#define SERVE_MODULE_HTTP_EXCHANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct exchange exchange;

/* ---- the request: set before the router sees it, const from then on ---------------------------------------------- */

const char *exchange_method(const exchange *x); /* "POST" */
const char *exchange_path(const exchange *x);   /* "/v1/completions", decoded, without the query */
/* The first value of a parameter of the query, decoded; NULL: there is none. */
const char *exchange_query(const exchange *x, const char *name);
/* Its parameter number i, decoded; false: no such. */
bool exchange_query_at(const exchange *x, size_t i, const char **name, const char **value);
/* A header field, whatever the case of its name; NULL: there is none. */
const char *exchange_header(const exchange *x, const char *name);
/* The body: [*size] bytes and a NUL behind them; never NULL. */
const char *exchange_body(const exchange *x, size_t *size);
/* A number of the request, 16 hexadecimal digits: the header X-Request-Id of its response, and its log line. */
const char *exchange_id(const exchange *x);
/* Where the client is: "127.0.0.1"; "unix" for a unix socket; "" where nobody knows. */
const char *exchange_address(const exchange *x);

/* What reading it takes: see exchange_work.h. */
struct exchange_work *exchange_work_of(exchange *x);

/* ---- the response: from any thread, by one thread at a time ------------------------------------------------------ */

/* Adds a header field to the response that has not begun. */
void exchange_add_header(exchange *x, const char *name, const char *value);
/* One that only a response without an error has: of status 399 or less. */
void exchange_add_result_header(exchange *x, const char *name, const char *value);
/* The whole response. `type`: "application/json". The body is copied. */
void exchange_reply(exchange *x, int status, const char *type, const char *body, size_t size);
/* The same with a body of malloc, which it takes over. */
void exchange_reply_with(exchange *x, int status, const char *type, char *body, size_t size);
/* Begins a response whose body comes in parts (chunked), of `type` "text/event-stream" for instance. */
void exchange_begin(exchange *x, int status, const char *type);
enum { EXCHANGE_UNREAD = 64 << 10 }; /* bytes */
/* Adds to a body that has begun. Never waits: what the client has not read yet is kept, and where that is more than
 * EXCHANGE_UNREAD bytes, memory is asked for; where there is none, the client is given up, as after exchange_drop. False: it is,
 * or has hung up; what is written then is dropped. */
bool exchange_write(exchange *x, const char *bytes, size_t size);
/* Ends it. */
void exchange_end(exchange *x);
/* Gives the client up in the middle of a response: its connection is closed, so that it sees that the rest is missing. */
void exchange_drop(exchange *x);
/* Whether the response has begun, or been given whole. */
bool exchange_has_begun(const exchange *x);
/* Whether the client has hung up; cheap enough to be asked before every step. */
bool exchange_gone(exchange *x);
/* The body has been read: its memory is freed, and it is empty from now on. */
void exchange_drop_body(exchange *x);
/* What the log line says of the request beside method, path, status and time: a number, such as tokens. */
void exchange_note(exchange *x, const char *name, double value);
/* The model that the request is for, in the log line and the metrics; copied. */
void exchange_note_model(exchange *x, const char *name);
/* The name of the owner of its key: likewise. */
void exchange_note_owner(exchange *x, const char *name);
/* Calls done(context) once: when the response is there as a whole or has ended, when the client is given up, or when the
 * exchange is freed. From any thread, and at once where it has ended. */
void exchange_at_end(exchange *x, void (*done)(void *context), void *context);

struct admission;

/* Calls freed(context) once, when the exchange is freed: its response is sent, or its connection closed, and nobody works on it.
 * Until then what it takes counts in `memory`, or nowhere, where that is NULL. Before anybody works on it. */
void exchange_at_free(exchange *x, void (*freed)(void *context), void *context, struct admission *memory);

/* ---- lifetime ---------------------------------------------------------------------------------------------------- */

/* An exchange lives until each who holds it has let go: the transport, from exchange_new on, and whoever answers later than the
 * router returns. When only the transport is left to hold an exchange without a response, it gets status 500; one whose response
 * has begun and has no end is given up. */
void exchange_hold(exchange *x);
void exchange_release(exchange *x);

/* ---- for transports ---------------------------------------------------------------------------------------------- */

/* Functions of the transport. `context` is the one of exchange_new. */
typedef struct exchange_transport {
    void (*wake)(void *context); /* there is something to send: from any thread, until exchange_detach returns */
    bool (*gone)(void *context); /* whether the client has hung up: likewise */
} exchange_transport;

/* `target` is that of the request line, path and query; `transport` may be NULL, for tests. NULL: out of memory, or the target
 * has %00 or a wrong escape, or is none of a server's (see target.h). */
exchange *exchange_new(const char *method, const char *target, const exchange_transport *transport, void *context);
/* A header field of the request. False: out of memory. */
bool exchange_set_header(exchange *x, const char *name, const char *value);
/* Adds to the body. False: out of memory. */
bool exchange_add_body(exchange *x, const char *bytes, size_t size);
void exchange_set_address(exchange *x, const char *address); /* copied, and cut to 63 bytes */
/* The connection is closed: when this returns, the transport's functions are not called again. It still holds the exchange. */
void exchange_detach(exchange *x);
/* Of the response: its status (0: it has not begun), type, and header field number i (false: no such). */
int exchange_status(exchange *x, const char **type);
bool exchange_response_header(exchange *x, size_t i, const char **name, const char **value);
/* Moves up to `size` bytes of the body to `to`; 0 with *end: all of it is out; 0 without: none is there yet. */
size_t exchange_take(exchange *x, char *to, size_t size, bool *end);
/* Whether the body is there as a whole, and its size. */
bool exchange_is_whole(exchange *x, size_t *size);
/* A whole body, once, which is the caller's then, to be freed; NULL: it is empty. */
char *exchange_take_whole(exchange *x, size_t *size);
/* Whether the client was given up: the connection is to be closed. */
bool exchange_is_dropped(exchange *x);
/* The route of the routing table that answers it, a constant text; NULL: none does. */
const char *exchange_route(exchange *x);
void exchange_set_route(exchange *x, const char *route);
/* What was noted, for the log: number i (false: no such), and the model ("" where none was). */
bool exchange_noted(exchange *x, size_t i, const char **name, double *value);
const char *exchange_model(exchange *x);
const char *exchange_owner(exchange *x);

#endif
