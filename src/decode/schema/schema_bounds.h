/* decode/schema/schema_bounds.h: the shape of numbers. For schema_build.c. */
#ifndef DECODE_SCHEMA_SCHEMA_BOUNDS_H
#define DECODE_SCHEMA_SCHEMA_BOUNDS_H

#include "decode/schema/schema_facts.h"

/* The shape of numbers between the bounds of `f`; out->count 0: there is none. RAPT_ERR_VALUE: not clearly. */
rapt_code schema_bounds(const schema_work *w, const schema_facts *f, unsigned types, schema_shape *out, rapt_error *err);

#endif
