/* base/spares.c: places for objects without use, each in a cache line of its own. A thread begins at the place that its number
 * falls on, so that threads do not meet as long as they are few. */
#include "base/spares.h"

#include "base/thread.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { PLACE_BITS = 5, PLACES = 1 << PLACE_BITS, TRIED = 4, LINE = 64 };

typedef struct place {
    _Atomic(void *) kept; /* NULL: none */
    char apart[LINE - sizeof(void *)];
} place;

struct spares {
    place places[PLACES];
};

spares *spares_new(void)
{
    return calloc(1, sizeof(spares));
}

void spares_free(spares *s, void (*free_one)(void *spare))
{
    for (size_t i = 0; s && i < PLACES; i++) {
        void *kept = atomic_load(&s->places[i].kept);
        if (kept)
            free_one(kept);
    }
    free(s);
}

/* The i-th place that this thread tries. */
static _Atomic(void *) *place_of(spares *s, uint64_t self, size_t i)
{
    const uint64_t first = self * 0x9E3779B97F4A7C15u >> (64 - PLACE_BITS);
    return &s->places[(first + i) % PLACES].kept;
}

void *spares_take(spares *s)
{
    const uint64_t self = thread_self();
    void *found = NULL;
    for (size_t i = 0; i < TRIED && !found; i++)
        found = atomic_exchange(place_of(s, self, i), NULL);
    return found;
}

void *spares_give(spares *s, void *spare)
{
    const uint64_t self = thread_self();
    for (size_t i = 0; i < TRIED; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(place_of(s, self, i), &none, spare))
            return NULL;
    }
    return spare;
}
