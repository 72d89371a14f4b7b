/* text/gguf/gguf_file.c: opens GGUF files. Every number of the file is checked before it is used. gguf_types.c has the types. */
#include "text/gguf/gguf_file.h"

#include "base/disk.h"
#include "base/quote.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "GGUF"
enum {
    HEADER = 24,     /* bytes */
    LEAST_VALUE = 13, /* bytes of one: an empty key, a type, a byte */
    LEAST_TENSOR = 32, /* bytes of a tensor's description: an empty name, a dimension, a type, a place */
    DEFAULT_ALIGNMENT = 32,
    MOST_ALIGNMENT = 1 << 16
};

/* The part of the file that is not read yet. */
typedef struct gguf_reading {
    gguf_file *f;
    size_t at;
    rapt_error *err;
} gguf_reading;

RAPT_PRINTF(2, 3)
static rapt_code gguf_bad(const gguf_reading *r, const char *format, ...)
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s", r->f->path, reason);
}

static rapt_code gguf_no_memory(const gguf_reading *r)
{
    return rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for a GGUF file", r->f->path);
}

/* The beginning of a text of the file, for a message. */
static quoted gguf_quote(const gguf_text *text)
{
    char begin[sizeof(quoted) + 1];
    const size_t size = text->size < sizeof begin - 1 ? text->size : sizeof begin - 1;
    memcpy(begin, text->data, size);
    begin[size] = '\0';
    for (size_t i = 0; i < size; i++)
        if (begin[i] == '\0')
            begin[i] = '?';
    return quote(begin);
}

