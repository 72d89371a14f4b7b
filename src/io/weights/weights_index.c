/* io/weights/weights_index.c: reads the index of shards. It opens no shard. */
#include "io/weights/weights_parts.h"

#include "base/quote.h"
#include "io/json_file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INDEX ((size_t)64 << 20)

/* A name of a file in the same folder, on any system. */
static bool is_plain_name(const char *name)
{
    return *name && !strpbrk(name, "/\\") && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* All names are in x->files, once for each tensor. */
static rapt_code keep_each_once(weights_index *x, const char *path, rapt_error *err)
{
    const size_t all = x->file_count;
    qsort(x->files, all, sizeof *x->files, by_text);
    x->file_count = 0;
    for (size_t i = 0; i < all; i++)
        if (i == 0 || strcmp(x->files[i], x->files[i - 1]) != 0)
            x->files[x->file_count++] = x->files[i];
    if (x->file_count > WEIGHTS_MAX_FILES)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: it names %zu files; at most %d are read", path, x->file_count,
                         WEIGHTS_MAX_FILES);
    return RAPT_OK;
}

static rapt_code read_map(weights_index *x, const char *path, rapt_error *err)
{
    const char *tensor;
    json_t *file;
    x->map = json_object_get(x->root, "weight_map");
    if (!json_is_object(x->map) || json_object_size(x->map) == 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: it has no weight_map from tensors to files", path);
    x->files = calloc(json_object_size(x->map), sizeof *x->files);
    if (!x->files)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the names of files", path);
    json_object_foreach(x->map, tensor, file) {
        const char *name = json_string_value(file);
        if (!name)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file of tensor \"%s\" is not a text", path, quote(tensor).text);
        if (!is_plain_name(name))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: it says that tensor \"%s\" is in \"%s\", which is no name of a file in "
                             "this folder", path, quote(tensor).text, quote(name).text);
        x->files[x->file_count++] = name;
    }
    return keep_each_once(x, path, err);
}

/* Some programs write it as 1234.0. */
static int64_t read_total(const json_t *root)
{
    const json_t *total = json_object_get(json_object_get(root, "metadata"), "total_size");
    const double x = json_number_value(total);
    if (json_is_integer(total))
        return json_integer_value(total) < 0 ? -1 : json_integer_value(total);
    return json_is_real(total) && x >= 0 && x < 9e15 ? (int64_t)x : -1;
}

rapt_code weights_index_read(weights_index *x, const char *path, rapt_error *err)
{
    rapt_error own = {0}; /* its code tells why there is no root */
    *x = (weights_index){.root = json_file_read(path, MAX_INDEX, &own)};
    rapt_code code = x->root ? read_map(x, path, &own) : own.code;
    x->total_size = read_total(x->root);
    if (code)
        weights_index_free(x);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

const char *weights_index_file(const weights_index *x, const char *tensor)
{
    return json_string_value(json_object_get(x->map, tensor));
}

void weights_index_free(weights_index *x)
{
    free(x->files);
    json_decref(x->root);
    *x = (weights_index){.total_size = -1};
}
