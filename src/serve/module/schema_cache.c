/* serve/module/schema_cache.c: a short list under a lock that is never held while a schema is read. */
#include "serve/module/schema_cache.h"

#include "decode/schema/constraint.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 16, MAX_BYTES = 64 << 20 };

typedef struct schema_entry {
    char *schema; /* [size] */
    size_t size;
    const rapt_constraint *made;
} schema_entry;

struct schema_cache {
    pthread_mutex_t lock;
    schema_entry list[MAX_ENTRIES]; /* [count] the one that was found last comes first */
    size_t count;
};

schema_cache *schema_cache_new(void)
{
    schema_cache *c = calloc(1, sizeof *c);
    if (c)
        pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void drop_last(schema_cache *c)
{
    const schema_entry *e = &c->list[--c->count];
    free(e->schema);
    rapt_constraint_free((rapt_constraint *)e->made);
}

void schema_cache_free(schema_cache *c)
{
    if (!c)
        return;
    while (c->count > 0)
        drop_last(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void put_first(schema_cache *c, size_t from, schema_entry e)
{
    memmove(c->list + 1, c->list, from * sizeof *c->list);
    c->list[0] = e;
}

static size_t schema_entry_of(const schema_cache *c, const char *schema, size_t size)
{
    size_t i = 0;
    while (i < c->count && (c->list[i].size != size || memcmp(c->list[i].schema, schema, size) != 0))
        i++;
    return i;
}

rapt_constraint *schema_cache_find(schema_cache *c, const char *schema, size_t size)
{
    const rapt_constraint *found = NULL;
    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    const size_t i = schema_entry_of(c, schema, size);
    if (i < c->count) {
        found = constraint_keep(c->list[i].made);
        put_first(c, i, c->list[i]);
    }
    pthread_mutex_unlock(&c->lock);
    return (rapt_constraint *)found;
}

static size_t kept_bytes(const schema_cache *c)
{
    size_t bytes = 0;
    for (size_t i = 0; i < c->count; i++)
        bytes += c->list[i].size + constraint_bytes(c->list[i].made);
    return bytes;
}

void schema_cache_keep(schema_cache *c, const char *schema, size_t size, const rapt_constraint *made)
{
    char *copy = c && size > 0 ? malloc(size) : NULL;
    if (!copy)
        return;
    memcpy(copy, schema, size);
    pthread_mutex_lock(&c->lock);
    const bool there = schema_entry_of(c, schema, size) < c->count; /* another thread was faster */
    if (!there) {
        if (c->count == MAX_ENTRIES)
            drop_last(c);
        put_first(c, c->count++, (schema_entry){copy, size, constraint_keep(made)});
    }
    while (c->count > 1 && kept_bytes(c) > MAX_BYTES)
        drop_last(c);
    pthread_mutex_unlock(&c->lock);
    if (there)
        free(copy);
}
