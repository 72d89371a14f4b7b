/* serve/module/admission.h: how much memory requests may take together, by estimates that are made before the memory is taken. A
 * request's memory has three parts: for reading it, which is given back when it is read; for its results, until the response is
 * sent; and for a response that is sent in parts, the bytes that the client has not read yet, beyond those that the second part
 * covers.
 *
 * Requests of more than an eighth of the limit are large: one of them at a time. All others together have half of the limit. So
 * all estimates together are at most one and a half times the limit, and a large request does not keep small ones out. For app.c
 * and exchange_work.c. */
#ifndef SERVE_MODULE_ADMISSION_H
#define SERVE_MODULE_ADMISSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum admission_part { ADMISSION_READING, ADMISSION_MAKING, ADMISSION_SENDING, ADMISSION_PARTS } admission_part;

typedef enum admission_answer {
    ADMISSION_GIVEN,
    ADMISSION_LATER, /* other requests have the memory at present */
    ADMISSION_NEVER  /* it is more than a request may take */
} admission_answer;

/* The memory that a request holds; zeroed: none. */
typedef struct admission_ticket {
    size_t bytes[ADMISSION_PARTS];
    bool large;
} admission_ticket;

typedef struct admission {
    pthread_mutex_t lock;
    size_t limit;        /* bytes of one request */
    size_t small, large; /* bytes that are given to the small requests together, and to the large one */
    size_t largest;      /* the largest of all requests so far */
    bool trims;
} admission;

void admission_init(admission *a, size_t limit);
void admission_destroy(admission *a);
/* Changes a part of a request's memory. If more is refused, it keeps what it held. Any thread may call it, also several threads
 * of one request. */
admission_answer admission_set(admission *a, admission_ticket *t, admission_part part, size_t bytes);
/* Gives all back. */
void admission_return(admission *a, admission_ticket *t);
/* Whether so much memory has come back since the last call that malloc's free memory is worth giving back to the system. */
bool admission_trims(admission *a);
/* Bytes that are given; *largest: bytes of the largest request so far. */
size_t admission_given(admission *a, size_t *largest);

#endif
