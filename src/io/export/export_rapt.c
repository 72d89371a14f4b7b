/* io/export/export_rapt.c: see export_rapt.h. Matrices are rounded one at a time, when they are written; vectors, positions and
 * what else is no matrix of a linear layer or an embedding stay in fp32. */
#include "io/export/export_rapt.h"

#include "base/file.h"
#include "io/export/export_folder.h"
#include "io/model.h"
#include "io/params_file.h"
#include "io/seal.h"
#include "io/stored_blocks.h"
#include "tensor/blocks_write.h"

#include <stdlib.h>
#include <string.h>

typedef struct export_rapt_file {
    const rapt_model *m;
    const rapt_export_options *o;
    safetensors_entry *entries;
    const rapt_param **params;     /* [count] of each entry */
    const block_format **formats;  /* [count] or NULL: of no blocks */
    char (*keys)[STORED_BLOCKS_KEY];
    const char **metadata;
    size_t count, pairs; /* pairs: texts in the metadata */
    void *made; /* the bytes of a tensor, */
    size_t which; /* and which one it is */
} export_rapt_file;

static void export_rapt_free(export_rapt_file *f)
{
    free(f->entries);
    free(f->params);
    free(f->formats);
    free(f->keys);
    free(f->metadata);
    free(f->made);
}

/* ---- types ---------------------------------------------------------------------------------------------------------- */

static bool export_rapt_is_table(const rapt_model *m, const rapt_param *p)
{
    const rapt_transformer *pair = m->translation.net;
    const rapt_preprocessor *first = pair ? &pair->encoder.input : &m->language.net->input;
    const rapt_preprocessor *last = pair ? &pair->decoder.input : first;
    return p == first->positions.table || p == last->positions.table;
}

/* Each row of an embedding or output matrix stands for a token: these have 8 bits at least. */
static bool export_rapt_is_of_tokens(const rapt_model *m, const rapt_param *p)
{
    const rapt_transformer *pair = m->translation.net;
    const rapt_preprocessor *first = pair ? &pair->encoder.input : &m->language.net->input;
    const rapt_preprocessor *last = pair ? &pair->decoder.input : first;
    const rapt_param *output = pair ? pair->decoder.output.weight : m->language.net->output.weight;
    return p == output || p == first->embedding.weight || p == last->embedding.weight;
}

/* NULL: the rows are no whole blocks, or blocks are not wanted. */
static const block_format *export_rapt_blocks(const export_rapt_file *f, const rapt_param *p)
{
    if (p->value.shape[1] % BLOCKS_Q8_0.elements)
        return NULL;
    if (f->o->weights == RAPT_EXPORT_Q4_0)
        return export_rapt_is_of_tokens(f->m, p) ? &BLOCKS_Q8_0 : &BLOCKS_Q4_0;
    return f->o->weights == RAPT_EXPORT_Q8_0 ? &BLOCKS_Q8_0 : NULL;
}

/* ---- the list of tensors -------------------------------------------------------------------------------------------- */

static void export_rapt_add(export_rapt_file *f, const rapt_param *p)
{
    const size_t i = f->count++;
    safetensors_entry *e = &f->entries[i];
    *e = params_entry(p->value.name, &p->value, p->value.data);
    f->params[i] = p;
    if (p->value.ndim != 2 || p->buffer || export_rapt_is_table(f->m, p))
        return;
    f->formats[i] = export_rapt_blocks(f, p);
    if (f->formats[i]) {
        e->dtype = SAFETENSORS_U8;
        e->shape[1] = p->value.shape[1] / f->formats[i]->elements * f->formats[i]->bytes;
        f->metadata[f->pairs++] = stored_blocks_key(p->value.name, f->keys[i]);
        f->metadata[f->pairs++] = f->formats[i]->name;
    } else if (f->o->weights == RAPT_EXPORT_BF16 || f->o->weights == RAPT_EXPORT_FP16)
        e->dtype = f->o->weights == RAPT_EXPORT_BF16 ? SAFETENSORS_BF16 : SAFETENSORS_F16;
    e->data = e->dtype == SAFETENSORS_F32 ? e->data : NULL;
    e->bytes = e->shape[0] * e->shape[1] * safetensors_dtype_bytes(e->dtype);
}

