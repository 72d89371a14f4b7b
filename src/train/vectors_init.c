/* train/vectors_init.c: chooses embedding and vocabulary for each key; rapt_vectors_read reads the file. */
#include "train/vectors_init.h"

#include "base/rng.h"

#include <xxhash.h>

static rapt_code vectors_read_side(run *r, const char *path, const rapt_tokenizer *k, rapt_param *w, rapt_error *err)
{
    rapt_vectors_result result;
    rapt_code code = rapt_vectors_read(path, k, w->value.shape[0], w->value.shape[1], w->value.data, &result, err);
    if (code)
        return code;
    const uint64_t hash = XXH3_64bits(w->value.data, rapt_tensor_size(&w->value) * sizeof *w->value.data);
    r->vectors_hash = rng_mix(r->vectors_hash, hash) | 1; /* never 0, which means none */
    if (result.found < result.tokens)
        run_warn(r, "%s has vectors for %zu of the %zu tokens; the others keep their initialization", path, result.found,
                 result.tokens);
    return RAPT_OK;
}

static rapt_code vectors_start(run *r, const char *path, const rapt_tokenizer *k, rapt_param *w, bool read, rapt_error *err)
{
    if (!path)
        return RAPT_OK;
    if (r->recipe->train.freeze_vectors)
        rapt_params_freeze(r->model->params, w->value.name);
    return read ? vectors_read_side(r, path, k, w, err) : RAPT_OK;
}

rapt_code vectors_init(run *r, bool read, rapt_error *err)
{
    const char *source = r->recipe->train.vectors, *target = r->recipe->train.target_vectors;
    const rapt_model *m = r->model;
    if (!source && !target)
        return RAPT_OK;
    if (r->init) /* if a program gives it; a recipe with both was refused earlier */
        return rapt_fail(err, RAPT_ERR_VALUE, "train.vectors is for a new model; those of a fine-tuned one are that model's");
    run_phase(r, "reading word vectors", 0, 0);
    if (m->task == RAPT_TASK_LANGUAGE_MODEL)
        return vectors_start(r, source, m->language.tokenizer, m->language.net->input.embedding.weight, read, err);
    const rapt_transformer *net = m->translation.net;
    rapt_code code = vectors_start(r, source, m->translation.source, net->encoder.input.embedding.weight, read, err);
    return code ? code : vectors_start(r, target, m->translation.target, net->decoder.input.embedding.weight, read, err);
}
