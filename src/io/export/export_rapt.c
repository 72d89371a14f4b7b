/* io/export/export_rapt.c: writes a folder with weights in fewer bits. Only matrices of linear layers and embeddings are stored
 * in fewer bits; vectors, positions and everything else stay in fp32. */
#include "io/export/export_kinds.h"

#include "base/file.h"
#include "io/export/export_folder.h"
#include "io/model.h"
#include "io/params_file.h"
#include "io/seal.h"
#include "io/stored_file.h"

#include <stdlib.h>
#include <string.h>

/* The preprocessors of both sides of a translator; for a language model, the same one twice. */
static void export_rapt_inputs(const rapt_model *m, const rapt_preprocessor *inputs[2])
{
    const rapt_transformer *pair = m->translation.net;
    inputs[0] = pair ? &pair->encoder.input : &m->language.net->input;
    inputs[1] = pair ? &pair->decoder.input : inputs[0];
}

/* Whether a parameter holds positions: a table that is added to embeddings, or the bias of relative positions (nn/relative.c),
 * one for each encoder and decoder or one for each block. */
static bool export_rapt_is_of_positions(const rapt_param *p, const rapt_preprocessor *const inputs[2])
{
    return p == inputs[0]->positions.table || p == inputs[1]->positions.table || strstr(p->value.name, ".relative.");
}

rapt_type export_rapt_type(const rapt_model *m, const rapt_param *p, rapt_type wanted)
{
    const rapt_preprocessor *inputs[2];
    export_rapt_inputs(m, inputs);
    const rapt_param *output = m->translation.net ? m->translation.net->decoder.output.weight : m->language.net->output.weight;
    if (p->value.ndim != 2 || p->buffer || export_rapt_is_of_positions(p, inputs))
        return RAPT_TYPE_FP32;
    const bool tokens = p == output || p == inputs[0]->embedding.weight || p == inputs[1]->embedding.weight;
    return tokens && wanted == RAPT_TYPE_Q4_0 ? RAPT_TYPE_Q8_0 : wanted;
}

typedef struct export_rapt_list {
    safetensors_entry *entries;
    rapt_type *types;
    const rapt_param **params;
    size_t count;
} export_rapt_list;

static const float *export_rapt_elements(void *context, size_t entry)
{
    return ((const export_rapt_list *)context)->params[entry]->value.data;
}

static rapt_code export_rapt_make_list(export_rapt_list *l, const rapt_model *m, const char *path, rapt_type wanted,
                                       rapt_error *err)
{
    const size_t count = rapt_params_count(m->params);
    l->entries = calloc(count + 1, sizeof *l->entries);
    l->types = calloc(count + 1, sizeof *l->types);
    l->params = calloc(count + 1, sizeof *l->params);
    if (!l->entries || !l->types || !l->params)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", path);
    for (size_t i = 0; i < count; i++) {
        const rapt_param *p = rapt_params_at(m->params, i);
        if (p->transient)
            continue;
        l->params[l->count] = p;
        l->types[l->count] = export_rapt_type(m, p, wanted);
        l->entries[l->count++] = params_entry(p->value.name, &p->value, p->value.data);
    }
    return RAPT_OK;
}

static rapt_code export_rapt_params(const rapt_model *m, const char *path, const char *shown, const rapt_export_options *o,
                                    rapt_error *err)
{
    char *seal = NULL;
    export_rapt_list l = {0};
    rapt_code code = seal_text(m, path, &seal, err);
    const char *const metadata[] = {"format", "pt", "rapt_format_version", PARAMS_VERSION, SEAL_KEY, seal, NULL};
    if (!code)
        code = export_rapt_make_list(&l, m, path, o->weights, err);
    const stored_tensors all = {l.entries, l.types, l.count, metadata, export_rapt_elements, &l, o, shown};
    if (!code)
        code = stored_file_write(path, &all, err);
    free(l.entries);
    free(l.types);
    free(l.params);
    free(seal);
    return code;
}

rapt_code export_rapt(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_folder f;
    if (m->lora || m->encoder.net)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: low-rank adapters, or an encoder, are not stored in fewer bits", path);
    export_folder_begin(&f, path, err);
    if (!f.code)
        f.code = rapt_model_save_config(m, f.aside, err);
    const char *weights = export_folder_file(&f, model_weights_name(m));
    if (weights)
        f.code = export_rapt_params(m, weights, path, o, err);
    return export_folder_end(&f);
}
