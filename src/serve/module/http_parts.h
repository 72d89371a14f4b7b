/* serve/module/http_parts.h: what http.c is made of: the checks of a request, the connections, a request on one of them, and
 * its response. */
#ifndef SERVE_MODULE_HTTP_PARTS_H
#define SERVE_MODULE_HTTP_PARTS_H

#include "rapt/base.h"

#include "serve/module/http_exchange.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* ---- forwarded.c: whom a proxy asks for. For http.c. */

enum { FORWARDED_ADDRESS = 64 };

/* If `address` is one of the proxies, sets `client` to the address of its client: the last one in X-Forwarded-For (`field`, or
 * NULL) that is no proxy itself. Addresses before it are the client's own claim. False, with *client empty: `address` is no
 * proxy, or the field has no address there. */
bool forwarded_client(const char *address, const char *field, char *const *proxies, size_t count, char client[FORWARDED_ADDRESS]);

/* ---- http_check.c: refuses requests that libmicrohttpd accepts and HTTP forbids. If a proxy in front reads such a request
 * differently, its rest becomes another client's request ("request smuggling"). The body is not seen here: the library reads
 * chunks, version 0.9 with bare LFs, so that a request with chunks has to be the last of its connection. For http.c. */

/* Why a request is refused. */
typedef struct http_problem {
    int status;          /* 0: it is not */
    const char *code;    /* "several_content_lengths" */
    const char *message; /* a sentence */
} http_problem;

typedef struct http_framing {
    bool has_length, is_chunked;
    uint64_t length; /* Content-Length; the largest number if it does not fit */
} http_framing;

/* The first line of a request. `raw_target` is in the library's buffer, where it is decoded in place; `target` is as it came. */
typedef struct http_line {
    const char *method, *raw_target, *target, *version;
} http_line;

/* Whether libmicrohttpd can be told to be strict about lines: since version 1. Version 0.9 with that option refuses a missing
 * Host alone, and sends the header of its response twice. */
bool http_check_is_strict(void);

/* Checks lines, names and framing of a request whose header was read. */
http_problem http_check(struct MHD_Connection *connection, const http_line *line, http_framing *framing);

/* ---- http_connections.c: the open connections, and a thread that ends connections that take too long: libmicrohttpd has only a
 * timeout of inactivity, which a client that sends a byte a second never reaches. For http.c. */

struct http_request;

typedef struct http_connection {
    int fd;
    char address[64];
    int refusal;                  /* 503: there are too many connections; 429: too many of its address; 0: not refused */
    double deadline;              /* when it is shut down, as of clock_seconds; INFINITY: never */
    bool awaited;                 /* its client must send something before the deadline */
    struct http_request *request; /* the one that it carries, or NULL */
    struct http_connection *before, *after;
} http_connection;

typedef struct http_connections {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t reaper;
    http_connection *first;
    size_t count, limit, per_address;
    double looked;     /* when clients that hung up were last searched */
    bool ends, sleeps; /* it waits until there is a deadline */
} http_connections;

/* Starts the reaper. */
rapt_code http_connections_start(http_connections *l, size_t limit, size_t per_address, rapt_error *err);
/* Ends it; connections are gone by then. */
void http_connections_stop(http_connections *l);

/* A new connection, whose client must send a request within `seconds`; NULL: out of memory. */
http_connection *http_connections_add(http_connections *l, int fd, const struct sockaddr *address, double seconds);
/* Before its descriptor is closed. */
void http_connections_remove(http_connections *l, http_connection *c);
/* Its client must send a request, or the rest of one, within `seconds` from now; a client that has hung up gets less time:
 * libmicrohttpd can miss that it did if the last bytes and the end come together. */
void http_connections_await(http_connections *l, http_connection *c, double seconds);
/* Sets the deadline for a response: `seconds` from now; INFINITY: none. */
void http_connections_allow(http_connections *l, http_connection *c, double seconds);
/* Sets the request that it carries. */
void http_connections_carry(http_connections *l, http_connection *c, struct http_request *request);
/* Calls each(request) for the requests of all connections; they cannot end meanwhile. */
void http_connections_each(http_connections *l, void (*each)(struct http_request *request));

/* ---- http_request.c: a request on its connection: when libmicrohttpd waits for its answer, and when it does not. For http.c and
 * http_answer.c. */

/* The HTTP thread's state of a request; only fields under the lock may be used by other threads. */
typedef struct http_request {
    struct MHD_Connection *mhd;
    http_connections *list;
    http_connection *at;
    const atomic_bool *closing; /* the server closes: no request may wait any more */
    double send_timeout;
    char *target;       /* as it came */
    const char *raw_target; /* in libmicrohttpd's buffer, until the header is there */
    exchange *x;        /* NULL: the header has not been read */
    http_problem problem; /* the reason to refuse it, when its body has been discarded */
    double began;
    size_t body, body_counted; /* bytes that came; that count for the server's memory */
    size_t sent;        /* bytes of the response's body */
    double due;         /* when a client that lags must have read all of the response; INFINITY: it does not lag */
    bool started;       /* the first call of the handler was made */
    bool answered;      /* the exchange was handed on */
    bool counted;       /* among those that are busy */
    bool last;          /* the connection ends with its response */
    double looked;      /* when it was last checked whether the client has hung up; under the exchange's transport lock */
    bool gone;          /* the client had hung up then */
    pthread_mutex_t lock;
    bool suspended, woken; /* under the lock: libmicrohttpd has suspended it; it was woken while it was not suspended */
} http_request;

/* Suspends a request that waits for its exchange. False: it was woken meanwhile, or the server closes: look again. */
bool http_request_suspend(http_request *r);
/* Functions of the exchange's transport; any thread may call them. */
void http_request_wake(void *request);
bool http_request_gone(void *request);

/* ---- http_answer.c: makes a response of libmicrohttpd from an exchange's response. For http.c. */

/* Gives libmicrohttpd the response of r->x, which has begun. For its handler only. MHD_NO: close the connection. */
enum MHD_Result http_answer(http_request *r);

#endif
