/* base/spares.h: objects that no thread uses just now, kept for the next thread that needs one: making them takes longer than
 * what they are used for, or they have learned something. No locks; a thread mostly gets back what it gave. */
#ifndef BASE_SPARES_H
#define BASE_SPARES_H

typedef struct spares spares;

/* Keeps none yet; NULL: out of memory. */
spares *spares_new(void);
/* `free_one` gets each that is kept; no other thread may use it by now. `s` may be NULL. */
void spares_free(spares *s, void (*free_one)(void *spare));
/* One that was given, which now belongs to the caller; NULL: none near by. */
void *spares_take(spares *s);
/* Keeps one and returns NULL, or returns it: there are enough, and the caller frees it. */
void *spares_give(spares *s, void *spare);

#endif
