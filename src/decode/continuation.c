/* decode/continuation.c: a text of a language model, and runs over it. sampler.c chooses a token, text_stream.c decides when its
 * text can be shown. */
#include "decode/continuation.h"

#include "decode/generate_options.h"
#include "io/model_core.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)4 << 10)

rapt_code text_tokens_put(text_tokens *list, size_t at, const int32_t *ids, size_t count, rapt_error *err)
{
    if (!ARRAY_RESERVE(&list->ids, &list->capacity, at + count))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", at + count);
    if (count > 0)
        memcpy(list->ids + at, ids, count * sizeof *ids);
    list->count = at + count;
    return RAPT_OK;
}

/* For a model without a policy, they only say what ends a text. */
static policy_rules continuation_rules(const continuation *c)
{
    const rapt_language_model *m = &c->model->language;
    return (policy_rules){&c->model->search, m->end_of_text, m->end_of_text_count, true};
}

static bool continuation_ends(const continuation *c, int32_t id)
{
    const policy_rules rules = continuation_rules(c);
    const rapt_language_model *m = &c->model->language;
    return policy_ends(&rules, id) || (c->options.chat && m->has_end_of_turn && id == m->end_of_turn);
}

static rapt_code continuation_find_ends(continuation *c, rapt_error *err)
{
    const size_t vocab = c->model->language.net->config.vocab;
    for (int pass = 0; pass < 2 && c->options.constraint; pass++) {
        c->end_count = 0;
        for (size_t id = 0; id < vocab; id++)
            if (continuation_ends(c, (int32_t)id)) {
                if (pass > 0)
                    c->ends[c->end_count] = (int32_t)id;
                c->end_count++;
            }
        if (pass == 0 && !(c->ends = arena_array(&c->memory, c->end_count, sizeof *c->ends)))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    }
    return RAPT_OK;
}

rapt_code continuation_init(continuation *c, const rapt_model *m, const rapt_generate_options *options, const kernels *k,
                            rapt_error *err)
{
    *c = (continuation){.model = m, .k = k};
    arena_init(&c->memory, CHUNK);
    rapt_code code = generate_options_copy(m, options, &c->memory, &c->options, err);
    code = code ? code : constrained_init(&c->obeys, c->options.constraint, m->language.tokenizer, &c->memory, err);
    code = code ? code : continuation_find_ends(c, err);
    return code ? code : sampler_init(&c->sampler, &c->options.sample, k, err);
}

void continuation_free(continuation *c)
{
    continuation_drop(c);
    constrained_free(&c->obeys);
    free(c->text.ids);
    arena_free(&c->memory);
}

/* ---- a run -------------------------------------------------------------------------------------------------------- */

/* A rapt_text_fn: appends to the result, and calls the caller's on_text. */
static rapt_code continuation_take_text(void *context, const char *text, size_t size, rapt_error *err)
{
    continuation *c = context;
    if (!buffer_append(&c->kept, text, size))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    rapt_code code = c->options.on_text ? c->options.on_text(c->options.context, text, size, err) : RAPT_OK;
    return code ? rapt_fail(err, code, "on_text ended the run") : RAPT_OK; /* if on_text has set no error of its own */
}

rapt_code continuation_begin(continuation *c, uint64_t sample, rapt_error *err)
{
    const rapt_generate_options *o = &c->options;
    continuation_drop(c);
    c->runs = true;
    c->stuck = false;
    c->sample = sample;
    c->given = c->token_capacity = c->log_prob_capacity = 0;
    c->finish = RAPT_FINISH_LENGTH;
    constrained_begin(&c->obeys);
    c->result.prompt_tokens = c->text.count;
    token_text_begin(&c->shown, c->model->language.tokenizer, c->text.count);
    c->out = text_stream_new(o->stops, o->stop_count, continuation_take_text, c, err);
    if (!c->out || !buffer_reserve(&c->kept, 0))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    return RAPT_OK;
}

