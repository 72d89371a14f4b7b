/* train/checkpoint/checkpoint_list.c: the folder of checkpoints, read once and whole or not at all. A folder that cannot
 * be read does not count as empty, or a new run would overwrite a trained model. */
#include "train/checkpoint/checkpoint_list.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_FORMAT "step-%08" PRIu64 ".safetensors"
#define MAX_NAME 256

char *checkpoint_path(const char *folder, uint64_t step)
{
    return chars_print("%s/checkpoints/" NAME_FORMAT, folder, step);
}

char *checkpoint_folder(const char *folder)
{
    return file_join(folder, "checkpoints");
}

/* The step in a checkpoint's file name; 0 for other files. */
static uint64_t checkpoint_list_step_of(const char *file)
{
    uint64_t step;
    char again[MAX_NAME];
    if (sscanf(file, "step-%" SCNu64, &step) != 1)
        return 0;
    snprintf(again, sizeof again, NAME_FORMAT, step);
    return strcmp(file, again) == 0 ? step : 0;
}

static bool checkpoint_list_add(checkpoint_list *l, uint64_t step)
{
    if (!ARRAY_RESERVE(&l->steps, &l->capacity, l->count + 1))
        return false;
    l->steps[l->count++] = step;
    return true;
}

static rapt_code checkpoint_list_fail(rapt_error *err, const char *path, int reason)
{
    rapt_code code = reason == ENOMEM ? RAPT_ERR_MEMORY : RAPT_ERR_IO;
    const char *text = reason == ENOENT ? "it is a link that leads nowhere" : strerror(reason);
    return rapt_fail(err, code, "cannot read the folder %.380s: %s", path, text);
}

static rapt_code read_names(disk_folder *dir, const char *path, checkpoint_list *l, rapt_error *err)
{
    const char *name;
    while ((name = disk_folder_next(dir))) {
        uint64_t step = checkpoint_list_step_of(name);
        if (step && !checkpoint_list_add(l, step))
            return checkpoint_list_fail(err, path, ENOMEM);
    }
    return errno ? checkpoint_list_fail(err, path, errno) : RAPT_OK;
}

/* Opening a folder also fails with ENOENT for a link that leads nowhere. */
static rapt_code open_folder(const char *path, disk_folder **dir, rapt_error *err)
{
    bool there = true;
    *dir = disk_folder_open(path);
    if (*dir)
        return RAPT_OK;
    int reason = errno;
    rapt_code code = reason == ENOENT ? file_is_there(path, &there, err) : RAPT_OK;
    return code || !there ? code : checkpoint_list_fail(err, path, reason);
}

static int by_step(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

rapt_code checkpoint_list_read(const char *folder, checkpoint_list *l, rapt_error *err)
{
    disk_folder *dir = NULL;
    char *path = checkpoint_folder(folder);
    *l = (checkpoint_list){0};
    rapt_code code = path ? open_folder(path, &dir, err) : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", folder);
    if (dir) {
        code = read_names(dir, path, l, err);
        disk_folder_close(dir);
    }
    free(path);
    if (code)
        checkpoint_list_free(l);
    else if (l->count > 0)
        qsort(l->steps, l->count, sizeof *l->steps, by_step);
    return code;
}

void checkpoint_list_free(checkpoint_list *l)
{
    free(l->steps);
    *l = (checkpoint_list){0};
}

uint64_t checkpoint_list_newest(const checkpoint_list *l)
{
    return l->count > 0 ? l->steps[l->count - 1] : 0;
}

bool checkpoint_list_any(const char *folder)
{
    checkpoint_list l;
    bool any = checkpoint_list_read(folder, &l, NULL) == RAPT_OK && l.count > 0;
    checkpoint_list_free(&l);
    return any;
}
