/* io/hub/hub_save.c: writes tensors with the names and shapes of the reference. A tensor that differs from a parameter's memory
 * is made when it is written or compared, one at a time. */
#define _GNU_SOURCE
#include "io/hub/hub_save.h"

#include "base/file.h"
#include "io/hub/hub_origin.h"
#include "io/stored_file.h"
#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

rapt_code hub_save_check(const rapt_model *m, const char *folder, rapt_error *err)
{
    if (m->origin)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: a model of a Hugging Face folder (%s) that %s is not saved", folder, m->family,
                     m->task == RAPT_TASK_ENCODER ? "is an encoder" : "was loaded for inference");
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
    char *part = slash ? strndup(name, (size_t)(slash - name)) : NULL, *path = NULL;
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

typedef struct hub_saving {
    const rapt_params *params;
    const hub_origin *origin;
    safetensors_entry *entries;
    char (*names)[HUB_NAME];
    size_t *entry_of; /* [rapt_params_count] the tensor that a parameter is, or is part of */
    size_t count;
    float *made;      /* the elements of a tensor that is made, */
    size_t which;     /* index of the tensor */
} hub_saving;

static void hub_save_end(hub_saving *s)
{
    free(s->entries);
    free(s->names);
    free(s->entry_of);
    free(s->made);
}

/* Adds the tensor of a parameter, unless an earlier parameter has the same tensor. */
static void hub_save_add(hub_saving *s, size_t param)
{
    const rapt_param *p = rapt_params_at(s->params, param);
    const hub_name *n = s->origin->rows[param];
    char bare[HUB_NAME], *whole = s->names[s->count];
    hub_match m = {.last = ""};
    size_t at = 0;
    for (const hub_name *row = NULL; (row = hub_names_next(&s->origin->naming, row, p->value.name, &m)) != n;)
        if (!row)
            return;
    hub_names_of(&s->origin->naming, n, &m, bare, whole);
    while (at < s->count && strcmp(s->names[at], whole) != 0)
        at++;
    s->entry_of[param] = at;
    if (at < s->count)
        return;
    safetensors_entry *e = &s->entries[s->count++];
    *e = (safetensors_entry){.name = whole, .dtype = SAFETENSORS_F32};
    e->ndim = hub_names_shape(&s->origin->naming, n, &p->value, e->shape);
    e->bytes = e->shape[0] * (e->ndim == 2 ? e->shape[1] : 1) * sizeof(float);
    e->data = n->part == HUB_WHOLE && n->fold == HUB_PLAIN ? p->value.data : NULL;
}

static rapt_code hub_save_begin(hub_saving *s, const rapt_model *m, const char *path, rapt_error *err)
{
    const size_t count = rapt_params_count(m->params);
    size_t largest = 0;
    *s = (hub_saving){.params = m->params, .origin = m->origin, .which = SIZE_MAX};
    rapt_code code = hub_save_check(m, path, err);
    if (code)
        return code;
    s->entries = calloc(count + 1, sizeof *s->entries);
    s->names = calloc(count + 1, sizeof *s->names);
    s->entry_of = calloc(count + 1, sizeof *s->entry_of);
    bool ok = s->entries && s->names && s->entry_of;
    for (size_t i = 0; ok && i < count; i++)
        if (s->origin->rows[i])
            hub_save_add(s, i);
    for (size_t i = 0; ok && i < s->count; i++)
        largest = !s->entries[i].data && s->entries[i].bytes > largest ? s->entries[i].bytes : largest;
    s->made = ok ? malloc(largest + 1) : NULL;
    return s->made ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for saving", path);
}

/* The elements of a tensor. */
static const void *hub_save_elements(hub_saving *s, size_t entry)
{
    const safetensors_entry *e = &s->entries[entry];
    if (e->data || s->which == entry)
        return e->data ? e->data : s->made;
    memset(s->made, 0, e->bytes);
    for (size_t i = 0; i < rapt_params_count(s->params); i++) {
        const rapt_param *p = rapt_params_at(s->params, i);
        if (!s->origin->rows[i] || s->entry_of[i] != entry)
            continue;
        const hub_slice slice = hub_names_slice(&s->origin->naming, s->origin->rows[i], &p->value);
        hub_slice_put(&slice, p->value.shape[0], p->value.data, e->ndim == 2 ? e->shape[1] : 1, s->made);
    }
    s->which = entry;
    return s->made;
}

