/* io/weights/torch_file.c: from a zip archive and its pickle to tensors; see torch_file.h. Names that torch.save writes are from
 * torch/_utils.py and torch/serialization.py. Not for training checkpoints, whose dict holds more than tensors. */
#include "io/weights/torch_file.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "io/weights/pickle.h"
#include "io/weights/zip_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands in a PICKLE_NAME: a storage type is STORAGE_TYPES and its element type. */
enum { ORDERED_DICT, REBUILD_TENSOR, REBUILD_PARAMETER, STORAGE_TYPES };
/* What stands in the size of a PICKLE_HANDLE. */
enum { IS_STORAGE, IS_TENSOR };

enum { MAX_PREFIX = 300, REBUILD_ARGUMENTS = 6 };

static const struct {
    const char *name;
    int number;
} NAMES[] = {
    {"collections.OrderedDict", ORDERED_DICT},
    {"torch._utils._rebuild_tensor_v2", REBUILD_TENSOR},
    {"torch._utils._rebuild_parameter", REBUILD_PARAMETER},
    {"torch.FloatStorage", STORAGE_TYPES + SAFETENSORS_F32},
    {"torch.DoubleStorage", STORAGE_TYPES + SAFETENSORS_F64},
    {"torch.HalfStorage", STORAGE_TYPES + SAFETENSORS_F16},
    {"torch.BFloat16Storage", STORAGE_TYPES + SAFETENSORS_BF16},
    {"torch.LongStorage", STORAGE_TYPES + SAFETENSORS_I64},
    {"torch.IntStorage", STORAGE_TYPES + SAFETENSORS_I32},
    {"torch.ShortStorage", STORAGE_TYPES + SAFETENSORS_I16},
    {"torch.CharStorage", STORAGE_TYPES + SAFETENSORS_I8},
    {"torch.ByteStorage", STORAGE_TYPES + SAFETENSORS_U8},
    {"torch.BoolStorage", STORAGE_TYPES + SAFETENSORS_BOOL},
};

typedef struct torch_storage {
    safetensors_dtype dtype;
    const char *data;
    size_t elements;
} torch_storage;

typedef struct torch_reader {
    const char *path;
    char prefix[MAX_PREFIX]; /* "NAME/" */
    zip_file zip;
    torch_storage *storages;
    size_t storage_count, storage_capacity;
    weights_tensor *tensors; /* as they were built, without names */
    size_t tensor_count, tensor_capacity;
    rapt_error *err;
} torch_reader;

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

RAPT_PRINTF(2, 3)
static rapt_code bad_torch(const torch_reader *r, const char *format, ...)
{
    char reason[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s", r->path, reason);
}

/* A PICKLE_TEXT for a message. */
static quoted quote_text(const pickle_value *value)
{
    char text[101];
    snprintf(text, sizeof text, "%.*s", (int)(value->size < 100 ? value->size : 100), value->text);
    return quote(text);
}

static rapt_code torch_no_memory(const torch_reader *r)
{
    return rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for its tensors", r->path);
}

/* ---- storages -------------------------------------------------------------------------------------------------------- */

static bool torch_find_name(void *context, const char *name, pickle_value *out)
{
    (void)context;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(name, NAMES[i].name) == 0) {
            out->integer = NAMES[i].number;
            return true;
        }
    return false;
}

/* The entry "NAME/data/KEY". */
static const zip_entry *find_storage(const torch_reader *r, const pickle_value *key)
{
    char name[MAX_PREFIX + 80];
    int size = snprintf(name, sizeof name, "%sdata/%.*s", r->prefix, (int)(key->size < 64 ? key->size : 64), key->text);
    return key->size < 64 ? zip_find(&r->zip, name, (size_t)size) : NULL;
}

