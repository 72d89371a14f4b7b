/* io/export/export_folder.c: makes, renames and removes the temporary folder. */
#include "io/export/export_folder.h"

#include "base/disk.h"
#include "base/file.h"
#include "base/process.h"
#include "base/unfinished.h"
#include "text/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rapt_code export_folder_fail(const char *path, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

static char *export_copy(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

/* Sets target, parent and aside; a slash at the end of the path does not count. */
static rapt_code export_folder_name(export_folder *f, const char *path, rapt_error *err)
{
    size_t length = strlen(path);
    while (length > 1 && disk_is_slash(path[length - 1]))
        length--;
    f->target = export_copy(path, length);
    const char *slash = f->target ? disk_last_slash(f->target) : NULL;
    const size_t above = slash ? (size_t)(slash + 1 - f->target) : 0;
    f->parent = above ? export_copy(path, above) : export_copy("./", 2);
    f->aside = malloc(length + 64);
    if (!f->target || !f->parent || !f->aside)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a path", path);
    snprintf(f->aside, length + 64, "%s.%s.%ld.tmp", above ? f->parent : "", f->target + above, process_id());
    return RAPT_OK;
}

static rapt_code export_folder_make(export_folder *f, const char *path, rapt_error *err)
{
    bool there = false;
    rapt_error own = {0};
    rapt_code code = export_folder_name(f, path, err);
    if (!code)
        code = file_is_there(f->target, &there, err);
    if (!code && there)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s is there already; a new folder is written", f->target);
    if (!code)
        code = file_make_dir_new(f->parent, &f->made, err);
    if (!code)
        unfinished_remove(f->target);
    if (!code && !disk_make_folder(f->aside))
        code = export_folder_fail(f->aside, err);
    /* On a file system without locks a killed writer's folder stays. */
    if (!code && folder_lock_take(&f->lock, f->aside, &own) == RAPT_ERR_MEMORY)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s", own.message);
    return code;
}

void export_folder_begin(export_folder *f, const char *path, rapt_error *err)
{
    *f = (export_folder){.err = err};
    f->code = export_folder_make(f, path, err);
}

static rapt_code export_sync(const char *folder, rapt_error *err)
{
    return disk_sync_folder(folder) ? RAPT_OK : export_folder_fail(folder, err);
}

rapt_code export_folder_end(export_folder *f)
{
    folder_lock_release(&f->lock);
    if (!f->code)
        f->code = export_sync(f->aside, f->err);
    if (!f->code && !disk_rename(f->aside, f->target))
        f->code = export_folder_fail(f->target, f->err);
    if (!f->code)
        f->code = export_sync(f->parent, f->err);
    else if (f->aside)
        disk_remove_all(f->aside);
    if (f->code && f->made)
        file_remove_new(f->parent, f->made);
    free(f->file);
    free(f->aside);
    free(f->parent);
    free(f->target);
    return f->code;
}

const char *export_folder_file(export_folder *f, const char *name)
{
    free(f->file);
    f->file = NULL;
    if (!f->code)
        f->code = file_path(f->aside, name, &f->file, f->err);
    return f->code ? NULL : f->file;
}

void export_folder_put_json(export_folder *f, const char *name, json_t *root)
{
    char *text = json_text(root, JSON_INDENT(2));
    json_decref(root);
    if (!f->code && !text)
        f->code = rapt_fail(f->err, RAPT_ERR_MEMORY, "%s: out of memory for %s", f->target, name);
    const char *path = export_folder_file(f, name);
    if (path && strchr(name, '/')) {
        char *slash = strrchr(f->file, '/');
        *slash = '\0';
        f->code = file_make_dir(path, f->err);
        *slash = '/';
    }
    if (!f->code)
        f->code = file_write_atomic(path, text, strlen(text), f->err);
    free(text);
}
