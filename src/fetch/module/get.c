/* fetch/module/get.c: fetch_get: looks for the file, downloads it, checks its sum and puts it in place. For `rapt fetch`. */
#define _GNU_SOURCE /* asprintf */
#include "fetch/fetch.h"

#include "fetch/module/get_parts.h"

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
    return rapt_fail(err, RAPT_ERR_FORMAT,
                     "%.200s is there, but is another file: its sha256 is %s, not %s; nothing is written over",
                     r->path, sum, r->file->sha256);
}

/* ---- folders -------------------------------------------------------------------------------------------------- */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
}

/* ---- downloads ------------------------------------------------------------------------------------------------ */

/* A missing folder of this machine is not the server's fault, which RAPT_ERR_NOT_FOUND would mean. */
static rapt_code as_local(rapt_code code, rapt_error *err)
{
    if (code != RAPT_ERR_NOT_FOUND)
        return code;
    err->code = RAPT_ERR_IO;
    return RAPT_ERR_IO;
}

/* In the folder of the destination, with the URL's name, because a packed file has another name than the destination. */
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
        return rapt_fail(err, RAPT_ERR_FORMAT, "%.200s does not hold %.60s: the sha256 of what came is %s, not %s", r->url,
                         r->file->name, sum, r->file->sha256);
    bool there;
    rapt_code code = file_is_there(r->path, &there, err);
    if (!code && there) /* since the download began */
        return rapt_fail(err, RAPT_ERR_IO, "%.200s is there by now; nothing is written over", r->path);
    return code;
}

static rapt_code take_part(const fetch_request *r, const char *part, rapt_error *err)
{
    char sum[SUM_TEXT];
    file_writer out;
    rapt_code code = file_writer_open(&out, r->path, err);
    if (code)
        return code;
    code = unpack(part, r, &out, sum, err);
    code = code ? code : check_came(r, sum, err);
    if (code)
        file_writer_discard(&out);
    else
        code = file_writer_finish(&out, err);
    return code;
}

/* A part with a wrong sum is removed, or every later call would resume after it. */
static rapt_code get_try_once(const fetch_request *r, const char *part, bool *resumed, rapt_error *err)
{
    rapt_code code = download(r, part, resumed, err);
    code = code ? code : as_local(take_part(r, part, err), err);
    if (code == RAPT_OK || code == RAPT_ERR_FORMAT)
        unlink(part);
    return code;
}

/* If a download was resumed, the earlier bytes may be wrong: everything is fetched again. */
static rapt_code get_part(const fetch_request *r, const char *part, rapt_error *err)
{
    bool resumed;
    rapt_error why = {0};
    rapt_code code = get_try_once(r, part, &resumed, &why);
    if (code == RAPT_ERR_FORMAT && resumed)
        return get_try_once(r, part, &resumed, err);
    return code ? rapt_fail(err, code, "%s", why.message) : RAPT_OK;
}

static rapt_code get_new(const fetch_request *r, rapt_error *err)
{
    char *folder = folder_of(r->path), *part = part_of(r);
    size_t made = 0;
    rapt_code code = folder && part ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the name of a file");
    code = code ? code : as_local(file_make_dir_new(folder, &made, err), err);
    code = code ? code : get_part(r, part, err);
    if (code && folder)
        file_remove_new(folder, made);
    free(folder);
    free(part);
    return code;
}

static rapt_code use_there(const fetch_request *r, rapt_error *err)
{
    rapt_code code = check_there(r, err);
    char *part = code ? NULL : part_of(r);
    if (part)
        download_forget(part);
    free(part);
    return code;
}

rapt_code fetch_get(const fetch_request *request, fetch_outcome *outcome, rapt_error *err)
{
    bool there;
    rapt_code code = file_is_there(request->path, &there, err);
    *outcome = there ? FETCH_WAS_THERE : FETCH_CAME;
    if (code)
        return code;
    return there ? use_there(request, err) : get_new(request, err);
}