/* The id: ("storage", its type, the key, the device, the number of elements). */
static rapt_code read_storage(const torch_reader *r, const pickle_value *id, torch_storage *storage)
{
    const pickle_value *parts = id->kind == PICKLE_TUPLE && id->items->count == 5 ? id->items->values : NULL;
    if (!parts || parts[0].kind != PICKLE_TEXT || parts[0].size != 7 || memcmp(parts[0].text, "storage", 7) != 0 ||
        parts[1].kind != PICKLE_NAME || parts[1].integer < STORAGE_TYPES || parts[2].kind != PICKLE_TEXT ||
        parts[4].kind != PICKLE_INTEGER || parts[4].integer < 0)
        return bad_torch(r, "a storage is not described as torch.save describes it");
    const zip_entry *entry = find_storage(r, &parts[2]);
    if (!entry)
        return bad_torch(r, "the archive has no storage %s", quote_text(&parts[2]).text);
    *storage = (torch_storage){(safetensors_dtype)(parts[1].integer - STORAGE_TYPES), entry->data, (size_t)parts[4].integer};
    const size_t width = safetensors_dtype_bytes(storage->dtype);
    if (entry->size % width != 0 || entry->size / width != storage->elements)
        return bad_torch(r, "storage %s has %zu bytes, and not %zu elements of %s", quote_text(&parts[2]).text, entry->size,
                         storage->elements, safetensors_dtype_name(storage->dtype));
    return RAPT_OK;
}

static rapt_code torch_look_up(void *context, const pickle_value *id, pickle_value *out, rapt_error *err)
{
    torch_reader *r = context;
    (void)err; /* which is the reader's, too */
    if (!ARRAY_RESERVE(&r->storages, &r->storage_capacity, r->storage_count + 1))
        return torch_no_memory(r);
    rapt_code code = read_storage(r, id, &r->storages[r->storage_count]);
    *out = (pickle_value){.kind = PICKLE_HANDLE, .size = IS_STORAGE, .integer = (int64_t)r->storage_count};
    r->storage_count += !code;
    return code;
}

/* ---- tensors --------------------------------------------------------------------------------------------------------- */

/* Whether a value is a tuple of up to 8 whole numbers from 0, which go to `sizes`. */
static bool read_sizes(const pickle_value *value, size_t *sizes, int *count)
{
    if (value->kind != PICKLE_TUPLE || value->items->count > SAFETENSORS_MAX_DIMS)
        return false;
    *count = (int)value->items->count;
    for (int i = 0; i < *count; i++) {
        const pickle_value *size = &value->items->values[i];
        if (size->kind != PICKLE_INTEGER || size->integer < 0)
            return false;
        sizes[i] = (size_t)size->integer;
    }
    return true;
}

/* Whether every element lies in the storage, and there are no more of them than can lie there without being repeated. */
static bool fits_storage(const weights_tensor *t, size_t offset, const torch_storage *s)
{
    size_t last = offset, step;
    if (t->elements == 0)
        return offset <= s->elements;
    for (int i = 0; i < t->ndim; i++)
        if (__builtin_mul_overflow(t->shape[i] - 1, t->stride[i], &step) || __builtin_add_overflow(last, step, &last))
            return false;
    return last < s->elements && t->elements <= s->elements - offset;
}

