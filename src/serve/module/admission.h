/* serve/module/admission.h: how much memory requests may take together, by estimates that are made before it is taken. A request
 * has three parts: what reading it takes, which is given back once it is read; what is made of it, until its response is sent;
 * and what the client has not read yet of a response that is sent in parts, beyond what the second part has for that.
 *
 * Requests of more than an eighth of the limit are large: one of them at a time. All others together have half of the limit. So
 * all estimates together are at most one and a half times the limit, and a large request does not keep small ones out. For
 * app.c and exchange_work.c. */
#ifndef SERVE_MODULE_ADMISSION_H
#define SERVE_MODULE_ADMISSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum admission_part { ADMISSION_READING, ADMISSION_MAKING, ADMISSION_SENDING, ADMISSION_PARTS } admission_part;

typedef enum admission_answer {
    ADMISSION_GIVEN,
    ADMISSION_LATER, /* others have it at present */
    ADMISSION_NEVER  /* it is more than a request may take */
} admission_answer;

/* What a request holds; zeroed: nothing. */
typedef struct admission_ticket {
    size_t bytes[ADMISSION_PARTS];
    bool large;
} admission_ticket;

typedef struct admission {
    pthread_mutex_t lock;
    size_t limit;        /* bytes of one request */
    size_t small, large; /* bytes that are given, to the small ones together and to the large one */
    size_t largest;      /* of all requests so far */
    bool trims;
} admission;

void admission_init(admission *a, size_t limit);
void admission_destroy(admission *a);
/* Changes a part of what a request holds. Where more is not given, it holds what it held. Any thread, also several of a
 * request. */
admission_answer admission_set(admission *a, admission_ticket *t, admission_part part, size_t bytes);
/* Gives all back. */
void admission_return(admission *a, admission_ticket *t);
/* Whether, since it was last asked, so much came back that what malloc keeps of it is worth giving to the system. */
bool admission_trims(admission *a);
/* Bytes that are given, and those of the largest request so far. */
size_t admission_given(admission *a, size_t *largest);

#endif
