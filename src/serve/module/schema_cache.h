/* serve/module/schema_cache.h: constraints of JSON schemas that requests have had lately: a program sends the same one again and
 * again, and reading it takes up to a fifth of a second. Any thread. */
#ifndef SERVE_MODULE_SCHEMA_CACHE_H
#define SERVE_MODULE_SCHEMA_CACHE_H

#include "rapt/generate.h"

typedef struct schema_cache schema_cache;

/* NULL: out of memory. */
schema_cache *schema_cache_new(void);
/* NULL is fine. */
void schema_cache_free(schema_cache *c);
/* The constraint that was kept for a schema's text, a reference of the caller's own; NULL: there is none. A cache that is NULL
 * has none. */
rapt_constraint *schema_cache_find(schema_cache *c, const char *schema, size_t size);
/* Keeps a constraint, which stays the caller's too, in place of those that were found longest ago: at most 16 of them and 64 MB
 * stay, with what they may still keep of tokens. Does nothing when out of memory, or without a cache. */
void schema_cache_keep(schema_cache *c, const char *schema, size_t size, const rapt_constraint *made);

#endif
