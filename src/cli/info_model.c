/* cli/info_model.c: `rapt info MODEL`: a model's kind and size, and the memory that it takes. For cmd_info.c. The words are taken
 * from config.json. */
#include "cli/cmd_info.h"

#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/info_types.h"
#include "io/model.h"
#include "nn/block.h"
#include "recipe/recipe_seal.h"
#include "tensor/params.h"

#include <stdio.h>

/* The numeric type of a parameter in a file with fewer bits than fp32; NULL: the model has no such file. */
static const char *stored_type_of(const weights *stored, const rapt_param *p)
{
    const weights_tensor *t = stored ? weights_find(stored, p->value.name) : NULL;
    return t ? weights_tensor_type(t) : NULL;
}

/* Bytes: parameters alone; parameters, gradients and both of Adam's moments; the KV cache of a token. */
typedef struct model_memory {
    double parameters, training, token;
} model_memory;

static model_memory memory_of(const rapt_model *m)
{
    const bool language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    const rapt_block_config *c = language ? &m->language.net->config.block : &m->translation.net->config.block;
    size_t layers = language ? m->language.net->config.layers : m->translation.net->config.decoder_layers;
    double bytes = (double)(rapt_params_size(m->params) * sizeof(rapt_real));
    double features = (double)(layers * block_kv_features(c));
    return (model_memory){bytes, 4 * bytes, 2 * features * sizeof(rapt_real)};
}

/* ---- as JSON ---------------------------------------------------------------------------------------------- */

static json_t *tensor_json(const rapt_param *p, const char *type)
{
    json_t *shape = json_array();
    for (int i = 0; shape && i < p->value.ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)p->value.shape[i]));
    return json_pack("{s:s, s:s*, s:o, s:b}", "name", p->value.name, "dtype", type, "shape", shape, "buffer", p->buffer);
}

/* NULL if no list is wanted: "s:o*" leaves it out. */
static json_t *tensors_json(const rapt_params *set, bool wanted, const weights *stored)
{
    json_t *list = wanted ? json_array() : NULL;
    for (size_t i = 0; list && i < rapt_params_count(set); i++) {
        const rapt_param *p = params_at(set, i);
        if (!p->transient)
            json_array_append_new(list, tensor_json(p, stored_type_of(stored, p)));
    }
    return list;
}

/* Sizes that are not in config.json. */
static json_t *more_json(const rapt_model *m, bool tensors, const weights *stored)
{
    model_memory memory = memory_of(m);
    const rapt_tokenizer *k = m->task == RAPT_TASK_LANGUAGE_MODEL ? m->language.tokenizer : m->translation.target;
    return json_pack("{s:I, s:s, s:I, s:{s:I, s:I, s:I}, s:o*, s:o*, s:o*}", "parameters",
                     (json_int_t)rapt_params_size(m->params), "tokenizer_kind", info_tokenizer_kind(k), "tokenizer_size",
                     (json_int_t)rapt_tokenizer_size(k), "memory", "parameters", (json_int_t)memory.parameters, "training",
                     (json_int_t)memory.training, "kept_a_token", (json_int_t)memory.token, "files",
                     stored ? info_types_files_json(stored) : NULL, "dtypes", stored ? info_types_json(stored) : NULL,
                     "tensors", tensors_json(m->params, tensors, stored));
}

static int print_model_json(const rapt_model *m, json_t *config, bool tensors, const weights *stored)
{
    json_t *more = more_json(m, tensors, stored);
    bool ok = more && json_object_update(config, more) == 0;
    json_decref(more);
    return info_print_json(ok ? json_incref(config) : NULL);
}

/* ---- as text ---------------------------------------------------------------------------------------------- */

/* A word of config.json. */
static const char *word(const json_t *config, const char *key)
{
    return json_string_value(json_object_get(config, key));
}

/* The end of the line of blocks, and the line of their sizes. */
static void info_model_print_block(const rapt_block_config *c, const json_t *config)
{
    printf(", %s-norm, %s norm%s\n", word(config, "norm_place"), word(config, "norm_kind"), c->shared_norm ? " used twice" : "");
    printf("d_model       %zu, %zu heads, %zu of keys and values, ffn %zu (%s)\n", c->d_model, c->heads, c->kv_heads, c->ffn,
           word(config, "ffn_kind"));
}