/* Arguments: storage, place of the first element, shape, strides, and what matters in training only. */
static rapt_code read_tensor(const torch_reader *r, const pickle_items *arguments, weights_tensor *t)
{
    const pickle_value *a = arguments->values;
    int strides = 0;
    if (arguments->count < REBUILD_ARGUMENTS || a[0].kind != PICKLE_HANDLE || a[0].size != IS_STORAGE ||
        a[1].kind != PICKLE_INTEGER || a[1].integer < 0 || !read_sizes(&a[2], t->shape, &t->ndim) ||
        !read_sizes(&a[3], t->stride, &strides) || strides != t->ndim)
        return bad_torch(r, "tensor %zu is not described as torch.save describes it, with at most 8 sizes", r->tensor_count);
    const torch_storage *s = &r->storages[a[0].integer];
    const size_t offset = (size_t)a[1].integer, width = safetensors_dtype_bytes(s->dtype);
    t->dtype = s->dtype;
    if (!safetensors_shape_bytes(t->shape, t->ndim, t->dtype, &t->bytes))
        return bad_torch(r, "the product of the shape of tensor %zu overflows", r->tensor_count);
    t->elements = t->bytes / width;
    if (!fits_storage(t, offset, s))
        return bad_torch(r, "tensor %zu does not fit into its storage of %zu elements", r->tensor_count, s->elements);
    t->data = s->data + offset * width;
    t->row_major = weights_tensor_is_row_major(t);
    return RAPT_OK;
}

static rapt_code build_tensor(torch_reader *r, const pickle_items *arguments, pickle_value *out)
{
    if (!ARRAY_RESERVE(&r->tensors, &r->tensor_capacity, r->tensor_count + 1))
        return torch_no_memory(r);
    r->tensors[r->tensor_count] = (weights_tensor){.name = NULL};
    rapt_code code = read_tensor(r, arguments, &r->tensors[r->tensor_count]);
    *out = (pickle_value){.kind = PICKLE_HANDLE, .size = IS_TENSOR, .integer = (int64_t)r->tensor_count};
    r->tensor_count += !code;
    return code;
}

/* A parameter is its tensor, whether it needs a gradient, and hooks. */
static rapt_code torch_call(void *context, const pickle_value *name, const pickle_items *arguments, pickle_value *out,
                            rapt_error *err)
{
    torch_reader *r = context;
    (void)err; /* which is the reader's, too */
    if (name->integer == REBUILD_TENSOR)
        return build_tensor(r, arguments, out);
    if (name->integer == ORDERED_DICT && arguments->count == 0) {
        out->kind = PICKLE_DICT;
        return RAPT_OK;
    }
    const pickle_value *first = arguments->count > 0 ? &arguments->values[0] : NULL;
    if (name->integer != REBUILD_PARAMETER || !first || first->kind != PICKLE_HANDLE || first->size != IS_TENSOR)
        return bad_torch(r, "the pickle calls %s with arguments that torch.save does not write",
                         name->integer == ORDERED_DICT ? "collections.OrderedDict"
                         : name->integer == REBUILD_PARAMETER ? "torch._utils._rebuild_parameter" : "a storage type");
    *out = *first;
    return RAPT_OK;
}

/* ---- the file -------------------------------------------------------------------------------------------------------- */

bool torch_file_begins(const char *bytes, size_t size)
{
    /* the pickle of the number by which older files begin */
    return zip_begins(bytes, size) || (size >= 5 && memcmp(bytes, "\x80\x02\x8A\x0A\x6C", 5) == 0);
}

/* Sets the prefix from the pickle's entry, "NAME/data.pkl". */
static rapt_code find_pickle(torch_reader *r, const zip_entry **found)
{
    static const char tail[] = "/data.pkl";
    const size_t tail_size = sizeof tail - 1;
    *found = NULL;
    for (size_t i = 0; i < r->zip.count; i++) {
        const zip_entry *e = &r->zip.entries[i];
        if (e->name_size <= tail_size || e->name_size - tail_size >= MAX_PREFIX - 1 ||
            memcmp(e->name + e->name_size - tail_size, tail, tail_size) != 0 ||
            memchr(e->name, '/', e->name_size - tail_size) || memchr(e->name, '\0', e->name_size))
            continue;
        if (*found)
            return bad_torch(r, "the archive has more than one data.pkl");
        *found = e;
        snprintf(r->prefix, sizeof r->prefix, "%.*s/", (int)(e->name_size - tail_size), e->name);
    }
    return *found ? RAPT_OK : bad_torch(r, "the archive has no NAME/data.pkl: not a file of torch.save");
}

