/* train/folder/folder_write.c: writes the files of a model folder. Paths of the recipe become absolute, so that the folder can be
 * moved; comments have them relative to it, so that it can be moved with its data. */
#include "train/folder/folder_begin.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/memory_stream.h"
#include "io/model_core.h"
#include "recipe/recipe_corpora.h"
#include "recipe/recipe_places.h"
#include "recipe/recipe_seal.h"
#include "train/folder/leftovers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path without links, or a copy if nothing has this name, or it is standard input; NULL with errno set. */
static char *absolute(const char *path)
{
    if (strcmp(path, "-") == 0)
        return chars_copy(path);
    char *whole = disk_real_path(path);
    bool nothing = !whole && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG);
    return nothing ? chars_copy(path) : whole;
}

/* Writes the first `size` bytes of a path, as an absolute path if it exists. */
static bool folder_put_absolute(FILE *out, const char *path, size_t size)
{
    char *copy = chars_copy_part(path, size), *whole = copy ? absolute(copy) : NULL;
    bool ok = whole && fputs(whole, out) >= 0;
    free(whole);
    free(copy);
    return ok;
}

/* A copy of a list of paths with : between them; NULL with errno set. */
static char *absolute_list(const char *list)
{
    memory_stream copy;
    size_t size;
    FILE *out = memory_stream_open(&copy);
    bool ok = out != NULL;
    for (const char *path = list; ok; path += size + 1) {
        size = disk_list_part(path, ":");
        ok = folder_put_absolute(out, path, size);
        if (!ok || !path[size])
            break;
        putc(':', out);
    }
    int reason = errno;
    if (memory_stream_close(&copy) && ok)
        return copy.text;
    free(copy.text);
    errno = reason;
    return NULL;
}

/* A path or list of paths that holds in any folder; NULL with the error set that is the context. */
static char *absolute_path(void *context, const char *given)
{
    bool there = true;
    if (given[disk_list_part(given, ":")] && file_is_there(given, &there, context) != RAPT_OK)
        return NULL;
    char *path = there ? absolute(given) : absolute_list(given);
    if (!path)
        rapt_fail(context, errno == ENOMEM ? RAPT_ERR_MEMORY : RAPT_ERR_IO, "cannot look at %.380s: %s", given, strerror(errno));
    return path;
}

/* Replaces a borrowed value by an owned one that holds in any folder; by NULL on failure. */
static bool make_absolute(const recipe_key *key, char **path, rapt_error *err)
{
    if (!*path)
        return true;
    *path = recipe_map_paths(key, *path, absolute_path, err);
    if (!*path)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the paths of the recipe"); /* unless there is a cause */
    return *path != NULL;
}

static void free_kept(rapt_recipe *kept)
{
    for (size_t i = 0; i < recipe_key_count(); i++) {
        char **path = recipe_key_path(recipe_key_at(i), kept);
        free(path ? *path : NULL);
    }
}

/* Makes *kept the run's recipe with absolute paths, which free_kept frees, even on failure. */
static rapt_code make_kept(const run *r, rapt_recipe *kept, rapt_error *err)
{
    bool ok = true;
    *kept = *r->recipe;
    for (size_t i = 0; i < recipe_key_count(); i++) {
        char **path = recipe_key_path(recipe_key_at(i), kept);
        ok = (!path || make_absolute(recipe_key_at(i), path, err)) && ok; /* all of them: what is left as it was is the run's */
    }
    return ok ? RAPT_OK : err->code;
}

rapt_code folder_write_prepare(run *r, rapt_error *err)
{
    rapt_recipe kept;
    rapt_code code = make_kept(r, &kept, err);
    if (!code)
        code = rapt_recipe_format(&kept, &r->yaml, err);
    free_kept(&kept);
    return code;
}

/* The folder must be there, which the places of the data depend on. */
static rapt_code folder_write_recipe(const run *r, rapt_error *err)
{
    rapt_recipe kept;
    rapt_code code = make_kept(r, &kept, err);
    char *places = code ? NULL : recipe_places(r->options->out, &kept);
    char *whole = places ? chars_print("%s%s", r->yaml, places) : NULL;
    char *text = whole ? recipe_sealed(whole, r->model->run) : NULL;
    if (text)
        code = run_write(r, "recipe.yaml", text, strlen(text), err);
    else if (!code)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the recipe", r->options->out);
    free_kept(&kept);
    free(places);
    free(whole);
    free(text);
    return code;
}

rapt_code folder_write(run *r, rapt_error *err)
{
    leftovers_remove(r->options->out, r->options->resume);
    rapt_code code = rapt_model_save_config(r->model, r->options->out, err);
    if (!code)
        code = folder_write_recipe(r, err);
    return code ? code : r->task->write(r, err);
}
