/* io/stored_blocks.c: reads and checks the metadata of block tensors. */
#include "io/stored_blocks.h"

#include "base/quote.h"
#include "io/stored_numbers.h"
#include "tensor/param_source.h"

#include <stdio.h>
#include <string.h>

/* A matrix in a file. */
typedef struct block_matrix {
    const block_format *format;
    const char *data;
    size_t row_bytes, row_blocks;
} block_matrix;

const char *stored_blocks_key(const char *name, char key[STORED_BLOCKS_KEY])
{
    snprintf(key, STORED_BLOCKS_KEY, "blocks.%s", name);
    return key;
}

const block_format *stored_blocks_format(const safetensors *file, const safetensors_entry *e, bool *wrong)
{
    char key[STORED_BLOCKS_KEY];
    const char *name = safetensors_metadata(file, stored_blocks_key(e->name, key));
    const block_format *format = name ? blocks_of_name(name) : NULL;
    const bool fits = format && e->dtype == SAFETENSORS_U8 && e->ndim == 2 && e->shape[1] % format->bytes == 0;
    *wrong = name && !fits;
    return fits ? format : NULL;
}

bool stored_blocks_any(const safetensors *file)
{
    bool wrong;
    for (size_t i = 0; file && i < safetensors_count(file); i++)
        if (stored_blocks_format(file, safetensors_at(file, i), &wrong) || wrong)
            return true;
    return false;
}

const char *stored_blocks_type(const safetensors *file)
{
    const char *type = NULL;
    double fewest = 32;
    for (size_t i = 0; i < safetensors_count(file); i++) {
        bool wrong;
        const safetensors_entry *e = safetensors_at(file, i);
        const block_format *format = stored_blocks_format(file, e, &wrong);
        const double whole = stored_numbers_are_16_bits(e->dtype) ? 16 : 32;
        const double bits = format ? 8.0 * (double)format->bytes / (double)format->elements : whole;
        if (bits < fewest) {
            type = format ? format->name : safetensors_dtype_name(e->dtype);
            fewest = bits;
        }
    }
    return type;
}

/* A param_read_fn. */
static void stored_blocks_read(const void *context, size_t first, size_t count, rapt_real *to)
{
    const block_matrix *m = context;
    m->format->read(count * m->row_blocks, m->data + first * m->row_bytes, to);
}

/* A param_blocks_fn. */
static const void *stored_blocks_row(const void *context, size_t row)
{
    const block_matrix *m = context;
    return m->data + row * m->row_bytes;
}

rapt_code stored_blocks_take(rapt_params *set, rapt_param *p, const safetensors *file, const char *path, rapt_error *err)
{
    bool wrong;
    const safetensors_entry *e = safetensors_find(file, p->value.name);
    const block_format *format = stored_blocks_format(file, e, &wrong);
    const bool fits = format && p->value.ndim == 2 && e->shape[0] == p->value.shape[0] &&
                      e->shape[1] / format->bytes * format->elements == p->value.shape[1];
    if (!fits)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is not stored as blocks of a format that rapt knows, or has "
                         "another shape than config.json", path, quote(p->value.name).text);
    const block_matrix m = {format, e->data, e->shape[1], e->shape[1] / format->bytes};
    if (blocks_first_bad(format, e->shape[0] * m.row_blocks, m.data) < e->shape[0] * m.row_blocks)
        return rapt_fail(err, RAPT_ERR_NOT_FINITE, "%s: tensor \"%s\" is infinite or not a number somewhere", path,
                         quote(p->value.name).text);
    block_matrix *own = rapt_params_alloc(set, 1, sizeof *own);
    if (!own)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a matrix", path);
    *own = m;
    param_source_set(set, p, stored_blocks_read, NULL, own);
    param_source_set_blocks(p, format, stored_blocks_row);
    return RAPT_OK;
}
