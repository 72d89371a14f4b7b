/* serve/module/http.h: HTTP/1.1 on a listening socket, by libmicrohttpd: each request becomes an exchange, which a function
 * answers. For server.c. Nothing here depends on paths. */
#ifndef SERVE_MODULE_HTTP_H
#define SERVE_MODULE_HTTP_H

#include "rapt/base.h"
#include "serve/module/http_exchange.h"

typedef struct http http;

/* Connections beyond the limit that still get an answer; libmicrohttpd leaves further ones in the backlog. */
enum { HTTP_SPARE_CONNECTIONS = 64 };

/* The facts about a finished request for the log and the metrics. */
typedef struct http_report {
    const char *method, *address;
    exchange *x;     /* NULL: the request was no HTTP, and libmicrohttpd has answered it */
    int status;      /* 0: the connection was closed without an answer */
    const char *ended; /* why the response is incomplete: the "client" closed the connection, or the server ended, "drain"; NULL:
                          it is complete */
    double seconds;  /* from its first line to the last byte of the response */
    size_t bytes;    /* bytes of the response's body */
} http_report;

typedef struct http_options {
    int listener;           /* a listening socket, borrowed */
    size_t connections;     /* open connections; beyond these, requests are answered 503 */
    size_t per_address;     /* open connections of one address; beyond these, requests are answered 429; 0: no limit */
    size_t body;            /* bytes of a request's body; beyond them 413 */
    double header_timeout;  /* seconds for the fields of a header */
    double request_timeout; /* seconds for the body */
    double idle_timeout;    /* seconds that a connection may wait for its next request */
    double send_timeout;    /* seconds for a whole response; for each part of a response in parts, and, with a second more for
                               every 64 KiB, for all that a client that lags (exchange_lags) has left of one */
    char *const *proxies;   /* [proxy_count] addresses whose X-Forwarded-For counts */
    size_t proxy_count;
    const char *tls_certificate, *tls_key; /* PEM; NULL: no TLS */
    /* The HTTP thread calls it: answers an exchange whose body is there, now or later. */
    void (*answer)(void *context, exchange *x);
    /* Answers a request that is refused before that: `code` names the reason for programs, `message` for people. */
    void (*refuse)(void *context, exchange *x, int status, const char *code, const char *message);
    void (*over)(void *context, const http_report *report);
    void *context;
} http_options;

/* Starts the HTTP thread. `options` are copied, except for what they point to. NULL with `err` set: libmicrohttpd refuses, for
 * instance an invalid certificate, or out of memory. */
http *http_start(const http_options *options, rapt_error *err);
/* From now on connections end with their present response; with `deaf`, no new ones are accepted: they wait for the process that
 * listens next. */
void http_drain(http *h, bool deaf);
/* Requests that are being received whole, answered or sent. */
size_t http_busy(const http *h);
/* Closes all connections in any state, and ends the thread. NULL is fine. */
void http_stop(http *h);

#endif
