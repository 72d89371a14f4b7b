/* serve/module/exchange.h: one HTTP request and its response, apart from any socket: http.c moves the bytes, tests call the
 * router without one. */
#ifndef SERVE_MODULE_EXCHANGE_H
#define SERVE_MODULE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct exchange exchange;

/* ---- the request: set before the router sees it, const from then on ------------------------------------------------ */

const char *exchange_method(const exchange *x); /* "POST" */
const char *exchange_path(const exchange *x);   /* "/v1/completions", decoded, without the query */
/* The first value of a parameter of the query, decoded; NULL: there is none. */
const char *exchange_query(const exchange *x, const char *name);
/* A header field, whatever the case of its name; NULL: there is none. */
const char *exchange_header(const exchange *x, const char *name);
/* The body: [*size] bytes and a NUL behind them; never NULL. */
const char *exchange_body(const exchange *x, size_t *size);
/* A number of the request, 16 hexadecimal digits: the header X-Request-Id of its response, and its log line. */
const char *exchange_id(const exchange *x);

/* ---- the response: from any thread, by one thread at a time ---------------------------------------------------------- */

/* Adds a header field to the response that has not begun. */
void exchange_add_header(exchange *x, const char *name, const char *value);
/* The whole response. `type`: "application/json". The body is copied. */
void exchange_reply(exchange *x, int status, const char *type, const char *body, size_t size);
/* Begins a response whose body comes in parts (chunked), of `type` "text/event-stream" for instance. */
void exchange_begin(exchange *x, int status, const char *type);
/* Adds to a body that has begun. False: the client is gone, or has left more than the limit unread for too long; what is
 * written then is dropped. */
bool exchange_write(exchange *x, const char *bytes, size_t size);
/* Ends it. */
void exchange_end(exchange *x);
/* Whether the response has begun, or been given whole. */
bool exchange_has_begun(const exchange *x);
/* Whether the client has hung up; cheap enough to be asked before every step. */
bool exchange_gone(exchange *x);
/* What the log line says of the request beside method, path, status and time: a number, such as tokens. */
void exchange_note(exchange *x, const char *name, double value);
/* The model that the request is for, in the log line and the metrics; copied. */
void exchange_note_model(exchange *x, const char *name);

/* ---- lifetime --------------------------------------------------------------------------------------------------------- */

/* An exchange lives until each who holds it has let go: the transport, and whoever answers later than the router returns. The
 * last one who lets go of an exchange without a response gives it status 500. */
void exchange_hold(exchange *x);
void exchange_release(exchange *x);

/* ---- for transports --------------------------------------------------------------------------------------------------- */

/* Functions of the transport. `context` is the one of exchange_new. */
typedef struct exchange_transport {
    void (*wake)(void *context); /* there is something to send: from any thread, after the exchange's lock is released */
    bool (*gone)(void *context); /* the client has hung up: from any thread while the transport holds the exchange */
} exchange_transport;

/* `target` is that of the request line, path and query. NULL: out of memory, or the target has %00 or a wrong escape. */
exchange *exchange_new(const char *method, const char *target, const exchange_transport *transport, void *context);
/* A header field of the request. False: out of memory. */
bool exchange_set_header(exchange *x, const char *name, const char *value);
/* Adds to the body. False: out of memory. */
bool exchange_add_body(exchange *x, const char *bytes, size_t size);
/* The connection is closed: the transport's functions are not called again. */
void exchange_detach(exchange *x);
/* Of the response: its status (0: it has not begun), type, and header field number i (false: no such). */
int exchange_status(exchange *x, const char **type);
bool exchange_response_header(exchange *x, size_t i, const char **name, const char **value);
/* Moves up to `size` bytes of the body to `to`; 0 with *end: all of it is out; 0 without: none is there yet. */
size_t exchange_take(exchange *x, char *to, size_t size, bool *end);
/* Whether the body is there as a whole, and its size. */
bool exchange_is_whole(exchange *x, size_t *size);

#endif
