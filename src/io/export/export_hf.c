/* io/export/export_hf.c: see export_hf.h. */
#include "io/export/export_hf.h"

#include "base/file.h"
#include "io/export/export_lm.h"
#include "io/export/export_tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* What a folder will hold, made before anything is written. */
typedef struct export_hf_parts {
    export_tensors tensors;
    json_t *config, *generation, *tokenizer, *tokenizer_config;
} export_hf_parts;

static void export_hf_free(export_hf_parts *p)
{
    export_tensors_free(&p->tensors);
    json_decref(p->config);
    json_decref(p->generation);
    json_decref(p->tokenizer);
    json_decref(p->tokenizer_config);
}

static rapt_code export_hf_no_memory(const char *path, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
}

/* ---- model.safetensors ---------------------------------------------------------------------------------------- */

typedef struct export_hf_source {
    const export_tensors *set;
    const rapt_export_options *options;
    float *scratch; /* the tensor that is being written */
} export_hf_source;

static rapt_code export_hf_read(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    const export_hf_source *s = context;
    if (s->options->stop && s->options->stop(s->options->stop_context))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "%s: interrupted", s->set->path);
    if (offset == 0)
        export_tensor_fill(s->set, &s->set->list[entry], s->scratch);
    memcpy(to, (const char *)s->scratch + offset, bytes);
    return RAPT_OK;
}

static rapt_code export_hf_write_tensors(const export_tensors *set, const char *path, const rapt_export_options *o,
                                         rapt_error *err)
{
    static const char *const metadata[] = {"format", "pt", NULL}; /* without it transformers refuses the file */
    size_t largest = 0;
    safetensors_entry *entries = calloc(set->count + 1, sizeof *entries);
    for (size_t i = 0; entries && i < set->count; i++) {
        const export_tensor *t = &set->list[i];
        entries[i] = (safetensors_entry){.name = t->name, .dtype = t->dtype, .ndim = t->ndim,
                                         .bytes = export_tensor_elements(t) * sizeof(float)};
        memcpy(entries[i].shape, t->shape, sizeof t->shape);
        largest = entries[i].bytes > largest ? entries[i].bytes : largest;
    }
    export_hf_source source = {set, o, entries ? malloc(largest + 1) : NULL};
    rapt_code code = source.scratch ? safetensors_write_from(path, entries, set->count, metadata,
                                                            &(safetensors_source){export_hf_read, &source}, err)
                                    : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", path);
    free(source.scratch);
    free(entries);
    return code;
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
    json_t *root = json_pack("{s:[s], s:s, s:s, s:s, s:I, s:b, s:b, s:n}", "architectures", of->architecture, "model_type",
                             of->type, "dtype", "float32", "torch_dtype", "float32", "vocab_size", (json_int_t)c->vocab,
                             "tie_word_embeddings", (int)c->tied, "use_cache", 1, "pad_token_id");
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

static rapt_code export_hf_take_lm(export_hf_parts *p, const rapt_language_model *m, const char *path, rapt_error *err)
{
    const rapt_lm_config *c = &m->net->config;
    const export_lm_class *of = export_lm_class_of(c, path, err);
    if (!of || !(p->tokenizer = export_tokenizer(m->tokenizer, -1, path, err)))
        return RAPT_ERR_VALUE;
    p->tensors.heads = c->block.heads;
    rapt_code code = export_tensors_begin(&p->tensors, m->net->params, err);
    if (!code)
        code = export_tensors_add(&p->tensors, of->names, err);
    p->config = lm_config_json(m, of);
    p->generation = generation_json(m);
    p->tokenizer_config = export_tokenizer_config(m->tokenizer, c->context, false,
                                                  m->end_of_text_count ? m->end_of_text[0] : -1);
    return code;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static rapt_code export_hf_write(export_hf_parts *p, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_folder f;
    char *weights = NULL;
    rapt_code code = export_folder_begin(&f, path, err);
    if (!code)
        code = export_folder_put_json(&f, "config.json", json_incref(p->config), err);
    if (!code)
        code = export_folder_put_json(&f, "generation_config.json", json_incref(p->generation), err);
    if (!code)
        code = export_folder_put_json(&f, "tokenizer.json", json_incref(p->tokenizer), err);
    if (!code)
        code = export_folder_put_json(&f, "tokenizer_config.json", json_incref(p->tokenizer_config), err);
    if (!code)
        code = file_path(f.aside, "model.safetensors", &weights, err);
    if (!code)
        code = export_hf_write_tensors(&p->tensors, weights, o, err);
    free(weights);
    return export_folder_end(&f, code, err);
}

rapt_code export_hf(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_hf_parts p = {.tensors = {.path = path}};
    if (m->task != RAPT_TASK_LANGUAGE_MODEL)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: rapt does not write translation models for transformers", path);
    rapt_code code = export_hf_take_lm(&p, &m->language, path, err);
    if (!code)
        code = export_tensors_check(&p.tensors, err);
    if (!code && (!p.config || !p.generation || !p.tokenizer_config))
        code = export_hf_no_memory(path, err);
    if (!code)
        code = export_hf_write(&p, path, o, err);
    export_hf_free(&p);
    return code;
}
