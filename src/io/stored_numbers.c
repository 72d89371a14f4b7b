/* io/stored_numbers.c: gives parameters a source in a mapped file. */
#include "io/stored_numbers.h"

#include "base/file.h"
#include "io/weights/widen.h"
#include "kernels/kernels.h"
#include "tensor/param_source.h"

/* A matrix in a file. */
typedef struct number_matrix {
    const file_map *file;
    safetensors_dtype dtype;
    const char *data;
    size_t row_bytes, row_elements, bytes;
} number_matrix;

int stored_numbers_type(safetensors_dtype dtype)
{
    return dtype == SAFETENSORS_BF16 ? KERNELS_BF16 : dtype == SAFETENSORS_F16 ? KERNELS_F16 : 0;
}

bool stored_numbers_are_16_bits(safetensors_dtype dtype)
{
    return stored_numbers_type(dtype) != 0;
}

bool stored_numbers_any_16_bits(const safetensors *file)
{
    for (size_t i = 0; file && i < safetensors_count(file); i++)
        if (stored_numbers_are_16_bits(safetensors_at(file, i)->dtype) && safetensors_at(file, i)->ndim == 2)
            return true;
    return false;
}

/* A param_read_fn. */
static void stored_numbers_read(const void *context, size_t first, size_t count, rapt_real *to)
{
    const number_matrix *m = context;
    widen_row(m->dtype, &(weights_row){m->data + first * m->row_bytes, 1, count * m->row_elements, 0}, to);
}

/* A param_leave_fn. Data that was moved to be aligned (safetensors_open) is not in the file. */
static void stored_numbers_leave(const void *context)
{
    const number_matrix *m = context;
    const uintptr_t data = (uintptr_t)m->data, file = (uintptr_t)m->file->data;
    if (data >= file && data - file < m->file->size)
        file_map_forget(m->file, data - file, data - file + m->bytes);
}

rapt_code stored_numbers_take(rapt_params *set, rapt_param *p, const safetensors *file, const safetensors_entry *e,
                              const char *path, rapt_error *err)
{
    number_matrix *m = rapt_params_alloc(set, 1, sizeof *m);
    if (!m)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a matrix", path);
    *m = (number_matrix){safetensors_map(file), e->dtype, e->data, e->shape[1] * safetensors_dtype_bytes(e->dtype), e->shape[1],
                         e->bytes};
    param_source_set(set, p, stored_numbers_read, stored_numbers_leave, m);
    param_source_set_16_bits(p, stored_numbers_type(e->dtype));
    return RAPT_OK;
}
