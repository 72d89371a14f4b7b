/* recipe/recipe_model.c: makes a model's shape from a recipe, and a recipe from a preset. For recipes and the set-up of runs. It
 * checks nothing: recipes and models check themselves. */
#include "recipe/recipe_model.h"

#include <math.h>

/* `bias` is of the attention projections, and in a language model of all layers. */
static rapt_block_config recipe_block_config(const rapt_recipe *r)
{
    const bool bare = r->task == RAPT_TASK_LANGUAGE_MODEL && !r->model.bias;
    return (rapt_block_config){
        .d_model = (size_t)r->model.d_model, .heads = (size_t)r->model.heads, .kv_heads = (size_t)r->model.kv_heads,
        .ffn = (size_t)r->model.ffn, .norm_place = r->model.norm_place, .norm_kind = r->model.norm_kind,
        .shared_norm = r->model.shared_norm, .ffn_kind = r->model.ffn_kind, .bias = r->model.bias, .no_ffn_bias = bare,
        .no_norm_bias = bare, .dropout = r->model.dropout, .init = r->model.init, .std = r->model.std};
}

rapt_transformer_config recipe_transformer_config(const rapt_recipe *r, size_t source_vocab, size_t target_vocab)
{
    return (rapt_transformer_config){
        .source_vocab = source_vocab, .target_vocab = target_vocab, .layers = (size_t)r->model.layers,
        .max_positions = (size_t)r->model.max_positions, .block = recipe_block_config(r), .positions = r->model.positions,
        .rotary_base = r->model.rotary_base, .scale_embedding = r->model.scale_embedding, .tied = r->model.tied,
        .embedding_std = r->model.embedding_std};
}

/* With more entries the rare ones would have too few examples. Translation uses more entries, because its sentences are short and
 * the decoder attends to a source. */
size_t recipe_vocab_size(const rapt_recipe *r, size_t bytes)
{
    const double factor = r->task == RAPT_TASK_TRANSLATION ? 6 : 2;
    const size_t min = 512, max = 32000, fit = (size_t)(factor * sqrt((double)bytes));
    if (r->tokenizer.vocab_size > 0)
        return (size_t)r->tokenizer.vocab_size;
    return fit < min ? min : fit > max ? max : fit;
}

rapt_dropouts recipe_dropouts(const rapt_recipe *r)
{
    double attention = r->model.attention_dropout;
    return (rapt_dropouts){r->model.dropout, attention < 0 ? r->model.dropout : attention, r->model.activation_dropout};
}

rapt_lm_config recipe_lm_config(const rapt_recipe *r, size_t vocab)
{
    return (rapt_lm_config){
        .vocab = vocab, .layers = (size_t)r->model.layers, .context = (size_t)r->model.context, .block = recipe_block_config(r),
        .positions = r->model.positions, .rotary_base = r->model.rotary_base, .tied = r->model.tied,
        .output_bias = r->model.output_bias, .scale_embedding = r->model.scale_embedding,
        .embedding_std = r->model.embedding_std};
}

static void take_block(rapt_recipe *r, const rapt_block_config *c)
{
    r->model.d_model = (int64_t)c->d_model;
    r->model.heads = (int64_t)c->heads;
    r->model.kv_heads = c->kv_heads == c->heads ? 0 : (int64_t)c->kv_heads;
    r->model.ffn = (int64_t)c->ffn;
    r->model.norm_place = c->norm_place;
    r->model.norm_kind = c->norm_kind;
    r->model.shared_norm = c->shared_norm;
    r->model.ffn_kind = c->ffn_kind;
    r->model.bias = c->bias;
    r->model.init = c->init;
    r->model.std = c->std > 0 ? c->std : 0.02;
}

void recipe_take_lm(rapt_recipe *r, const rapt_lm_config *c)
{
    take_block(r, &c->block);
    r->model.layers = (int64_t)c->layers;
    r->model.context = (int64_t)c->context;
    r->model.positions = c->positions;
    r->model.rotary_base = c->rotary_base > 0 ? c->rotary_base : 10000;
    r->model.tied = c->tied;
    r->model.output_bias = c->output_bias;
    r->model.scale_embedding = c->scale_embedding;
    r->model.dropout = c->block.dropout;
    r->model.embedding_std = c->embedding_std;
}

void recipe_take_transformer(rapt_recipe *r, const rapt_transformer_config *c)
{
    take_block(r, &c->block);
    r->model.layers = (int64_t)c->layers;
    r->model.max_positions = (int64_t)c->max_positions;
    r->model.positions = c->positions;
    r->model.rotary_base = c->rotary_base;
    r->model.scale_embedding = c->scale_embedding;
    r->model.tied = c->tied;
    r->model.embedding_std = c->embedding_std;
}

void recipe_apply_preset(rapt_recipe *r)
{
    static const char *const names[] = {NULL, "seed", "gpt2"};
    rapt_lm_config c;
    if (r->model.preset != RAPT_RECIPE_PRESET_NONE && rapt_lm_preset(names[r->model.preset], &c, NULL) == RAPT_OK) {
        recipe_take_lm(r, &c);
        r->model.vocab = r->model.preset == RAPT_RECIPE_PRESET_SEED ? RAPT_RECIPE_VOCAB_TEXT : RAPT_RECIPE_VOCAB_TOKENIZER;
    }
}
