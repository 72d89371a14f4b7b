/* base/arena.h: memory with a lifetime. An arena hands out blocks and gives them all back at once; model code has
 * no `free`. Three nested lifetimes are built from it: model, step, scratch. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct arena_chunk arena_chunk;

typedef struct arena {
    arena_chunk *first, *current;
    size_t chunk_size; /* min bytes of every later chunk */
    size_t first_size; /* bytes of the first chunk */
    size_t peak;       /* max bytes ever allocated at once */
    size_t used;
    size_t reserved;   /* bytes of all chunks */
    size_t counted, counted_left; /* bytes of chunks that were only counted (arena_count), and what the last of them has left */
    size_t counted_space; /* addresses that they would take */
    bool small_pages;     /* use no huge pages, for memory that is touched sparsely. Set after arena_init */
} arena;

/* A point to go back to: everything allocated after it is released. */
typedef struct arena_mark {
    arena_chunk *chunk;
    size_t offset, used;
} arena_mark;

void arena_init(arena *a, size_t chunk_size);
/* `bytes` aligned to 64, contents undefined; NULL on out-of-memory. Never moves. */
void *arena_alloc(arena *a, size_t bytes);
/* `count` elements of `size` bytes, aligned to 64, contents undefined; NULL on out-of-memory or overflow. */
void *arena_array(arena *a, size_t count, size_t size);
/* arena_array with all bytes 0. */
void *arena_zeroed(arena *a, size_t count, size_t size);
/* A copy of `text`; NULL on out-of-memory. */
char *arena_string(arena *a, const char *text);
/* Counts an array as if it were allocated. Returns the address that it would have in an arena of one chunk; nothing is mapped
 * there, so reading or writing it is a fault. Blocks may be counted and allocated in turn. */
void *arena_count(arena *a, size_t count, size_t size);
/* Makes the next first chunk hold `bytes`; for an arena that is empty. */
void arena_expect(arena *a, size_t bytes);
arena_mark arena_save(const arena *a);
void arena_release(arena *a, arena_mark mark); /* memory is kept for reuse */
void arena_free(arena *a);

#endif
