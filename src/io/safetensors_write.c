/* io/safetensors_write.c: writes named tensors as a safetensors file. For model folders and checkpoints. The data are read once,
 * in portions. Their checksum is in the header, so the header is written again at the end. At most one portion is copied,
 * whatever the size of the file. */
#include "io/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/quote.h"
#include "text/json_text.h"
#include "text/utf8.h"

#define MAX_FILE FILE_GIB(1024) /* bytes: sums of sizes cannot overflow */

typedef struct writer {
    const char *path;
    const safetensors_entry *entries;
    size_t count;
    const safetensors_source *source; /* source of entries without data, or NULL */
    size_t *offsets; /* offset of each entry, from the start of the data section */
    size_t *order;   /* indices of the entries in the order of the file */
    size_t data_bytes;
    char *portion;      /* memory for a portion of the source; NULL: there is no source */
    XXH3_state_t *hash; /* of the data */
    file_writer out;
    rapt_error *err;
} writer;

static const char no_digits[] = "0000000000000000";

static rapt_code safetensors_write_out_of_memory(const writer *w)
{
    return rapt_fail(w->err, RAPT_ERR_MEMORY, "%s: out of memory for writing", w->path);
}

static rapt_code bad_entry(const writer *w, const safetensors_entry *e, const char *reason)
{
    return rapt_fail(w->err, RAPT_ERR_VALUE, "%s: tensor \"%s\": %s", w->path, quote(e->name).text, reason);
}

static rapt_code bad_metadata(const writer *w, const char *key, const char *reason)
{
    return rapt_fail(w->err, RAPT_ERR_VALUE, "%s: metadata \"%s\": %s", w->path, quote(key).text, reason);
}

static bool is_utf8(const char *text)
{
    size_t size = strlen(text);
    return utf8_valid_prefix(text, size) == size;
}

static rapt_code check_entry(const writer *w, const safetensors_entry *e)
{
    size_t bytes;
    if (!e->name)
        return rapt_fail(w->err, RAPT_ERR_VALUE, "%s: a tensor has no name", w->path);
    if (!is_utf8(e->name))
        return bad_entry(w, e, "the name is not UTF-8");
    if (!safetensors_dtype_name(e->dtype))
        return bad_entry(w, e, "its element type is unknown");
    if (e->ndim < 0 || e->ndim > SAFETENSORS_MAX_DIMS)
        return bad_entry(w, e, "its number of dimensions is not 0 to 8");
    if (!safetensors_shape_bytes(e->shape, e->ndim, e->dtype, &bytes) || bytes != e->bytes)
        return bad_entry(w, e, "its bytes are not those of its shape");
    if (!e->data && e->bytes > 0 && !w->source)
        return bad_entry(w, e, "it has no data");
    return RAPT_OK;
}

/* The format forbids holes, so alignment comes from the order: 8-byte elements first, then 4, then 1. */
static rapt_code safetensors_write_lay_out(writer *w)
{
    size_t end = 0, placed = 0;
    for (size_t width = 8; width >= 1; width /= 2)
        for (size_t i = 0; i < w->count; i++) {
            const safetensors_entry *e = &w->entries[i];
            if (safetensors_dtype_bytes(e->dtype) != width)
                continue;
            w->offsets[i] = end;
            w->order[placed++] = i;
            if (__builtin_add_overflow(end, e->bytes, &end) || end > MAX_FILE)
                return bad_entry(w, e, "the tensors up to here are too large for one file");
        }
    w->data_bytes = end;
    return RAPT_OK;
}

/* Adds `value` (takes ownership) under a key that must be new. */
static rapt_code put_new(const writer *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key)) {
        json_decref(value);
        return rapt_fail(w->err, RAPT_ERR_VALUE, "%s: the name \"%s\" is reserved or comes twice", w->path,
                         quote(key).text);
    }
    return json_object_set_new(object, key, value) == 0 ? RAPT_OK : safetensors_write_out_of_memory(w);
}

static rapt_code put_metadata(const writer *w, json_t *root, const char *const *pairs)
{
    json_t *object = json_object();
    rapt_code code = put_new(w, root, "__metadata__", object);
    for (; code == RAPT_OK && pairs && pairs[0]; pairs += 2) {
        if (!pairs[1] || !is_utf8(pairs[0]) || !is_utf8(pairs[1]))
            code = bad_metadata(w, pairs[0], "key and value must be UTF-8 texts");
        else if (strcmp(pairs[0], SAFETENSORS_HASH_KEY) == 0 ||
                 strcmp(pairs[0], SAFETENSORS_HEADER_HASH_KEY) == 0)
            code = bad_metadata(w, pairs[0], "this key is reserved for the checksum");
        else
            code = put_new(w, object, pairs[0], json_string(pairs[1]));
    }
    if (code == RAPT_OK)
        code = put_new(w, object, SAFETENSORS_HASH_KEY, json_string(no_digits));
    if (code == RAPT_OK)
        code = put_new(w, object, SAFETENSORS_HEADER_HASH_KEY, json_string(no_digits));
    return code;
}

static rapt_code put_tensor(const writer *w, json_t *root, size_t i)
{
    const safetensors_entry *e = &w->entries[i];
    json_t *shape = json_array();
    for (int d = 0; d < e->ndim; d++)
        if (json_array_append_new(shape, json_integer((json_int_t)e->shape[d])) != 0) {
            json_decref(shape);
            return safetensors_write_out_of_memory(w);
        }
    json_int_t begin = (json_int_t)w->offsets[i], end = begin + (json_int_t)e->bytes;
    return put_new(w, root, e->name,
                   json_pack("{s:s, s:o, s:[I, I]}", "dtype", safetensors_dtype_name(e->dtype), "shape",
                             shape, "data_offsets", begin, end));
}

