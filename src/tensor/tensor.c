/* tensor/tensor.c: shapes. For every operation's checks and messages. */
#include "rapt/tensor.h"

#include <stdio.h>

size_t rapt_tensor_size(const rapt_tensor *x)
{
    size_t n = 1;
    for (int i = 0; i < x->ndim; i++)
        n *= x->shape[i];
    return n;
}

size_t rapt_tensor_features(const rapt_tensor *x)
{
    return x->shape[x->ndim - 1];
}

size_t rapt_tensor_rows(const rapt_tensor *x)
{
    size_t n = 1;
    for (int i = 0; i + 1 < x->ndim; i++)
        n *= x->shape[i];
    return n;
}

bool rapt_tensor_same_shape(const rapt_tensor *a, const rapt_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int i = 0; same && i < a->ndim; i++)
        same = a->shape[i] == b->shape[i];
    return same;
}

char *rapt_shape_text(const rapt_tensor *x, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < x->ndim && at < size; i++) {
        int n = snprintf(text + at, size - at, "%s%zu", i ? ", " : "", x->shape[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    if (at < size)
        snprintf(text + at, size - at, "]");
    return text;
}
