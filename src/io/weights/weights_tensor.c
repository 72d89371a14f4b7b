/* io/weights/weights_tensor.c: shapes and strides of tensors in files, and their elements in order. It knows no file format. */
#include "io/weights/weights_tensor.h"

#include <stdio.h>

const char *weights_tensor_type(const weights_tensor *t)
{
    return t->blocks ? t->blocks->name : safetensors_dtype_name(t->dtype);
}

size_t weights_tensor_bytes(const weights_tensor *t, size_t elements)
{
    return t->blocks ? elements / t->blocks->elements * t->blocks->bytes : elements * safetensors_dtype_bytes(t->dtype);
}

void weights_tensor_lay_out(weights_tensor *t)
{
    size_t step = 1;
    for (int i = t->ndim; i-- > 0;) {
        t->stride[i] = step;
        step *= t->shape[i];
    }
    t->row_major = true;
}

bool weights_tensor_is_row_major(const weights_tensor *t)
{
    size_t step = 1;
    for (int i = t->ndim; i-- > 0 && t->elements > 0;) {
        if (t->shape[i] > 1 && t->stride[i] != step)
            return false;
        step *= t->shape[i];
    }
    return true;
}

/* Advances the index of all dimensions except the last; returns how many elements further its row begins, modulo 2^64. */
static size_t next_row(const weights_tensor *t, size_t index[SAFETENSORS_MAX_DIMS])
{
    size_t moved = 0;
    for (int i = t->ndim - 1; i-- > 0;) {
        moved += t->stride[i];
        if (++index[i] < t->shape[i])
            break;
        moved -= t->shape[i] * t->stride[i];
        index[i] = 0;
    }
    return moved;
}

bool weights_tensor_rows(const weights_tensor *t, bool (*visit)(void *context, const weights_row *row), void *context)
{
    const bool whole = t->row_major || t->ndim == 0;
    const size_t count = whole ? t->elements : t->shape[t->ndim - 1], stride = whole ? 1 : t->stride[t->ndim - 1];
    size_t index[SAFETENSORS_MAX_DIMS] = {0}, at = 0;
    for (size_t first = 0; first < t->elements; first += count) {
        const weights_row row = {t->data + at * safetensors_dtype_bytes(t->dtype), stride, count, first};
        if (!visit(context, &row))
            return false;
        if (!whole)
            at += next_row(t, index);
    }
    return true;
}

const char *weights_shape_text(const size_t *shape, int ndim, char text[WEIGHTS_SHAPE_TEXT])
{
    int used = snprintf(text, WEIGHTS_SHAPE_TEXT, "[");
    for (int i = 0; i < ndim; i++)
        used += snprintf(text + used, WEIGHTS_SHAPE_TEXT - (size_t)used, "%s%zu", i > 0 ? ", " : "", shape[i]);
    snprintf(text + used, WEIGHTS_SHAPE_TEXT - (size_t)used, "]");
    return text; /* 8 sizes of 20 digits fit */
}
