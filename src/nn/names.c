/* nn/names.c: one way to build names, for all modules. They are the names in model files. */
#include "nn/names.h"

#include <stdio.h>

name name_join(const char *prefix, const char *rest)
{
    name n;
    snprintf(n.text, sizeof n.text, "%s%s", prefix, rest);
    return n;
}

name name_index(const char *prefix, size_t index)
{
    name n;
    snprintf(n.text, sizeof n.text, "%s%zu.", prefix, index);
    return n;
}