/* A safetensors_source's read. */
static rapt_code hub_save_read(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    (void)err;
    memcpy(to, (const char *)hub_save_elements(context, entry) + offset, bytes);
    return RAPT_OK;
}

rapt_code hub_save_params(const rapt_model *m, const char *path, rapt_error *err)
{
    static const char *const metadata[] = {"format", "pt", NULL};
    hub_saving s;
    rapt_code code = hub_save_begin(&s, m, path, err);
    if (!code)
        code = safetensors_write_from(path, s.entries, s.count, metadata, &(safetensors_source){hub_save_read, &s}, err);
    hub_save_end(&s);
    return code;
}

/* A stored_tensors' elements. */
static const float *hub_save_floats(void *context, size_t entry)
{
    return hub_save_elements(context, entry);
}

/* The types of all tensors; all parts of a tensor have the type of the whole. */
static rapt_code hub_save_types(const hub_saving *s, const rapt_model *m, hub_save_type *type, rapt_export_weights wanted,
                                rapt_export_weights *types, const char *path, rapt_error *err)
{
    for (size_t i = 0; i < rapt_params_count(s->params); i++) {
        const rapt_param *p = rapt_params_at(s->params, i);
        const hub_name *n = s->origin->rows[i];
        if (!n)
            continue;
        types[s->entry_of[i]] = type(m, p, wanted);
        if (types[s->entry_of[i]] > RAPT_EXPORT_BF16 && n->fold == HUB_TRANSPOSED)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: tensor \"%s\" has rows and columns the other way round, which blocks "
                             "along rows do not fit; --to gguf stores such models", path, s->names[s->entry_of[i]]);
    }
    return RAPT_OK;
}

rapt_code hub_save_check_stored(const rapt_model *m, const char *folder, hub_save_type *type, rapt_export_weights wanted,
                                rapt_error *err)
{
    hub_saving s;
    rapt_code code = hub_save_begin(&s, m, folder, err);
    rapt_export_weights *types = code ? NULL : calloc(s.count + 1, sizeof *types);
    if (!code && !types)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for types of tensors", folder);
    if (!code)
        code = hub_save_types(&s, m, type, wanted, types, folder, err);
    free(types);
    hub_save_end(&s);
    return code;
}

rapt_code hub_save_stored(const rapt_model *m, const char *path, const char *shown, hub_save_type *type,
                          const rapt_export_options *o, rapt_error *err)
{
    static const char *const metadata[] = {"format", "pt", NULL};
    hub_saving s;
    rapt_code code = hub_save_begin(&s, m, path, err);
    rapt_export_weights *types = code ? NULL : calloc(s.count + 1, sizeof *types);
    if (!code && !types)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for types of tensors", path);
    if (!code)
        code = hub_save_types(&s, m, type, o->weights, types, path, err);
    const stored_tensors all = {s.entries, types, s.count, metadata, hub_save_floats, &s, o->stop, o->stop_context, shown};
    if (!code)
        code = stored_file_write(path, &all, err);
    free(types);
    hub_save_end(&s);
    return code;
}

static bool hub_save_same_tensor(hub_saving *s, size_t entry, const safetensors *file)
{
    const safetensors_entry *e = &s->entries[entry], *there = safetensors_find(file, e->name);
    bool same = there && there->dtype == e->dtype && there->ndim == e->ndim && there->bytes == e->bytes;
    for (int i = 0; same && i < e->ndim; i++)
        same = there->shape[i] == e->shape[i];
    return same && memcmp(there->data, hub_save_elements(s, entry), e->bytes) == 0;
}

bool hub_save_is_same(const rapt_model *m, const safetensors *file)
{
    hub_saving s;
    bool same = hub_save_begin(&s, m, "", NULL) == RAPT_OK && safetensors_count(file) == s.count;
    for (size_t i = 0; same && i < s.count; i++)
        same = hub_save_same_tensor(&s, i, file);
    hub_save_end(&s);
    return same;
}
