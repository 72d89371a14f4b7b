/* explain/explain_input.c: the input of an explanation's pass, and what is known before the pass: labels, the output, names of
 * tokens. input/pass_input.c encodes texts. */
#include "base/chars.h"
#include "explain/explanation.h"

#include "io/model_core.h"
#include "search/whole_text.h"
#include "explain/input/pass_input.h"
#include "explain/input/token_name.h"
#include "text/prose/capitalize.h"
#include "text/prose/detokenize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rapt_code keep_unknown_words(arena *memory, explain_sequence *s, char *const *words, size_t count, rapt_error *err)
{
    bool ok = count == 0 || (s->unknown_words = arena_zeroed(memory, count, sizeof *words)) != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = (s->unknown_words[i] = arena_string(memory, words[i])) != NULL;
    s->unknown_count = ok ? count : 0;
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for unknown words");
}

/* Takes over the tokens, which are freed with the explanation. */
static rapt_code add_sequence(rapt_explanation *e, const char *name, const rapt_tokenizer *k, pass_tokens *p, rapt_error *err)
{
    explain_sequence *s = &e->sequences[e->sequence_count++];
    *s = (explain_sequence){.name = name, .tokenizer = k, .ids = p->ids, .count = p->count};
    rapt_code code = keep_unknown_words(&e->memory, s, p->unknown.words, p->unknown.count, err);
    known_words_free(&p->unknown);
    return code;
}

/* Words as `rapt translate` prints them. The caller frees the result; NULL: out of memory. */
static char *written(const rapt_model *m, const char *text)
{
    if (m->translation.detokenize)
        return detokenize(text, m->translation.detokenize, m->translation.capitalize);
    return m->translation.capitalize ? capitalize(text) : chars_copy(text);
}

static rapt_code explain_read_pair(rapt_explanation *e, rapt_tape *t, rapt_error *err)
{
    const rapt_model *m = e->model;
    const bool given = e->given.data != NULL;
    pass_tokens source, target;
    rapt_code code = pass_read_source(m, e->text, e->strict, &source, err);
    code = code ? code : add_sequence(e, "source", m->translation.source, &source, err);
    if (code)
        return code;
    code = given ? pass_read_target(m, e->given, e->strict, &target, err) : pass_translate(t, m, &source, &target, err);
    code = code ? code : add_sequence(e, "target", m->translation.target, &target, err);
    if (code)
        return code;
    e->labels = target.ids + 1;
    e->label_count = target.count;
    e->output = whole_text_of(m->translation.target, target.ids + 1, target.count);
    if (e->output && !whole_text_is(m->translation.target, e->labels, target.count))
        whole_text_trim(m->translation.target, e->output); /* if the limit split a character */
    e->translation = e->output && !given ? written(m, e->output) : NULL;
    bool done = e->output && (e->translation || given);
    return done ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text of the target");
}

static rapt_code explain_read_text(rapt_explanation *e, rapt_error *err)
{
    pass_tokens tokens;
    rapt_code code = pass_read_text(e->model, e->text, e->strict, &tokens, err);
    code = code ? code : add_sequence(e, "text", e->model->language.tokenizer, &tokens, err);
    if (code)
        return code;
    if (e->gradients && tokens.count < 2)
        return rapt_fail(err, RAPT_ERR_VALUE, "a text of one token has no loss: nothing comes after it");
    e->labels = tokens.ids + 1;
    e->label_count = tokens.count - 1;
    return RAPT_OK;
}

static rapt_code label_tokens(arena *memory, explain_sequence *s, rapt_error *err)
{
    bool ok = (s->labels = arena_zeroed(memory, s->count, sizeof *s->labels)) != NULL;
    for (size_t i = 0; ok && i < s->count; i++) {
        char *token = token_name(s->tokenizer, s->ids[i]);
        size_t size = token ? strlen(token) + 24 : 0; /* 20 digits, a space, a NUL */
        s->labels[i] = token ? arena_alloc(memory, size) : NULL;
        ok = s->labels[i] && snprintf(s->labels[i], size, "%zu %s", i, token) > 0;
        free(token);
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the labels of tokens");
}

static rapt_code copy_sequence(rapt_explanation *e, const explain_sequence *s, rapt_error *err)
{
    int32_t *ids = malloc((s->count + 1) * sizeof *ids);
    if (!ids)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", s->count);
    memcpy(ids, s->ids, (s->count + 1) * sizeof *ids);
    explain_sequence *copy = &e->sequences[e->sequence_count];
    rapt_code code = add_sequence(e, s->name, s->tokenizer, &(pass_tokens){.ids = ids, .count = s->count}, err);
    code = code ? code : keep_unknown_words(&e->memory, copy, s->unknown_words, s->unknown_count, err);
    return code ? code : label_tokens(&e->memory, copy, err);
}

rapt_code explain_read_like(rapt_explanation *e, const rapt_explanation *like, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (e->model->task != like->model->task || rapt_params_size(e->model->params) != rapt_params_size(like->model->params))
        return rapt_fail(err, RAPT_ERR_VALUE, "the tokens to explain are of a model of another task or size");
    if (e->gradients && like->label_count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "a text of one token has no loss: nothing comes after it");
    for (size_t i = 0; i < like->sequence_count && !code; i++)
        code = copy_sequence(e, &like->sequences[i], err);
    if (code)
        return code;
    e->labels = e->sequences[e->sequence_count - 1].ids + 1;
    e->label_count = like->label_count;
    e->output = like->output ? chars_copy(like->output) : NULL;
    e->translation = like->translation ? chars_copy(like->translation) : NULL;
    bool done = (e->output || !like->output) && (e->translation || !like->translation);
    return done ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text of the target");
}

rapt_code explain_read(rapt_explanation *e, rapt_tape *t, rapt_error *err)
{
    bool language = e->model->task == RAPT_TASK_LANGUAGE_MODEL;
    rapt_code code = language ? explain_read_text(e, err) : explain_read_pair(e, t, err);
    for (size_t i = 0; i < e->sequence_count && !code; i++)
        code = label_tokens(&e->memory, &e->sequences[i], err);
    return code;
}
