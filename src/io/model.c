/* io/model.c: saves, loads and seals model folders: config.json, the tokenizers, the parameters. For the program and for C
 * programs that ship a model. model_config.c reads and writes config.json; config_translation.c and config_lm.c have the members
 * of each task. */
#include "io/model.h"

#include "base/disk.h"
#include "base/ends.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/near_path.h"
#include "base/quote.h"
#include "base/sized.h"
#include "io/gguf/gguf_folder.h"
#include "io/hub/hub_model.h"
#include "io/hub/hub_save.h"
#include "io/json_file.h"
#include "io/lora/lora_file.h"
#include "io/model_heads.h"
#include "io/params_file.h"
#include "io/seal.h"
#include "io/stored_blocks.h"
#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONFIG ((size_t)1 << 20)
#define CONFIG_FILE "config.json"

/* ---- saving -------------------------------------------------------------------------------------------------- */

static rapt_code write_json(const json_t *root, const char *path, rapt_error *err)
{
    char *text = json_text(root, JSON_INDENT(2));
    rapt_code code = text ? file_write_atomic(path, text, strlen(text), err)
                          : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    free(text);
    return code;
}

static rapt_code save_config(const rapt_model *m, const char *path, rapt_error *err)
{
    json_t *root = json_object();
    rapt_code code = root ? model_describe(m, root, path, err)
                          : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    if (!code)
        code = write_json(root, path, err);
    json_decref(root);
    return code;
}

const char *model_weights_name(const rapt_model *m)
{
    return m->lora ? ADAPTER_WEIGHTS : MODEL_WEIGHTS_FILE;
}

rapt_code rapt_model_save_config(const rapt_model *m, const char *folder, rapt_error *err)
{
    char *path;
    rapt_code code = model_heads_refuse(m, "saved", err);
    if (code || (m->family && !m->lora))
        return code ? code : hub_save_files(m, folder, err);
    code = file_path(folder, m->lora ? ADAPTER_CONFIG : CONFIG_FILE, &path, err);
    if (!code)
        code = save_config(m, path, err);
    free(path);
    return code || m->lora ? code : model_task_of(m->task)->save_tokenizers(m, folder, err);
}

rapt_code rapt_model_save_params(const rapt_model *m, const char *folder, rapt_error *err)
{
    char *text = NULL, *path = NULL;
    const bool hub = m->family && !m->lora;
    rapt_code code = model_heads_refuse(m, "saved", err);
    code = code ? code : file_path(folder, model_weights_name(m), &path, err);
    if (!code && !hub)
        code = seal_text(m, path, &text, err);
    if (!code)
        code = hub ? hub_save_params(m, path, NULL, err)
               : m->lora ? lora_file_save(m, path, SEAL_KEY, text, err) : params_save(m->params, path, SEAL_KEY, text, err);
    free(text);
    free(path);
    return code;
}

/* The configuration first, as in training: parameters cannot be read without one. */
rapt_code rapt_model_save(const rapt_model *m, const char *folder, rapt_error *err)
{
    rapt_code code = model_heads_refuse(m, "saved", err);
    code = code ? code : file_make_dir(folder, err);
    if (!code)
        code = rapt_model_save_config(m, folder, err);
    return code ? code : rapt_model_save_params(m, folder, err);
}

/* ---- loading ------------------------------------------------------------------------------------------------- */

/* The seal is checked before the values: the message for an edited value then says that it was edited. */
static rapt_code check_seal(rapt_model *m, const model_source *from, rapt_error *err)
{
    m->sealed = seal_is_whole(from->weights);
    if (from->sealing)
        return RAPT_OK;
    return seal_check(from->weights, from->weights_path, from->config, from->config_path, from->folder, err);
}

/* Adds an adapter to one of rapt's own models, whose matrices have their own names. */
static rapt_code add_adapter(const rapt_model *m, const model_source *from, rapt_error *err)
{
    const adapter_layer *layer;
    rapt_code code = RAPT_OK;
    if (from->add && m->stored)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: its weights are stored in blocks, which take no adapter",
                         from->folder);
    for (size_t i = 0; from->add && !code && i < rapt_params_count(m->params); i++) {
        rapt_tensor *w = &rapt_params_at(m->params, i)->value;
        code = w->ndim == 2 ? adapter_take(from->add, w->name, w->shape[0], w->shape[1], &layer, err) : RAPT_OK;
        if (!code && w->ndim == 2 && layer)
            adapter_change_rows(layer, 0, w->shape[0], w->data);
    }
    return code;
}

/* Refuses a config.json of neither program, because its reader would complain about a missing key of the other. */
static rapt_code check_origin(const model_source *from, rapt_error *err)
{
    if (json_object_get(from->config, "format") || json_object_get(from->config, "version"))
        return RAPT_OK;
    const bool named = json_object_get(from->config, "model_type") != NULL;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %s", from->config_path, named ? "\"model_type\" is no text" :
                     "\"format\" is missing, which a model of rapt has, and \"model_type\", which one of Hugging Face has");
}

