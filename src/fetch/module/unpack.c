/* fetch/module/unpack.c: unpacks with libarchive and computes the sum with nettle. */
#include "fetch/module/get_parts.h"

#include "base/ends.h"

#include <archive.h>
#include <archive_entry.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

enum { PORTION = 1 << 16 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void write_sum(struct sha256_ctx *context, char sum[SUM_TEXT])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(sum + 2 * i, 3, "%02x", digest[i]);
}

void sum_of(const void *data, size_t size, char sum[SUM_TEXT])
{
    struct sha256_ctx context;
    sha256_init(&context);
    if (size > 0)
        sha256_update(&context, size, data);
    write_sum(&context, sum);
}

static rapt_code unpack_fail(struct archive *a, const char *packed, rapt_error *err)
{
    const char *why = archive_error_string(a);
    return rapt_fail(err, RAPT_ERR_FORMAT, "cannot unpack %.200s: %.150s", packed, why ? why : "no reason given");
}

/* Moves to the wanted file: one of several in a zip, else the only one. */
static rapt_code unpack_find(struct archive *a, const char *packed, const char *name, rapt_error *err)
{
    struct archive_entry *entry;
    int status;
    while ((status = archive_read_next_header(a, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
        const char *path = archive_entry_pathname(entry);
        if (!name || (path && strcmp(last_part(path), name) == 0))
            return RAPT_OK;
    }
    if (status == ARCHIVE_EOF)
        return rapt_fail(err, RAPT_ERR_FORMAT, "cannot unpack %.200s: it holds no %s", packed, name ? name : "bytes");
    return unpack_fail(a, packed, err);
}

typedef struct output {
    file_writer *out;
    struct sha256_ctx sum;
    size_t size;
} output;

static rapt_code unpack_put(output *o, const fetch_request *r, const char *portion, size_t size, rapt_error *err)
{
    o->size += size;
    if (o->size > r->file->bytes)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%.200s does not hold %.60s, but something of more than its %zu bytes", r->url,
                         r->file->name, r->file->bytes);
    sha256_update(&o->sum, size, (const uint8_t *)portion);
    return file_writer_put(o->out, portion, size, err);
}

static rapt_code unpack_copy(struct archive *a, const char *packed, const fetch_request *r, output *o, rapt_error *err)
{
    char portion[PORTION];
    la_ssize_t size;
    rapt_code code = RAPT_OK;
    while (!code && (size = archive_read_data(a, portion, sizeof portion)) != 0)
        code = size < 0 ? unpack_fail(a, packed, err) : unpack_put(o, r, portion, (size_t)size, err);
    return code;
}

rapt_code unpack(const char *packed, const fetch_request *r, file_writer *out, char sum[SUM_TEXT], rapt_error *err)
{
    struct archive *a = archive_read_new();
    bool zip = ends_in(r->url, ".zip");
    output o = {.out = out};
    if (!a)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to unpack %.200s", packed);
    if (zip)
        archive_read_support_format_zip(a);
    else
        archive_read_support_format_raw(a);
    if (ends_in(r->url, ".gz"))
        archive_read_support_filter_gzip(a);
    rapt_code code = archive_read_open_filename(a, packed, PORTION) == ARCHIVE_OK ? RAPT_OK : unpack_fail(a, packed, err);
    code = code ? code : unpack_find(a, packed, zip ? last_part(r->file->name) : NULL, err);
    sha256_init(&o.sum);
    code = code ? code : unpack_copy(a, packed, r, &o, err);
    write_sum(&o.sum, sum);
    archive_read_free(a);
    return code;
}
