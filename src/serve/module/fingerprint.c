/* serve/module/fingerprint.c: hashes a model's files. */
#define _GNU_SOURCE /* strdup */
#include "serve/module/served_load.h"

#include "base/file.h"
#include "io/adapter/adapter.h"
#include "io/weights/weights.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

enum { ADAPTER_CONFIG_MAX = 1 << 20, DEPTH_MAX = 4 };

typedef struct fingerprint_state {
    XXH3_state_t *hash;
    int64_t created;
} fingerprint_state;

static rapt_code hash_file(fingerprint_state *s, const char *path, rapt_error *err)
{
    file_map map;
    struct stat is;
    rapt_code code = file_map_open(&map, path, err);
    if (code)
        return code;
    const uint64_t bytes = map.size; /* the size marks where a file ends, so that bytes cannot move from one file to the next
                                        unnoticed */
    XXH3_64bits_update(s->hash, &bytes, sizeof bytes);
    XXH3_64bits_update(s->hash, map.data, map.size);
    file_map_close(&map);
    if (stat(path, &is) == 0 && is.st_mtime > s->created)
        s->created = is.st_mtime;
    return RAPT_OK;
}

/* ---- what stands beside the parameters ----------------------------------------------------------------------------- */

/* Configurations, tokenizers and templates, by any name; and folders of a sentence encoder's modules. */
static bool is_setting(const char *name)
{
    static const char *const suffixes[] = {".json", ".txt", ".model", ".spm", ".jinja"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(dot, suffixes[i]) == 0)
            return true;
    return name[0] >= '1' && name[0] <= '9' && name[1] == '_'; /* 1_Pooling */
}

static int choose_setting(const struct dirent *entry)
{
    return is_setting(entry->d_name);
}

static int by_setting_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A file, or config.json of a folder; other kinds of entries are ignored. */
static rapt_code hash_setting(fingerprint_state *s, const char *folder, const char *name, rapt_error *err)
{
    struct stat is;
    char *path = file_join(folder, name), *inner = NULL;
    const bool there = path && stat(path, &is) == 0;
    rapt_code code = path ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    if (there && S_ISDIR(is.st_mode) && !(code = file_path(path, "config.json", &inner, err))) {
        if (stat(inner, &is) != 0)
            is.st_mode = 0;
    }
    if (!code && there && S_ISREG(is.st_mode)) {
        XXH3_64bits_update(s->hash, name, strlen(name) + 1);
        code = hash_file(s, inner ? inner : path, err);
    }
    free(inner);
    free(path);
    return code;
}

/* In sorted order, so that the file system's order does not matter. A single file, such as GGUF, contains all settings. */
static rapt_code hash_settings(fingerprint_state *s, const char *folder, rapt_error *err)
{
    struct dirent **entries;
    rapt_code code = RAPT_OK;
    const int count = scandir(folder, &entries, choose_setting, by_setting_name);
    for (int i = 0; i < count; i++) {
        if (!code)
            code = hash_setting(s, folder, entries[i]->d_name, err);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return code;
}

/* ---- parameters ---------------------------------------------------------------------------------------------------- */

static rapt_code hash_folder(fingerprint_state *s, const char *folder, int depth, rapt_error *err);

/* The adapters of a folder, and the model that they are added to. */
static rapt_code hash_adapters(fingerprint_state *s, const char *folder, int depth, rapt_error *err)
{
    char *config = NULL, *adapters = NULL, *text = NULL;
    size_t size;
    rapt_code code = file_path(folder, "adapter_config.json", &config, err);
    if (!code)
        code = adapter_weights_path(folder, &adapters, err);
    if (!code)
        code = hash_file(s, adapters, err);
    if (!code)
        code = file_read_regular(config, ADAPTER_CONFIG_MAX, &text, &size, err);
    json_t *root = code ? NULL : json_loadb(text, size, 0, NULL);
    const char *base = json_string_value(json_object_get(root, "base_model_name_or_path"));
    if (!code && (!base || depth == DEPTH_MAX))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: no base_model_name_or_path", config);
    if (!code)
        code = hash_folder(s, base, depth + 1, err);
    json_decref(root);
    free(text);
    free(config);
    free(adapters);
    return code;
}

static rapt_code hash_folder(fingerprint_state *s, const char *folder, int depth, rapt_error *err)
{
    weights *w;
    rapt_error none = {0};
    rapt_code code = hash_settings(s, folder, err);
    if (code)
        return code;
    code = weights_open(folder, &w, &none);
    if (code == RAPT_ERR_NOT_FOUND)
        return hash_adapters(s, folder, depth, err);
    if (code)
        return rapt_fail(err, code, "%s", none.message);
    for (size_t i = 0; i < weights_file_count(w) && !code; i++)
        code = hash_file(s, weights_file_path(w, i), err);
    weights_close(w);
    return code;
}

rapt_code fingerprint_of(const char *folder, const char *number_format, const char *options, char text[17], int64_t *created,
                         rapt_error *err)
{
    fingerprint_state s = {.hash = XXH3_createState()};
    if (!s.hash)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    XXH3_64bits_reset(s.hash);
    XXH3_64bits_update(s.hash, number_format, strlen(number_format) + 1);
    XXH3_64bits_update(s.hash, options, strlen(options) + 1);
    rapt_code code = hash_folder(&s, folder, 0, err);
    snprintf(text, 17, "%016llx", (unsigned long long)XXH3_64bits_digest(s.hash));
    *created = s.created;
    XXH3_freeState(s.hash);
    return code;
}
