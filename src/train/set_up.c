/* train/set_up.c: makes tape, model and optimizer. For train.c, which calls it in order. */
#include "train/set_up.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/rng.h"
#include "io/model_core.h"
#include "kernels/kernels.h"
#include "ops/deferred.h"
#include "ops/held_weight.h"
#include "tensor/params.h"
#include "train/elements_hash.h"
#include "train/folder/lengthen.h"
#include "train/optimizer/adam_owned.h"
#include "train/optimizer/grad_release.h"
#include "train/optimizer/moving_average.h"
#include "train/optimizer/muon.h"
#include "train/optimizer/sgd.h"
#include "train/shards/step_shards.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static bool can_learn(const rapt_params *set)
{
    bool any = false;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        any = any || params_at(set, i)->value.requires_grad;
    return any;
}

static rapt_code freeze(run *r, rapt_error *err)
{
    char *patterns = r->recipe->train.freeze ? chars_copy(r->recipe->train.freeze) : NULL, *rest = patterns;
    rapt_code code = RAPT_OK;
    if (r->recipe->train.freeze && !patterns)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for train.freeze");
    for (char *p; !code && rest && (p = chars_cut(&rest, ","));)
        if (*p && rapt_params_freeze(r->model->params, p) == 0)
            code = rapt_fail(err, RAPT_ERR_VALUE, "train.freeze: no parameter is called \"%s\"", p);
    free(patterns);
    if (!code && !can_learn(r->model->params))
        code = rapt_fail(err, RAPT_ERR_VALUE, "train.freeze: nothing is left to train");
    return code;
}

/* Gives the model adapters, which are trained; its own elements do not change. Hashes them, also if they are the reference of
 * preferences. */
static rapt_code add_adapters(run *r, rapt_error *err)
{
    const rapt_recipe *k = r->recipe;
    const bool adapters = k->train.lora.rank > 0;
    if (!adapters && !k->data.preferences)
        return RAPT_OK;
    r->base_count = adapters ? rapt_params_size(r->model->params) : 0;
    r->base_hash = 1;
    if (elements_hash(r->model->params, false, &r->base_hash, err) != RAPT_OK)
        return err->code;
    if (!adapters)
        return RAPT_OK;
    char *base = disk_real_path(r->init);
    rapt_error reason = {0};
    rapt_model_lora_options o = rapt_model_lora_options_default();
    o.lora = (rapt_lora_options){.rank = (size_t)k->train.lora.rank, .alpha = k->train.lora.alpha,
                                 .dropout = k->train.lora.dropout, .rslora = k->train.lora.rslora,
                                 .dora = k->train.lora.dora};
    o.modules = k->train.lora.modules;
    o.rank_pattern = k->train.lora.rank_pattern;
    o.alpha_pattern = k->train.lora.alpha_pattern;
    o.save = k->train.lora.save;
    o.base = base ? base : r->init;
    o.seed = (uint64_t)k->seed;
    rapt_code code = rapt_model_add_lora(r->model, &o, &reason);
    free(base);
    if (!code && !k->train.lora.hold && k->train.precision == RAPT_TYPE_BF16)
        held_weights_keep(r->model->params, r->tape);
    const rapt_error *failed = rapt_params_error(r->model->params);
    if (!code && failed->code)
        code = rapt_fail(&reason, failed->code, "%s", failed->message);
    return code ? rapt_fail(err, code, "train.lora: %s", reason.message) : RAPT_OK;
}

rapt_code set_up_tape(run *r, rapt_error *err)
{
    rapt_compute o = {.threads = r->options->threads, .type = r->recipe->train.precision};
    r->tape = rapt_tape_new(&o, err);
    if (!r->tape)
        return err->code;
    tape_defer_gradients(r->tape, r->recipe->train.accumulate == 1); /* with gradient accumulation they are summed instead */
    return RAPT_OK;
}

