/* io/params_file.c: parameters to and from safetensors files. For model folders and checkpoints. */
#include "io/params_file.h"

#include "io/stored_blocks.h"
#include "io/stored_numbers.h"
#include "io/weights/widen.h"
#include "rapt/io.h"

#include <stdlib.h>
#include <string.h>

#define REAL_TYPE (sizeof(rapt_real) == 4 ? SAFETENSORS_F32 : SAFETENSORS_F64)

safetensors_entry params_entry(const char *name, const rapt_tensor *shape, const rapt_real *data)
{
    safetensors_entry e = {.name = name, .dtype = REAL_TYPE, .ndim = shape->ndim, .data = data};
    memcpy(e.shape, shape->shape, (size_t)shape->ndim * sizeof *e.shape);
    e.bytes = rapt_tensor_size(shape) * sizeof *data;
    return e;
}

rapt_code params_write(const char *path, const safetensors_entry *entries, size_t count, const char *key, const char *text,
                       rapt_error *err)
{
    const char *const metadata[] = {"format", "pt", "rapt_format_version", PARAMS_VERSION, text ? key : NULL, text, NULL};
    return safetensors_write(path, entries, count, metadata, err);
}

rapt_code params_save(const rapt_params *set, const char *path, const char *key, const char *text, rapt_error *err)
{
    safetensors_entry *entries = malloc((rapt_params_count(set) + 1) * sizeof *entries);
    size_t count = 0;
    if (!entries)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for saving", path);
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        if (!p->transient)
            entries[count++] = params_entry(p->value.name, &p->value, p->value.data);
    }
    rapt_code code = params_write(path, entries, count, key, text, err);
    free(entries);
    return code;
}

rapt_code rapt_params_save(const rapt_params *set, const char *path, rapt_error *err)
{
    return params_save(set, path, NULL, NULL, err);
}

static bool same_shape(const safetensors_entry *e, const rapt_tensor *shape)
{
    bool same = e->ndim == shape->ndim;
    for (int i = 0; same && i < e->ndim; i++)
        same = e->shape[i] == shape->shape[i];
    return same;
}

static rapt_code params_check_entry(const safetensors *file, const char *path, const char *name, const rapt_tensor *shape,
                                    bool halves, rapt_error *err)
{
    char text[96];
    const safetensors_entry *e = safetensors_find(file, name);
    if (!e)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is missing", path, name);
    if (e->dtype != REAL_TYPE && !(halves && stored_numbers_are_16_bits(e->dtype)))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is not of type %s", path, name,
                         safetensors_dtype_name(REAL_TYPE));
    if (!same_shape(e, shape))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" has not the shape %s that the configuration asks for", path,
                         name, rapt_shape_text(shape, text, sizeof text));
    return RAPT_OK;
}

rapt_code params_check(const safetensors *file, const char *path, const char *name, const rapt_tensor *shape, rapt_error *err)
{
    return params_check_entry(file, path, name, shape, false, err);
}

rapt_code params_read(const safetensors *file, const char *path, const char *name, const rapt_tensor *shape, rapt_real *to,
                      rapt_error *err)
{
    rapt_code code = params_check_entry(file, path, name, shape, true, err);
    const safetensors_entry *e = code ? NULL : safetensors_find(file, name);
    if (e && stored_numbers_are_16_bits(e->dtype))
        widen_row(e->dtype, &(weights_row){e->data, 1, rapt_tensor_size(shape), 0}, to);
    else if (e)
        memcpy(to, e->data, e->bytes);
    return code;
}

/* Whether a matrix that is not stored as blocks stays in the file. */
static bool params_stay(const rapt_param *p, const safetensors_entry *e, params_staying which)
{
    const bool smaller = stored_numbers_are_16_bits(e->dtype), single = e->dtype == SAFETENSORS_F32;
    const bool wanted = which == PARAMS_STAY_ALL ? smaller || single : which == PARAMS_STAY_SMALLER && smaller;
    return wanted && p->value.ndim == 2 && !p->buffer && same_shape(e, &p->value);
}

static rapt_code params_take(rapt_params *set, rapt_param *p, const safetensors *file, params_staying which, const char *path,
                             rapt_error *err)
{
    const safetensors_entry *e = safetensors_find(file, p->value.name);
    bool wrong = false;
    if (e && (stored_blocks_format(file, e, &wrong) || wrong))
        return stored_blocks_take(set, p, file, path, err);
    if (e && params_stay(p, e, which))
        return stored_numbers_take(set, p, file, e, path, err);
    return params_read(file, path, p->value.name, &p->value, p->value.data, err);
}

rapt_code params_fill(rapt_params *set, const safetensors *file, params_staying which, stop_check stop, const char *path,
                      rapt_error *err)
{
    size_t wanted = 0;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < rapt_params_count(set) && !code; i++) {
        rapt_param *p = rapt_params_at(set, i);
        wanted += !p->transient;
        if (stop_asked(stop))
            code = rapt_fail(err, RAPT_ERR_INTERRUPTED, "%s: interrupted", path);
        else if (!p->transient)
            code = params_take(set, p, file, which, path, err);
    }
    for (size_t i = 0; i < safetensors_count(file) && !code && safetensors_count(file) != wanted; i++) {
        const char *name = safetensors_at(file, i)->name;
        const rapt_param *p = rapt_params_find(set, name);
        if (!p || p->transient)
            code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" does not belong to this model", path, name);
    }
    return code;
}

rapt_code rapt_params_load(rapt_params *set, const char *path, rapt_error *err)
{
    safetensors *file;
    rapt_code code = safetensors_open(path, &file, err);
    if (code)
        return code;
    if (stored_blocks_any(file)) /* because the file would have to stay open */
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: it stores weights in blocks of few bits: a model for inference", path);
    code = code ? code : params_fill(set, file, PARAMS_STAY_NONE, (stop_check){0}, path, err);
    safetensors_close(file);
    return code;
}
