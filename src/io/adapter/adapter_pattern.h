/* io/adapter/adapter_pattern.h: numbers that an adapter has for some modules: "rank_pattern" and "alpha_pattern" of
 * adapter_config.json. For the reader of adapters and for training. */
#ifndef IO_ADAPTER_PATTERN_H
#define IO_ADAPTER_PATTERN_H

#include "rapt/base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The values of a kind of pattern. */
typedef struct adapter_pattern_kind {
    const char *name; /* "rank_pattern" */
    bool whole;       /* whole numbers */
    double min, max;
} adapter_pattern_kind;

/* Zeroed: no patterns. */
typedef struct adapter_patterns {
    json_t *object; /* {PATTERN: number}, as in the file; NULL: none */
    struct adapter_pattern *list;
    size_t count;
} adapter_patterns;

/* Takes {PATTERN: number, ...}; NULL and null: none. Keeps a reference to the object. A pattern is a regular expression for the
 * whole name of a module, or for an end of it after a dot, as in PEFT: "(.*\.)?(PATTERN)$" matches at the beginning of the name.
 * RAPT_ERR_FORMAT, RAPT_ERR_VALUE: the object is of another kind, has more than 512 members, a value out of range, or a pattern
 * that is longer than 256 bytes or that Python and rapt could read differently. Messages begin with the kind's name in quotes,
 * RAPT_ERR_MEMORY. adapter_patterns_free frees *out, even after a failure. */
rapt_code adapter_patterns_take(adapter_patterns *out, json_t *object, const adapter_pattern_kind *kind, rapt_error *err);
/* Takes them from "PATTERN=number,PATTERN=number"; NULL and "": none. */
rapt_code adapter_patterns_parse(adapter_patterns *out, const char *text, const adapter_pattern_kind *kind, rapt_error *err);
void adapter_patterns_free(adapter_patterns *p);

/* Sets *value to the number of the first pattern that matches a module; leaves it if none does. RAPT_ERR_VALUE: a pattern takes
 * too many steps. */
rapt_code adapter_patterns_find(const adapter_patterns *p, const char *module, double *value, rapt_error *err);
/* The first pattern that adapter_patterns_find has never reported; NULL: none. */
const char *adapter_patterns_unused(const adapter_patterns *p);

#endif
