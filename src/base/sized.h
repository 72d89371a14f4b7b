/* base/sized.h: public structs of options, whose first member is their size. For every function that takes one: a program that
 * was compiled with an older header has a smaller struct, and gets the defaults of the members that it does not know. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "rapt/base.h"
#include "rapt/defaults.h"

#include <stddef.h>

/* A struct of options has no padding behind its last member, so a member that a later version appends begins where a program's
 * shorter struct ends, and sized_take never copies a part of it. */
#ifdef __EMSCRIPTEN__ /* a module of WebAssembly has the library within it: no version but its own */
#define SIZED_ENDS_WITH(type, last) _Static_assert(offsetof(type, last) > 0, "the size is the first member")
#else
#define SIZED_ENDS_WITH(type, last)                                                                     \
    _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type), "padding at the end of " #type)
#endif

/* Whether a member of an integer or floating type has the value RAPT_AS_MODEL (rapt/defaults.h). */
#define SIZED_AS_MODEL(x) ((x) == (__typeof__(x))RAPT_AS_MODEL)

/* RAPT_ERR_VALUE: the member `name` has the value RAPT_AS_MODEL, which it does not take. */
rapt_code sized_refuse_as_model(const char *name, rapt_error *err);

/* Copies the members that the caller's struct has over *out, which holds the defaults and whose first member is its own size.
 * `given` may be NULL: nothing is copied. `reserved` is the member of this name of *out, of `count` bytes, or NULL: there is
 * none. Padding behind it, as WebAssembly has, may hold anything. `name` is the function that makes such a struct, without its
 * "rapt_" and "_default". RAPT_ERR_VALUE: the struct has no size, or is larger than this library's, or a reserved byte is not
 * zero. */
rapt_code sized_take(void *out, const void *given, const void *reserved, size_t count, const char *name, rapt_error *err);

/* Writes `defaults`, `own` bytes, to *o, of which the caller has `size` bytes: no more than that, or zeros behind them. */
void sized_fill(void *o, size_t size, const void *defaults, size_t own);
/* sized_fill for a struct that begins with its size, which becomes the caller's. */
void sized_init(void *o, size_t size, const void *defaults, size_t own);

/* RAPT_ERR_VALUE: one of the `size` bytes of the member `reserved` of rapt_`name` is not zero. For structs without a size. */
rapt_code sized_check_reserved(const void *reserved, size_t size, const char *name, rapt_error *err);

#endif
