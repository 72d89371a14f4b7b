/* io/stored_file.c: see stored_file.h. Tensors are rounded one at a time, when they are written. */
#include "io/stored_file.h"

#include "io/stored_blocks.h"
#include "tensor/blocks_write.h"

#include <stdlib.h>
#include <string.h>

typedef struct stored_file {
    const stored_tensors *t;
    safetensors_entry *entries;   /* as they will lie in the file */
    const block_format **formats; /* or NULL: of no blocks */
    char (*keys)[STORED_BLOCKS_KEY];
    const char **metadata;
    size_t texts;
    void *made;   /* the bytes of a tensor, */
    size_t which; /* and which one it is */
} stored_file;

static void stored_file_end(stored_file *f)
{
    free(f->entries);
    free(f->formats);
    free(f->keys);
    free(f->metadata);
    free(f->made);
}

static const block_format *stored_file_format(const safetensors_entry *e, rapt_export_weights type)
{
    const block_format *format = type == RAPT_EXPORT_Q8_0 ? &BLOCKS_Q8_0 : type == RAPT_EXPORT_Q4_0 ? &BLOCKS_Q4_0 : NULL;
    return format && e->ndim == 2 && e->shape[1] % format->elements == 0 ? format : NULL;
}

static void stored_file_list(stored_file *f, size_t i)
{
    safetensors_entry *e = &f->entries[i];
    const rapt_export_weights type = f->t->types[i];
    const block_format *format = stored_file_format(e, type);
    size_t elements = e->bytes / sizeof(float);
    if (format) {
        e->dtype = SAFETENSORS_U8;
        elements = elements / format->elements * format->bytes;
        e->shape[1] = e->shape[1] / format->elements * format->bytes;
        f->metadata[f->texts++] = stored_blocks_key(e->name, f->keys[i]);
        f->metadata[f->texts++] = format->name;
    } else if (type == RAPT_EXPORT_BF16 || type == RAPT_EXPORT_FP16)
        e->dtype = type == RAPT_EXPORT_BF16 ? SAFETENSORS_BF16 : SAFETENSORS_F16;
    f->formats[i] = format;
    e->data = NULL;
    e->bytes = elements * safetensors_dtype_bytes(e->dtype);
}

static rapt_code stored_file_begin(stored_file *f, const char *path, rapt_error *err)
{
    const size_t count = f->t->count;
    size_t texts = 0, largest = 0;
    while (f->t->metadata[texts])
        texts++;
    f->entries = calloc(count + 1, sizeof *f->entries);
    f->formats = calloc(count + 1, sizeof *f->formats);
    f->keys = calloc(count + 1, sizeof *f->keys);
    f->metadata = calloc(2 * count + texts + 1, sizeof *f->metadata);
    if (!f->entries || !f->formats || !f->keys || !f->metadata)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", path);
    memcpy(f->entries, f->t->entries, count * sizeof *f->entries);
    memcpy(f->metadata, f->t->metadata, texts * sizeof *f->metadata);
    f->texts = texts;
    for (size_t i = 0; i < count; i++) {
        stored_file_list(f, i);
        largest = f->entries[i].bytes > largest ? f->entries[i].bytes : largest;
    }
    f->made = malloc(largest + 1);
    f->which = SIZE_MAX;
    return f->made ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", path);
}

static const char *stored_file_bytes(stored_file *f, size_t entry)
{
    const float *from = f->which == entry ? NULL : f->t->elements(f->t->context, entry);
    const size_t count = f->t->entries[entry].bytes / sizeof *from;
    const block_format *format = f->formats[entry];
    if (!from)
        return f->made;
    if (format)
        format->write(count / format->elements, from, f->made);
    else if (f->entries[entry].dtype == SAFETENSORS_F32)
        blocks_write_f32(count, from, f->made);
    else
        (f->entries[entry].dtype == SAFETENSORS_BF16 ? blocks_write_bf16 : blocks_write_f16)(count, from, f->made);
    f->which = entry;
    return f->made;
}

/* A safetensors_source's read. */
static rapt_code stored_file_portion(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    stored_file *f = context;
    if (f->t->stop && f->t->stop(f->t->stop_context))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "interrupted");
    memcpy(to, stored_file_bytes(f, entry) + offset, bytes);
    return RAPT_OK;
}

rapt_code stored_file_write(const char *path, const stored_tensors *t, rapt_error *err)
{
    stored_file f = {.t = t};
    rapt_code code = stored_file_begin(&f, path, err);
    if (!code)
        code = safetensors_write_from(path, f.entries, t->count, f.metadata, &(safetensors_source){stored_file_portion, &f}, err);
    stored_file_end(&f);
    return code;
}
