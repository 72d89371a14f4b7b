/* io/stored_16_bits.c: see stored_16_bits.h. */
#include "io/stored_16_bits.h"

#include "io/weights/widen.h"
#include "kernels/kernels.h"
#include "tensor/param_source.h"

/* A matrix in a file. */
typedef struct half_matrix {
    safetensors_dtype dtype;
    const char *data;
    size_t row_bytes, row_elements;
} half_matrix;

int stored_16_bits_type(safetensors_dtype dtype)
{
    return dtype == SAFETENSORS_BF16 ? KERNELS_BF16 : dtype == SAFETENSORS_F16 ? KERNELS_F16 : 0;
}

bool stored_16_bits_is(safetensors_dtype dtype)
{
    return stored_16_bits_type(dtype) != 0;
}

bool stored_16_bits_any(const safetensors *file)
{
    for (size_t i = 0; file && i < safetensors_count(file); i++)
        if (stored_16_bits_is(safetensors_at(file, i)->dtype) && safetensors_at(file, i)->ndim == 2)
            return true;
    return false;
}

/* A param_read_fn. */
static void stored_16_bits_read(const void *context, size_t first, size_t count, rapt_real *to)
{
    const half_matrix *m = context;
    widen_row(m->dtype, &(weights_row){m->data + first * m->row_bytes, 1, count * m->row_elements, 0}, to);
}

rapt_code stored_16_bits_take(rapt_params *set, rapt_param *p, const safetensors_entry *e, const char *path, rapt_error *err)
{
    half_matrix *m = rapt_params_alloc(set, 1, sizeof *m);
    if (!m)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a matrix", path);
    *m = (half_matrix){e->dtype, e->data, e->shape[1] * safetensors_dtype_bytes(e->dtype), e->shape[1]};
    param_source_set(set, p, stored_16_bits_read, NULL, m);
    param_source_set_16_bits(p, stored_16_bits_type(e->dtype));
    return RAPT_OK;
}
