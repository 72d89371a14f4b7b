/* fetch/module/get.c: fetch.h's fetch_get: what is there, a download, its sum, a file. For `rapt fetch`. */
#define _GNU_SOURCE /* asprintf */
#include "fetch/fetch.h"

#include "fetch/module/download.h"
#include "fetch/module/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rapt_code check_there(const fetch_request *r, rapt_error *err)
{
    char sum[SUM_TEXT];
    file_map m;
    rapt_code code = file_map_open(&m, r->path, err);
    if (code)
        return code;
    sum_of(m.data, m.size, sum);
    file_map_close(&m);
    if (strcmp(sum, r->file->sha256) == 0)
        return RAPT_OK;
    return rapt_fail(err, RAPT_FORMAT, "%.200s is there, but is another file: its sha256 is %s, not %s; nothing is written over",
                     r->path, sum, r->file->sha256);
}

static rapt_code make_folders(const char *path, rapt_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    rapt_code code = folder ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for the name of a folder");
    if (!code && folder[0])
        code = file_make_dir(folder, err);
    free(folder);
    return code;
}

/* Beside the file to be, with the name of the URL: what is packed has another one. */
static char *part_of(const fetch_request *r)
{
    char *part;
    const char *slash = strrchr(r->path, '/'), *name = strrchr(r->url, '/');
    int folder = slash ? (int)(slash - r->path) + 1 : 0;
    return asprintf(&part, "%.*s%s.part", folder, r->path, name ? name + 1 : r->url) < 0 ? NULL : part;
}

static rapt_code check_came(const fetch_request *r, const char *sum, rapt_error *err)
{
    if (strcmp(sum, r->file->sha256) != 0)
        return rapt_fail(err, RAPT_FORMAT, "%.200s does not hold %.60s: the sha256 of what came is %s, not %s", r->url,
                         r->file->name, sum, r->file->sha256);
    if (file_exists(r->path)) /* since the download began */
        return rapt_fail(err, RAPT_IO, "%.200s is there by now; nothing is written over", r->path);
    return RAPT_OK;
}

/* Bytes that are of no use are forgotten, or every later call would go on after them. */
static rapt_code take_part(const fetch_request *r, const char *part, rapt_error *err)
{
    char sum[SUM_TEXT];
    file_writer out;
    rapt_code code = file_writer_open(&out, r->path, err);
    if (code)
        return code;
    code = unpack(part, r->url, r->file->name, &out, sum, err);
    code = code ? code : check_came(r, sum, err);
    if (code)
        file_writer_discard(&out);
    else
        code = file_writer_finish(&out, err);
    if (code == RAPT_OK || code == RAPT_FORMAT)
        unlink(part);
    return code;
}

static rapt_code get(const fetch_request *r, rapt_error *err)
{
    rapt_code code = make_folders(r->path, err);
    char *part = code ? NULL : part_of(r);
    if (!code && !part)
        code = rapt_fail(err, RAPT_NO_MEMORY, "no memory for the name of a file");
    code = code ? code : download(r, part, err);
    code = code ? code : take_part(r, part, err);
    free(part);
    return code;
}

rapt_code fetch_get(const fetch_request *request, fetch_outcome *outcome, rapt_error *err)
{
    *outcome = file_exists(request->path) ? FETCH_WAS_THERE : FETCH_CAME;
    return *outcome == FETCH_WAS_THERE ? check_there(request, err) : get(request, err);
}