bool continuation_is_over(const continuation *c)
{
    return c->finish == RAPT_FINISH_END_OF_TEXT || c->stuck || c->result.token_count >= c->options.max_tokens ||
           text_stream_done(c->out);
}

rapt_code continuation_end(continuation *c, bool failed, rapt_error *err)
{
    const bool whole = !failed && c->out;
    rapt_code code = whole ? token_text_finish(&c->shown, c->text.ids, c->text.count, c->out, err) : RAPT_OK;
    if (whole && !code)
        code = text_stream_finish(c->out, err);
    if (whole && !code)
        c->result.finish = text_stream_stopped(c->out) ? RAPT_FINISH_STOP : c->finish;
    text_stream_free(c->out);
    c->out = NULL;
    c->result.text = c->kept.data;
    c->result.text_size = c->kept.size;
    c->kept = (buffer){0};
    c->runs = false;
    return code;
}

void rapt_generated_free(rapt_generated *result)
{
    free(result->tokens);
    free(result->log_probs);
    free(result->text);
    *result = (rapt_generated){0};
}

void continuation_drop(continuation *c)
{
    if (c->runs)
        continuation_end(c, true, NULL);
    rapt_generated_free(&c->result);
}

/* ---- one token ---------------------------------------------------------------------------------------------------- */

/* A window of the repetition penalty may reach further back than the context; without one, the context counts. */
static sampler_input continuation_input(const continuation *c, const rapt_real *logits)
{
    const rapt_lm_config *config = &c->model->language.net->config;
    const text_tokens *t = &c->text;
    const size_t given = c->result.prompt_tokens;
    size_t history = c->options.sample.repetition_window > 0 ? t->count : rapt_lm_visible(config, t->count);
    return (sampler_input){.logits = logits, .vocab = config->vocab, .row = c->sample, .position = t->count,
                           .history = t->ids + t->count - history, .count = history,
                           .sampled = t->ids + given, .sampled_count = t->count - given};
}

/* Whether a run whose text obeys may end where no token is left: at the end of a value, or at the last token, of which the
 * model's policy makes an end. */
static bool continuation_may_stop(const continuation *c)
{
    const bool last = c->result.token_count + 1 == c->options.max_tokens;
    return constrained_may_end(&c->obeys) || (last && c->model->search.forced_eos.count > 0);
}

/* A copy of the logits in scratch memory that on_logits has changed and in which the model's policy has excluded and forced
 * tokens, and what does not obey; the logits themselves if there is none of these. *some: there is
 * a token that may come. NULL with `err` set: out of memory, or on_logits has ended the run. */
static const rapt_real *continuation_restrict(const continuation *c, const rapt_real *logits, arena *scratch, bool *some,
                                             rapt_error *err)
{
    const rapt_generate_options *o = &c->options;
    const size_t vocab = c->model->language.net->config.vocab, given = c->result.prompt_tokens;
    const policy_rules rules = continuation_rules(c);
    const text_tokens *t = &c->text;
    const policy_text text = {t->ids, t->count, given, given + o->max_tokens, t->ids, given};
    const bool restricts = policy_restricts(&c->model->search);
    *some = true;
    if (!restricts && !o->on_logits && !o->constraint)
        return logits;
    rapt_real *x = arena_array(scratch, vocab, sizeof *x);
    if (!x) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the logits of %zu tokens", vocab);
        return NULL;
    }
    memcpy(x, logits, vocab * sizeof *x);
    rapt_code code = o->on_logits ? o->on_logits(o->context, c->result.token_count, x, vocab, err) : RAPT_OK;
    if (code)
        rapt_fail(err, code, "on_logits ended the run"); /* if it has set no error of its own */
    else if (restricts)
        policy_restrict(&rules, &text, vocab, x);
    if (!code && o->constraint)
        code = constrained_restrict(&c->obeys, c->ends, c->end_count, scratch, x, vocab, some, err);
    return code ? NULL : x;
}

