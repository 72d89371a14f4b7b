/* io/export/export_hf.c: writes a model of rapt as a Hugging Face folder. */
#include "io/export/export_kinds.h"

#include "base/file.h"
#include "io/export/export_class.h"
#include "io/export/export_folder.h"
#include "io/model_core.h"

#include <stdlib.h>
#include <string.h>

enum { FILES = 6 };

/* The contents of a folder, made before anything is written. */
typedef struct export_hf_parts {
    place_tensors tensors;
    size_t *order; /* order of features: export_translation_order */
    struct {
        const char *name;
        json_t *root; /* NULL: out of memory */
    } files[FILES];
    size_t count;
} export_hf_parts;

static void export_hf_free(export_hf_parts *p)
{
    place_tensors_free(&p->tensors);
    free(p->order);
    for (size_t i = 0; i < p->count; i++)
        json_decref(p->files[i].root);
}

/* Takes ownership. */
static void export_hf_put(export_hf_parts *p, const char *name, json_t *root)
{
    p->files[p->count].name = name;
    p->files[p->count++].root = root;
}

/* ---- language models ------------------------------------------------------------------------------------------ */

/* One id, a list, or null. */
static json_t *end_of_text_json(const rapt_language_model *m)
{
    if (m->end_of_text_count == 0)
        return json_null();
    if (m->end_of_text_count == 1)
        return json_integer(m->end_of_text[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < m->end_of_text_count; i++)
        if (json_array_append_new(list, json_integer(m->end_of_text[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* A text without a prompt begins after the first token that ends one. */
static json_t *generation_json(const rapt_language_model *m)
{
    json_t *first = m->end_of_text_count ? json_integer(m->end_of_text[0]) : json_null();
    return json_pack("{s:o, s:o}", "bos_token_id", first, "eos_token_id", end_of_text_json(m));
}

static json_t *lm_config_json(const rapt_language_model *m, const export_lm_class *of)
{
    const rapt_lm_config *c = &m->net->config;
    json_t *root = json_pack("{s:[s], s:s, s:s, s:s, s:I, s:b, s:b, s:n}", "architectures", of->family->architecture,
                             "model_type", of->family->type, "dtype", "float32", "torch_dtype", "float32", "vocab_size",
                             (json_int_t)c->vocab, "tie_word_embeddings", (int)c->tied, "use_cache", 1, "pad_token_id");
    json_t *own = of->describe(c), *generation = generation_json(m);
    const bool ok = root && own && generation && json_object_update(root, own) == 0 &&
                    json_object_update(root, generation) == 0;
    json_decref(own);
    json_decref(generation);
    if (ok)
        return root;
    json_decref(root);
    return NULL;
}

/* The settings of a language model's tokenizer, with its chat template. */
static json_t *lm_tokenizer_config(const rapt_model *model)
{
    const rapt_language_model *m = &model->language;
    const int32_t end = m->end_of_text_count ? m->end_of_text[0] : -1;
    json_t *config = export_tokenizer_config(m->tokenizer, m->net->config.context, false, end);
    if (!config || !model->chat_template ||
        json_object_set_new(config, "chat_template", json_string(model->chat_template)) == 0)
        return config;
    json_decref(config);
    return NULL;
}

static rapt_code export_hf_take_lm(export_hf_parts *p, const rapt_model *model, const char *path, rapt_error *err)
{
    const rapt_language_model *m = &model->language;
    const rapt_lm_config *c = &m->net->config;
    const export_lm_class *of = export_lm_class_of(c, path, err);
    json_t *tokenizer = of ? export_tokenizer(m->tokenizer, -1, path, err) : NULL;
    if (!tokenizer)
        return RAPT_ERR_VALUE;
    export_hf_put(p, "tokenizer.json", tokenizer);
    p->tensors.model = (place_model){of->family->places, of->family->type, m->net->params, &c->block};
    place_tensors_begin(&p->tensors);
    place_tensors_add(&p->tensors);
    export_hf_put(p, "config.json", lm_config_json(m, of));
    export_hf_put(p, "generation_config.json", generation_json(m));
    export_hf_put(p, "tokenizer_config.json", lm_tokenizer_config(model));
    return RAPT_OK;
}

/* ---- translators ---------------------------------------------------------------------------------------------- */

static rapt_code export_hf_take_tokenizers(export_hf_parts *p, const rapt_translation_model *m, const char *path, rapt_error *err)
{
    static const char *const names[][2] = {{"tokenizer.json", "tokenizer_config.json"},
                                           {"target/tokenizer.json", "target/tokenizer_config.json"}};
    const rapt_tokenizer *const sides[] = {m->source, m->target};
    for (size_t i = 0; i < (m->source == m->target ? 1 : 2); i++) {
        json_t *tokenizer = export_tokenizer(sides[i], m->special.eos, path, err);
        if (!tokenizer)
            return RAPT_ERR_VALUE;
        export_hf_put(p, names[i][0], tokenizer);
        export_hf_put(p, names[i][1], export_tokenizer_config(sides[i], m->max_len, true, -1));
    }
    return RAPT_OK;
}

static rapt_code export_hf_take_translator(export_hf_parts *p, const rapt_translation_model *m, const char *path, rapt_error *err)
{
    const rapt_transformer_config *c = &m->net->config;
    const hub_family *of = export_translation_class_of(c, path, err);
    rapt_code code = of ? export_hf_take_tokenizers(p, m, path, err) : RAPT_ERR_VALUE;
    if (code)
        return code;
    p->tensors.model = (place_model){of->places, of->type, m->net->params, &c->block};
    p->tensors.tied = c->tied;
    p->tensors.outputs = c->target_vocab;
    p->order = export_translation_order(c->block.d_model);
    if (!p->order)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for an order of features", path);
    place_tensors_begin(&p->tensors);
    export_translation_add(&p->tensors, p->order);
    export_hf_put(p, "config.json", export_translation_config(m, of));
    export_hf_put(p, "generation_config.json", export_translation_generation(m));
    return RAPT_OK;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static rapt_code export_hf_write(export_hf_parts *p, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_folder f;
    export_folder_begin(&f, path, err);
    for (size_t i = 0; i < p->count; i++)
        export_folder_put_json(&f, p->files[i].name, json_incref(p->files[i].root));
    const char *weights = export_folder_file(&f, "model.safetensors");
    if (weights)
        f.code = place_tensors_save(&p->tensors, weights, o, err);
    return export_folder_end(&f);
}

rapt_code export_hf(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_hf_parts p = {.tensors = {.path = path}};
    rapt_code code = m->task == RAPT_TASK_TRANSLATION ? export_hf_take_translator(&p, &m->translation, path, err)
                                                      : export_hf_take_lm(&p, m, path, err);
    if (!code)
        code = place_tensors_check(&p.tensors, err);
    for (size_t i = 0; i < p.count && !code; i++)
        if (!p.files[i].root)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %s", path, p.files[i].name);
    if (!code)
        code = export_hf_write(&p, path, o, err);
    export_hf_free(&p);
    return code;
}