/* `wanted`: the task that the model has to be of. */
static rapt_code fill_model(rapt_model *m, model_source *from, rapt_task wanted, rapt_error *err)
{
    from->config = gguf_is_file(from->folder) ? gguf_folder_config(from->folder, &from->places, err)
                                              : json_file_read(from->config_path, MAX_CONFIG, err);
    if (from->config && hub_model_is(from->config))
        return hub_model_load(m, from, wanted, err);
    rapt_code code = from->config ? check_origin(from, err) : RAPT_ERR_FORMAT;
    code = code ? code : model_read_header(from->config, from->config_path, &m->task, &m->run, err);
    const model_task *task = model_task_of(m->task);
    from->packs = m->task == RAPT_TASK_TRANSLATION;
    if (!code && wanted != RAPT_TASK_ANY && m->task != wanted)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s is %s; %s runs it", from->folder, task->what, task->program);
    if (!code)
        code = safetensors_open(from->weights_path, &from->weights, err);
    if (!code)
        code = check_seal(m, from, err);
    if (!code)
        m->stored_type = stored_blocks_type(from->weights);
    if (!code && m->stored_type && from->sealing)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s stores weights of fewer bits (%s), which --seal would widen; convert the model "
                         "that it was made of again", from->folder, m->stored_type);
    if (!code)
        code = task->load(m, from, err);
    if (!code && model_stays(from)) {
        m->stored = from->weights;
        from->weights = NULL;
    }
    return code ? code : add_adapter(m, from, err);
}

/* Refuses files that are not GGUF files. */
static rapt_code check_file(const char *path, rapt_error *err)
{
    disk_entry info;
    file_map map;
    if (disk_look(path, &info) && info.kind != DISK_FILE) /* a pipe, or a device */
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: not a model folder, and not a GGUF file", path);
    rapt_code code = file_map_open(&map, path, err);
    if (!code && map.size == 0)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is empty", path);
    else if (!code && !gguf_begins(map.data, map.size))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: not a model folder, and not a GGUF file", path);
    file_map_close(&map);
    return code;
}

static rapt_code check_place(const char *path, rapt_error *err)
{
    bool there, folder = false;
    char near[NEAR_PATH_TEXT];
    rapt_code code = file_is_there(path, &there, err);
    if (!code && !there)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "%.300s: there is no such %s%s", path,
                         ends_in(path, ".gguf") ? "file" : "model folder", near_path(path, near));
    if (!code)
        code = file_is_folder(path, &folder, err);
    return code || folder ? code : check_file(path, err);
}

/* *from keeps what was opened; the caller closes it, even on failure. */
static rapt_model *load_from(model_source *from, rapt_task wanted, rapt_error *err)
{
    if (check_place(from->folder, err) != RAPT_OK)
        return NULL;
    from->config_path = gguf_is_file(from->folder) ? file_join("", from->folder) : file_join(from->folder, CONFIG_FILE);
    from->weights_path = file_join(from->folder, MODEL_WEIGHTS_FILE);
    rapt_model *m = from->config_path && from->weights_path ? calloc(1, sizeof *m) : NULL;
    if (m && fill_model(m, from, wanted, err) == RAPT_OK)
        return m;
    rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a model", from->folder);
    rapt_model_free(m);
    return NULL;
}

static void close_source(model_source *from)
{
    json_decref(from->config);
    safetensors_close(from->weights);
    free(from->config_path);
    free(from->weights_path);
}

/* A matrix that is saved whole would change several of a tied model, of which PEFT changes one, or both of a language model. */
static rapt_code check_whole(const rapt_model *m, adapter *a, rapt_error *err)
{
    const adapter_layer *l = a ? adapter_first_whole(a) : NULL;
    const rapt_transformer_config *pair = m->translation.net ? &m->translation.net->config : NULL;
    if (m->language.net && m->language.net->config.tied)
        return adapter_check_tied(a, err);
    return !l || !pair || !(pair->tied || pair->tied_embeddings || pair->tied_output)
                       ? RAPT_OK
                       : rapt_fail(err, RAPT_ERR_VALUE, "the adapter saves \"%s\" whole (modules_to_save); the model's embedding "
                                   "and output are one matrix, and rapt takes no such adapter for them", quote(l->module).text);
}

/* The adapter belongs to the model, whose matrices may be read later. */
static rapt_model *model_load_adapted(model_source from, rapt_task wanted, rapt_error *err)
{
    rapt_model *m = load_from(&from, wanted, err);
    close_source(&from);
    if (m)
        m->adapter = from.add;
    else
        adapter_close(from.add);
    if (!m || (check_whole(m, from.add, err) == RAPT_OK && adapter_check_taken(from.add, err) == RAPT_OK))
        return m;
    rapt_model_free(m);
    return NULL;
}

