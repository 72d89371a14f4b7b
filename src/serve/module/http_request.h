/* serve/module/http_request.h: a request on its connection: when libmicrohttpd waits for its answer, and when it does not.
 * For http.c and http_answer.c. */
#ifndef SERVE_MODULE_HTTP_REQUEST_H
#define SERVE_MODULE_HTTP_REQUEST_H

#include "serve/module/http_exchange.h"
#include "serve/module/http_check.h"
#include "serve/module/http_connections.h"

#include <stdatomic.h>

/* What belongs to the HTTP thread, but for what is said to be under the lock. */
typedef struct http_request {
    struct MHD_Connection *mhd;
    http_connections *list;
    http_connection *at;
    const atomic_bool *closing; /* of the server: nobody waits any more */
    double send_timeout;
    char *target;       /* as it came */
    const char *raw_target; /* where libmicrohttpd has it, until the header is there */
    exchange *x;        /* NULL: the header has not been read */
    http_problem problem; /* it is refused with, once its body has been discarded */
    double began;
    size_t body, body_counted; /* bytes that came; that count for the server's memory */
    size_t sent;        /* bytes of the response's body */
    bool started;       /* the first call of the handler was made */
    bool answered;      /* the exchange was handed on */
    bool counted;       /* among those that are busy */
    bool last;          /* the connection ends with its response */
    double looked;      /* when it was last asked whether the client has hung up; by whom holds the exchange's transport */
    bool gone;          /* so it had, then */
    pthread_mutex_t lock;
    bool suspended, woken; /* under the lock: libmicrohttpd leaves it alone; there was something while it did not */
} http_request;

/* For a request that waits for its exchange: libmicrohttpd leaves it alone until there is something. False: there is by now, or
 * the server closes: look again. */
bool http_request_suspend(http_request *r);
/* Functions of the exchange's transport, from any thread. */
void http_request_wake(void *request);
bool http_request_gone(void *request);

#endif
