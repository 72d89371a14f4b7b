/* cli/info_types.c: the numeric types of a model's tensors. */
#include "cli/info_types.h"

#include "base/disk.h"
#include "base/quote.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

size_t info_types_sum(const weights *w, bool matrices, info_type types[INFO_TYPES])
{
    size_t count = SAFETENSORS_DTYPE_COUNT;
    for (size_t i = 0; i < count; i++)
        types[i] = (info_type){.name = safetensors_dtype_name((safetensors_dtype)i)};
    for (size_t i = 0; i < weights_count(w); i++) {
        const weights_tensor *t = weights_at(w, i);
        const char *name = weights_tensor_type(t);
        size_t at = 0;
        if (matrices && t->ndim != 2)
            continue;
        while (at < count && strcmp(types[at].name, name) != 0)
            at++;
        if (at == count)
            types[count++] = (info_type){.name = name};
        types[at].tensors++;
        types[at].bytes += t->bytes;
    }
    return count;
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------------- */

/* The file's name in the folder; bytes that are not UTF-8 become '?'. */
static json_t *info_types_file_json(const weights *w, size_t i)
{
    const char *path = weights_file_path(w, i), *slash = disk_last_slash(path);
    return json_pack("{s:s, s:I}", "name", quote(slash ? slash + 1 : path).text, "bytes", (json_int_t)weights_file_bytes(w, i));
}

json_t *info_types_files_json(const weights *w)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < weights_file_count(w); i++)
        json_array_append_new(list, info_types_file_json(w, i));
    return list;
}

json_t *info_types_json(const weights *w)
{
    info_type types[INFO_TYPES];
    json_t *all = json_object();
    const size_t count = info_types_sum(w, false, types);
    for (size_t d = 0; all && d < count; d++)
        if (types[d].tensors > 0)
            json_object_set_new(all, types[d].name,
                                json_pack("{s:I, s:I}", "tensors", (json_int_t)types[d].tensors, "bytes",
                                          (json_int_t)types[d].bytes));
    return all;
}

/* ---- as text ---------------------------------------------------------------------------------------------------------- */

void info_types_print_files(const weights *w)
{
    char bytes[32];
    for (size_t i = 0; i < weights_file_count(w); i++) {
        const char *path = weights_file_path(w, i), *slash = disk_last_slash(path);
        printf("%-14s%s (%s)\n", i > 0 ? "" : "files", quote(slash ? slash + 1 : path).text,
               cli_bytes((double)weights_file_bytes(w, i), bytes));
    }
}

void info_types_print(const weights *w)
{
    char bytes[32];
    info_type types[INFO_TYPES];
    const char *before = "elements      ";
    const size_t count = info_types_sum(w, false, types);
    for (size_t d = 0; d < count; d++) {
        if (types[d].tensors == 0)
            continue;
        printf("%s%s in %zu tensor%s (%s)", before, types[d].name, types[d].tensors,
               cli_plural(types[d].tensors), cli_bytes((double)types[d].bytes, bytes));
        before = ", ";
    }
    puts(weights_count(w) > 0 ? "" : "elements      none");
}