enum { FIXED_TEXTS = 6 }; /* of the metadata: two pairs that all files have, and the seal */

static rapt_code export_rapt_list(export_rapt_file *f, const char *path, const char *seal, rapt_error *err)
{
    const size_t count = rapt_params_count(f->m->params);
    size_t largest = 0;
    f->entries = calloc(count + 1, sizeof *f->entries);
    f->params = calloc(count + 1, sizeof *f->params);
    f->formats = calloc(count + 1, sizeof *f->formats);
    f->keys = calloc(count + 1, sizeof *f->keys);
    f->metadata = calloc(2 * count + FIXED_TEXTS + 1, sizeof *f->metadata);
    if (!f->entries || !f->params || !f->formats || !f->keys || !f->metadata)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", path);
    const char *const fixed[FIXED_TEXTS] = {"format", "pt", "rapt_format_version", PARAMS_VERSION, SEAL_KEY, seal};
    memcpy(f->metadata, fixed, sizeof fixed);
    f->pairs = FIXED_TEXTS;
    for (size_t i = 0; i < count; i++)
        if (!rapt_params_at(f->m->params, i)->transient)
            export_rapt_add(f, rapt_params_at(f->m->params, i));
    for (size_t i = 0; i < f->count; i++)
        largest = !f->entries[i].data && f->entries[i].bytes > largest ? f->entries[i].bytes : largest;
    f->made = malloc(largest + 1);
    f->which = SIZE_MAX;
    return f->made ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", path);
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

static const char *export_rapt_bytes(export_rapt_file *f, size_t entry)
{
    const rapt_param *p = f->params[entry];
    const block_format *format = f->formats[entry];
    if (f->which == entry)
        return f->made;
    if (format)
        format->write(rapt_tensor_size(&p->value) / format->elements, p->value.data, f->made);
    else if (f->entries[entry].dtype == SAFETENSORS_BF16)
        blocks_write_bf16(rapt_tensor_size(&p->value), p->value.data, f->made);
    else
        blocks_write_f16(rapt_tensor_size(&p->value), p->value.data, f->made);
    f->which = entry;
    return f->made;
}

/* A safetensors_source's read. */
static rapt_code export_rapt_read(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    export_rapt_file *f = context;
    if (f->o->stop && f->o->stop(f->o->stop_context))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "interrupted");
    memcpy(to, export_rapt_bytes(f, entry) + offset, bytes);
    return RAPT_OK;
}

static rapt_code export_rapt_params(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    char *seal = NULL;
    export_rapt_file f = {.m = m, .o = o};
    rapt_code code = seal_text(m, path, &seal, err);
    if (!code)
        code = export_rapt_list(&f, path, seal, err);
    if (!code)
        code = safetensors_write_from(path, f.entries, f.count, f.metadata, &(safetensors_source){export_rapt_read, &f}, err);
    export_rapt_free(&f);
    free(seal);
    return code;
}

rapt_code export_rapt(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_folder f;
    char *weights = NULL;
    if (m->family)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: a model of a Hugging Face folder (%s) is stored in fewer bits as a GGUF file "
                         "only (--to gguf); --weights of the commands rounds any model while it is loaded", path, m->family);
    if (m->lora || m->task == RAPT_TASK_ENCODER)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: low-rank adapters, or an encoder, are not stored in fewer bits", path);
    rapt_code code = export_folder_begin(&f, path, err);
    if (!code)
        code = rapt_model_save_config(m, f.aside, err);
    if (!code)
        code = file_path(f.aside, model_weights_name(m), &weights, err);
    if (!code)
        code = export_rapt_params(m, weights, o, err);
    free(weights);
    return export_folder_end(&f, code, err);
}
