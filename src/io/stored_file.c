/* io/stored_file.c: rounds tensors one at a time, as they are written. */
#include "io/stored_file.h"

#include "base/quote.h"
#include "io/export_step.h"
#include "io/stored_blocks.h"
#include "tensor/blocks_write.h"
#include "tensor/type.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stored_file {
    const stored_tensors *t;
    const char *path; /* for messages */
    safetensors_entry *entries;   /* as they will lie in the file */
    const block_format **formats; /* NULL for tensors without blocks */
    char (*keys)[STORED_BLOCKS_KEY];
    const char **metadata;
    size_t texts;
    void *made;   /* the bytes of a tensor, */
    size_t which; /* index of the tensor */
    export_steps steps;
} stored_file;

static void stored_file_end(stored_file *f)
{
    free(f->entries);
    free(f->formats);
    free(f->keys);
    free(f->metadata);
    free(f->made);
}

static const block_format *stored_file_format(const safetensors_entry *e, rapt_type type)
{
    const block_format *format = type == RAPT_TYPE_Q8_0 ? &BLOCKS_Q8_0 : type == RAPT_TYPE_Q4_0 ? &BLOCKS_Q4_0 : NULL;
    return format && e->ndim == 2 && e->shape[1] % format->elements == 0 ? format : NULL;
}

static void stored_file_list(stored_file *f, size_t i)
{
    safetensors_entry *e = &f->entries[i];
    const rapt_type type = f->t->types[i];
    const block_format *format = stored_file_format(e, type);
    size_t elements = e->bytes / sizeof(float);
    if (format) {
        e->dtype = SAFETENSORS_U8;
        elements = elements / format->elements * format->bytes;
        e->shape[1] = e->shape[1] / format->elements * format->bytes;
        f->metadata[f->texts++] = stored_blocks_key(e->name, f->keys[i]);
        f->metadata[f->texts++] = format->name;
    } else if (type == RAPT_TYPE_BF16 || type == RAPT_TYPE_FP16)
        e->dtype = type == RAPT_TYPE_BF16 ? SAFETENSORS_BF16 : SAFETENSORS_F16;
    f->formats[i] = format;
    e->data = NULL;
    e->bytes = elements * safetensors_dtype_bytes(e->dtype);
}

rapt_code stored_file_no_blocks(const char *path, rapt_type type, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: no matrix has rows whose length is a multiple of 32, so that none can be stored "
                     "in blocks of %s", path, type == RAPT_TYPE_Q8_0 ? BLOCKS_Q8_0.name : BLOCKS_Q4_0.name);
}

/* Refuses to write a file without any blocks if blocks are wanted. */
static rapt_code stored_file_check_formats(const stored_file *f, rapt_error *err)
{
    rapt_type wanted = RAPT_TYPE_FP32;
    for (size_t i = 0; i < f->t->count; i++) {
        if (f->formats[i])
            return RAPT_OK;
        if (type_has_blocks(f->t->types[i]))
            wanted = f->t->types[i];
    }
    return wanted == RAPT_TYPE_FP32 ? RAPT_OK : stored_file_no_blocks(f->path, wanted, err);
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
    return f->made ? stored_file_check_formats(f, err) : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", path);
}

double stored_file_largest(rapt_type type)
{
    const double half = 65504; /* largest binary16, which is also the type of scales */
    switch (type) {
    case RAPT_TYPE_FP16: return half;
    case RAPT_TYPE_BF16: return 0x1.fep127;
    case RAPT_TYPE_Q8_0: return 127 * half;
    case RAPT_TYPE_Q4_0: return 8 * half;
    default: return 0;
    }
}

static const char *stored_file_type_name(const stored_file *f, size_t entry)
{
    return f->formats[entry] ? f->formats[entry]->name : safetensors_dtype_name(f->entries[entry].dtype);
}

static rapt_code stored_file_check(const stored_file *f, size_t entry, const float *from, size_t count, rapt_error *err)
{
    const bool rounded = f->entries[entry].dtype != SAFETENSORS_F32;
    const double largest = rounded ? stored_file_largest(f->t->types[entry]) : 0;
    for (size_t i = 0; i < count && largest != 0; i++)
        if (!(fabs((double)from[i]) <= largest))
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: tensor \"%s\" has the number %g, which %s does not hold", f->path,
                             quote(f->entries[entry].name).text, (double)from[i], stored_file_type_name(f, entry));
    return RAPT_OK;
}

/* Makes the bytes of a tensor, unless they are there. */
static rapt_code stored_file_make(stored_file *f, size_t entry, rapt_error *err)
{
    const float *from = f->which == entry ? NULL : f->t->elements(f->t->context, entry);
    const size_t count = f->t->entries[entry].bytes / sizeof *from;
    const block_format *format = f->formats[entry];
    rapt_code code = from ? stored_file_check(f, entry, from, count, err) : RAPT_OK;
    if (code || !from)
        return code;
    if (format)
        format->write(count / format->elements, from, f->made);
    else if (f->entries[entry].dtype == SAFETENSORS_F32)
        blocks_write_f32(count, from, f->made);
    else
        (f->entries[entry].dtype == SAFETENSORS_BF16 ? blocks_write_bf16 : blocks_write_f16)(count, from, f->made);
    f->which = entry;
    return RAPT_OK;
}

/* A safetensors_source's read. */
static rapt_code stored_file_portion(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    stored_file *f = context;
    rapt_code code = export_step(f->t->options, &f->steps, entry, f->t->count, f->path, err);
    code = code ? code : stored_file_make(f, entry, err);
    if (!code)
        memcpy(to, (const char *)f->made + offset, bytes);
    return code;
}

rapt_code stored_file_write(const char *path, const stored_tensors *t, rapt_error *err)
{
    stored_file f = {.t = t, .path = t->shown};
    rapt_code code = stored_file_begin(&f, path, err);
    if (!code)
        code = safetensors_write_from(path, f.entries, t->count, f.metadata, &(safetensors_source){stored_file_portion, &f}, err);
    stored_file_end(&f);
    return code;
}
