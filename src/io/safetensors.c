/* io/safetensors.c: reads safetensors files: every value of the header is checked before it is used.
 * For model folders and checkpoints, ours and other programs'.
 * Not lazy: every byte is read, for the checksum. A file is mapped, so that a model is not in memory twice. */
#include "io/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/quote.h"

struct safetensors {
    const char *buffer;
    size_t size;
    file_map map;   /* `buffer` is the data of this, for a file that was opened, */
    char *taken;    /* or this, for one that was in memory */
    char *moved;    /* copies of tensors that are unaligned in the file, or NULL */
    bool in_place;  /* there must be none */
    json_t *header; /* owns all names and metadata */
    const json_t *metadata;
    safetensors_entry *entries;
    size_t count;
    bool header_checked; /* against its checksum */
};

typedef struct reader {
    const char *path;
    safetensors *s;
    size_t header_size;
    rapt_error *err;
} reader;

static rapt_code safetensors_out_of_memory(const reader *r)
{
    return rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for reading", r->path);
}

static rapt_code bad_byte(const reader *r, size_t at, const char *reason)
{
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: byte %zu: %s", r->path, at, quote(reason).text);
}

static rapt_code bad_tensor(const reader *r, const char *name, const char *reason)
{
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\": %s", r->path, quote(name).text, reason);
}

static const char *data_of(const reader *r)
{
    return r->s->buffer + 8 + r->header_size;
}

static size_t data_size(const reader *r)
{
    return r->s->size - 8 - r->header_size;
}

static rapt_code safetensors_read_header(reader *r)
{
    uint64_t length;
    safetensors *s = r->s;
    if (s->size < 8)
        return bad_byte(r, s->size, "the file ends before the 8 bytes of the header's length");
    memcpy(&length, s->buffer, sizeof length);
    if (length > SAFETENSORS_MAX_HEADER)
        return bad_byte(r, 0, "the header is longer than the format's 100 MB; no safetensors file?");
    if (length > s->size - 8)
        return bad_byte(r, s->size, "the file ends within the header; is it cut off?");
    r->header_size = (size_t)length;
    if (length == 0 || s->buffer[8] != '{')
        return bad_byte(r, 8, "the header does not start with {");
    json_error_t where;
    s->header = json_loadb(s->buffer + 8, r->header_size, JSON_REJECT_DUPLICATES, &where);
    if (!s->header && where.text[0] == '\0') /* jansson on out-of-memory */
        return safetensors_out_of_memory(r);
    return s->header ? RAPT_OK : bad_byte(r, 8 + (size_t)where.position, where.text);
}

static rapt_code read_metadata(const reader *r)
{
    safetensors *s = r->s;
    s->metadata = json_object_get(s->header, "__metadata__");
    if (s->metadata && !json_is_object(s->metadata))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: __metadata__ is not an object of texts", r->path);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)s->metadata, key, value)
        if (!json_is_string(value))
            return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: metadata \"%s\" is not a text", r->path,
                             quote(key).text);
    return RAPT_OK;
}

static bool read_size(const json_t *number, size_t *out)
{
    if (!json_is_integer(number) || json_integer_value(number) < 0)
        return false;
    *out = (size_t)json_integer_value(number);
    return true;
}

static rapt_code read_dtype(const reader *r, safetensors_entry *e, const json_t *info)
{
    const char *name = json_string_value(json_object_get(info, "dtype"));
    if (!name)
        return bad_tensor(r, e->name, "it has no dtype");
    for (int d = SAFETENSORS_F32; safetensors_dtype_name((safetensors_dtype)d); d++)
        if (strcmp(name, safetensors_dtype_name((safetensors_dtype)d)) == 0) {
            e->dtype = (safetensors_dtype)d;
            return RAPT_OK;
        }
#define DTYPE_IN_LIST(id, name, bytes) " " name
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\": dtype %s is not one of" SAFETENSORS_DTYPES(DTYPE_IN_LIST),
                     r->path, quote(e->name).text, quote(name).text);
#undef DTYPE_IN_LIST
}

static rapt_code read_shape(const reader *r, safetensors_entry *e, const json_t *info)
{
    const json_t *shape = json_object_get(info, "shape");
    if (!json_is_array(shape) || json_array_size(shape) > SAFETENSORS_MAX_DIMS)
        return bad_tensor(r, e->name, "its shape is not a list of at most 8 sizes");
    e->ndim = (int)json_array_size(shape);
    for (int i = 0; i < e->ndim; i++)
        if (!read_size(json_array_get(shape, (size_t)i), &e->shape[i]))
            return bad_tensor(r, e->name, "its shape has something other than a whole number from 0");
    if (!safetensors_shape_bytes(e->shape, e->ndim, e->dtype, &e->bytes))
        return bad_tensor(r, e->name, "the product of its shape overflows");
    return RAPT_OK;
}

