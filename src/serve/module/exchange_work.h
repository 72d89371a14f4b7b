/* serve/module/exchange_work.h: what the reading of a request may take. For workers, and for the functions of routes. */
#ifndef SERVE_MODULE_EXCHANGE_WORK_H
#define SERVE_MODULE_EXCHANGE_WORK_H

#include "serve/module/http_exchange.h"

/* A part of each exchange. Zeroed: without bounds. */
typedef struct exchange_work {
    double until; /* of the processor time of the thread that reads it, which alone uses this; 0: it has none */
} exchange_work;

enum { EXCHANGE_WORK_SECONDS = 10 };

/* From the thread that reads the request: it begins now, and may take EXCHANGE_WORK_SECONDS of the processor. */
void exchange_begin_work(exchange *x);
/* From that thread: whether it is to stop, as nobody waits for it any more, or its time is over. A rapt_stop_fn. */
bool exchange_stops(void *x);

#endif
