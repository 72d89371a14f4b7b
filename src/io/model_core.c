/* io/model_core.c: what programs outside read of a model, and models of nets that they built. For programs; the library's own
 * files read the members. */
#include "io/model_core.h"

#include <stdlib.h>

rapt_task rapt_model_task(const rapt_model *m)
{
    return m->task;
}

rapt_params *rapt_model_params(const rapt_model *m)
{
    return m->params;
}

const rapt_tokenizer *rapt_model_source_tokenizer(const rapt_model *m)
{
    return m->task == RAPT_TASK_TRANSLATION ? m->translation.source : rapt_model_target_tokenizer(m);
}

const rapt_tokenizer *rapt_model_target_tokenizer(const rapt_model *m)
{
    return m->task == RAPT_TASK_TRANSLATION      ? m->translation.target
           : m->task == RAPT_TASK_LANGUAGE_MODEL ? m->language.tokenizer
                                                 : m->encoder.tokenizer;
}

const rapt_translation_model *rapt_model_translation(const rapt_model *m)
{
    return m->task == RAPT_TASK_TRANSLATION ? &m->translation : NULL;
}

const rapt_language_model *rapt_model_language(const rapt_model *m)
{
    return m->task == RAPT_TASK_LANGUAGE_MODEL ? &m->language : NULL;
}

const rapt_encoder_model *rapt_model_encoder(const rapt_model *m)
{
    return m->task == RAPT_TASK_ENCODER || m->task == RAPT_TASK_CROSS_ENCODER ? &m->encoder : NULL;
}

const char *rapt_model_family(const rapt_model *m)
{
    return m->family;
}

const rapt_search_policy *rapt_model_search(const rapt_model *m)
{
    return &m->search;
}

const char *rapt_model_stored_type(const rapt_model *m)
{
    return m->stored_type;
}

uint64_t rapt_model_run(const rapt_model *m)
{
    return m->run;
}

bool rapt_model_was_sealed(const rapt_model *m)
{
    return m->sealed;
}

/* ---- models of nets that a program has built ---------------------------------------------------------------------------- */

/* RAPT_ERR_VALUE if there are more ids than the array of a model has, or an id is none of `vocab` tokens. */
static rapt_code check_member_ids(const char *what, const int32_t *ids, size_t count, size_t max, size_t vocab, rapt_error *err)
{
    if (count > max)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s has %zu tokens; a model has at most %zu", what, count, max);
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (size_t)ids[i] >= vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s has the token %d; the vocabulary has %zu", what, (int)ids[i], vocab);
    return RAPT_OK;
}

static rapt_model *new_model(rapt_error *err)
{
    rapt_model *m = calloc(1, sizeof *m);
    if (!m)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model");
    return m;
}

static rapt_code check_translation_members(const rapt_translation_model *t, rapt_error *err)
{
    if (!t->net || !t->source || !t->target)
        return rapt_fail(err, RAPT_ERR_VALUE, "a translation model needs a net, a source and a target tokenizer");
    const rapt_transformer_config *c = &t->net->config;
    const int32_t special[RAPT_SPECIALS] = {t->special.unk, t->special.pad, t->special.bos, t->special.eos};
    const size_t both = c->source_vocab < c->target_vocab ? c->source_vocab : c->target_vocab;
    rapt_code code = check_member_ids("special", special, RAPT_SPECIALS, RAPT_SPECIALS, both, err);
    if (!code)
        code = check_member_ids("source_begin", t->source_begin, t->source_begin_count, RAPT_SOURCE_BEGIN_MAX, c->source_vocab,
                                err);
    const size_t least = 2 + t->source_begin_count; /* with one token and <eos> behind the first ones */
    if (!code && (t->max_len < least || t->max_len > c->max_positions))
        code = rapt_fail(err, RAPT_ERR_VALUE, "max_len is %zu; it must be from %zu to max_positions, %zu", t->max_len, least,
                         c->max_positions);
    return code;
}

rapt_model *rapt_model_new_translation(const rapt_translation_model *members, rapt_error *err)
{
    rapt_model *m = check_translation_members(members, err) == RAPT_OK ? new_model(err) : NULL;
    if (m)
        *m = (rapt_model){.task = RAPT_TASK_TRANSLATION, .params = members->net->params, .translation = *members};
    return m;
}

static rapt_code check_language_members(const rapt_language_model *l, rapt_error *err)
{
    if (!l->net || !l->tokenizer)
        return rapt_fail(err, RAPT_ERR_VALUE, "a language model needs a net and a tokenizer");
    const size_t vocab = l->net->config.vocab;
    rapt_code code = check_member_ids("end_of_text", l->end_of_text, l->end_of_text_count, RAPT_END_OF_TEXT_MAX, vocab, err);
    if (!code && l->has_end_of_turn)
        code = check_member_ids("end_of_turn", &l->end_of_turn, 1, 1, vocab, err);
    return code;
}

rapt_model *rapt_model_new_language(const rapt_language_model *members, rapt_error *err)
{
    rapt_model *m = check_language_members(members, err) == RAPT_OK ? new_model(err) : NULL;
    if (m)
        *m = (rapt_model){.task = RAPT_TASK_LANGUAGE_MODEL, .params = members->net->params, .language = *members};
    return m;
}
