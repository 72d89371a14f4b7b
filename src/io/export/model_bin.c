/* io/export/model_bin.c: writes CTranslate2's model.bin. */
#include "io/export/export_folder.h"

#include "base/file.h"
#include "io/export_step.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 6, PORTION = 1 << 22 };

typedef struct model_bin {
    place_tensors *set;
    const rapt_export_options *options;
    export_steps steps;
    size_t begun; /* tensors */
    file_writer out;
    rapt_code code; /* the first failure */
    rapt_error *err;
} model_bin;

static void model_bin_put(model_bin *m, const void *data, size_t size)
{
    if (!m->code)
        m->code = file_writer_put(&m->out, data, size, m->err);
}

static void put_u32(model_bin *m, size_t number)
{
    const uint32_t bytes = (uint32_t)number;
    model_bin_put(m, &bytes, sizeof bytes);
}

static void put_u8(model_bin *m, int number)
{
    const uint8_t byte = (uint8_t)number;
    model_bin_put(m, &byte, 1);
}

static void put_text(model_bin *m, const char *text)
{
    const uint16_t length = (uint16_t)(strlen(text) + 1);
    model_bin_put(m, &length, sizeof length);
    model_bin_put(m, text, length);
}

/* ---- variables ------------------------------------------------------------------------------------------------ */

/* The numbers of its types: float32, int8, int16, int32. */
static int model_bin_type(safetensors_dtype dtype)
{
    return dtype == SAFETENSORS_I8 ? 1 : dtype == SAFETENSORS_I16 ? 2 : dtype == SAFETENSORS_I32 ? 3 : 0;
}

static void model_bin_put_number(model_bin *m, const place_tensor *t)
{
    const int32_t whole = t->dtype == SAFETENSORS_F32 ? 0 : (int32_t)t->number;
    const float real = (float)t->number;
    const size_t bytes = safetensors_dtype_bytes(t->dtype);
    put_u32(m, bytes);
    model_bin_put(m, t->dtype == SAFETENSORS_F32 ? (const void *)&real : &whole, bytes);
}

/* Writes in portions, between which the caller may cancel. */
static void put_elements(model_bin *m, const place_tensor *t)
{
    const size_t bytes = place_tensor_elements(t) * sizeof(float);
    const char *data = (const char *)place_tensors_values(m->set, (size_t)(t - m->set->list));
    put_u32(m, bytes);
    for (size_t at = 0; at < bytes && !m->code; at += PORTION) {
        m->code = export_step(m->options, &m->steps, m->begun, m->set->count, m->set->path, m->err);
        model_bin_put(m, data + at, bytes - at < PORTION ? bytes - at : PORTION);
    }
}

static void begin_tensor(model_bin *m)
{
    m->begun++;
    m->code = m->code ? m->code : export_step(m->options, &m->steps, m->begun, m->set->count, m->set->path, m->err);
}

static void put_variable(model_bin *m, const place_tensor *t)
{
    begin_tensor(m);
    put_text(m, t->name);
    put_u8(m, t->ndim);
    for (int i = 0; i < t->ndim; i++)
        put_u32(m, t->shape[i]);
    put_u8(m, model_bin_type(t->dtype));
    if (t->ndim == 0)
        model_bin_put_number(m, t);
    else
        put_elements(m, t);
}

/* The first tensor with the same data; NULL: it has its own data. */
static const place_tensor *alias_of(const place_tensors *set, size_t i)
{
    const place_tensor *t = &set->list[i];
    for (size_t k = 0; k < i && t->count; k++)
        if (memcmp(set->list[k].parts, t->parts, sizeof t->parts) == 0 && set->list[k].how == t->how)
            return &set->list[k];
    return NULL;
}

static void put_all(model_bin *m, const char *specification, uint32_t revision)
{
    const place_tensors *set = m->set;
    size_t aliases = 0;
    for (size_t i = 0; i < set->count; i++)
        aliases += alias_of(set, i) != NULL;
    put_u32(m, VERSION);
    put_text(m, specification);
    put_u32(m, revision);
    put_u32(m, set->count - aliases);
    for (size_t i = 0; i < set->count; i++)
        if (!alias_of(set, i))
            put_variable(m, &set->list[i]);
    put_u32(m, aliases);
    for (size_t i = 0; i < set->count; i++)
        if (alias_of(set, i)) {
            begin_tensor(m);
            put_text(m, set->list[i].name);
            put_text(m, alias_of(set, i)->name);
        }
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const place_tensor *)a)->name, ((const place_tensor *)b)->name);
}

rapt_code model_bin_write(place_tensors *set, const char *path, const char *specification, uint32_t revision,
                          const rapt_export_options *o, rapt_error *err)
{
    model_bin m = {.set = set, .options = o, .err = err};
    size_t largest = 1;
    qsort(set->list, set->count, sizeof *set->list, by_name);
    for (size_t i = 0; i < set->count; i++)
        largest = place_tensor_elements(&set->list[i]) > largest ? place_tensor_elements(&set->list[i]) : largest;
    if (largest > UINT32_MAX / sizeof(float))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: a tensor has more than the 4 GiB that CTranslate2 reads", set->path);
    m.code = place_tensors_reserve(set, err);
    m.code = m.code ? m.code : file_writer_open(&m.out, path, err);
    if (!m.code) {
        put_all(&m, specification, revision);
        if (m.code)
            file_writer_discard(&m.out);
        else
            m.code = file_writer_finish(&m.out, err);
    }
    return m.code;
}