/* A folder of adapters alone names the model. */
static rapt_model *model_load(model_source from, rapt_task wanted, rapt_error *err)
{
    bool config = false, only = false;
    rapt_code code = file_is_in(from.folder, CONFIG_FILE, &config, err);
    if (!code && !config)
        code = file_is_in(from.folder, ADAPTER_CONFIG, &only, err);
    if (code || !only)
        return code ? NULL : model_load_adapted(from, wanted, err);
    const char *folder = from.folder;
    bool there = false;
    if (adapter_open(folder, &from.add, err) != RAPT_OK)
        return NULL;
    from.folder = adapter_base(from.add);
    code = *from.folder ? file_is_folder(from.folder, &there, err) : RAPT_OK;
    if (there || gguf_is_file(from.folder)) /* a file is refused when it is loaded */
        return model_load_adapted(from, wanted, err);
    if (!code)
        rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s: its adapters are for the model \"%s\", and no such folder is here; say where it "
                  "is: MODEL --adapter %s", folder, quote(from.folder).text, folder);
    adapter_close(from.add);
    return NULL;
}

SIZED_ENDS_WITH(rapt_load_options, reserved);

void rapt_load_options_init(rapt_load_options *o, size_t size)
{
    sized_init(o, size, &(rapt_load_options){.size = sizeof(rapt_load_options), .task = RAPT_TASK_ANY}, sizeof *o);
}

rapt_model *rapt_model_load(const char *folder, const rapt_load_options *options, rapt_error *err)
{
    rapt_load_options o = rapt_load_options_default();
    if (sized_take(&o, options, o.reserved, sizeof o.reserved, "load_options", err) != RAPT_OK)
        return NULL;
    model_source from = {.folder = folder, .inference = o.inference, .held = o.held, .stop = {o.stop, o.context}};
    if (!o.adapter)
        return model_load(from, o.task, err);
    return adapter_open(o.adapter, &from.add, err) == RAPT_OK ? model_load_adapted(from, o.task, err) : NULL;
}

/* ---- sealing ------------------------------------------------------------------------------------------------- */

rapt_code rapt_model_is_sealed(const char *folder, bool *sealed, rapt_error *err)
{
    safetensors *file = NULL;
    char *path;
    rapt_code code = file_path(folder, MODEL_WEIGHTS_FILE, &path, err);
    if (!code)
        code = safetensors_open(path, &file, err);
    *sealed = !code && seal_is_whole(file);
    safetensors_close(file);
    free(path);
    return code;
}

rapt_code model_check_folder(const rapt_model *m, const char *folder, rapt_error *err)
{
    bool there;
    char *path;
    rapt_code code = file_path(folder, CONFIG_FILE, &path, err);
    if (!code)
        code = file_is_there(path, &there, err);
    json_t *config = !code && there ? json_file_read(path, MAX_CONFIG, err) : NULL;
    if (!code && there)
        code = config ? seal_check_config(config, path, m, err) : RAPT_ERR_FORMAT;
    json_decref(config);
    free(path);
    return code;
}

/* Members unknown to rapt are kept; a file that is up to date is not written. */
static rapt_code renew_config(const rapt_model *m, const model_source *from, rapt_error *err)
{
    json_t *now = json_copy(from->config), *described = json_object();
    rapt_code code = now && described ? model_describe(m, described, from->config_path, err) : RAPT_ERR_MEMORY;
    if (!code && json_object_update(now, described))
        code = RAPT_ERR_MEMORY;
    if (!code && !json_equal(now, from->config))
        code = write_json(now, from->config_path, err);
    json_decref(described);
    json_decref(now);
    return code ? rapt_fail(err, code, "%s: out of memory for JSON", from->config_path) : RAPT_OK;
}

static rapt_code model_seal(const char *folder, rapt_error *err)
{
    rapt_error own = {0};
    model_source from = {.folder = folder, .sealing = true};
    rapt_model *m = load_from(&from, RAPT_TASK_ANY, &own);
    rapt_code code = m ? renew_config(m, &from, &own) : own.code;
    if (!code)
        code = rapt_model_save_params(m, folder, &own);
    rapt_model_free(m);
    close_source(&from);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

/* A folder within the folder of a training run, such as best/, belongs to the run. */
static rapt_code lock_run_of(const char *folder, folder_lock *lock, rapt_error *err)
{
    bool is_run = false;
    char *run = NULL, *checkpoints;
    rapt_code code = file_path(folder, "../checkpoints", &checkpoints, err);
    if (!code)
        code = file_path(folder, "..", &run, err);
    if (!code)
        code = file_is_folder(checkpoints, &is_run, err);
    if (!code && is_run)
        code = folder_lock_take(lock, run, err);
    free(checkpoints);
    free(run);
    return code;
}

/* Holds locks, because a training run could replace the parameters between reading and writing. A lock would create the folder,
 * so it is taken only if the folder exists. */
rapt_code rapt_model_seal(const char *folder, rapt_error *err)
{
    bool is_folder;
    folder_lock run = {0}, lock = {0};
    rapt_code code = file_is_folder(folder, &is_folder, err);
    if (!code && is_folder)
        code = lock_run_of(folder, &run, err);
    if (!code && is_folder)
        code = folder_lock_take(&lock, folder, err);
    code = code ? code : model_seal(folder, err);
    folder_lock_release(&lock);
    folder_lock_release(&run);
    return code;
}