/* The header as text (to be freed), with zeros for the checksums. */
static rapt_code make_header(const writer *w, const char *const *metadata, char **text)
{
    json_t *root = json_object();
    rapt_code code = root ? put_metadata(w, root, metadata) : safetensors_write_out_of_memory(w);
    for (size_t i = 0; code == RAPT_OK && i < w->count; i++)
        code = put_tensor(w, root, i);
    *text = code == RAPT_OK ? json_text(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return code == RAPT_OK && !*text ? safetensors_write_out_of_memory(w) : code;
}

static void put_digits(char *header, size_t size, const char *key, const char *digits)
{
    memcpy(safetensors_hash_at(header, size, key), digits, SAFETENSORS_HASH_DIGITS);
}

/* The file up to the data, to be freed: spaces fill up the header, so that the data is aligned. */
static rapt_code make_start(const writer *w, const char *header, size_t header_size, char **start)
{
    uint64_t length = header_size;
    char *file = *start = malloc(8 + header_size);
    if (!file)
        return safetensors_write_out_of_memory(w);
    memcpy(file, &length, sizeof length);
    memset(file + 8, ' ', header_size);
    memcpy(file + 8, header, strlen(header));
    return RAPT_OK;
}

static rapt_code write_portion(writer *w, const void *data, size_t bytes)
{
    XXH3_64bits_update(w->hash, data, bytes);
    return file_writer_put(&w->out, data, bytes, w->err);
}

static rapt_code write_tensor(writer *w, size_t entry)
{
    const safetensors_entry *e = &w->entries[entry];
    rapt_code code = RAPT_OK;
    for (size_t at = 0, n; at < e->bytes && !code; at += n) {
        n = e->bytes - at < SAFETENSORS_PORTION ? e->bytes - at : SAFETENSORS_PORTION;
        const char *from = e->data ? (const char *)e->data + at : w->portion;
        if (!e->data)
            code = w->source->read(w->source->context, entry, at, w->portion, n, w->err);
        code = code ? code : write_portion(w, from, n);
    }
    return code;
}

/* The header comes twice: to keep its place, and with the checksums. */
static rapt_code write_parts(writer *w, char *start, size_t header_size)
{
    char digits[SAFETENSORS_HASH_DIGITS + 1];
    rapt_code code = file_writer_put(&w->out, start, 8 + header_size, w->err);
    for (size_t i = 0; i < w->count && !code; i++)
        code = write_tensor(w, w->order[i]);
    safetensors_digits(XXH3_64bits_digest(w->hash), digits);
    put_digits(start + 8, header_size, SAFETENSORS_HASH_KEY, digits);
    safetensors_hash(start + 8, header_size, digits);
    put_digits(start + 8, header_size, SAFETENSORS_HEADER_HASH_KEY, digits);
    code = code ? code : file_writer_rewind(&w->out, w->err);
    return code ? code : file_writer_put(&w->out, start, 8 + header_size, w->err);
}

static rapt_code safetensors_write_out(writer *w, char *start, size_t header_size)
{
    rapt_code code = file_writer_open(&w->out, w->path, w->err);
    if (code)
        return code;
    code = write_parts(w, start, header_size);
    if (!code)
        return file_writer_finish(&w->out, w->err);
    file_writer_discard(&w->out);
    return code;
}

static bool reserve_portion(writer *w)
{
    bool from_source = false;
    for (size_t i = 0; i < w->count; i++)
        from_source = from_source || (!w->entries[i].data && w->entries[i].bytes > 0);
    w->portion = from_source ? malloc(SAFETENSORS_PORTION) : NULL;
    return w->portion || !from_source;
}

static rapt_code safetensors_write_file(writer *w, const char *header)
{
    char *start = NULL;
    size_t header_size = (strlen(header) + 7) / 8 * 8;
    if (header_size > SAFETENSORS_MAX_HEADER)
        return rapt_fail(w->err, RAPT_ERR_VALUE, "%s: the header would have %zu bytes; the format allows %zu",
                         w->path, header_size, SAFETENSORS_MAX_HEADER);
    w->hash = XXH3_createState();
    rapt_code code = w->hash && reserve_portion(w) ? make_start(w, header, header_size, &start)
                                                   : safetensors_write_out_of_memory(w);
    if (!code)
        XXH3_64bits_reset(w->hash);
    if (!code)
        code = safetensors_write_out(w, start, header_size);
    XXH3_freeState(w->hash);
    free(w->portion);
    free(start);
    return code;
}

rapt_code safetensors_write_from(const char *path, const safetensors_entry *entries, size_t count,
                                 const char *const *metadata, const safetensors_source *source, rapt_error *err)
{
    writer w = {.path = path, .entries = entries, .count = count, .source = source, .err = err};
    w.offsets = calloc(count + 1, sizeof *w.offsets);
    w.order = calloc(count + 1, sizeof *w.order);
    rapt_code code = w.offsets && w.order ? RAPT_OK : safetensors_write_out_of_memory(&w);
    for (size_t i = 0; code == RAPT_OK && i < count; i++)
        code = check_entry(&w, &entries[i]);
    if (code == RAPT_OK)
        code = safetensors_write_lay_out(&w);
    char *header = NULL;
    if (code == RAPT_OK)
        code = make_header(&w, metadata, &header);
    if (code == RAPT_OK)
        code = safetensors_write_file(&w, header);
    free(header);
    free(w.offsets);
    free(w.order);
    return code;
}

rapt_code safetensors_write(const char *path, const safetensors_entry *entries, size_t count,
                            const char *const *metadata, rapt_error *err)
{
    return safetensors_write_from(path, entries, count, metadata, NULL, err);
}