static void info_model_print_translation(const rapt_model *m, const json_t *config)
{
    char bytes[32];
    const rapt_transformer_config *c = &m->translation.net->config;
    printf("blocks        %zu encoder, %zu decoder", c->layers, c->decoder_layers);
    info_model_print_block(&c->block, config);
    printf("vocabularies  %zu source, %zu target %s%s\n", c->source_vocab, c->target_vocab,
           info_tokenizer_kind(m->translation.target),
           c->tied ? ", embeddings and output tied" : "");
    printf("sentences     up to %zu tokens, ", m->translation.max_len);
    if (c->positions == RAPT_POSITIONS_NONE)
        printf("no positions\n");
    else
        printf("%zu %s positions\n", c->max_positions, word(config, "positions"));
    printf("memory        a decoding step keeps %s a sentence and token\n", cli_bytes(memory_of(m).token, bytes));
}

static void print_language_model(const rapt_model *m, const json_t *config)
{
    char token[32], context[32];
    const rapt_lm_config *c = &m->language.net->config;
    double kept = memory_of(m).token;
    printf("blocks        %zu", c->layers);
    info_model_print_block(&c->block, config);
    printf("vocabulary    %zu%s\n", c->vocab, c->tied ? ", embedding and output tied" : "");
    printf("context       %zu tokens, %s positions\n", c->context,
           c->positions == RAPT_POSITIONS_NONE ? "no" : word(config, "positions"));
    printf("tokenizer     %s, %zu tokens\n", info_tokenizer_kind(m->language.tokenizer),
           rapt_tokenizer_size(m->language.tokenizer));
    printf("memory        decoding keeps %s a token, %s for a full context\n", cli_bytes(kept, token),
           cli_bytes(kept * (double)c->context, context));
}

/* The tensors of model.safetensors. */
static void list_tensors(const rapt_params *set, const weights *stored)
{
    char shape[96];
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = params_at(set, i);
        const char *type = stored_type_of(stored, p);
        if (!p->transient)
            printf("%-44s %s%s%s%s\n", p->value.name, rapt_shape_text(&p->value, shape, sizeof shape), type ? "  " : "",
                   type ? type : "", p->buffer ? "  (buffer)" : "");
    }
}

/* Prints whether recipe.yaml is unchanged since the training run: loading the model does not read it, so a change has no other
 * effect that would show. */
static void print_recipe(const rapt_model *m, const char *folder)
{
    static const char *const says[] = {[RECIPE_UNSEALED] = "recipe.yaml; nothing says whether it is as it was",
                                       [RECIPE_CHANGED] = "recipe.yaml was changed since the model was trained",
                                       [RECIPE_OF_ANOTHER] = "recipe.yaml is of another training run",
                                       [RECIPE_OF_THIS_RUN] = "recipe.yaml, as it was when the model was trained"};
    recipe_state state = recipe_state_in(folder, m->run);
    if (state != RECIPE_MISSING)
        printf("recipe        %s\n", says[state]);
}

static int print_model(const rapt_model *m, const char *folder, const json_t *config, bool tensors, const weights *stored)
{
    char bytes[32], training[32];
    bool language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    model_memory memory = memory_of(m);
    printf("task          %s\n", language ? "language model (decoder-only)" : "translation (encoder-decoder)");
    printf("parameters    %zu (%s; training takes %s, and activations)\n", rapt_params_size(m->params),
           cli_bytes(memory.parameters, bytes), cli_bytes(memory.training, training));
    if (stored) {
        info_types_print_files(stored);
        info_types_print(stored);
    }
    if (language)
        print_language_model(m, config);
    else
        info_model_print_translation(m, config);
    print_recipe(m, folder);
    if (tensors)
        list_tensors(m->params, stored);
    return 0;
}

int info_model(const info_arguments *a)
{
    rapt_error err = {0};
    rapt_model *m = cli_model(a->model, &err);
    json_t *config = m ? json_object() : NULL;
    weights *stored = NULL;
    bool ok = config && model_describe(m, config, a->model, &err) == RAPT_OK &&
              (!m->stored_type || weights_open(a->model, &stored, &err) == RAPT_OK);
    if (m && !ok)
        rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for JSON");
    int status = !ok       ? cli_fail(&err)
                 : a->json ? print_model_json(m, config, a->tensors, stored)
                           : print_model(m, a->model, config, a->tensors, stored);
    weights_close(stored);
    json_decref(config);
    rapt_model_free(m);
    return status;
}