static rapt_code check_byte_order(const torch_reader *r)
{
    char name[MAX_PREFIX + 16];
    int size = snprintf(name, sizeof name, "%sbyteorder", r->prefix);
    const zip_entry *e = zip_find(&r->zip, name, (size_t)size);
    bool little = !e || (e->size == 6 && memcmp(e->data, "little", 6) == 0);
    return little ? RAPT_OK : bad_torch(r, "its numbers are not little-endian, says its entry byteorder");
}

/* Appends the name with a NUL; its place is set later, as the names move while they grow. */
static rapt_code take_name(const torch_reader *r, const pickle_value *key, buffer *names)
{
    bool fine = buffer_append(names, key->text, key->size) && buffer_append(names, "", 1);
    return fine ? RAPT_OK : torch_no_memory(r);
}

/* One item of the dict. */
static rapt_code take_item(const torch_reader *r, const pickle_value *key, const pickle_value *value, torch_file *out,
                           buffer *names)
{
    if (key->kind != PICKLE_TEXT)
        return bad_torch(r, "the dict has a key that is %s, not the name of a tensor", pickle_kind_name(key->kind));
    if (value->kind != PICKLE_HANDLE || value->size != IS_TENSOR)
        return bad_torch(r, "\"%s\" is %s, not a tensor; is this a checkpoint of a training run?", quote_text(key).text,
                         pickle_kind_name(value->kind));
    out->tensors[out->count++] = r->tensors[value->integer];
    return take_name(r, key, names);
}

static rapt_code take_dict(const torch_reader *r, const pickle_value *dict, torch_file *out)
{
    buffer names = {0};
    if (dict->kind != PICKLE_DICT)
        return bad_torch(r, "it holds %s, not a dict of tensors", pickle_kind_name(dict->kind));
    out->tensors = calloc(dict->items->count / 2 + 1, sizeof *out->tensors);
    rapt_code code = out->tensors ? RAPT_OK : torch_no_memory(r);
    for (size_t i = 0; i < dict->items->count && !code; i += 2)
        code = take_item(r, &dict->items->values[i], &dict->items->values[i + 1], out, &names);
    out->names = names.data;
    const char *name = names.data;
    for (size_t i = 0; i < out->count && !code; i++) {
        out->tensors[i].name = name;
        name += strlen(name) + 1;
    }
    return code;
}

static rapt_code read_archive(torch_reader *r, torch_file *out)
{
    const pickle_caller caller = {r, torch_find_name, torch_call, torch_look_up};
    const zip_entry *entry;
    pickle *p = NULL;
    pickle_value dict = {.kind = PICKLE_NONE};
    rapt_code code = find_pickle(r, &entry);
    if (!code)
        code = check_byte_order(r);
    if (!code)
        code = pickle_read(r->path, entry->data, entry->size, &caller, &p, &dict, r->err);
    if (!code)
        code = take_dict(r, &dict, out);
    pickle_free(p);
    return code;
}

rapt_code torch_file_read(torch_file *out, const char *path, const char *bytes, size_t size, rapt_error *err)
{
    rapt_error own = {0}; /* one that holds an earlier failure would hide ours */
    torch_reader r = {.path = path, .err = &own};
    *out = (torch_file){0};
    rapt_code code;
    if (torch_file_begins(bytes, size) && !zip_begins(bytes, size))
        code = bad_torch(&r, "the format of torch.save before version 1.6; in Python, torch.save(torch.load(PATH), PATH) renews "
                         "it");
    else
        code = zip_read(&r.zip, path, bytes, size, &own);
    if (!code)
        code = read_archive(&r, out);
    zip_free(&r.zip);
    free(r.storages);
    free(r.tensors);
    if (code)
        torch_file_free(out);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

void torch_file_free(torch_file *f)
{
    free(f->tensors);
    free(f->names);
    *f = (torch_file){0};
}