static rapt_code read_offsets(const reader *r, safetensors_entry *e, const json_t *info)
{
    const json_t *pair = json_object_get(info, "data_offsets");
    size_t begin, end;
    if (json_array_size(pair) != 2 || !read_size(json_array_get(pair, 0), &begin) ||
        !read_size(json_array_get(pair, 1), &end))
        return bad_tensor(r, e->name, "its data_offsets are not two whole numbers from 0");
    if (end < begin || end - begin != e->bytes)
        return rapt_fail(r->err, RAPT_ERR_FORMAT,
                         "%s: tensor \"%s\": data_offsets are %zu to %zu, but the shape needs %zu bytes",
                         r->path, quote(e->name).text, begin, end, e->bytes);
    if (end > data_size(r))
        return rapt_fail(r->err, RAPT_ERR_FORMAT,
                         "%s: byte %zu: the file ends before byte %zu, where tensor \"%s\" ends", r->path,
                         r->s->size, 8 + r->header_size + end, quote(e->name).text);
    e->data = data_of(r) + begin;
    return RAPT_OK;
}

static rapt_code read_entry(const reader *r, safetensors_entry *e, const json_t *info)
{
    if (!json_is_object(info))
        return bad_tensor(r, e->name, "it is not an object");
    rapt_code code = read_dtype(r, e, info);
    if (code == RAPT_OK)
        code = read_shape(r, e, info);
    return code == RAPT_OK ? read_offsets(r, e, info) : code;
}

static rapt_code read_entries(const reader *r)
{
    safetensors *s = r->s;
    s->entries = calloc(json_object_size(s->header) + 1, sizeof *s->entries);
    if (!s->entries)
        return safetensors_out_of_memory(r);
    const char *name;
    json_t *info;
    json_object_foreach(s->header, name, info) {
        if (info == s->metadata)
            continue;
        safetensors_entry *e = &s->entries[s->count];
        e->name = name;
        rapt_code code = read_entry(r, e, info);
        if (code != RAPT_OK)
            return code;
        s->count++;
    }
    return RAPT_OK;
}

