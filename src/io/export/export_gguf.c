/* io/export/export_gguf.c: writes a GGUF file. Numbers are read from the parameters in portions as they are written, so that
 * there is no second model in memory. */
#include "io/export/export_kinds.h"

#include "base/disk.h"
#include "base/file.h"
#include "base/unfinished.h"
#include "io/export/export_gguf_parts.h"
#include "io/export_step.h"
#include "io/model_core.h"
#include "io/place/place_tensors.h"
#include "io/stored_file.h"
#include "nn/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats -------------------------------------------------------------------------------------------------- */

/* How matrices are stored: the type of a whole file (llama_ftype), and the largest magnitude of the format. */
typedef struct gguf_weights {
    const block_format *format;
    uint32_t file_type;
    double largest; /* 0: any number of fp32 */
} gguf_weights;

static gguf_weights gguf_weights_of(rapt_type weights)
{
    const double largest = stored_file_largest(weights);
    switch (weights) {
    case RAPT_TYPE_FP16: return (gguf_weights){&GGUF_WRITE_F16, 1, largest};
    case RAPT_TYPE_BF16: return (gguf_weights){&GGUF_WRITE_BF16, 32, largest};
    case RAPT_TYPE_Q8_0: return (gguf_weights){&BLOCKS_Q8_0, 7, largest};
    case RAPT_TYPE_Q4_0: return (gguf_weights){&BLOCKS_Q4_0, 2, largest};
    case RAPT_TYPE_FP32: break;
    }
    return (gguf_weights){&GGUF_WRITE_F32, 0, 0};
}

/* The format of a matrix whose rows are whole blocks, except positions, which llama.cpp adds in fp32; everything else is fp32. */
static const block_format *gguf_format_of(const place_tensor *t, const gguf_weights *weights)
{
    const bool rounded = t->ndim == 2 && t->shape[1] % weights->format->elements == 0 && strncmp(t->name, "position_", 9) != 0;
    return rounded ? weights->format : &GGUF_WRITE_F32;
}

/* ---- what a file will hold ------------------------------------------------------------------------------------ */

typedef struct export_gguf_parts {
    place_tensors set;
    gguf_keys keys;
    gguf_written *tensors; /* [set.count + 1]; the last is for the factors, if there are any */
    float factors[RAPT_ROTARY_FACTORS_MAX];
    size_t factor_count;
    gguf_weights weights;
    const rapt_export_options *options;
    export_steps steps;
} export_gguf_parts;

static void export_gguf_parts_free(export_gguf_parts *p)
{
    place_tensors_free(&p->set);
    gguf_keys_free(&p->keys);
    free(p->tensors);
}

static rapt_code export_gguf_take_tensors(export_gguf_parts *p, const rapt_lm_config *c, rapt_error *err)
{
    place_tensors *set = &p->set;
    p->factor_count = export_gguf_rope_factors(c, p->factors);
    p->tensors = calloc(set->count + 1, sizeof *p->tensors);
    if (!p->tensors)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", set->path);
    for (size_t i = 0; i < set->count; i++) {
        const place_tensor *t = &set->list[i];
        const size_t columns = t->ndim == 2 ? t->shape[1] : 1;
        p->tensors[i] = (gguf_written){t->name, gguf_format_of(t, &p->weights), t->ndim, t->shape[0], columns};
    }
    p->tensors[set->count] = (gguf_written){"rope_freqs.weight", &GGUF_WRITE_F32, 1, p->factor_count, 1};
    for (size_t i = 0; i < set->count; i++)
        if (p->tensors[i].format == p->weights.format)
            return RAPT_OK;
    return stored_file_no_blocks(set->path, p->options->weights, err);
}

static rapt_code export_gguf_take(export_gguf_parts *p, const rapt_model *m, rapt_error *err)
{
    const rapt_lm_config *c = &m->language.net->config;
    const gguf_architecture *of = export_gguf_arch_of(m, p->set.path, err);
    if (!of)
        return RAPT_ERR_VALUE;
    p->set.model = (place_model){of->places, of->name, m->params, &c->block};
    place_tensors_begin(&p->set);
    place_tensors_add(&p->set);
    rapt_code code = place_tensors_check(&p->set, err);
    if (!code)
        code = export_gguf_take_tensors(p, c, err);
    export_gguf_put_keys(&p->keys, of, c);
    gguf_keys_u32(&p->keys, "general.file_type", p->weights.file_type);
    gguf_keys_u32(&p->keys, "general.quantization_version", 2);
    return code ? code : export_gguf_tokenizer(&p->keys, m, p->set.path, err);
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static rapt_code gguf_check_numbers(const export_gguf_parts *p, const gguf_written *t, const float *x, size_t count,
                                    rapt_error *err)
{
    const double largest = t->format == p->weights.format ? p->weights.largest : 0;
    for (size_t i = 0; i < count && largest != 0; i++)
        if (!(fabs((double)x[i]) <= largest))
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: tensor \"%s\" has the number %g, which %s does not hold", p->set.path,
                             t->name, (double)x[i], t->format->name);
    return RAPT_OK;
}

/* A gguf_source's rows; between portions the caller may stop it. */
static rapt_code gguf_rows(void *context, size_t tensor, size_t first, size_t count, float *to, rapt_error *err)
{
    export_gguf_parts *p = context;
    const gguf_written *t = &p->tensors[tensor];
    if (export_step(p->options, &p->steps, tensor, p->set.count + (p->factor_count > 0), p->set.path, err) != RAPT_OK)
        return RAPT_ERR_INTERRUPTED;
    if (tensor == p->set.count)
        memcpy(to, p->factors + first, count * sizeof *to);
    else
        place_tensor_rows(&p->set.list[tensor], first, count, to);
    return gguf_check_numbers(p, t, to, count * t->columns, err);
}

/* The length of the folder part of a path, with the slash; 0: it has none. */
static size_t gguf_folder_length(const char *path)
{
    const char *slash = disk_last_slash(path);
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* Makes the folder of the file, and removes it again if the file does not appear. */
static rapt_code gguf_write_file(export_gguf_parts *p, const char *path, rapt_error *err)
{
    const size_t length = gguf_folder_length(path), count = p->set.count + (p->factor_count > 0);
    size_t made = 0;
    char *folder = calloc(length + 1, 1);
    rapt_code code = folder ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a path", path);
    if (!code && length) {
        memcpy(folder, path, length);
        code = file_make_dir_new(folder, &made, err);
    }
    if (!code)
        unfinished_remove(path);
    if (!code)
        code = gguf_write(path, &p->keys, p->tensors, count, &(gguf_source){gguf_rows, p}, err);
    if (code && made)
        file_remove_new(folder, made);
    free(folder);
    return code;
}

static rapt_code gguf_check(const rapt_model *m, const char *path, rapt_error *err)
{
    bool there = false;
    rapt_code code = file_is_there(path, &there, err);
    if (!code && there)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s is there already; a new file is written", path);
    if (!code && m->task != RAPT_TASK_LANGUAGE_MODEL)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: llama.cpp runs language models only; translators are written for ctranslate2 "
                         "and hf", path);
    return code;
}

rapt_code export_gguf(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_gguf_parts p = {.set = {.path = path}, .weights = gguf_weights_of(o->weights), .options = o};
    rapt_code code = gguf_check(m, path, err);
    if (!code)
        code = export_gguf_take(&p, m, err);
    if (!code)
        code = gguf_write_file(&p, path, err);
    export_gguf_parts_free(&p);
    return code;
}
