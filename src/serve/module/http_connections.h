/* serve/module/http_connections.h: the open connections, and a thread that ends connections that take too long: libmicrohttpd has
 * only a timeout of inactivity, which a client that sends a byte a second never reaches. For http.c. */
#ifndef SERVE_MODULE_HTTP_CONNECTIONS_H
#define SERVE_MODULE_HTTP_CONNECTIONS_H

#include "rapt/base.h"

#include <pthread.h>
#include <sys/socket.h>

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

#endif
