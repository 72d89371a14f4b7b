/* serve/module/http_request.h: a request on its connection: when libmicrohttpd waits for its answer, and when it does not.
 * For http.c and http_answer.c. */
#ifndef SERVE_MODULE_HTTP_REQUEST_H
#define SERVE_MODULE_HTTP_REQUEST_H

#include "serve/module/http_exchange.h"
#include "serve/module/http_check.h"
#include "serve/module/http_connections.h"

#include <stdatomic.h>

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

#endif