static size_t gguf_left(const gguf_reading *r)
{
    return r->f->map.size - r->at;
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static rapt_code gguf_take(gguf_reading *r, void *to, size_t size, const char *what)
{
    if (size > gguf_left(r))
        return gguf_bad(r, "byte %zu: the file ends within %s", r->at, what);
    memcpy(to, r->f->map.data + r->at, size);
    r->at += size;
    return RAPT_OK;
}

static rapt_code gguf_take_text(gguf_reading *r, gguf_text *text, const char *what)
{
    uint64_t size = 0;
    const size_t at = r->at;
    rapt_code code = gguf_take(r, &size, sizeof size, what);
    if (code)
        return code;
    if (size > gguf_left(r))
        return gguf_bad(r, "byte %zu: %s of %" PRIu64 " bytes; %zu are left", at, what, size, gguf_left(r));
    *text = (gguf_text){r->f->map.data + r->at, (size_t)size};
    r->at += (size_t)size;
    return RAPT_OK;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Bytes of a value; for texts, bytes of the length. */
static size_t gguf_value_bytes(gguf_type type)
{
    static const unsigned char bytes[GGUF_TYPES] = {
        [GGUF_U8] = 1,  [GGUF_I8] = 1,  [GGUF_U16] = 2,  [GGUF_I16] = 2, [GGUF_U32] = 4, [GGUF_I32] = 4,
        [GGUF_F32] = 4, [GGUF_BOOL] = 1, [GGUF_TEXT] = 8, [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8};
    return bytes[type];
}

static rapt_code gguf_take_type(gguf_reading *r, gguf_value *v)
{
    uint32_t type = 0, of = 0;
    uint64_t count = 1;
    rapt_code code = gguf_take(r, &type, sizeof type, "a type");
    v->is_array = !code && type == GGUF_ARRAY;
    if (v->is_array) {
        code = gguf_take(r, &of, sizeof of, "an array's type");
        code = code ? code : gguf_take(r, &count, sizeof count, "an array's count");
        if (!code && of == GGUF_ARRAY)
            return gguf_bad(r, "\"%s\" is an array of arrays, which rapt does not read", gguf_quote(&v->key).text);
        type = of;
    }
    if (!code && type >= GGUF_TYPES)
        return gguf_bad(r, "\"%s\" has the type %" PRIu32 ", which is none of GGUF's", gguf_quote(&v->key).text, type);
    if (code)
        return code;
    v->type = (gguf_type)type;
    if (count > gguf_left(r) / gguf_value_bytes(v->type))
        return gguf_bad(r, "\"%s\" has %" PRIu64 " elements; %zu bytes are left", gguf_quote(&v->key).text, count, gguf_left(r));
    v->count = (size_t)count;
    v->data = r->f->map.data + r->at;
    return RAPT_OK;
}

static rapt_code gguf_skip_texts(gguf_reading *r, const gguf_value *v)
{
    gguf_text text;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < v->count && !code; i++)
        code = gguf_take_text(r, &text, "a text");
    return code;
}

static rapt_code gguf_take_value(gguf_reading *r, gguf_value *v)
{
    rapt_code code = gguf_take_text(r, &v->key, "a key");
    code = code ? code : gguf_take_type(r, v);
    if (code || v->type == GGUF_TEXT)
        return code ? code : gguf_skip_texts(r, v);
    for (size_t i = 0; v->type == GGUF_BOOL && i < v->count; i++)
        if ((unsigned char)v->data[i] > 1)
            return gguf_bad(r, "\"%s\" is neither false nor true", gguf_quote(&v->key).text);
    r->at += v->count * gguf_value_bytes(v->type);
    return RAPT_OK;
}

static int gguf_compare_texts(const gguf_text *a, const gguf_text *b)
{
    const size_t size = a->size < b->size ? a->size : b->size;
    const int order = size ? memcmp(a->data, b->data, size) : 0;
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

static int gguf_by_key(const void *left, const void *right)
{
    const gguf_value *a = *(const gguf_value *const *)left, *b = *(const gguf_value *const *)right;
    return gguf_compare_texts(&a->key, &b->key);
}

static rapt_code gguf_sort_values(const gguf_reading *r)
{
    gguf_file *f = r->f;
    for (size_t i = 0; i < f->value_count; i++)
        f->by_key[i] = &f->values[i];
    if (f->value_count)
        qsort(f->by_key, f->value_count, sizeof *f->by_key, gguf_by_key);
    for (size_t i = 1; i < f->value_count; i++)
        if (gguf_by_key(&f->by_key[i - 1], &f->by_key[i]) == 0)
            return gguf_bad(r, "\"%s\" comes twice", gguf_quote(&f->by_key[i]->key).text);
    return RAPT_OK;
}

static rapt_code gguf_take_values(gguf_reading *r, uint64_t count)
{
    gguf_file *f = r->f;
    if (count > gguf_left(r) / LEAST_VALUE)
        return gguf_bad(r, "%" PRIu64 " values; %zu bytes are left", count, gguf_left(r));
    f->values = calloc((size_t)count + 1, sizeof *f->values);
    f->by_key = calloc((size_t)count + 1, sizeof *f->by_key);
    if (!f->values || !f->by_key)
        return gguf_no_memory(r);
    rapt_code code = RAPT_OK;
    for (; !code && f->value_count < count; f->value_count += !code)
        code = gguf_take_value(r, &f->values[f->value_count]);
    return code ? code : gguf_sort_values(r);
}

/* Checks the values that describe the file itself. */
static rapt_code gguf_check_values(const gguf_reading *r)
{
    gguf_file *f = r->f;
    const gguf_value *alignment = gguf_find(f, "general.alignment"), *split = gguf_find(f, "split.count");
    int64_t bytes = DEFAULT_ALIGNMENT, files = 1;
    if (alignment && (alignment->is_array || alignment->type != GGUF_U32 || !gguf_whole(alignment, 0, &bytes)))
        return gguf_bad(r, "\"general.alignment\" is no u32");
    if (bytes < 1 || bytes > MOST_ALIGNMENT || (bytes & (bytes - 1)) != 0)
        return gguf_bad(r, "\"general.alignment\" is %" PRId64 "; it must be a power of two, at most %d", bytes, MOST_ALIGNMENT);
    if (split && !split->is_array && gguf_whole(split, 0, &files) && files > 1)
        return gguf_bad(r, "one of %" PRId64 " files of a model, which rapt does not read; `llama-gguf-split --merge` makes one "
                        "file of them", files);
    f->alignment = (size_t)bytes;
    return RAPT_OK;
}

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

static rapt_code gguf_take_name(gguf_reading *r, gguf_tensor *t)
{
    gguf_text name = {"", 0};
    rapt_code code = gguf_take_text(r, &name, "a tensor's name");
    if (code)
        return code;
    if (name.size == 0 || name.size >= GGUF_NAME || memchr(name.data, '\0', name.size))
        return gguf_bad(r, "a tensor's name, \"%s\", is not of 1 to %d bytes", gguf_quote(&name).text, GGUF_NAME - 1);
    memcpy(t->name, name.data, name.size); /* the NUL is there */
    return RAPT_OK;
}

static rapt_code gguf_take_shape(gguf_reading *r, gguf_tensor *t)
{
    uint32_t count = 0;
    uint64_t size = 0;
    rapt_code code = gguf_take(r, &count, sizeof count, "a tensor's dimensions");
    if (!code && (count < 1 || count > GGUF_DIMS))
        return gguf_bad(r, "tensor \"%s\" has %" PRIu32 " dimensions; GGUF has 1 to %d", quote(t->name).text, count, GGUF_DIMS);
    t->ndim = code ? 0 : (int)count;
    t->elements = 1;
    for (int i = t->ndim; !code && i-- > 0;) {
        code = gguf_take(r, &size, sizeof size, "a tensor's dimensions");
        if (!code && (size == 0 || size > INT64_MAX / t->elements))
            return gguf_bad(r, "tensor \"%s\" has a dimension of %" PRIu64 "%s", quote(t->name).text, size,
                            size ? ", and too many elements" : "");
        t->shape[i] = code ? 0 : (size_t)size;
        t->elements *= t->shape[i];
    }
    return code;
}

/* Sets the bytes; rows are whole blocks. */
static rapt_code gguf_take_tensor_type(gguf_reading *r, gguf_tensor *t)
{
    uint32_t type = 0;
    rapt_code code = gguf_take(r, &type, sizeof type, "a tensor's type");
    if (code)
        return code;
    t->type = type <= INT32_MAX ? (int)type : -1;
    t->blocks = blocks_of_id(t->type);
    const size_t of = t->blocks ? t->blocks->elements : 1, bytes = t->blocks ? t->blocks->bytes : gguf_plain_bytes(t->type);
    const char *name = gguf_type_name(t->type);
    if (bytes == 0)
        return gguf_bad(r, "tensor \"%s\" is of type %s (%" PRIu32 "); rapt reads F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, "
                        "Q4_K, Q5_K and Q6_K", quote(t->name).text, name ? name : "unknown", type);
    if (t->shape[t->ndim - 1] % of != 0)
        return gguf_bad(r, "tensor \"%s\" has rows of %zu elements, which are no whole blocks of %s, %zu each",
                        quote(t->name).text, t->shape[t->ndim - 1], name, of);
    if (t->elements / of > (size_t)INT64_MAX / bytes)
        return gguf_bad(r, "tensor \"%s\" has too many elements", quote(t->name).text);
    t->bytes = t->elements / of * bytes;
    return RAPT_OK;
}

/* `data` is an offset until gguf_place_tensors; it must be the offset in a file without holes. */
static rapt_code gguf_take_tensor(gguf_reading *r, gguf_tensor *t, size_t *offset)
{
    uint64_t said = 0;
    rapt_code code = gguf_take_name(r, t);
    code = code ? code : gguf_take_shape(r, t);
    code = code ? code : gguf_take_tensor_type(r, t);
    code = code ? code : gguf_take(r, &said, sizeof said, "a tensor's place");
    if (code)
        return code;
    if (said != *offset)
        return gguf_bad(r, "tensor \"%s\" begins at byte %" PRIu64 " of the data; the one before it and the alignment of %zu "
                        "bytes make that %zu", quote(t->name).text, said, r->f->alignment, *offset);
    const size_t room = r->f->map.size - *offset; /* too large, because the part that was read so far also takes space; the end of
                                                     the file is checked later */
    if (t->bytes > room)
        return gguf_bad(r, "tensor \"%s\" has %zu bytes; the file ends before", quote(t->name).text, t->bytes);
    *offset += t->bytes;
    *offset += (r->f->alignment - *offset % r->f->alignment) % r->f->alignment;
    return *offset <= r->f->map.size + r->f->alignment ? RAPT_OK : gguf_bad(r, "the file ends within its tensors");
}

static int gguf_by_name(const void *left, const void *right)
{
    const gguf_tensor *a = *(const gguf_tensor *const *)left, *b = *(const gguf_tensor *const *)right;
    return strcmp(a->name, b->name);
}

static rapt_code gguf_check_names(const gguf_reading *r)
{
    const gguf_file *f = r->f;
    const gguf_tensor **sorted = malloc((f->tensor_count + 1) * sizeof *sorted);
    rapt_code code = sorted ? RAPT_OK : gguf_no_memory(r);
    for (size_t i = 0; !code && i < f->tensor_count; i++)
        sorted[i] = &f->tensors[i];
    if (!code && f->tensor_count)
        qsort(sorted, f->tensor_count, sizeof *sorted, gguf_by_name);
    for (size_t i = 1; !code && i < f->tensor_count; i++)
        if (gguf_by_name(&sorted[i - 1], &sorted[i]) == 0)
            code = gguf_bad(r, "tensor \"%s\" comes twice", quote(sorted[i]->name).text);
    free(sorted);
    return code;
}

/* The data begins at the next multiple of the alignment. */
static rapt_code gguf_place_tensors(const gguf_reading *r)
{
    gguf_file *f = r->f;
    const size_t mask = f->alignment - 1;
    size_t at = (r->at + mask) & ~mask;
    for (size_t i = 0; i < f->tensor_count; i++) {
        gguf_tensor *t = &f->tensors[i];
        if (at > f->map.size || t->bytes > f->map.size - at)
            return gguf_bad(r, "tensor \"%s\" has %zu bytes from byte %zu on; the file has %zu", quote(t->name).text, t->bytes,
                            at, f->map.size);
        t->data = f->map.data + at;
        at = (at + t->bytes + mask) & ~mask;
    }
    return RAPT_OK;
}

static rapt_code gguf_take_tensors(gguf_reading *r, uint64_t count)
{
    gguf_file *f = r->f;
    size_t offset = 0;
    if (count > gguf_left(r) / LEAST_TENSOR)
        return gguf_bad(r, "%" PRIu64 " tensors; %zu bytes are left", count, gguf_left(r));
    f->tensors = calloc((size_t)count + 1, sizeof *f->tensors);
    if (!f->tensors)
        return gguf_no_memory(r);
    rapt_code code = RAPT_OK;
    for (; !code && f->tensor_count < count; f->tensor_count += !code)
        code = gguf_take_tensor(r, &f->tensors[f->tensor_count], &offset);
    code = code ? code : gguf_check_names(r);
    return code ? code : gguf_place_tensors(r);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static rapt_code gguf_check_version(const gguf_reading *r, uint32_t version)
{
    if (version == 2 || version == 3)
        return RAPT_OK;
    if ((version & 0xFFFF) == 0 && version != 0)
        return gguf_bad(r, "a big-endian GGUF file; rapt reads little-endian ones");
    return gguf_bad(r, "GGUF of version %" PRIu32 "; rapt reads versions 2 and 3", version);
}

static rapt_code gguf_read(gguf_reading *r)
{
    uint32_t version = 0;
    uint64_t tensors = 0, values = 0;
    if (!gguf_begins(r->f->map.data, r->f->map.size))
        return gguf_bad(r, "not a GGUF file%s", r->f->map.size == 0 ? "; it is empty" : "");
    if (r->f->map.size < HEADER)
        return gguf_bad(r, "byte %zu: the file ends within its header", r->f->map.size);
    r->at = strlen(MAGIC);
    rapt_code code = gguf_take(r, &version, sizeof version, "its header");
    code = code ? code : gguf_check_version(r, version);
    code = code ? code : gguf_take(r, &tensors, sizeof tensors, "its header");
    code = code ? code : gguf_take(r, &values, sizeof values, "its header");
    code = code ? code : gguf_take_values(r, values);
    code = code ? code : gguf_check_values(r);
    return code ? code : gguf_take_tensors(r, tensors);
}

bool gguf_begins(const char *bytes, size_t size)
{
    return size >= strlen(MAGIC) && memcmp(bytes, MAGIC, strlen(MAGIC)) == 0;
}

bool gguf_is_file(const char *path)
{
    disk_entry info;
    file_map map;
    if (!disk_is_file(path, &info) || file_map_open(&map, path, NULL))
        return false;
    const bool is = gguf_begins(map.data, map.size);
    file_map_close(&map);
    return is;
}

rapt_code gguf_open(const char *path, gguf_file **out, rapt_error *err)
{
    *out = NULL;
    gguf_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = file_join("", path))) {
        free(f);
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a GGUF file", path);
    }
    gguf_reading r = {.f = f, .err = err};
    rapt_code code = file_map_open(&f->map, path, err);
    code = code ? code : gguf_read(&r);
    if (code)
        gguf_close(f);
    else
        *out = f;
    return code;
}

void gguf_close(gguf_file *f)
{
    if (!f)
        return;
    file_map_close(&f->map);
    free(f->values);
    free(f->by_key);
    free(f->tensors);
    free(f->path);
    free(f);
}

const gguf_value *gguf_find(const gguf_file *f, const char *key)
{
    const gguf_text wanted = {key, strlen(key)};
    size_t low = 0, high = f->value_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = gguf_compare_texts(&wanted, &f->by_key[middle]->key);
        if (order == 0)
            return f->by_key[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const gguf_tensor *gguf_find_tensor(const gguf_file *f, const char *name)
{
    for (size_t i = 0; i < f->tensor_count; i++)
        if (strcmp(f->tensors[i].name, name) == 0)
            return &f->tensors[i];
    return NULL;
}
