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
/* The first value of the query's parameter `name`, decoded; NULL: there is none. */
const char *exchange_query(const exchange *x, const char *name);
/* Its parameter number i, decoded; false: no such. */
bool exchange_query_at(const exchange *x, size_t i, const char **name, const char **value);
/* A header field, regardless of the case of its name; NULL: there is none. */
const char *exchange_header(const exchange *x, const char *name);
/* The body: [*size] bytes and a NUL; never NULL. */
const char *exchange_body(const exchange *x, size_t *size);
/* A number of the request, 16 hexadecimal digits: the header X-Request-Id of its response, and its log line. */
const char *exchange_id(const exchange *x);
/* The client's address: "127.0.0.1"; "unix" for a unix socket; "" if unknown. */
const char *exchange_address(const exchange *x);

/* Its bounds on time and memory. */
struct exchange_work *exchange_work_of(exchange *x);

/* ---- the response: from any thread, by one thread at a time ------------------------------------------------------ */

/* Adds a header field to the response that has not begun. */
void exchange_add_header(exchange *x, const char *name, const char *value);
/* A header field that only a response without an error gets: of status 399 or less. */
void exchange_add_result_header(exchange *x, const char *name, const char *value);
/* The whole response. `type`: "application/json". The body is copied. */
void exchange_reply(exchange *x, int status, const char *type, const char *body, size_t size);
/* Like exchange_reply, with a body from malloc that it takes over. */
void exchange_reply_with(exchange *x, int status, const char *type, char *body, size_t size);
/* Bytes that stay where they are, for many responses: release(context), by any thread, when one of them needs them no more; NULL:
 * they last as long as the program. */
typedef struct exchange_held {
    const char *bytes; /* [size] */
    size_t size;
    void (*release)(void *context);
    void *context;
} exchange_held;

/* Like exchange_reply, with a body that is not copied. It is released once, also where the response has begun before. */
void exchange_reply_held(exchange *x, int status, const char *type, exchange_held body);
/* Begins a response whose body comes in parts (chunked); `type` is "text/event-stream", for instance. */
void exchange_begin(exchange *x, int status, const char *type);
enum { EXCHANGE_UNREAD = 64 << 10 }; /* bytes */
/* Adds to a body that has begun. It never waits: bytes that the client has not read yet are kept. For more than EXCHANGE_UNREAD
 * bytes, memory is asked for; if that is refused, the client is given up, as by exchange_drop. False: the client is given up or
 * has hung up; then the bytes are dropped. */
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
/* Adds a number to the log line of the request, such as tokens, besides method, path, status and time. */
void exchange_note(exchange *x, const char *name, double value);
/* The model that the request is for, in the log line and the metrics; copied. */
void exchange_note_model(exchange *x, const char *name);
/* The name of the owner of its key, in the log line and the metrics; copied. */
void exchange_note_owner(exchange *x, const char *name);
/* Calls done(context) once: when the response is there as a whole or has ended, when the client is given up, or when the exchange
 * is freed. It may be called by any thread, and immediately if the response has ended. */
void exchange_at_end(exchange *x, void (*done)(void *context), void *context);

struct admission;

/* Calls freed(context) once, when the exchange is freed: its response is sent or its connection closed, and no code holds it.
 * Until then its memory counts in `memory`, unless that is NULL. Call it before any work on the exchange. */
void exchange_at_free(exchange *x, void (*freed)(void *context), void *context, struct admission *memory);

/* ---- lifetime ---------------------------------------------------------------------------------------------------- */

/* An exchange is counted by references: the transport holds one from exchange_new on, and code that answers later than the router
 * returns holds another. When only the transport's is left and there is no response, the response becomes status 500; if a
 * response has begun and not ended, the client is given up. */
void exchange_hold(exchange *x);
void exchange_release(exchange *x);

/* ---- for transports ---------------------------------------------------------------------------------------------- */

/* Functions of the transport. `context` is the one of exchange_new. */
typedef struct exchange_transport {
    void (*wake)(void *context); /* there is something to send: from any thread, until exchange_detach returns */
    bool (*gone)(void *context); /* whether the client has hung up; same rules */
} exchange_transport;

/* `target` is the request line's: path and query; `transport` may be NULL, for tests. NULL: out of memory, or target_read
 * (exchange_parts.h) refuses the target. */
exchange *exchange_new(const char *method, const char *target, const exchange_transport *transport, void *context);
/* A header field of the request. False: out of memory. */
bool exchange_set_header(exchange *x, const char *name, const char *value);
/* Adds to the body. False: out of memory. */
bool exchange_add_body(exchange *x, const char *bytes, size_t size);
void exchange_set_address(exchange *x, const char *address); /* copied, at most 63 bytes */
/* The connection is closed: after this returns, the transport's functions are not called again. The transport still holds the
 * exchange. */
void exchange_detach(exchange *x);
/* The response's status (0: it has not begun) and type, and its header field number i (false: there is none). */
int exchange_status(exchange *x, const char **type);
bool exchange_response_header(exchange *x, size_t i, const char **name, const char **value);
/* Moves up to `size` bytes of the body to `to`; 0 with *end: the body has ended; 0 without: no bytes are there yet. */
size_t exchange_take(exchange *x, char *to, size_t size, bool *end);
/* Whether the client of a body in parts has left more than EXCHANGE_UNREAD bytes of it, or the body has ended. */
bool exchange_lags(exchange *x);
/* Whether the body is there as a whole, and its size. */
bool exchange_is_whole(exchange *x, size_t *size);
/* A whole body that is held, once: the caller releases it. False: it is not held. */
bool exchange_take_held(exchange *x, exchange_held *body);
/* A whole body that is not held, once; the caller owns and frees it. NULL: it is empty. */
char *exchange_take_whole(exchange *x, size_t *size);
/* Whether the client was given up: then close the connection. */
bool exchange_is_dropped(exchange *x);
/* The route in the routing table that answers it, a constant text; NULL: none does. */
const char *exchange_route(exchange *x);
void exchange_set_route(exchange *x, const char *route);
/* The notes for the log: number i (false: there is none), and the model ("" if none was noted). */
bool exchange_noted(exchange *x, size_t i, const char **name, double *value);
const char *exchange_model(exchange *x);
const char *exchange_owner(exchange *x);

#endif
