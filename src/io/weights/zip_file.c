/* io/weights/zip_file.c: the directory of a zip archive; every offset and count is checked before it is used. It neither reads
 * compressed data nor writes any. */
#include "io/weights/torch_parts.h"

#include "base/quote.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the records, without names and the like. */
enum { END_BYTES = 22, LOCATOR_BYTES = 20, END64_BYTES = 56, CENTRAL_BYTES = 46, LOCAL_BYTES = 30, MAX_COMMENT = 65535 };
enum { STORED = 0, ENCRYPTED = 1, EXTRA_64 = 1 };

typedef struct zip_reader {
    const char *path, *bytes;
    size_t size;      /* bytes of the archive */
    size_t directory; /* offset of the directory */
    rapt_error *err;
} zip_reader;

static uint16_t zip_u16(const char *at)
{
    uint16_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

static uint32_t zip_u32(const char *at)
{
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

static uint64_t zip_u64(const char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* Names are shown up to 60 bytes. */
static rapt_code bad_zip_entry(const zip_reader *r, const char *name, size_t name_size, const char *reason)
{
    char shown[61];
    size_t size = name_size < 60 ? name_size : 60;
    memcpy(shown, name, size);
    shown[size] = '\0';
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: entry \"%s\" of the zip archive %s", r->path, quote(shown).text, reason);
}

static rapt_code bad_archive(const zip_reader *r, const char *reason)
{
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s", r->path, reason);
}

bool zip_begins(const char *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

/* The record at the archive's end, after which only its comment follows; NULL if there is none. */
static const char *zip_find_end(const zip_reader *r)
{
    const size_t behind = END_BYTES + MAX_COMMENT, lowest = r->size > behind ? r->size - behind : 0;
    if (r->size < END_BYTES)
        return NULL;
    for (size_t at = r->size - END_BYTES + 1; at-- > lowest;) {
        const char *end = r->bytes + at;
        if (memcmp(end, "PK\5\6", 4) == 0 && at + END_BYTES + zip_u16(end + 20) == r->size)
            return end;
    }
    return NULL;
}

/* The record with 64-bit fields; NULL if the archive has none. */
static const char *find_end64(const zip_reader *r, const char *end)
{
    const char *locator = end - LOCATOR_BYTES;
    if (end - r->bytes < LOCATOR_BYTES || memcmp(locator, "PK\6\7", 4) != 0)
        return NULL;
    uint64_t at = zip_u64(locator + 8), last = (uint64_t)(locator - r->bytes);
    bool fits = last >= END64_BYTES && at <= last - END64_BYTES && memcmp(r->bytes + at, "PK\6\6", 4) == 0;
    return fits ? r->bytes + at : NULL;
}

/* Finds the directory, and its stated number of entries. */
static rapt_code find_directory(zip_reader *r, size_t *bytes, size_t *count)
{
    const char *end = zip_find_end(r);
    if (!end)
        return bad_archive(r, "not a zip archive, or truncated: its directory is missing");
    const char *end64 = find_end64(r, end);
    *count = end64 ? zip_u64(end64 + 32) : zip_u16(end + 10);
    *bytes = end64 ? zip_u64(end64 + 40) : zip_u32(end + 12);
    r->directory = end64 ? zip_u64(end64 + 48) : zip_u32(end + 16);
    const size_t last = (size_t)((end64 ? end64 : end) - r->bytes);
    if (*bytes > last || r->directory > last - *bytes)
        return bad_archive(r, "the directory of the zip archive lies beyond its end; is it cut off?");
    if (*count > *bytes / CENTRAL_BYTES)
        return bad_archive(r, "the zip archive says to have more entries than its directory can hold");
    return RAPT_OK;
}

/* Numbers that do not fit into 32 bits are in an extra field, in this order; the record then has all ones. */
static bool read_extra64(const char *extra, size_t size, uint64_t *values[3])
{
    while (size >= 4) {
        size_t bytes = zip_u16(extra + 2);
        if (bytes > size - 4)
            return false;
        const char *at = extra + 4, *end = at + bytes;
        for (int i = 0; zip_u16(extra) == EXTRA_64 && i < 3; i++)
            if (*values[i] == UINT32_MAX) {
                if (end - at < 8)
                    return false;
                *values[i] = zip_u64(at);
                at += 8;
            }
        size -= 4 + bytes;
        extra = end;
    }
    return true;
}

/* An entry begins with its own record, which repeats its name. */
static rapt_code locate_data(const zip_reader *r, zip_entry *e, uint64_t at, uint64_t size)
{
    const char *local = r->bytes + at;
    if (r->directory < LOCAL_BYTES || at > r->directory - LOCAL_BYTES || memcmp(local, "PK\3\4", 4) != 0)
        return bad_zip_entry(r, e->name, e->name_size, "has no header where the directory says");
    const size_t name_size = zip_u16(local + 26), before = LOCAL_BYTES + name_size + zip_u16(local + 28);
    if (before > r->directory - at || size > r->directory - at - before)
        return bad_zip_entry(r, e->name, e->name_size, "ends beyond the archive's data; is it cut off?");
    if (name_size != e->name_size || memcmp(local + LOCAL_BYTES, e->name, name_size) != 0)
        return bad_zip_entry(r, e->name, e->name_size, "has another name in its header");
    e->data = local + before;
    e->size = size;
    return RAPT_OK;
}

/* Reads the record at *at of `left` bytes, and moves past it. */
static rapt_code zip_read_entry(const zip_reader *r, zip_entry *e, const char **at, size_t *left)
{
    const char *record = *at;
    if (*left < CENTRAL_BYTES || memcmp(record, "PK\1\2", 4) != 0)
        return bad_archive(r, "the directory of the zip archive is damaged");
    e->name = record + CENTRAL_BYTES;
    e->name_size = zip_u16(record + 28);
    const size_t extra = zip_u16(record + 30), bytes = CENTRAL_BYTES + e->name_size + extra + zip_u16(record + 32);
    if (bytes > *left)
        return bad_archive(r, "the directory of the zip archive is damaged");
    uint64_t size = zip_u32(record + 24), stored = zip_u32(record + 20), local = zip_u32(record + 42);
    if (!read_extra64(e->name + e->name_size, extra, (uint64_t *[3]){&size, &stored, &local}))
        return bad_zip_entry(r, e->name, e->name_size, "has a damaged record");
    if (zip_u16(record + 8) & ENCRYPTED)
        return bad_zip_entry(r, e->name, e->name_size, "is encrypted");
    if (zip_u16(record + 10) != STORED || size != stored)
        return bad_zip_entry(r, e->name, e->name_size, "is compressed; torch.save stores tensors as they are");
    *at += bytes;
    *left -= bytes;
    return locate_data(r, e, local, size);
}

static int compare_names(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t common = a_size < b_size ? a_size : b_size;
    int order = common > 0 ? memcmp(a, b, common) : 0;
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_entry_name(const void *left, const void *right)
{
    const zip_entry *a = left, *b = right;
    return compare_names(a->name, a->name_size, b->name, b->name_size);
}

static rapt_code read_directory(const zip_reader *r, zip_file *z, size_t bytes, size_t count)
{
    const char *at = r->bytes + r->directory;
    rapt_code code = RAPT_OK;
    for (; z->count < count && !code; z->count += !code)
        code = zip_read_entry(r, &z->entries[z->count], &at, &bytes);
    if (code)
        return code;
    qsort(z->entries, z->count, sizeof *z->entries, by_entry_name);
    for (size_t i = 1; i < z->count; i++)
        if (by_entry_name(&z->entries[i - 1], &z->entries[i]) == 0)
            return bad_zip_entry(r, z->entries[i].name, z->entries[i].name_size, "comes twice");
    return RAPT_OK;
}

rapt_code zip_read(zip_file *z, const char *path, const char *bytes, size_t size, rapt_error *err)
{
    zip_reader r = {path, bytes, size, 0, err};
    size_t directory_bytes = 0, count = 0;
    *z = (zip_file){0};
    rapt_code code = find_directory(&r, &directory_bytes, &count);
    if (code)
        return code;
    z->entries = calloc(count + 1, sizeof *z->entries);
    code = z->entries ? read_directory(&r, z, directory_bytes, count)
                      : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the directory of a zip archive", path);
    if (code)
        zip_free(z);
    return code;
}

const zip_entry *zip_find(const zip_file *z, const char *name, size_t name_size)
{
    size_t low = 0, high = z->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const zip_entry *e = &z->entries[middle];
        int order = compare_names(name, name_size, e->name, e->name_size);
        if (order == 0)
            return e;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

void zip_free(zip_file *z)
{
    free(z->entries);
    *z = (zip_file){0};
}
