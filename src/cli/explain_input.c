/* cli/explain_input.c: the texts of `rapt explain` as tokens that fit the model, and the translation that a model finds
 * itself. No pass is recorded here. */
#define _GNU_SOURCE
#include "cli/explain.h"

#include "cli/known_words.h"
#include "decode/prompt.h"
#include "decode/search.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

/* ---- translation ------------------------------------------------------------------------------------------------- */

/* The tokens of a sentence, with one place left at each end of ids[count + 2]. */
static rapt_code encode_sentence(const rapt_tokenizer *k, const char *what, const char *text, int32_t **ids, size_t *count,
                                 rapt_error *err)
{
    int32_t *given;
    rapt_error why = {0};
    *ids = NULL;
    if (rapt_tokenizer_encode(k, text, &given, count, &why) != RAPT_OK)
        return rapt_fail(err, why.code, "%s: %s", what, why.message);
    rapt_code code = *count > 0 ? RAPT_OK : rapt_fail(err, RAPT_VALUE, "%s is empty", what);
    if (!code && !(*ids = malloc((*count + 2) * sizeof **ids)))
        code = rapt_fail(err, RAPT_NO_MEMORY, "no memory for the tokens of %s", what);
    if (!code) {
        memcpy(*ids + 1, given, *count * sizeof **ids);
        (*ids)[0] = RAPT_BOS;
        (*ids)[*count + 1] = RAPT_EOS;
        code = known_words_check(k, what, text, given, *count, err);
    }
    free(given);
    return code;
}

static void add_sequence(explanation *e, const char *name, const rapt_tokenizer *k, int32_t *ids, size_t count)
{
    e->sequences[e->sequence_count++] = (explain_sequence){.name = name, .tokenizer = k, .ids = ids, .count = count};
}

static rapt_code read_source(explanation *e, rapt_error *err)
{
    int32_t *ids;
    size_t count;
    rapt_code code = encode_sentence(e->m->source, "the text", e->a->text, &ids, &count, err);
    if (code)
        return code;
    memmove(ids, ids + 1, (count + 1) * sizeof *ids);
    add_sequence(e, "source", e->m->source, ids, count + 1);
    if (count + 1 > e->m->max_len)
        return rapt_fail(err, RAPT_VALUE, "the text has %zu tokens with <eos>; the model takes %zu", count + 1, e->m->max_len);
    return RAPT_OK;
}

/* Labels are the tokens and <eos>, inputs <bos> and the tokens. */
static rapt_code read_target(explanation *e, rapt_error *err)
{
    int32_t *ids;
    size_t count, most = e->m->net->config.max_positions;
    rapt_code code = encode_sentence(e->m->target, "the target", e->a->target, &ids, &count, err);
    if (code)
        return code;
    add_sequence(e, "target", e->m->target, ids, count + 1);
    if (count + 1 > most)
        return rapt_fail(err, RAPT_VALUE, "the target has %zu tokens with <bos>; the model has %zu positions", count + 1, most);
    e->output = rapt_tokenizer_decode(e->m->target, ids + 1, count, NULL);
    e->labels = e->a->train ? malloc((count + 1) * sizeof *ids) : NULL;
    if (!e->output || (e->a->train && !e->labels))
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for the tokens of the target");
    e->label_count = e->labels ? count + 1 : 0;
    if (e->labels)
        memcpy(e->labels, ids + 1, (count + 1) * sizeof *ids);
    return RAPT_OK;
}

/* What predicted its last token is the input: <bos> and all tokens but that one. */
static rapt_code take_translation(explanation *e, const search_hypothesis *h, rapt_error *err)
{
    int32_t *ids = malloc((h->length + 1) * sizeof *ids);
    e->output = rapt_tokenizer_decode(e->m->target, h->tokens, h->length, NULL);
    if (!ids || !e->output) {
        free(ids);
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a translation");
    }
    ids[0] = RAPT_BOS;
    memcpy(ids + 1, h->tokens, h->length * sizeof *ids);
    add_sequence(e, "target", e->m->target, ids, h->length);
    return RAPT_OK;
}

static rapt_code translate(explanation *e, rapt_error *err)
{
    arena memory;
    search_result result;
    const explain_sequence *source = &e->sequences[0];
    int32_t len = (int32_t)source->count;
    size_t limit = search_limit(e->m, source->count);
    search_batch batch = {{source->ids, 1, source->count}, &len, &limit};
    arena_init(&memory, CHUNK);
    rapt_code code = search_greedy(e->t, e->m->net, &batch, &memory, &result, err);
    if (!code)
        code = take_translation(e, &result.best[0], err);
    arena_free(&memory);
    return code;
}

/* ---- language models --------------------------------------------------------------------------------------------- */

static rapt_code shift_labels(explanation *e, rapt_error *err)
{
    const explain_sequence *text = &e->sequences[0];
    if (text->count < 2)
        return rapt_fail(err, RAPT_VALUE, "a text of one token has no loss: nothing comes after it");
    e->labels = calloc(text->count, sizeof *e->labels);
    if (!e->labels)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for the tokens of the text");
    memcpy(e->labels, text->ids + 1, (text->count - 1) * sizeof *e->labels);
    e->label_count = text->count - 1;
    return RAPT_OK;
}

static rapt_code read_prompt(explanation *e, rapt_error *err)
{
    prompt p;
    size_t context = e->m->lm->config.context;
    if (!*e->a->text)
        return rapt_fail(err, RAPT_VALUE, "the text is empty");
    rapt_code code = prompt_encode(e->m->lm, e->m->tokenizer, e->a->text, strlen(e->a->text), &p, err);
    if (code)
        return code;
    add_sequence(e, "text", e->m->tokenizer, p.ids, p.count);
    if (p.count > context)
        return rapt_fail(err, RAPT_VALUE, "the text has %zu tokens; the model's context is %zu", p.count, context);
    return e->a->train ? shift_labels(e, err) : RAPT_OK;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static rapt_code label_tokens(explain_sequence *s, rapt_error *err)
{
    s->labels = calloc(s->count, sizeof *s->labels);
    for (size_t i = 0; s->labels && i < s->count; i++) {
        char *token = explain_token(s->tokenizer, s->ids[i]);
        bool ok = token && asprintf(&s->labels[i], "%zu %s", i, token) >= 0;
        free(token);
        if (!ok) {
            s->labels[i] = NULL;
            return rapt_fail(err, RAPT_NO_MEMORY, "no memory for the names of tokens");
        }
    }
    return s->labels ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for the names of tokens");
}

rapt_code explain_read(explanation *e, rapt_error *err)
{
    bool language = e->m->task == RAPT_LANGUAGE_MODEL;
    rapt_code code = (language ? read_prompt : read_source)(e, err);
    if (!code && !language)
        code = (e->a->target ? read_target : translate)(e, err);
    for (size_t i = 0; i < e->sequence_count && !code; i++)
        code = label_tokens(&e->sequences[i], err);
    return code;
}
