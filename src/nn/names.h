/* nn/names.h: names of parameters, built from a module's prefix. */
#ifndef NN_NAMES_H
#define NN_NAMES_H

#include "rapt/tensor.h"

#define NAME_MAX_LENGTH 160

typedef struct name {
    char text[NAME_MAX_LENGTH];
} name;

/* `prefix` followed by `rest`. A name that is too long is truncated; the set then keeps it, or refuses it as taken. */
name name_join(const char *prefix, const char *rest);
/* "decoder." and 3 give "decoder.3.". */
name name_index(const char *prefix, size_t index);
/* A prefix without its last dot, in the memory of the set; "" on out-of-memory. */
const char *name_keep(rapt_params *set, const char *prefix);

#endif
