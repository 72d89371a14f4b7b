/* io/hub/hub_origin.c: keeps the files of a folder and the tensors of parameters. */
#include "io/hub/hub_origin.h"

#include "base/file.h"
#include "base/rng.h"
#include "io/gguf/gguf_folder.h"
#include "tensor/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE ((size_t)1 << 28)

/* config.json first: hub_origin_describe takes it from there. */
const char *const HUB_ORIGIN_FILES[HUB_ORIGIN_MAX + 1] = {
    "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "chat_template.jinja", "chat_template.json", "vocab.json", "target_vocab.json", "merges.txt",
    "vocab.txt", "source.spm", "target.spm", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model",
    "target/tokenizer.json", "target/tokenizer_config.json", "LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE", NULL};

static rapt_code hub_origin_read_file(hub_file *file, const char *folder, const char *name, rapt_error *err)
{
    char *path;
    bool there = false;
    rapt_code code = file_path(folder, name, &path, err);
    if (!code)
        code = file_is_there(path, &there, err);
    if (!code && there)
        code = file_read_regular(path, MAX_FILE, &file->data, &file->size, err);
    free(path);
    return code;
}

/* Makes the files for a GGUF file, which has the same information in another form. */
static rapt_code hub_origin_make_files(hub_origin *o, const char *path, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; HUB_ORIGIN_FILES[i] && !code; i++) {
        code = gguf_folder_text(path, HUB_ORIGIN_FILES[i], &o->files[i].data, err);
        o->files[i].size = o->files[i].data ? strlen(o->files[i].data) : 0;
    }
    return code;
}

/* Notes the names that a Hugging Face folder of the model has for its tensors. */
static void hub_origin_name_rows(const rapt_model *m, hub_origin *o)
{
    place_match match;
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_param *p = params_at(m->params, i);
        o->rows[i] = p->buffer ? NULL : place_next(&o->naming, NULL, p->value.name, &match);
    }
}

static rapt_code hub_origin_new(rapt_model *m, const place_model *of, const model_source *from, rapt_error *err)
{
    const char *folder = from->folder;
    hub_origin *o = m->origin = calloc(1, sizeof *o);
    if (o)
        o->rows = calloc(rapt_params_count(m->params) + 1, sizeof *o->rows);
    if (!o || !o->rows)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a model", folder);
    o->naming = *of;
    rapt_code code = from->places ? hub_origin_make_files(o, folder, err) : RAPT_OK;
    if (from->places)
        return code;
    for (size_t i = 0; HUB_ORIGIN_FILES[i] && !code; i++)
        code = hub_origin_read_file(&o->files[i], folder, HUB_ORIGIN_FILES[i], err);
    return code;
}

rapt_code hub_origin_fill(rapt_model *m, const place_model *of, const weights *w, const model_source *from, rapt_error *err)
{
    rapt_code code = from->inference ? RAPT_OK : hub_origin_new(m, of, from, err);
    hub_origin *o = m->origin;
    code = code ? code : hub_fill(m->params, of, w, from, o && !from->places ? o->rows : NULL, err);
    if (!code && o && from->places)
        hub_origin_name_rows(m, o);
    for (size_t i = 0; !code && o && i < rapt_params_count(m->params); i++)
        if (o->rows[i] && (o->rows[i]->how & PLACE_PART) == PLACE_ONE_ROW)
            rapt_params_freeze(m->params, params_at(m->params, i)->value.name);
    return code;
}

void hub_origin_free(void *origin)
{
    hub_origin *o = origin;
    for (size_t i = 0; o && i < HUB_ORIGIN_MAX; i++)
        free(o->files[i].data);
    if (o)
        free(o->rows);
    free(o);
}

rapt_code hub_origin_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    const hub_origin *o = m->origin;
    char run[CONFIG_HASH_TEXT], hash[CONFIG_HASH_TEXT];
    if (!o)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: a model of a Hugging Face folder that was loaded for inference is not saved",
                         path);
    snprintf(run, sizeof run, "%016" PRIx64, m->run);
    snprintf(hash, sizeof hash, "%016" PRIx64, rng_hash_text(o->files[0].data));
    if (json_object_set_new(root, "model_type", json_string(m->family)) != 0 ||
        json_object_set_new(root, MODEL_RUN, json_string(run)) != 0 ||
        json_object_set_new(root, "config_hash", json_string(hash)) != 0)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    return RAPT_OK;
}
