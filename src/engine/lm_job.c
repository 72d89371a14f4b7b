/* engine/lm_job.c: a text that an engine continues, from the request to on_done. */
#include "engine/lm_job.h"

#include "base/clock.h"
#include "base/sized.h"
#include "decode/generate_options.h"
#include "decode/prompt.h"
#include "io/model_core.h"

#include <math.h>
#include <stdlib.h>

/* ---- from a request ------------------------------------------------------------------------------------------------ */

static void lm_job_free(rapt_engine_job *job)
{
    lm_job *j = (lm_job *)job;
    continuation_free(&j->run);
    free(j);
}

static rapt_code lm_job_check(const rapt_model *m, const rapt_engine_generation *r, rapt_generate_options *o, rapt_error *err)
{
    rapt_code code = sized_check_reserved(r->reserved, sizeof r->reserved, "engine_generation", err);
    code = code ? code : generate_options_take(r->options, o, err);
    if (code)
        return code;
    o->beam = SIZED_AS_MODEL(o->beam) ? 1 : o->beam; /* overrides the policy of a folder */
    o->on_text = NULL;
    if (o->on_logits)
        return rapt_fail(err, RAPT_ERR_VALUE, "an engine, whose thread chooses tokens, calls no on_logits; a generator does");
    if (o->beam > 1 && m->task == RAPT_TASK_LANGUAGE_MODEL)
        return rapt_fail(err, RAPT_ERR_VALUE, "an engine does no beam search of texts");
    code = generate_options_check(m, o, err);
    if (code)
        return code;
    const size_t context = m->language.net->config.context;
    if (r->count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "a prompt of at least one token is needed");
    if (r->count > context)
        return rapt_fail(err, RAPT_ERR_VALUE, "the prompt has %zu tokens, the model's context %zu", r->count, context);
    return prompt_check(m, r->tokens, r->count, err);
}

static rapt_code lm_job_fill(lm_job *j, const rapt_model *m, const rapt_generate_options *o, const kernels *k, rapt_error *err)
{
    const size_t vocab = m->language.net->config.vocab;
    rapt_code code = continuation_init(&j->run, m, o, k, err);
    j->request.top = j->request.top < vocab ? j->request.top : vocab;
    j->top_ids = arena_array(&j->run.memory, j->request.top, sizeof *j->top_ids);
    j->top = arena_array(&j->run.memory, j->request.top, sizeof *j->top);
    if (!code && !(j->top_ids && j->top))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    code = code ? code : text_tokens_put(&j->run.text, 0, j->request.tokens, j->request.count, err);
    lookup_begin(&j->lookup, o->lookup);
    return code ? code : continuation_begin(&j->run, j->request.sample, err);
}

lm_job *lm_job_new(rapt_engine_model *m, const rapt_engine_generation *request, const kernels *k, rapt_error *err)
{
    rapt_error own = {0};
    rapt_generate_options o;
    if (lm_job_check(m->model, request, &o, &own)) {
        rapt_fail(err, own.code, "%s", own.message);
        return NULL;
    }
    lm_job *j = calloc(1, sizeof *j);
    if (!j) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
        return NULL;
    }
    *j = (lm_job){.job = {.free = lm_job_free, .stop = request->stop, .context = request->context}, .request = *request};
    if (lm_job_fill(j, m->model, &o, k, &own) == RAPT_OK)
        return j;
    rapt_fail(err, own.code, "%s", own.message);
    lm_job_free(&j->job);
    return NULL;
}

/* ---- tokens -------------------------------------------------------------------------------------------------------- */

static void lm_job_likeliest(lm_job *j, const rapt_real *logits, arena *scratch, rapt_generated_token *token)
{
    continuation_likeliest(&j->run, logits, j->request.top, j->top_ids, j->top, scratch, token);
}

void lm_job_score(lm_job *j, const rapt_real *logits, arena *scratch)
{
    rapt_real max, sum;
    rapt_generated_token token = {.id = j->run.text.ids[j->scored], .log_prob = NAN, .text = ""};
    if (logits) {
        j->run.k->log_sum_exp(j->run.model->language.net->config.vocab, logits, &max, &sum);
        token.log_prob = sampler_log_prob(logits[token.id], max, sum);
        lm_job_likeliest(j, logits, scratch, &token);
    }
    if (j->request.on_prompt_token)
        j->request.on_prompt_token(j->request.context, j->scored, &token);
    j->scored++;
}

void lm_job_choose(lm_job *j, const rapt_real *logits, arena *scratch)
{
    continuation_choose(&j->run, logits, scratch, &j->chosen, &j->log_prob, &j->error);
}

bool lm_job_take(lm_job *j, const rapt_real *logits, arena *scratch)
{
    const size_t before = j->run.result.token_count;
    if (j->first == 0)
        j->first = clock_seconds();
    if (j->error.code || continuation_put(&j->run, j->chosen, j->log_prob, &j->error))
        return false;
    if (j->run.result.token_count > before && j->request.on_token) {
        rapt_generated_token token = continuation_token(&j->run, j->chosen, j->log_prob);
        lm_job_likeliest(j, logits, scratch, &token);
        j->request.on_token(j->request.context, &token);
    }
    return !continuation_is_over(&j->run);
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

void lm_job_end(lm_job *j)
{
    const double now = clock_seconds(), admitted = j->admitted > 0 ? j->admitted : now, first = j->first > 0 ? j->first : now;
    rapt_error fault = {0};
    if (rapt_engine_check(j->job.model, &fault)) /* the reason, where engine_stops has only stopped it */
        j->error = fault;
    continuation_end(&j->run, j->error.code != RAPT_OK, &j->error);
    const rapt_generated *result = &j->run.result;
    const rapt_engine_generated end = {.code = j->error.code, .message = j->error.message, .result = result,
                                       .rest = result->text ? result->text + j->run.given : "",
                                       .rest_size = result->text_size - j->run.given, .cached_tokens = j->cached,
                                       .wait_seconds = admitted - j->job.queued, .prefill_seconds = first - admitted,
                                       .decode_seconds = now - first};
    engine_job_ends(&j->job, end.code);
    if (j->request.on_done)
        j->request.on_done(j->request.context, &end);
    engine_job_done(&j->job);
}
