/* io/weights/weights.c: opens safetensors files, files of torch.save, shards of either, and GGUF files as one list of tensors.
 * safetensors.c and torch_file.c read the formats, weights_read.c the values. */
#include "io/weights/weights.h"

#include "base/buffer.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/quote.h"
#include "io/stored_blocks.h"
#include "io/weights/torch_file.h"
#include "io/weights/weights_parts.h"
#include "io/weights/widen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAFETENSORS_TAIL ".safetensors"
#define INDEX_TAIL ".index.json"

/* By preference. */
static const char *const FOLDER_FILES[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                           "pytorch_model.bin.index.json"};
enum { FOLDER_FILE_COUNT = sizeof FOLDER_FILES / sizeof *FOLDER_FILES };

/* A file of one kind: safetensors, GGUF or torch. */
typedef struct weights_file {
    char *path;
    size_t bytes;
    safetensors *safe;
    gguf_file *gguf;
    file_map map; /* of torch's */
    torch_file torch;
} weights_file;

struct weights {
    weights_file *files;
    size_t file_count, file_capacity;
    weights_tensor *tensors;
    size_t count, capacity;
    const weights_tensor **by_name;
    size_t parameters;
    char note[300];
};

static rapt_code weights_no_memory(const char *path, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the list of its tensors", path);
}

static bool weights_name_ends(const char *name, const char *tail)
{
    size_t size = strlen(name), tail_size = strlen(tail);
    return size >= tail_size && strcmp(name + size - tail_size, tail) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = disk_last_slash(path);
    return slash ? slash + 1 : path;
}

/* ---- one file --------------------------------------------------------------------------------------------------------- */

/* A tensor that rapt has stored as blocks has the shape of its numbers. */
static void list_blocks(const safetensors *file, const safetensors_entry *e, weights_tensor *t)
{
    bool wrong;
    t->blocks = stored_blocks_format(file, e, &wrong);
    if (!t->blocks)
        return;
    t->dtype = SAFETENSORS_F32;
    t->shape[1] = e->shape[1] / t->blocks->bytes * t->blocks->elements;
    t->elements = t->shape[0] * t->shape[1];
}

static bool list_safetensors(weights *w, const weights_file *f)
{
    const size_t count = safetensors_count(f->safe);
    if (!ARRAY_RESERVE(&w->tensors, &w->capacity, w->count + count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const safetensors_entry *e = safetensors_at(f->safe, i);
        weights_tensor *t = &w->tensors[w->count++];
        *t = (weights_tensor){.name = e->name, .dtype = e->dtype, .ndim = e->ndim, .data = e->data, .bytes = e->bytes,
                              .elements = e->bytes / safetensors_dtype_bytes(e->dtype), .file = w->file_count - 1};
        memcpy(t->shape, e->shape, sizeof t->shape);
        list_blocks(f->safe, e, t);
        weights_tensor_lay_out(t);
    }
    return true;
}

static bool list_torch(weights *w, const weights_file *f)
{
    if (!ARRAY_RESERVE(&w->tensors, &w->capacity, w->count + f->torch.count))
        return false;
    for (size_t i = 0; i < f->torch.count; i++) {
        w->tensors[w->count] = f->torch.tensors[i];
        w->tensors[w->count++].file = w->file_count - 1;
    }
    return true;
}

static rapt_code open_gguf(weights *w, weights_file *f, rapt_error *err)
{
    rapt_code code = gguf_open(f->path, &f->gguf, err);
    const size_t count = code ? 0 : f->gguf->tensor_count;
    if (!code && !ARRAY_RESERVE(&w->tensors, &w->capacity, w->count + count))
        return weights_no_memory(f->path, err);
    for (size_t i = 0; i < count; i++)
        w->tensors[w->count++] = gguf_tensors_shown(&f->gguf->tensors[i], w->file_count - 1);
    return code;
}

/* If the first bytes do not tell the kind of a file, its name does. */
static rapt_code weights_open_file(weights *w, weights_file *f, rapt_error *err)
{
    rapt_code code = file_map_open(&f->map, f->path, err);
    if (code)
        return code;
    f->bytes = f->map.size;
    if (torch_file_begins(f->map.data, f->map.size)) {
        code = torch_file_read(&f->torch, f->path, f->map.data, f->map.size, err);
        return !code && !list_torch(w, f) ? weights_no_memory(f->path, err) : code;
    }
    const bool gguf = gguf_begins(f->map.data, f->map.size);
    file_map_close(&f->map);
    if (gguf)
        return open_gguf(w, f, err);
    if (weights_name_ends(f->path, ".bin"))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: not a file of torch.save: no zip archive%s", f->path,
                         f->bytes == 0 ? "; it is empty" : "");
    code = safetensors_open_in_place(f->path, &f->safe, err);
    return !code && !list_safetensors(w, f) ? weights_no_memory(f->path, err) : code;
}

