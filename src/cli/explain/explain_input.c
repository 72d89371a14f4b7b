/* cli/explain/explain_input.c: what `rapt explain` lets a model read, and what is known of it before the pass: the
 * tokens that should follow, the output, names. Texts become tokens in pass_input.c. */
#define _GNU_SOURCE
#include "cli/explain/cmd_explain.h"

#include "cli/inspect/pass_input.h"
#include "cli/inspect/token_names.h"
#include "text/prose/capitalize.h"
#include "text/prose/detokenize.h"

#include <stdlib.h>
#include <string.h>

/* What it reads is freed with the explanation. */
static void add_sequence(explanation *e, const char *name, const rapt_tokenizer *k, pass_tokens p)
{
    e->sequences[e->sequence_count++] = (explain_sequence){.name = name, .tokenizer = k, .ids = p.ids, .count = p.count};
}

/* Words as `rapt translate` prints them. The caller frees the result; NULL: no memory. */
static char *written(const rapt_model *m, const char *text)
{
    if (m->detokenize)
        return detokenize(text, m->detokenize, m->capitalize);
    return m->capitalize ? capitalize(text) : strdup(text);
}

static rapt_code explain_input_read_pair(explanation *e, rapt_error *err)
{
    pass_tokens source, target;
    rapt_code code = pass_read_source(e->m, e->a->text, &source, err);
    if (code)
        return code;
    add_sequence(e, "source", e->m->source, source);
    code = e->a->target ? pass_read_target(e->m, e->a->target, &target, err) : pass_translate(e->t, e->m, &source, &target, err);
    if (code)
        return code;
    add_sequence(e, "target", e->m->target, target);
    e->labels = target.ids + 1;
    e->label_count = target.count;
    e->output = rapt_tokenizer_decode(e->m->target, target.ids + 1, target.count, NULL);
    e->translation = e->output && !e->a->target ? written(e->m, e->output) : NULL;
    bool done = e->output && (e->translation || e->a->target);
    return done ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "no memory for the text of the target");
}

static rapt_code explain_input_read_text(explanation *e, rapt_error *err)
{
    pass_tokens text;
    rapt_code code = pass_read_text(e->m, e->a->text, &text, err);
    if (code)
        return code;
    add_sequence(e, "text", e->m->tokenizer, text);
    if (e->a->train && text.count < 2)
        return rapt_fail(err, RAPT_ERR_VALUE, "a text of one token has no loss: nothing comes after it");
    e->labels = text.ids + 1;
    e->label_count = text.count - 1;
    return RAPT_OK;
}

static rapt_code label_tokens(explain_sequence *s, rapt_error *err)
{
    s->labels = calloc(s->count, sizeof *s->labels);
    for (size_t i = 0; s->labels && i < s->count; i++) {
        char *token = token_name(s->tokenizer, s->ids[i]);
        bool ok = token && asprintf(&s->labels[i], "%zu %s", i, token) >= 0;
        free(token);
        if (!ok) {
            s->labels[i] = NULL;
            return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for the names of tokens");
        }
    }
    return s->labels ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "no memory for the names of tokens");
}

/* Positions below 0 count from the end. */
static rapt_code explain_input_find_position(explanation *e, rapt_error *err)
{
    const explain_sequence *s = explain_last(e);
    long at = e->a->has_at ? e->a->at : -1, count = (long)s->count;
    if (at >= count || at < -count)
        return rapt_fail(err, RAPT_ERR_VALUE, "--at %ld: the %s has tokens 0 to %ld", at, s->name, count - 1);
    e->position = (size_t)(at >= 0 ? at : count + at);
    return RAPT_OK;
}

rapt_code explain_read(explanation *e, rapt_error *err)
{
    rapt_code code = (e->m->task == RAPT_TASK_LANGUAGE_MODEL ? explain_input_read_text : explain_input_read_pair)(e, err);
    if (!code)
        code = explain_input_find_position(e, err);
    for (size_t i = 0; i < e->sequence_count && !code; i++)
        code = label_tokens(&e->sequences[i], err);
    return code;
}
