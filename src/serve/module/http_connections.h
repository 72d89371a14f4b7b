/* serve/module/http_connections.h: the connections that are open, and a thread that ends those that take too long: libmicrohttpd
 * has a timeout of inactivity only, which a client that sends a byte a second never meets. For http.c. */
#ifndef SERVE_MODULE_HTTP_CONNECTIONS_H
#define SERVE_MODULE_HTTP_CONNECTIONS_H

#include "rapt/base.h"

#include <pthread.h>
#include <sys/socket.h>

struct http_request;

typedef struct http_connection {
    int fd;
    char address[64];
    int refusal;                  /* 503: there are too many; 429: too many of its address; 0 */
    double deadline;              /* when it is shut down, as of clock_seconds; INFINITY: never */
    bool awaited;                 /* its client is to send something until then */
    struct http_request *request; /* the one that it carries, or NULL */
    struct http_connection *before, *after;
} http_connection;

typedef struct http_connections {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t reaper;
    http_connection *first;
    size_t count, limit, per_address;
    double looked;     /* when it was last looked for those who hung up */
    bool ends, sleeps; /* it waits until there is a deadline */
} http_connections;

/* Starts the reaper. */
rapt_code http_connections_start(http_connections *l, size_t limit, size_t per_address, rapt_error *err);
/* Ends it; connections are gone by then. */
void http_connections_stop(http_connections *l);

/* A new connection, which is awaited for `seconds`; NULL: out of memory. */
http_connection *http_connections_add(http_connections *l, int fd, const struct sockaddr *address, double seconds);
/* Before its descriptor is closed. */
void http_connections_remove(http_connections *l, http_connection *c);
/* Its client is to send a request, or the rest of one, within `seconds` from now; one that has hung up is not waited for so long:
 * libmicrohttpd can miss that, where the last bytes and the end come together. */
void http_connections_await(http_connections *l, http_connection *c, double seconds);
/* Another deadline, for a response: `seconds` from now, INFINITY: none. */
void http_connections_allow(http_connections *l, http_connection *c, double seconds);
/* Says which request it carries. */
void http_connections_carry(http_connections *l, http_connection *c, struct http_request *request);
/* Calls each(request) for all requests that are carried, which cannot end meanwhile. */
void http_connections_each(http_connections *l, void (*each)(struct http_request *request));

#endif
