/* serve/module/workers.h: threads for the slow work of a request before and after a model computes: reading its body, checks,
 * templates, tokens, the text of its response. The HTTP thread hands requests over, and can serve other connections. For
 * server.c. */
#ifndef SERVE_MODULE_WORKERS_H
#define SERVE_MODULE_WORKERS_H

#include "rapt/base.h"
#include "serve/module/http_exchange.h"

typedef struct workers workers;

/* Bodies of more bytes are large. */
enum { WORKERS_LARGE_BODY = 16 << 10 };

/* Starts the threads, which call work(context, x, what). NULL with `err` set. */
workers *workers_start(void (*work)(void *context, exchange *x, const void *what), void *context, rapt_error *err);
/* Queues an exchange that the caller holds and `work` releases. Addresses take turns, and one thread does not take large bodies,
 * so that a few clients with many or large requests delay others as little as possible. False: out of memory. */
bool workers_give(workers *w, exchange *x, const void *what);
/* Exchanges that wait. */
size_t workers_waiting(workers *w);
/* Releases waiting exchanges, and joins the threads. They finish their present work, which has to check exchange_stops. NULL is
 * fine. */
void workers_stop(workers *w);

#endif
