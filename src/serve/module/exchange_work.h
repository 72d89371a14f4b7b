/* serve/module/exchange_work.h: what a request may take: processor time to read it, and memory, of which an estimate is asked for
 * before it is taken. For workers, and for the functions of routes. */
#ifndef SERVE_MODULE_EXCHANGE_WORK_H
#define SERVE_MODULE_EXCHANGE_WORK_H

#include "serve/module/admission.h"
#include "serve/module/http_exchange.h"

/* A part of each exchange. Zeroed: without bounds. */
typedef struct exchange_work {
    bool has_worker; /* a thread that reads it, until this much of its processor time; set before anybody else has the exchange */
    pthread_t worker;
    double until;
    admission *memory; /* NULL: it is not counted */
    admission_ticket ticket;
    atomic_size_t made, asked; /* bytes of the response up to now; those that memory was asked for. Of exchange_makes */
} exchange_work;

enum { EXCHANGE_WORK_SECONDS = 10 };

/* From the thread that reads the request: it begins now, and may take EXCHANGE_WORK_SECONDS of the processor. */
void exchange_begin_work(exchange *x);
/* Whether this thread is the worker that reads it, which may wait. */
bool exchange_has_worker(exchange *x);
/* It is read: its body is freed, and what reading it took is given back. */
void exchange_end_work(exchange *x);
/* From that thread: whether it is to stop, as nobody waits for it any more, or its time is over. A rapt_stop_fn. */
bool exchange_stops(void *x);

/* Asks for memory: `bytes` in all, for this part. Any thread. */
admission_answer exchange_asks(exchange *x, admission_part part, size_t bytes);
/* A response has grown by `bytes`: where the estimate was too low, it asks for more. False: there is none,
 * and the response is to be given up. Any thread. */
bool exchange_makes(exchange *x, size_t bytes);

#endif
