/* explain/explanation.c: the functions of rapt/explain.h that make, read and free explanations. The input is in
 * explain_input.c, the pass in explain_pass.c, the output in explain_text.c, explain_json.c and page/. */
#include "explain/explanation.h"

#include "base/sized.h"
#include "io/model.h"
#include "io/model_heads.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

/* ---- made ------------------------------------------------------------------------------------------------------- */

/* A text with a NUL behind it. NULL data, unless `text` has none: out of memory. */
static rapt_text explanation_keep(arena *memory, rapt_text text)
{
    char *copy = text.data ? arena_alloc(memory, text.size + 1) : NULL;
    if (copy) {
        memcpy(copy, text.data, text.size);
        copy[text.size] = '\0';
    }
    return (rapt_text){copy, copy ? text.size : 0};
}

static rapt_explanation *explanation_alloc(const rapt_model *m, rapt_text text, const rapt_explain_options *o, rapt_error *err)
{
    rapt_explanation *e = calloc(1, sizeof *e);
    if (!e) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an explanation");
        return NULL;
    }
    arena_init(&e->memory, CHUNK);
    e->model = m;
    e->gradients = o->gradients;
    e->like = o->like != NULL;
    e->strict = o->strict;
    e->filtered = o->name_count > 0;
    e->model_name = arena_string(&e->memory, o->model_name ? o->model_name : "model");
    const rapt_text target = o->like ? o->like->given : o->target;
    e->text = explanation_keep(&e->memory, o->like ? o->like->text : text);
    e->given = explanation_keep(&e->memory, target);
    if (e->model_name && e->text.data && (e->given.data || !target.data))
        return e;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an explanation");
    rapt_explanation_free(e);
    return NULL;
}

/* Gradients are added to those that parameters have. */
static rapt_code explanation_fill(rapt_explanation *e, rapt_tape *t, const rapt_explain_options *o, rapt_error *err)
{
    explain_selection s;
    rapt_code code = explain_keep_off(e, e->model, err);
    code = code ? code : explain_selection_init(&s, o, err);
    if (code)
        return code;
    code = o->like ? explain_read_like(e, o->like, err) : explain_read(e, t, err);
    if (o->gradients && !code)
        rapt_params_zero_grad(e->model->params);
    if (!code)
        code = explain_pass(e, t, &s, o, err);
    if (o->gradients)
        rapt_params_zero_grad(e->model->params);
    explain_selection_free(&s);
    if (o->like)
        e->model = o->like->model;
    return code;
}

SIZED_ENDS_WITH(rapt_explain_options, context);

void rapt_explain_options_init(rapt_explain_options *o, size_t size)
{
    sized_init(o, size, &(rapt_explain_options){.size = sizeof(rapt_explain_options)}, sizeof *o);
}

rapt_explanation *rapt_explanation_new(const rapt_model *model, const char *text, size_t size,
                                       const rapt_explain_options *options, rapt_error *err)
{
    rapt_explain_options own = rapt_explain_options_default(), *o = &own;
    if (sized_take(o, options, NULL, 0, "explain_options", err) != RAPT_OK)
        return NULL;
    if (rapt_model_encoder(model)) {
        rapt_fail(err, RAPT_ERR_VALUE, "%s, as this model of type %s, is not explained", model_task_of(model->task)->what,
                  model->family);
        return NULL;
    }
    if (o->target.data && !o->like && model->task == RAPT_TASK_LANGUAGE_MODEL) {
        rapt_fail(err, RAPT_ERR_VALUE, "a language model takes no target");
        return NULL;
    }
    if (o->gradients && model_heads_refuse(model, "trained, and has no gradients", err) != RAPT_OK)
        return NULL;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = o->threads}, err);
    rapt_explanation *e = t ? explanation_alloc(model, (rapt_text){text ? text : "", text ? size : 0}, o, err) : NULL;
    if (e && explanation_fill(e, t, o, err)) {
        rapt_explanation_free(e);
        e = NULL;
    }
    rapt_tape_free(t);
    return e;
}

void rapt_explanation_free(rapt_explanation *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->sequence_count; i++)
        free(e->sequences[i].ids);
    free(e->output);
    free(e->translation);
    free(e->items);
    free(e->sources);
    arena_free(&e->memory);
    free(e);
}

/* ---- asked ------------------------------------------------------------------------------------------------------ */

size_t rapt_explanation_sequence_count(const rapt_explanation *e)
{
    return e->sequence_count;
}

rapt_explained_sequence rapt_explanation_sequence(const rapt_explanation *e, size_t index)
{
    if (index >= e->sequence_count)
        return (rapt_explained_sequence){0};
    const explain_sequence *s = &e->sequences[index];
    return (rapt_explained_sequence){.name = s->name, .count = s->count, .ids = s->ids, .labels = (const char *const *)s->labels,
                                     .unknown_words = (const char *const *)s->unknown_words,
                                     .unknown_word_count = s->unknown_count};
}

size_t rapt_explanation_count(const rapt_explanation *e)
{
    return e->count;
}

const rapt_intermediate *rapt_explanation_at(const rapt_explanation *e, size_t index)
{
    return index < e->count ? &e->items[index] : NULL;
}

const rapt_intermediate *rapt_explanation_find(const rapt_explanation *e, const char *name, bool gradient)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->items[i].gradient == gradient && strcmp(e->items[i].name, name) == 0)
            return &e->items[i];
    return NULL;
}

rapt_explained_prediction rapt_explanation_prediction(const rapt_explanation *e, size_t position)
{
    return explain_prediction(e, &e->own, position);
}

size_t rapt_explanation_lens_count(const rapt_explanation *e)
{
    return e->depths;
}

rapt_explained_lens rapt_explanation_lens(const rapt_explanation *e, size_t depth, size_t position)
{
    if (depth >= e->depths || position >= explain_last(e)->count)
        return (rapt_explained_lens){0};
    const explain_depth *d = &e->lens[depth];
    return (rapt_explained_lens){.prediction = explain_prediction(e, &d->at, position),
                                 .label_rank = position < e->label_count ? d->label_ranks[position] : 0,
                                 .choice_rank = d->choice_ranks[position],
                                 .choice_probability = d->choice_probabilities[position]};
}

double rapt_explanation_loss(const rapt_explanation *e)
{
    return e->loss;
}

const char *rapt_explanation_target(const rapt_explanation *e, size_t *size)
{
    const rapt_text target = e->given.data ? e->given : rapt_text_of(e->translation);
    if (size)
        *size = target.size;
    return target.data;
}