rapt_code set_up_optimizer(run *r, rapt_error *err)
{
    const rapt_recipe *k = r->recipe;
    rapt_code code = step_shards_set_up(r, err);
    if (!code && r->release)
        code = grad_release_place(r->release, r->model->params, err);
    if (code)
        return code;
    rapt_adam_options adam = rapt_adam_options_default();
    adam.beta1 = k->train.beta1;
    adam.beta2 = k->train.beta2;
    adam.eps = k->train.eps;
    adam.weight_decay = k->train.weight_decay;
    adam.lazy = k->train.lazy;
    adam.bits8 = k->train.optimizer == RAPT_RECIPE_OPTIMIZER_ADAM8BIT;
    r->steps = lengthen_steps(r, k);
    rapt_params *set = r->model->params;
    rapt_muon_options muon;
    rapt_sgd_options sgd;
    const bool with_muon = muon_of_recipe(k, &muon), with_sgd = sgd_of_recipe(k, &sgd);
    if (r->group)
        r->adam = adam_owned_new(set, (optimizer_options){&adam, with_muon ? &muon : NULL, with_sgd ? &sgd : NULL}, err);
    else if (with_sgd)
        r->adam = rapt_sgd_new(set, &sgd, err);
    else
        r->adam = with_muon ? rapt_muon_new(set, &muon, &adam, err) : rapt_adam_new(set, &adam, err);
    if (!r->adam)
        return err->code;
    if (k->train.ema > 0 && !(r->average = moving_average_new(set, k->train.ema, err)))
        return err->code;
    return r->task->start ? r->task->start(r, err) : RAPT_OK;
}

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

/* Freezes the embeddings for which the recipe gives vectors, if it says so. With `read`, reads the vectors from their files,
 * warns of tokens without one, and sets vectors_hash. Errors as in rapt_vectors_read. Does nothing without such keys. */
static rapt_code vectors_init(run *r, bool read, rapt_error *err)
{
    const char *source = r->recipe->train.vectors, *target = r->recipe->train.target_vectors;
    const rapt_model *m = r->model;
    if (!source && !target)
        return RAPT_OK;
    if (r->init) /* if a program gives it; a recipe with both was refused earlier */
        return rapt_fail(err, RAPT_ERR_VALUE, "train.vectors is for a new model; a fine-tuned model has vectors of its own");
    run_phase(r, "reading word vectors", 0, 0);
    if (m->task == RAPT_TASK_LANGUAGE_MODEL)
        return vectors_start(r, source, m->language.tokenizer, m->language.net->input.embedding.weight, read, err);
    const rapt_transformer *net = m->translation.net;
    rapt_code code = vectors_start(r, source, m->translation.source, net->encoder.input.embedding.weight, read, err);
    return code ? code : vectors_start(r, target, m->translation.target, net->decoder.input.embedding.weight, read, err);
}

/* Makes the model of the recipe, and freezes what it names. */
static rapt_code make_model(run *r, uint64_t seed, rapt_error *err)
{
    rapt_code code = r->task->make(r, seed, err);
    if (!code)
        code = vectors_init(r, seed != RAPT_SEED_SHAPES, err);
    code = code ? code : freeze(r, err);
    code = code ? code : add_adapters(r, err);
    if (code || r->recipe->train.gradients == RAPT_TYPE_FP32)
        return code;
    if (!kernels_scalar.adam8)
        return rapt_fail(err, RAPT_ERR_VALUE, "train.gradients: bf16 is not in the double build");
    return params_store_gradients_bf16(r->model->params, err);
}

rapt_code set_up_shapes(run *r, rapt_error *err)
{
    return make_model(r, r->init ? (uint64_t)r->recipe->seed : RAPT_SEED_SHAPES, err);
}

rapt_code set_up_parameters(run *r, rapt_error *err)
{
    if (r->init)
        return RAPT_OK;
    rapt_transformer_free(r->model->translation.net);
    rapt_lm_free(r->model->language.net);
    r->model->translation.net = NULL;
    r->model->language.net = NULL;
    r->model->params = NULL;
    run_phase(r, "making the model", 0, 0);
    return make_model(r, (uint64_t)r->recipe->seed, err);
}