/* Takes ownership of `path`; NULL is out of memory. */
static rapt_code weights_add_file(weights *w, char *path, rapt_error *err)
{
    if (!path || !ARRAY_RESERVE(&w->files, &w->file_capacity, w->file_count + 1)) {
        free(path);
        return weights_no_memory("tensors", err);
    }
    weights_file *f = &w->files[w->file_count++];
    *f = (weights_file){.path = path};
    return weights_open_file(w, f, err);
}

/* ---- names ------------------------------------------------------------------------------------------------------------ */

static int by_tensor_name(const void *left, const void *right)
{
    const weights_tensor *a = *(const weights_tensor *const *)left, *b = *(const weights_tensor *const *)right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a > b) - (a < b);
}

static int by_data(const void *left, const void *right)
{
    const weights_tensor *a = *(const weights_tensor *const *)left, *b = *(const weights_tensor *const *)right;
    if (a->data != b->data)
        return a->data < b->data ? -1 : 1;
    return (a->elements > b->elements) - (a->elements < b->elements);
}

/* The list of names is in any order still; it is sorted by place here, so that shared elements stand side by side. */
static void weights_count_parameters(weights *w)
{
    qsort(w->by_name, w->count, sizeof *w->by_name, by_data);
    for (size_t i = 0; i < w->count; i++)
        if (widen_is_real(w->by_name[i]->dtype) && (i == 0 || by_data(&w->by_name[i - 1], &w->by_name[i]) != 0))
            w->parameters += w->by_name[i]->elements;
}

static rapt_code sort_names(weights *w, const char *path, rapt_error *err)
{
    w->by_name = calloc(w->count + 1, sizeof *w->by_name);
    if (!w->by_name)
        return weights_no_memory(path, err);
    for (size_t i = 0; i < w->count; i++)
        w->by_name[i] = &w->tensors[i];
    weights_count_parameters(w);
    qsort(w->by_name, w->count, sizeof *w->by_name, by_tensor_name);
    for (size_t i = 1; i < w->count; i++) {
        const weights_tensor *a = w->by_name[i - 1], *b = w->by_name[i];
        if (strcmp(a->name, b->name) != 0)
            continue;
        if (a->file == b->file)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" comes twice", w->files[a->file].path, quote(a->name).text);
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is also in %s", w->files[a->file].path, quote(a->name).text,
                         base_name(w->files[b->file].path));
    }
    return RAPT_OK;
}

const weights_tensor *weights_find(const weights *w, const char *name)
{
    const weights_tensor key = {.name = name}, *wanted = &key;
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(wanted->name, w->by_name[middle]->name);
        if (order == 0)
            return w->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ---- shards ----------------------------------------------------------------------------------------------------------- */

/* Each tensor must be where the index says, and all tensors of the index must exist. */
static rapt_code compare_with_index(const weights *w, const weights_index *x, const char *path, rapt_error *err)
{
    const char *name;
    json_t *file;
    for (size_t i = 0; i < w->count; i++) {
        const char *in = base_name(w->files[w->tensors[i].file].path), *said = weights_index_file(x, w->tensors[i].name);
        if (!said)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: it lacks tensor \"%s\", which is in %s", path,
                             quote(w->tensors[i].name).text, quote(in).text);
        if (strcmp(said, in) != 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is not in %s, as it says, but in %s", path,
                             quote(w->tensors[i].name).text, quote(said).text, quote(in).text);
    }
    json_object_foreach(x->map, name, file)
        if (!weights_find(w, name))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is not in %s, as it says", path, quote(name).text,
                             quote(json_string_value(file)).text);
    return RAPT_OK;
}

/* The total of an index of files of torch may count shared elements once or more often. */
static void note_total(weights *w, const weights_index *x, const char *path)
{
    size_t total = 0;
    bool safe = true;
    for (size_t i = 0; i < w->count; i++)
        total += w->tensors[i].bytes;
    for (size_t i = 0; i < w->file_count; i++)
        safe = safe && w->files[i].safe;
    if (safe && x->total_size >= 0 && (uint64_t)x->total_size != total)
        snprintf(w->note, sizeof w->note, "%.200s: total_size is %" PRId64 ", but the tensors have %zu bytes", path,
                 x->total_size, total);
}