rapt_code continuation_choose(const continuation *c, const rapt_real *logits, arena *scratch, int32_t *id, double *log_prob,
                              rapt_error *err)
{
    rapt_real max, sum;
    rapt_error own = {0};
    bool some;
    const arena_mark mark = arena_save(scratch);
    const rapt_real *allowed = continuation_restrict(c, logits, scratch, &some, &own);
    const sampler_input in = continuation_input(c, allowed);
    rapt_code code = allowed ? RAPT_OK : rapt_fail(err, own.code, "%s", own.message);
    *id = -1;
    *log_prob = 0;
    if (!code && some)
        code = sampler_choose(&c->sampler, &in, scratch, id, err);
    else if (!code && !continuation_may_stop(c))
        code = rapt_fail(err, RAPT_ERR_VALUE, "no token is left that obeys the schema: options or the model's policy exclude "
                         "all of them");
    arena_release(scratch, mark);
    if (code || *id < 0)
        return code;
    c->k->log_sum_exp(in.vocab, logits, &max, &sum);
    *log_prob = sampler_log_prob(logits[*id], max, sum);
    return RAPT_OK;
}

static rapt_code continuation_keep(continuation *c, int32_t id, double log_prob, rapt_error *err)
{
    rapt_generated *to = &c->result;
    size_t count = to->token_count + 1;
    if (!ARRAY_RESERVE(&to->tokens, &c->token_capacity, count) || !ARRAY_RESERVE(&to->log_probs, &c->log_prob_capacity, count))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", count);
    rapt_code code = text_tokens_put(&c->text, c->text.count, &id, 1, err);
    if (code)
        return code;
    to->tokens[to->token_count] = id;
    to->log_probs[to->token_count++] = log_prob;
    return RAPT_OK;
}

rapt_code continuation_put(continuation *c, int32_t id, double log_prob, rapt_error *err)
{
    c->stuck = id < 0;
    if (c->stuck ? constrained_may_end(&c->obeys) : continuation_ends(c, id))
        c->finish = RAPT_FINISH_END_OF_TEXT;
    if (c->stuck || c->finish == RAPT_FINISH_END_OF_TEXT)
        return RAPT_OK;
    rapt_code code = continuation_keep(c, id, log_prob, err);
    if (!code && !constrained_put(&c->obeys, id)) /* beam search alone chooses without the constraint, and takes none */
        code = rapt_fail(err, RAPT_ERR_VALUE, "token %d does not obey the schema", (int)id);
    if (!code && constrained_must_end(&c->obeys))
        c->finish = RAPT_FINISH_END_OF_TEXT;
    return code ? code : token_text_next(&c->shown, c->text.ids, c->text.count, c->out, err);
}

rapt_generated_token continuation_token(continuation *c, int32_t id, double log_prob)
{
    const rapt_generated_token token = {.id = id, .log_prob = log_prob, .text = c->kept.data + c->given,
                                        .size = c->kept.size - c->given};
    c->given = c->kept.size;
    return token;
}

void continuation_likeliest(const continuation *c, const rapt_real *logits, size_t top, int32_t *ids, double *log_probs,
                            arena *scratch, rapt_generated_token *token)
{
    rapt_real max, sum;
    rapt_error err = {0};
    const size_t vocab = c->model->language.net->config.vocab;
    const sampler_input in = {.logits = logits, .vocab = vocab, .position = c->text.count};
    if (top == 0 || sampler_likeliest(c->k, &in, top, ids, log_probs, scratch, &err))
        return;
    c->k->log_sum_exp(vocab, logits, &max, &sum);
    for (size_t i = 0; i < top; i++) /* the logarithm of a probability would be rounded twice */
        log_probs[i] = sampler_log_prob(logits[ids[i]], max, sum);
    token->count = top;
    token->ids = ids;
    token->log_probs = log_probs;
}
