/* io/model.c: model folders: the configuration as JSON, the tokenizers, the parameters. For the program and for C
 * programs that ship a model. What is in the folder of a certain task is in config_translation.c and config_lm.c. */
#include "io/model.h"

#include "base/file.h"
#include "base/quote.h"
#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONFIG ((size_t)1 << 20)
#define CONFIG_FILE "config.json"

static const model_task *const TASKS[] = {[RAPT_TRANSLATION] = &model_translation,
                                          [RAPT_LANGUAGE_MODEL] = &model_language_model};

typedef struct header {
    size_t version;
    int format;
    rapt_task task;
} header;

static const char *const FORMATS[] = {"rapt-model", NULL};
static const char *const WORDS[] = {[RAPT_TRANSLATION] = "translation", [RAPT_LANGUAGE_MODEL] = "language_model", NULL};

/* In the order of the file. */
enum { TASK_MEMBER = 2, HEADER_MEMBERS };
static const config_member HEADER[HEADER_MEMBERS] = {
    CONFIG_WORD_ROW("format", header, format, FORMATS),
    CONFIG_SIZE_ROW("version", header, version, CONFIG_LARGEST),
    CONFIG_WORD_ROW("task", header, task, WORDS),
};

/* ---- out -------------------------------------------------------------------------------------------------- */

static rapt_code write_json(const json_t *root, const char *path, rapt_error *err)
{
    char *text = json_text(root, JSON_INDENT(2));
    rapt_code code = text ? file_write_atomic(path, text, strlen(text), err)
                          : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for JSON", path);
    free(text);
    return code;
}

rapt_code model_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    header h = {.version = RAPT_FORMAT_VERSION, .task = m->task};
    rapt_code code = config_write(root, HEADER, HEADER_MEMBERS, &h, path, err);
    return code ? code : TASKS[m->task]->describe(m, root, path, err);
}

static rapt_code save_config(const rapt_model *m, const char *path, rapt_error *err)
{
    json_t *root = json_object();
    rapt_code code = root ? model_describe(m, root, path, err)
                          : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for JSON", path);
    if (!code)
        code = write_json(root, path, err);
    json_decref(root);
    return code;
}

rapt_code rapt_model_save_config(const rapt_model *m, const char *folder, rapt_error *err)
{
    char *path = file_join(folder, CONFIG_FILE);
    rapt_code code = path ? save_config(m, path, err) : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", folder);
    free(path);
    return code ? code : TASKS[m->task]->save_tokenizers(m, folder, err);
}

rapt_code rapt_model_save(const rapt_model *m, const char *folder, rapt_error *err)
{
    char *path = file_join(folder, "model.safetensors");
    rapt_code code = path ? file_make_dir(folder, err) : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", folder);
    if (!code)
        code = rapt_model_save_config(m, folder, err);
    if (!code)
        code = rapt_params_save(m->params, path, err);
    free(path);
    return code;
}

/* ---- in --------------------------------------------------------------------------------------------------- */

static rapt_code read_header(const json_t *root, const char *path, header *h, rapt_error *err)
{
    rapt_code code = config_read(root, HEADER, TASK_MEMBER, h, path, err);
    if (!code && h->version > RAPT_FORMAT_VERSION) /* whose tasks may be others */
        code = rapt_fail(err, RAPT_FORMAT, "%s: format version %zu; this rapt reads up to %d", path, h->version,
                         RAPT_FORMAT_VERSION);
    return code ? code : config_read(root, HEADER + TASK_MEMBER, HEADER_MEMBERS - TASK_MEMBER, h, path, err);
}

static json_t *read_json(const char *path, rapt_error *err)
{
    char *text;
    size_t size;
    json_error_t where;
    if (file_read(path, MAX_CONFIG, &text, &size, err))
        return NULL;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    if (!root && where.text[0] == '\0') /* its way to say so */
        rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for JSON", path);
    else if (!root)
        rapt_fail(err, RAPT_FORMAT, "%s:%d: %s", path, where.line, quote(where.text).text);
    free(text);
    return root;
}

/* `wanted` is the one task that will do, or NULL. */
static rapt_code fill_model(rapt_model *m, const char *folder, const char *path, const rapt_task *wanted, rapt_error *err)
{
    header h;
    json_t *root = read_json(path, err);
    rapt_code code = root ? read_header(root, path, &h, err) : RAPT_FORMAT;
    if (!code && wanted && h.task != *wanted)
        code = rapt_fail(err, RAPT_VALUE, "%s is %s; %s runs it", folder, TASKS[h.task]->what, TASKS[h.task]->program);
    if (!code) {
        m->task = h.task;
        code = TASKS[h.task]->load(m, root, path, folder, err);
    }
    json_decref(root);
    return code;
}

static rapt_model *load(const char *folder, const rapt_task *wanted, rapt_error *err)
{
    bool there;
    if (file_is_there(folder, &there, err) != RAPT_OK)
        return NULL;
    if (!there) {
        rapt_fail(err, RAPT_NOT_FOUND, "%s: there is no such model folder", folder);
        return NULL;
    }
    char *path = file_join(folder, CONFIG_FILE);
    rapt_model *m = path ? calloc(1, sizeof *m) : NULL;
    bool ok = m && fill_model(m, folder, path, wanted, err) == RAPT_OK;
    free(path);
    if (ok)
        return m;
    rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for a model", folder);
    rapt_model_free(m);
    return NULL;
}

rapt_model *rapt_model_load(const char *folder, rapt_error *err)
{
    return load(folder, NULL, err);
}

rapt_model *rapt_model_load_task(const char *folder, rapt_task task, rapt_error *err)
{
    return load(folder, &task, err);
}

void rapt_model_free(rapt_model *m)
{
    if (!m)
        return;
    if (m->target != m->source)
        rapt_tokenizer_free(m->target);
    rapt_tokenizer_free(m->source);
    rapt_tokenizer_free(m->tokenizer);
    rapt_transformer_free(m->net);
    rapt_lm_free(m->lm);
    free(m);
}
