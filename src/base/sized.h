/* base/sized.h: public structs of options, whose first member is their size. For every function that takes one: a program that
 * was compiled with an older header has a smaller struct, and gets the defaults of the members that it does not know. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "rapt/base.h"
#include "rapt/defaults.h"

/* Whether a member of an integer or floating type has the value RAPT_AS_MODEL (rapt/defaults.h). */
#define SIZED_AS_MODEL(x) ((x) == (__typeof__(x))RAPT_AS_MODEL)

/* Copies the members that the caller's struct has over *out, which holds the defaults and whose first member is its own size.
 * `given` may be NULL: nothing is copied. `name` is the function that makes such a struct, without its "rapt_" and "_default".
 * RAPT_ERR_VALUE: the struct has no size, or is larger than this library's. */
rapt_code sized_take(void *out, const void *given, const char *name, rapt_error *err);

#endif
