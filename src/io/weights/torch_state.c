/* io/weights/torch_state.c: reads the pickle of a dict of tensors as tensors in storages. The names that torch.save writes come
 * from torch/_utils.py and torch/serialization.py. Not for training checkpoints, whose dict holds more than tensors. */
#include "io/weights/torch_parts.h"

#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of a PICKLE_NAME; a storage type is STORAGE_TYPES plus its element type. */
enum { ORDERED_DICT, REBUILD_TENSOR, REBUILD_PARAMETER, STORAGE_TYPES };
/* The `size` of a PICKLE_HANDLE. */
enum { IS_STORAGE, IS_TENSOR };

enum { REBUILD_ARGUMENTS = 6 };

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

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

rapt_code torch_state_bad(const torch_state *s, const char *format, ...)
{
    char reason[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return rapt_fail(s->err, RAPT_ERR_FORMAT, "%s: %s", s->path, reason);
}

quoted torch_state_quote(const char *text, size_t size)
{
    char shown[101];
    snprintf(shown, sizeof shown, "%.*s", (int)(size < 100 ? size : 100), text);
    return quote(shown);
}

rapt_code torch_state_no_memory(const torch_state *s)
{
    return rapt_fail(s->err, RAPT_ERR_MEMORY, "%s: out of memory for its tensors", s->path);
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

/* The id: ("storage", its type, the key, the device, the number of elements), and None in the older format, once for views of
 * another storage. */
static rapt_code read_storage(const torch_state *s, const pickle_value *id, torch_storage *storage)
{
    const size_t count = s->older ? 6 : 5;
    const pickle_value *parts = id->kind == PICKLE_TUPLE && id->items->count == count ? id->items->values : NULL;
    if (!parts || parts[0].kind != PICKLE_TEXT || parts[0].size != 7 || memcmp(parts[0].text, "storage", 7) != 0 ||
        parts[1].kind != PICKLE_NAME || parts[1].integer < STORAGE_TYPES || parts[2].kind != PICKLE_TEXT ||
        parts[4].kind != PICKLE_INTEGER || parts[4].integer < 0 || (s->older && parts[5].kind != PICKLE_NONE))
        return torch_state_bad(s, "a storage is not described as torch.save describes it");
    *storage = (torch_storage){.key = parts[2].text, .key_size = parts[2].size, .elements = (size_t)parts[4].integer,
                               .dtype = (safetensors_dtype)(parts[1].integer - STORAGE_TYPES)};
    return RAPT_OK;
}

static rapt_code torch_look_up(void *context, const pickle_value *id, pickle_value *out, rapt_error *err)
{
    torch_state *s = context;
    (void)err; /* the same as the reader's */
    if (!ARRAY_RESERVE(&s->storages, &s->storage_capacity, s->storage_count + 1))
        return torch_state_no_memory(s);
    rapt_code code = read_storage(s, id, &s->storages[s->storage_count]);
    *out = (pickle_value){.kind = PICKLE_HANDLE, .size = IS_STORAGE, .integer = (int64_t)s->storage_count};
    s->storage_count += !code;
    return code;
}

bool torch_storage_holds(const torch_storage *s, size_t bytes)
{
    const size_t width = safetensors_dtype_bytes(s->dtype);
    return bytes % width == 0 && bytes / width == s->elements;
}

/* ---- tensors --------------------------------------------------------------------------------------------------------- */

/* Whether a value is a tuple of up to 8 whole numbers >= 0, which are written to `sizes`. */
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

/* Whether every element is within the storage, and there are no more elements than the storage has. */
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

/* Arguments: storage, place of the first element, shape, strides, and values for training only. */
static rapt_code read_tensor(const torch_state *s, const pickle_items *arguments, torch_tensor *tensor)
{
    const pickle_value *a = arguments->values;
    weights_tensor *t = &tensor->shown;
    int strides = 0;
    if (arguments->count < REBUILD_ARGUMENTS || a[0].kind != PICKLE_HANDLE || a[0].size != IS_STORAGE ||
        a[1].kind != PICKLE_INTEGER || a[1].integer < 0 || !read_sizes(&a[2], t->shape, &t->ndim) ||
        !read_sizes(&a[3], t->stride, &strides) || strides != t->ndim)
        return torch_state_bad(s, "tensor %zu is not described as torch.save describes it, with at most 8 sizes",
                               s->tensor_count);
    const torch_storage *storage = &s->storages[a[0].integer];
    tensor->storage = (size_t)a[0].integer;
    tensor->offset = (size_t)a[1].integer;
    t->dtype = storage->dtype;
    if (!safetensors_shape_bytes(t->shape, t->ndim, t->dtype, &t->bytes))
        return torch_state_bad(s, "the product of the shape of tensor %zu overflows", s->tensor_count);
    t->elements = t->bytes / safetensors_dtype_bytes(t->dtype);
    if (!fits_storage(t, tensor->offset, storage))
        return torch_state_bad(s, "tensor %zu does not fit into its storage of %zu elements", s->tensor_count,
                               storage->elements);
    t->row_major = weights_tensor_is_row_major(t);
    return RAPT_OK;
}

static rapt_code build_tensor(torch_state *s, const pickle_items *arguments, pickle_value *out)
{
    if (!ARRAY_RESERVE(&s->tensors, &s->tensor_capacity, s->tensor_count + 1))
        return torch_state_no_memory(s);
    s->tensors[s->tensor_count] = (torch_tensor){.shown = {.name = NULL}};
    rapt_code code = read_tensor(s, arguments, &s->tensors[s->tensor_count]);
    *out = (pickle_value){.kind = PICKLE_HANDLE, .size = IS_TENSOR, .integer = (int64_t)s->tensor_count};
    s->tensor_count += !code;
    return code;
}

/* A parameter is its tensor, whether it needs a gradient, and hooks. */
static rapt_code torch_call(void *context, const pickle_value *name, const pickle_items *arguments, pickle_value *out,
                            rapt_error *err)
{
    torch_state *s = context;
    (void)err; /* the same as the reader's */
    if (name->integer == REBUILD_TENSOR)
        return build_tensor(s, arguments, out);
    if (name->integer == ORDERED_DICT && arguments->count == 0) {
        out->kind = PICKLE_DICT;
        return RAPT_OK;
    }
    const pickle_value *first = arguments->count > 0 ? &arguments->values[0] : NULL;
    if (name->integer != REBUILD_PARAMETER || !first || first->kind != PICKLE_HANDLE || first->size != IS_TENSOR)
        return torch_state_bad(s, "the pickle calls %s with arguments that torch.save does not write",
                               name->integer == ORDERED_DICT ? "collections.OrderedDict"
                               : name->integer == REBUILD_PARAMETER ? "torch._utils._rebuild_parameter" : "a storage type");
    *out = *first;
    return RAPT_OK;
}

rapt_code torch_state_read(torch_state *s, const char *bytes, size_t size, size_t *at)
{
    const pickle_caller caller = {s, torch_find_name, torch_call, torch_look_up};
    return pickle_read(s->path, bytes, size, at, &caller, &s->pickle, &s->dict, s->err);
}

/* ---- the dict -------------------------------------------------------------------------------------------------------- */

/* Appends the name with a NUL; its place is set later, as the names move while they grow. */
static rapt_code take_name(const torch_state *s, const pickle_value *key, buffer *names)
{
    bool fine = buffer_append(names, key->text, key->size) && buffer_append(names, "", 1);
    return fine ? RAPT_OK : torch_state_no_memory(s);
}

/* One item of the dict. */
static rapt_code take_item(const torch_state *s, const pickle_value *key, const pickle_value *value, torch_file *out,
                           buffer *names)
{
    if (key->kind != PICKLE_TEXT)
        return torch_state_bad(s, "the dict has a key that is %s, not the name of a tensor", pickle_kind_name(key->kind));
    if (value->kind != PICKLE_HANDLE || value->size != IS_TENSOR)
        return torch_state_bad(s, "\"%s\" is %s, not a tensor; is this a checkpoint of a training run?",
                               torch_state_quote(key->text, key->size).text, pickle_kind_name(value->kind));
    const torch_tensor *tensor = &s->tensors[value->integer];
    weights_tensor *t = &out->tensors[out->count++];
    *t = tensor->shown;
    t->data = s->storages[tensor->storage].data + tensor->offset * safetensors_dtype_bytes(t->dtype);
    return take_name(s, key, names);
}

rapt_code torch_state_take(const torch_state *s, torch_file *out)
{
    const pickle_value *dict = &s->dict;
    buffer names = {0};
    if (dict->kind != PICKLE_DICT)
        return torch_state_bad(s, "it holds %s, not a dict of tensors", pickle_kind_name(dict->kind));
    out->tensors = calloc(dict->items->count / 2 + 1, sizeof *out->tensors);
    rapt_code code = out->tensors ? RAPT_OK : torch_state_no_memory(s);
    for (size_t i = 0; i < dict->items->count && !code; i += 2)
        code = take_item(s, &dict->items->values[i], &dict->items->values[i + 1], out, &names);
    out->names = names.data;
    const char *name = names.data;
    for (size_t i = 0; i < out->count && !code; i++) {
        out->tensors[i].name = name;
        name += strlen(name) + 1;
    }
    return code;
}

void torch_state_free(torch_state *s)
{
    pickle_free(s->pickle);
    free(s->storages);
    free(s->tensors);
    *s = (torch_state){.path = NULL};
}