static int by_position(const void *left, const void *right)
{
    const safetensors_entry *a = *(const safetensors_entry *const *)left;
    const safetensors_entry *b = *(const safetensors_entry *const *)right;
    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    /* an empty tensor comes before the tensor that starts at its position */
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* The tensors, sorted by position, must follow each other and fill the data section. */
static rapt_code check_positions(const reader *r, const safetensors_entry **sorted)
{
    const safetensors *s = r->s;
    const char *end = data_of(r);
    for (size_t i = 0; i < s->count; i++)
        sorted[i] = &s->entries[i];
    qsort(sorted, s->count, sizeof *sorted, by_position);
    for (size_t i = 0; i < s->count; i++) {
        const char *begin = sorted[i]->data;
        if (begin != end)
            return bad_tensor(r, sorted[i]->name,
                              begin < end ? "it overlaps another tensor" : "there is a hole before it");
        end = begin + sorted[i]->bytes;
    }
    if (end == s->buffer + s->size)
        return RAPT_OK;
    return bad_byte(r, (size_t)(end - s->buffer), "data that belongs to no tensor follows");
}

static rapt_code check_layout(const reader *r)
{
    const safetensors_entry **sorted = calloc(r->s->count + 1, sizeof *sorted);
    if (!sorted)
        return safetensors_out_of_memory(r);
    rapt_code code = check_positions(r, sorted);
    free(sorted);
    return code;
}

static rapt_code compare_hash(const reader *r, const char *key, const char *of, const void *data, size_t size)
{
    char digits[SAFETENSORS_HASH_DIGITS + 1];
    const char *wanted = safetensors_metadata(r->s, key);
    safetensors_hash(data, size, digits);
    if (strcmp(digits, wanted) == 0)
        return RAPT_OK;
    return rapt_fail(r->err, RAPT_ERR_FORMAT,
                     "%s: the file is damaged: the checksum of its %s is %s, and should be %s", r->path, of,
                     digits, quote(wanted).text);
}

/* The checksum is computed over the header with the checksum's own digits as zeros, hence the copy. The digits are found only in
 * the layout of rapt's writer; a header that another program reformatted is not checked. */
static rapt_code check_header_hash(const reader *r)
{
    char *header = malloc(r->header_size);
    if (!header)
        return safetensors_out_of_memory(r);
    memcpy(header, r->s->buffer + 8, r->header_size);
    char *digits = safetensors_hash_at(header, r->header_size, SAFETENSORS_HEADER_HASH_KEY);
    rapt_code code = RAPT_OK;
    if (digits && safetensors_metadata(r->s, SAFETENSORS_HEADER_HASH_KEY)) {
        memset(digits, '0', SAFETENSORS_HASH_DIGITS);
        code = compare_hash(r, SAFETENSORS_HEADER_HASH_KEY, "header", header, r->header_size);
        r->s->header_checked = code == RAPT_OK;
    }
    free(header);
    return code;
}

static rapt_code check_hashes(const reader *r)
{
    rapt_code code = check_header_hash(r);
    if (code == RAPT_OK && safetensors_metadata(r->s, SAFETENSORS_HASH_KEY))
        code = compare_hash(r, SAFETENSORS_HASH_KEY, "data", data_of(r), data_size(r));
    return code;
}

/* Other writers may leave the header unpadded or put narrow tensors first. Such files get a second copy of
 * the data with every tensor at a multiple of 8. */
static rapt_code align_data(const reader *r)
{
    safetensors *s = r->s;
    size_t i = 0;
    while (i < s->count && (uintptr_t)s->entries[i].data % safetensors_dtype_bytes(s->entries[i].dtype) == 0)
        i++;
    if (i == s->count)
        return RAPT_OK;
    char *place = s->moved = malloc(data_size(r) + 8 * s->count);
    if (!place)
        return safetensors_out_of_memory(r);
    for (i = 0; i < s->count; i++) {
        safetensors_entry *e = &s->entries[i];
        e->data = memcpy(place, e->data, e->bytes);
        place += (e->bytes + 7) / 8 * 8;
    }
    return RAPT_OK;
}

static rapt_code safetensors_read_all(reader *r)
{
    rapt_code code = safetensors_read_header(r);
    if (code == RAPT_OK)
        code = read_metadata(r);
    if (code == RAPT_OK)
        code = read_entries(r);
    if (code == RAPT_OK)
        code = check_layout(r);
    if (code == RAPT_OK)
        code = check_hashes(r);
    return code == RAPT_OK && !r->s->in_place ? align_data(r) : code;
}

/* Takes ownership of `s`, whose buffer is set. */
static rapt_code read_from(safetensors *s, const char *name, safetensors **out, rapt_error *err)
{
    reader r = {name, s, 0, err};
    rapt_code code = safetensors_read_all(&r);
    if (code == RAPT_OK)
        *out = s;
    else
        safetensors_close(s);
    return code;
}

rapt_code safetensors_parse(const char *name, char *data, size_t size, safetensors **out, rapt_error *err)
{
    *out = NULL;
    safetensors *s = calloc(1, sizeof *s);
    if (!s) {
        free(data);
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for reading", name);
    }
    s->buffer = s->taken = data;
    s->size = size;
    return read_from(s, name, out, err);
}

static rapt_code open_and_map(const char *path, bool in_place, safetensors **out, rapt_error *err)
{
    *out = NULL;
    safetensors *s = calloc(1, sizeof *s);
    if (!s)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for reading", path);
    rapt_code code = file_map_open(&s->map, path, err);
    if (code) {
        free(s);
        return code;
    }
    s->in_place = in_place;
    s->buffer = s->map.data;
    s->size = s->map.size;
    return read_from(s, path, out, err);
}

rapt_code safetensors_open(const char *path, safetensors **out, rapt_error *err)
{
    return open_and_map(path, false, out, err);
}

const file_map *safetensors_map(const safetensors *s)
{
    return &s->map;
}

rapt_code safetensors_open_in_place(const char *path, safetensors **out, rapt_error *err)
{
    return open_and_map(path, true, out, err);
}

size_t safetensors_count(const safetensors *s)
{
    return s->count;
}

const safetensors_entry *safetensors_at(const safetensors *s, size_t i)
{
    return &s->entries[i];
}

const safetensors_entry *safetensors_find(const safetensors *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->entries[i].name, name) == 0)
            return &s->entries[i];
    return NULL;
}

size_t safetensors_bytes(const safetensors *s)
{
    return s->size;
}

const char *safetensors_metadata(const safetensors *s, const char *key)
{
    return json_string_value(json_object_get(s->metadata, key));
}

bool safetensors_is_checked(const safetensors *s)
{
    return s->header_checked && safetensors_metadata(s, SAFETENSORS_HASH_KEY);
}

void safetensors_close(safetensors *s)
{
    if (!s)
        return;
    json_decref(s->header);
    free(s->entries);
    free(s->moved);
    free(s->taken);
    file_map_close(&s->map);
    free(s);
}
