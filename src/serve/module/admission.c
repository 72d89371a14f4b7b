/* serve/module/admission.c: admits requests by sums of their estimates, under one lock. */
#include "serve/module/admission.h"

#include <stdint.h>

enum { LARGE_SHARE = 8, SMALL_SHARE = 2, TRIM_BYTES = 2 << 20 };

void admission_init(admission *a, size_t limit)
{
    *a = (admission){.limit = limit};
    pthread_mutex_init(&a->lock, NULL);
}

void admission_destroy(admission *a)
{
    pthread_mutex_destroy(&a->lock);
}

static size_t ticket_bytes(const admission_ticket *t)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ADMISSION_PARTS; i++)
        bytes += t->bytes[i];
    return bytes;
}

/* With the lock: whether there is room for `all` bytes of a request that holds `held`; *large: among the large ones. False: no
 * room at present. */
static bool admission_place(admission *a, bool was_large, size_t held, size_t all, bool *large)
{
    const size_t small = a->small - (was_large ? 0 : held), others = a->large - (was_large ? held : 0);
    *large = all > a->limit / LARGE_SHARE;
    if (!*large && small + all <= a->limit / SMALL_SHARE)
        return true;
    *large = *large || was_large; /* a large request that shrinks stays large if the small ones have no room */
    return *large && others == 0;
}

admission_answer admission_set(admission *a, admission_ticket *t, admission_part part, size_t bytes)
{
    bool large;
    admission_answer answer = ADMISSION_GIVEN;
    pthread_mutex_lock(&a->lock);
    const size_t held = ticket_bytes(t), rest = held - t->bytes[part];
    const size_t all = bytes < SIZE_MAX - rest ? rest + bytes : SIZE_MAX;
    if (all > a->limit && all > held)
        answer = ADMISSION_NEVER;
    else if (!admission_place(a, t->large, held, all, &large))
        answer = ADMISSION_LATER;
    else {
        *(t->large ? &a->large : &a->small) -= held;
        *(large ? &a->large : &a->small) += all;
        t->large = large;
        t->bytes[part] = bytes;
        a->trims = a->trims || held >= all + TRIM_BYTES;
        a->largest = all > a->largest ? all : a->largest;
    }
    pthread_mutex_unlock(&a->lock);
    return answer;
}

void admission_return(admission *a, admission_ticket *t)
{
    pthread_mutex_lock(&a->lock);
    const size_t held = ticket_bytes(t);
    *(t->large ? &a->large : &a->small) -= held;
    *t = (admission_ticket){0};
    a->trims = a->trims || held >= TRIM_BYTES;
    pthread_mutex_unlock(&a->lock);
}

bool admission_trims(admission *a)
{
    pthread_mutex_lock(&a->lock);
    const bool trims = a->trims;
    a->trims = false;
    pthread_mutex_unlock(&a->lock);
    return trims;
}

size_t admission_given(admission *a, size_t *largest)
{
    pthread_mutex_lock(&a->lock);
    const size_t given = a->small + a->large;
    *largest = a->largest;
    pthread_mutex_unlock(&a->lock);
    return given;
}