static rapt_code open_shards(weights *w, const weights_index *x, const char *path, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    char *folder = file_join("", path);
    if (!folder)
        return weights_no_memory(path, err);
    folder[base_name(path) - path] = '\0';
    for (size_t i = 0; i < x->file_count && !code; i++)
        code = weights_add_file(w, file_join(folder, x->files[i]), err);
    free(folder);
    if (!code)
        code = sort_names(w, path, err);
    if (!code)
        code = compare_with_index(w, x, path, err);
    if (!code)
        note_total(w, x, path);
    return code;
}

/* ---- folders and files ------------------------------------------------------------------------------------------------ */

static rapt_code weights_open_path(weights *w, const char *path, rapt_error *err)
{
    weights_index x;
    rapt_code code;
    if (!weights_name_ends(path, INDEX_TAIL)) {
        code = weights_add_file(w, file_join("", path), err);
        return code ? code : sort_names(w, path, err);
    }
    code = weights_index_read(&x, path, err);
    if (!code)
        code = open_shards(w, &x, path, err);
    weights_index_free(&x);
    return code;
}

static rapt_code weights_open_folder(weights *w, const char *folder, rapt_error *err)
{
    for (size_t i = 0; i < FOLDER_FILE_COUNT; i++) {
        bool there = false;
        char *path;
        rapt_code code = file_path(folder, FOLDER_FILES[i], &path, err);
        if (!code)
            code = file_is_there(path, &there, err);
        if (!code && there)
            code = weights_open_path(w, path, err);
        free(path);
        if (code || there)
            return code;
    }
    return rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s: it has none of %s, %s, %s and %s", folder, FOLDER_FILES[0], FOLDER_FILES[1],
                     FOLDER_FILES[2], FOLDER_FILES[3]);
}

rapt_code weights_open(const char *path, weights **out, rapt_error *err)
{
    bool folder;
    *out = NULL;
    rapt_code code = file_is_folder(path, &folder, err);
    if (code)
        return code;
    weights *w = calloc(1, sizeof *w);
    if (!w)
        return weights_no_memory(path, err);
    code = folder ? weights_open_folder(w, path, err) : weights_open_path(w, path, err);
    if (code)
        weights_close(w);
    else
        *out = w;
    return code;
}

void weights_close(weights *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->file_count; i++) {
        weights_file *f = &w->files[i];
        safetensors_close(f->safe);
        gguf_close(f->gguf);
        torch_file_free(&f->torch);
        file_map_close(&f->map);
        free(f->path);
    }
    free(w->files);
    free(w->tensors);
    free(w->by_name);
    free(w);
}

bool weights_is_file(const char *path)
{
    disk_entry info;
    file_map map;
    if (!disk_is_file(path, &info))
        return false;
    if (weights_name_ends(path, SAFETENSORS_TAIL) || weights_name_ends(path, SAFETENSORS_TAIL INDEX_TAIL) ||
        weights_name_ends(path, ".bin") || weights_name_ends(path, ".bin" INDEX_TAIL))
        return true;
    if (file_map_open(&map, path, NULL))
        return false;
    uint64_t header = UINT64_MAX;
    if (map.size > 8)
        memcpy(&header, map.data, sizeof header);
    bool is = torch_file_begins(map.data, map.size) || gguf_begins(map.data, map.size) ||
              (header <= SAFETENSORS_MAX_HEADER && map.data[8] == '{');
    file_map_close(&map);
    return is;
}

/* ---- what is in them -------------------------------------------------------------------------------------------------- */

size_t weights_count(const weights *w)
{
    return w->count;
}

const weights_tensor *weights_at(const weights *w, size_t i)
{
    return &w->tensors[i];
}

size_t weights_file_count(const weights *w)
{
    return w->file_count;
}

const char *weights_file_path(const weights *w, size_t i)
{
    return w->files[i].path;
}

size_t weights_file_bytes(const weights *w, size_t i)
{
    return w->files[i].bytes;
}

const file_map *weights_file_map(const weights *w, size_t i)
{
    const weights_file *f = &w->files[i];
    return f->safe ? safetensors_map(f->safe) : f->gguf ? &f->gguf->map : &f->map;
}

void weights_forget(const weights *w, const weights_tensor *t)
{
    const file_map *map = weights_file_map(w, t->file);
    const size_t begin = (size_t)(t->data - map->data);
    file_map_forget(map, begin, begin + t->bytes);
}

size_t weights_parameters(const weights *w)
{
    return w->parameters;
}

const char *weights_note(const weights *w)
{
    return w->note[0] ? w->note : NULL;
}
