/* tests/failing_json.h: the JSON library's allocations in tests that make allocations fail (failing.h). */
#ifndef TESTS_FAILING_JSON_H
#define TESTS_FAILING_JSON_H

#include "failing.h"

#include <jansson.h>

static inline void *failing_json_malloc(size_t size)
{
    return failing_counted(__real_malloc(size));
}

/* Lets them be counted, but never fail: jansson 2.14 then writes where it must not. Before any JSON value is made. */
static inline void failing_count_json(void)
{
    json_set_alloc_funcs(failing_json_malloc, free);
}

#endif
