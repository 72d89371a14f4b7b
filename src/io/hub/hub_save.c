/* io/hub/hub_save.c: writes the files and tensors that a model was read from. */
#include "io/hub/hub_save.h"

#include "base/chars.h"
#include "base/file.h"
#include "io/hub/hub_origin.h"
#include "io/place/place_tensors.h"
#include "io/stored_file.h"
#include "tensor/type.h"
#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

rapt_code hub_save_check(const rapt_model *m, const char *folder, rapt_error *err)
{
    if (m->origin)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: a model of a Hugging Face folder (%s) that %s%s is not saved", folder, m->family,
                     m->encoder.net ? "is " : "was loaded for inference", m->encoder.net ? model_task_of(m->task)->what : "");
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* from_pretrained gives the model the type in config.json, not the type of the tensors. */
static bool hub_save_put_type(json_t *config)
{
    static const char *const keys[] = {"dtype", "torch_dtype"}; /* keys of transformers 5 and 4 */
    bool ok = true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(config, keys[i]))
            ok = ok && json_object_set_new(config, keys[i], json_string("float32")) == 0;
    return ok;
}

static rapt_code hub_save_config(const hub_file *file, const char *path, rapt_error *err)
{
    json_t *config = json_loadb(file->data, file->size, 0, NULL), *before = json_copy(config);
    const bool ok = config && before && hub_save_put_type(config), same = ok && json_equal(config, before);
    char *text = ok && !same ? json_text(config, JSON_INDENT(2)) : NULL;
    rapt_code code = RAPT_OK;
    if (!ok || (!same && !text))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    else
        code = file_write_atomic(path, same ? file->data : text, same ? file->size : strlen(text), err);
    free(text);
    json_decref(before);
    json_decref(config);
    return code;
}

static rapt_code hub_save_file(const hub_file *file, const char *folder, const char *name, rapt_error *err)
{
    char *path;
    rapt_code code = file_path(folder, name, &path, err);
    if (!code && strcmp(name, "config.json") == 0)
        code = hub_save_config(file, path, err);
    else if (!code)
        code = file_write_atomic(path, file->data, file->size, err);
    free(path);
    return code;
}

/* Makes the folder of names that are in a subfolder. */
static rapt_code hub_save_make_folder(const char *folder, const char *name, rapt_error *err)
{
    const char *slash = strchr(name, '/');
    char *part = slash ? chars_copy_part(name, (size_t)(slash - name)) : NULL, *path = NULL;
    rapt_code code = slash && !part ? rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", folder) : RAPT_OK;
    if (part)
        code = file_path(folder, part, &path, err);
    if (part && !code)
        code = file_make_dir(path, err);
    free(part);
    free(path);
    return code;
}

rapt_code hub_save_files(const rapt_model *m, const char *folder, rapt_error *err)
{
    const hub_origin *o = m->origin;
    rapt_code code = hub_save_check(m, folder, err);
    for (size_t i = 0; !code && HUB_ORIGIN_FILES[i]; i++) {
        if (o->files[i].data)
            code = hub_save_make_folder(folder, HUB_ORIGIN_FILES[i], err);
        if (!code && o->files[i].data)
            code = hub_save_file(&o->files[i], folder, HUB_ORIGIN_FILES[i], err);
    }
    return code;
}

/* ---- tensors -------------------------------------------------------------------------------------------------- */

/* Lists the tensors that the parameters were read from; place_tensors_free even after a failure. */
static rapt_code hub_save_begin(place_tensors *set, const rapt_model *m, const char *path, rapt_error *err)
{
    *set = (place_tensors){.path = path};
    rapt_code code = hub_save_check(m, path, err);
    if (code)
        return code;
    const hub_origin *o = m->origin;
    set->model = o->naming;
    place_tensors_begin(set);
    for (size_t i = 0; i < rapt_params_count(m->params); i++)
        if (o->rows[i])
            place_tensors_add_param(set, rapt_params_at(m->params, i), o->rows[i]);
    return place_tensors_made(set, err);
}

rapt_code hub_save_params(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    place_tensors set;
    rapt_code code = hub_save_begin(&set, m, path, err);
    if (!code)
        code = place_tensors_save(&set, path, o, err);
    place_tensors_free(&set);
    return code;
}

/* Begins a list of tensors, and of the types in which they are stored, owned by the caller. */
static rapt_code hub_save_begin_stored(place_tensors *set, const rapt_model *m, const char *path, hub_save_type *type,
                                       rapt_type wanted, rapt_type **types, rapt_error *err)
{
    rapt_code code = hub_save_begin(set, m, path, err);
    *types = code ? NULL : calloc(set->count + 1, sizeof **types);
    if (!code && !*types)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for types of tensors", path);
    for (size_t i = 0; !code && i < set->count; i++) {
        const place_tensor *t = &set->list[i];
        (*types)[i] = type(m, t->parts[t->count - 1], wanted);
        if (type_has_blocks((*types)[i]) && t->how & PLACE_TRANSPOSED)
            code = rapt_fail(err, RAPT_ERR_VALUE, "%s: tensor \"%s\" has rows and columns the other way round, which blocks "
                             "along rows do not fit; --to gguf stores such models", path, t->name);
    }
    return code;
}

rapt_code hub_save_check_stored(const rapt_model *m, const char *folder, hub_save_type *type, rapt_type wanted,
                                rapt_error *err)
{
    place_tensors set;
    rapt_type *types;
    rapt_code code = hub_save_begin_stored(&set, m, folder, type, wanted, &types, err);
    free(types);
    place_tensors_free(&set);
    return code;
}

/* A stored_tensors' elements. */
static const float *hub_save_floats(void *context, size_t entry)
{
    return place_tensors_values(context, entry);
}

rapt_code hub_save_stored(const rapt_model *m, const char *path, const char *shown, hub_save_type *type,
                          const rapt_export_options *o, rapt_error *err)
{
    static const char *const metadata[] = {"format", "pt", NULL};
    place_tensors set;
    rapt_type *types;
    rapt_code code = hub_save_begin_stored(&set, m, path, type, o->weights, &types, err);
    safetensors_entry *entries = code ? NULL : place_tensors_entries(&set, err);
    if (!code)
        code = entries ? place_tensors_reserve(&set, err) : RAPT_ERR_MEMORY;
    const stored_tensors all = {entries, types, set.count, metadata, hub_save_floats, &set, o, shown};
    if (!code)
        code = stored_file_write(path, &all, err);
    free(entries);
    free(types);
    place_tensors_free(&set);
    return code;
}

bool hub_save_is_same(const rapt_model *m, const safetensors *file)
{
    place_tensors set;
    bool same = hub_save_begin(&set, m, "", NULL) == RAPT_OK && place_tensors_reserve(&set, NULL) == RAPT_OK &&
                safetensors_count(file) == set.count;
    for (size_t i = 0; same && i < set.count; i++) {
        const place_tensor *t = &set.list[i];
        const safetensors_entry *there = safetensors_find(file, t->name);
        same = there && there->dtype == t->dtype && there->ndim == t->ndim;
        for (int d = 0; same && d < t->ndim; d++)
            same = there->shape[d] == t->shape[d];
        same = same && memcmp(there->data, place_tensors_values(&set, i), there->bytes) == 0;
    }
    place_tensors_free(&set);
    return same;
}
