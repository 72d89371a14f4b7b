/* serve/module/workers.h: threads for what takes time in a request before and after a model computes: reading its body, checks,
 * templates, tokens, the text of its response. The HTTP thread hands requests over, and looks after the others. For server.c. */
#ifndef SERVE_MODULE_WORKERS_H
#define SERVE_MODULE_WORKERS_H

#include "rapt/base.h"
#include "serve/module/http_exchange.h"

typedef struct workers workers;

/* Bodies of more bytes are large. */
enum { WORKERS_LARGE_BODY = 16 << 10 };

/* Starts the threads, which call work(context, x, what). NULL with `err` set. */
workers *workers_start(void (*work)(void *context, exchange *x, const void *what), void *context, rapt_error *err);
/* Queues an exchange that the caller holds, and `work` lets go of. Addresses take turns, and one thread does not take large
 * bodies, so that a few that send many or large ones hold up the others as little as can be. False: out of memory. */
bool workers_give(workers *w, exchange *x, const void *what);
/* Exchanges that wait. */
size_t workers_waiting(workers *w);
/* Lets go of what waits, and joins the threads, which finish what they are at: it has to look whether it stops
 * (exchange_stops). NULL is fine. */
void workers_stop(workers *w);

#endif
