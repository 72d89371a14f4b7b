/* serve/module/exchange_work.h: what a request may take: processor time to read it, and memory, which is asked for by an estimate
 * before it is taken. For workers, and for the functions of routes. */
#ifndef SERVE_MODULE_EXCHANGE_WORK_H
#define SERVE_MODULE_EXCHANGE_WORK_H

#include "serve/module/admission.h"
#include "serve/module/http_exchange.h"

/* A part of each exchange. Zeroed: no bounds. */
typedef struct exchange_work {
    bool has_worker; /* the thread that reads it, and the processor time of that thread at which it must end; set before others
                        have the exchange */
    pthread_t worker;
    double until;
    admission *memory; /* NULL: it is not counted */
    admission_ticket ticket;
    atomic_size_t made, asked; /* for exchange_makes: bytes of the response so far; bytes for which memory was asked */
} exchange_work;

enum { EXCHANGE_WORK_SECONDS = 10 };

/* From the thread that reads the request: it begins now, and may take EXCHANGE_WORK_SECONDS of the processor. */
void exchange_begin_work(exchange *x);
/* Whether this thread is the worker that reads the request, and so may wait. */
bool exchange_has_worker(exchange *x);
/* Call it when the request is read: frees its body and gives the memory for reading it back. */
void exchange_end_work(exchange *x);
/* For the worker: whether it must end, because nobody waits for the response any more or its time is over. A rapt_stop_fn. */
bool exchange_stops(void *x);

/* Asks for memory: `bytes` in all, for this part. Any thread. */
admission_answer exchange_asks(exchange *x, admission_part part, size_t bytes);
/* A response has grown by `bytes`: if the estimate was too low, asks for more memory. False: it is refused, and the response must
 * be given up. Any thread. */
bool exchange_makes(exchange *x, size_t bytes);

#endif
