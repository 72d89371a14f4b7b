/* base/arena.c: chunks in a list, a bump pointer in the current one. For everything with a lifetime longer than a
 * call. Not thread-safe: each thread has its own. Under AddressSanitizer a red zone follows every block. */
#include "base/arena.h"

#include "base/memory.h"
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define RED_ZONE 64
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define RED_ZONE 0
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define ALIGNMENT 64
#define HUGE_PAGE ((size_t)2 << 20)
#define NOWHERE (SIZE_MAX / 4 / HUGE_PAGE * HUGE_PAGE) /* no process has memory there */

struct arena_chunk {
    arena_chunk *next;
    char *data;
    size_t size, offset;
};

void arena_init(arena *a, size_t chunk_size)
{
    memset(a, 0, sizeof *a);
    a->chunk_size = a->first_size = chunk_size;
}

/* Large chunks are aligned to huge pages: a training step touches all of its memory every time. */
static size_t alignment_of(size_t size)
{
    return size >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
}

static arena_chunk *chunk_new(size_t size, bool small_pages)
{
    size_t alignment = alignment_of(size);
    size = (size + alignment - 1) / alignment * alignment;
    arena_chunk *c = malloc(sizeof *c);
    char *data = c ? memory_aligned(alignment, size) : NULL;
    if (!data) {
        free(c);
        return NULL;
    }
    if (alignment == HUGE_PAGE)
        pages_advise(data, size, !small_pages);
    POISON(data, size);
    *c = (arena_chunk){NULL, data, size, 0};
    return c;
}

static size_t size_of_chunk(size_t others, size_t min)
{
    size_t half = others >= 2 * HUGE_PAGE ? others / 2 : 0;
    return half > min ? half : min;
}

/* The next chunk that can take `bytes`: a chunk that an earlier step left, or a new one, inserted before it. Once there are huge
 * pages, a new chunk is half as large as all others together, so chunks stay few, and so do huge pages that are only partly used.
 * Memory after the last block of a chunk is never touched and takes no physical page. */
static arena_chunk *next_chunk(arena *a, size_t bytes)
{
    arena_chunk **link = a->current ? &a->current->next : &a->first;
    if (*link && (*link)->size >= bytes) {
        (*link)->offset = 0;
        return *link;
    }
    size_t min = a->first ? a->chunk_size : a->first_size;
    min = bytes > min ? bytes : min;
    size_t size = size_of_chunk(a->reserved, min);
    arena_chunk *c = chunk_new(size, a->small_pages);
    if (!c && size > min)
        c = chunk_new(min, a->small_pages);
    if (!c)
        return NULL;
    a->reserved += c->size;
    c->next = *link;
    *link = c;
    return c;
}

static size_t size_of_block(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + RED_ZONE;
}

static void note_use(arena *a, size_t bytes)
{
    a->used += bytes;
    if (a->used > a->peak)
        a->peak = a->used;
}

void *arena_alloc(arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t want = size_of_block(bytes);
    if (!a->current || a->current->size - a->current->offset < want) {
        arena_chunk *c = next_chunk(a, want);
        if (!c)
            return NULL;
        a->current = c;
    }
    char *p = a->current->data + a->current->offset;
    a->current->offset += want;
    note_use(a, want);
    UNPOISON(p, bytes);
    return p;
}

void *arena_count(arena *a, size_t count, size_t size)
{
    if (size && count > NOWHERE / 2 / size)
        return NULL;
    size_t want = size_of_block(count * size);
    if (want > NOWHERE / 2 - a->used)
        return NULL;
    if (want > a->counted_left) {
        a->counted_left = size_of_chunk(a->counted, want > a->chunk_size ? want : a->chunk_size);
        a->counted += a->counted_left;
        a->counted_space += a->counted_left + 2 * alignment_of(a->counted_left); /* the allocator aligns by asking for more */
    }
    a->counted_left -= want;
    void *p = (void *)(NOWHERE + a->used); /* NOLINT: an address is all that it is */
    note_use(a, want);
    return p;
}

void arena_expect(arena *a, size_t bytes)
{
    a->first_size = bytes > a->chunk_size ? bytes : a->chunk_size;
}

void *arena_array(arena *a, size_t count, size_t size)
{
    return size && count > SIZE_MAX / 2 / size ? NULL : arena_alloc(a, count * size);
}

void *arena_zeroed(arena *a, size_t count, size_t size)
{
    void *p = arena_array(a, count, size);
    if (p)
        memset(p, 0, count * size);
    return p;
}

char *arena_string(arena *a, const char *text)
{
    size_t n = strlen(text) + 1;
    char *p = arena_alloc(a, n);
    if (p)
        memcpy(p, text, n);
    return p;
}

arena_mark arena_save(const arena *a)
{
    return (arena_mark){a->current, a->current ? a->current->offset : 0, a->used};
}

static void free_chunks(arena *a)
{
    for (arena_chunk *c = a->first, *next; c; c = next) {
        next = c->next;
        UNPOISON(c->data, c->size);
        memory_aligned_free(c->data);
        free(c);
    }
    a->first = a->current = NULL;
    a->reserved = 0;
}

/* Replaces the chunks of an empty arena by one that holds all it ever needed. If the chunks stayed, they would multiply: when
 * sizes change from round to round, the next chunk in the list seldom fits. */
static void merge_chunks(arena *a)
{
    if (!a->first || !a->first->next || a->counted > 0)
        return;
    free_chunks(a);
    a->first_size = a->peak + a->peak / 8;
}

void arena_release(arena *a, arena_mark mark)
{
    if (!mark.chunk)
        merge_chunks(a);
    arena_chunk *c = mark.chunk ? mark.chunk : a->first;
    if (c) {
        c->offset = mark.offset;
        POISON(c->data + c->offset, c->size - c->offset);
        for (arena_chunk *later = c->next; later; later = later->next)
            POISON(later->data, later->size);
    }
    a->current = c;
    a->used = mark.used;
}

void arena_free(arena *a)
{
    free_chunks(a);
    arena_init(a, a->chunk_size);
}
