/* io/seal.c: makes and compares the copy of config.json in the metadata of parameters. For model folders and checkpoints. It
 * reads and writes no files. */
#include "io/seal.h"

#include "base/disk.h"
#include "base/quote.h"
#include "io/model.h"
#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

rapt_code seal_text(const rapt_model *m, const char *path, char **text, rapt_error *err)
{
    json_t *root = json_object();
    *text = NULL;
    if (root && model_describe(m, root, path, err) == RAPT_OK)
        *text = json_text(root, JSON_COMPACT);
    json_decref(root);
    return *text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
}

bool seal_is_whole(const safetensors *file)
{
    return safetensors_metadata(file, SEAL_KEY) && safetensors_is_checked(file);
}

/* Numbers are compared by value: 1 is 1.0. */
static bool seal_equal(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

/* The first member of a copy that the configuration lacks or has with another value; NULL if they agree. */
static const char *first_difference(json_t *copy, const json_t *config)
{
    const char *key;
    json_t *value;
    json_object_foreach(copy, key, value)
        if (!seal_equal(value, json_object_get(config, key)))
            return key;
    return NULL;
}

/* A value as JSON; NULL stands for a missing member. */
static quoted seal_value_text(const json_t *value)
{
    char *text = value ? json_text(value, JSON_ENCODE_ANY) : NULL;
    quoted q = quote(text ? text : value ? "..." : "missing");
    free(text);
    return q;
}

static rapt_code seal_refuse(const char *key, const json_t *copy, const json_t *config, const char *file_path,
                             const char *config_path, const char *folder, rapt_error *err)
{
    if (strcmp(key, MODEL_RUN) == 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: of another training run than config.json; if they belong together, "
                         "`rapt info %s --seal` binds them", file_path, folder);
    const char *slash = disk_last_slash(file_path);
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is %s, and %s in %s; if it was changed on purpose, `rapt info %s --seal` "
                     "binds them", config_path, key, seal_value_text(json_object_get(config, key)).text,
                     seal_value_text(json_object_get(copy, key)).text, slash ? slash + 1 : file_path, folder);
}

/* NULL if the file has none. */
static rapt_code read_copy(const safetensors *file, const char *path, json_t **copy, rapt_error *err)
{
    json_error_t where;
    const char *text = safetensors_metadata(file, SEAL_KEY);
    *copy = text ? json_loads(text, JSON_REJECT_DUPLICATES, &where) : NULL;
    if (!text || json_is_object(*copy))
        return RAPT_OK;
    bool memory = !*copy && where.text[0] == '\0'; /* jansson on out-of-memory */
    json_decref(*copy);
    *copy = NULL;
    if (memory)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the copy of config.json in its metadata is no JSON object", path);
}

rapt_code seal_check(const safetensors *file, const char *file_path, const json_t *config, const char *config_path,
                     const char *folder, rapt_error *err)
{
    json_t *copy;
    rapt_code code = read_copy(file, file_path, &copy, err);
    const char *key = first_difference(copy, config);
    if (key)
        code = seal_refuse(key, copy, config, file_path, config_path, folder, err);
    json_decref(copy);
    return code;
}

static rapt_code compare_with_model(const json_t *config, json_t *copy, const char *path, rapt_error *err)
{
    const char *key = first_difference(copy, config);
    if (!key)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: of another model: \"%s\" is %s, and should be %s", path, key,
                     seal_value_text(json_object_get(copy, key)).text, seal_value_text(json_object_get(config, key)).text);
}

rapt_code seal_check_model(const safetensors *file, const char *file_path, const rapt_model *m, rapt_error *err)
{
    json_t *copy;
    rapt_code code = read_copy(file, file_path, &copy, err);
    if (code || !copy) /* a file of rapt 0.1 or of another program has no copy */
        return code;
    json_t *root = json_object();
    code = root ? model_describe(m, root, file_path, err)
                : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", file_path);
    if (!code)
        code = compare_with_model(root, copy, file_path, err);
    json_decref(root);
    json_decref(copy);
    return code;
}

static rapt_code refuse_edit(json_t *described, const json_t *config, const char *config_path, rapt_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(described, key, value)
    {
        const json_t *said = json_object_get(config, key);
        if (said && !seal_equal(value, said))
            return rapt_fail(err, RAPT_ERR_VALUE,
                             "%s: \"%s\" is %s, and %s in the run, which would write it back: undo the edit, or "
                             "train into another folder with --init", config_path, key,
                             seal_value_text(said).text, seal_value_text(value).text);
    }
    return RAPT_OK;
}

rapt_code seal_check_config(const json_t *config, const char *config_path, const rapt_model *m, rapt_error *err)
{
    if (!json_object_get(config, MODEL_RUN)) /* written by rapt 0.1, which knew fewer members and other defaults */
        return RAPT_OK;
    json_t *described = json_object();
    rapt_code code = described ? model_describe(m, described, config_path, err)
                               : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", config_path);
    if (!code)
        code = refuse_edit(described, config, config_path, err);
    json_decref(described);
    return code;
}

rapt_code seal_run(const safetensors *file, const char *path, uint64_t *run, rapt_error *err)
{
    json_t *copy;
    rapt_code code = read_copy(file, path, &copy, err);
    const char *text = json_string_value(json_object_get(copy, MODEL_RUN));
    *run = text ? strtoull(text, NULL, 16) : 0;
    json_decref(copy);
    return code;
}
