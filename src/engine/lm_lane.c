/* engine/lm_lane.c: the lane of a language model. A step gives every running text a token, or more where its proposals hold
 * (decode/lookup.h), and computes chunks of prompts, all in one pass (continuous batching). */
#include "engine/lm_lane.h"

#include "base/clock.h"
#include "base/min.h"
#include "decode/generate_options.h"
#include "io/model_core.h"
#include "tape/tape_core.h"

#include <stdlib.h>

#define CHUNK ((size_t)64 << 10)
#define DECODED 32 /* tokens of running texts and their proposals in a step: more would take longer than they save */
#define SCORED 64 /* tokens of scored prompts in a step: each has logits of the whole vocabulary */

/* ---- jobs that come and go ----------------------------------------------------------------------------------------- */

static void lm_lane_publish(lm_lane *l)
{
    rapt_engine_counts *c = &l->counts;
    c->running = c->kv_positions = 0;
    for (size_t i = 0; i < l->slot_count; i++)
        if (l->slots[i].job) {
            c->running++;
            c->kv_positions += l->slots[i].job->reserved;
        }
    const rapt_kv_sizes sizes = rapt_kv_cache_sizes(l->kv);
    c->kv_bytes = c->kv_positions * rapt_kv_position_bytes(&sizes);
    c->waiting = l->waiting.count;
    engine_publish(l->served, c);
}

/* The counts are updated before on_done, so that it finds the job counted. */
static void lm_lane_end(lm_lane *l, lm_slot *s)
{
    lm_job *j = s->job;
    lm_slot_release(l, s);
    lm_lane_publish(l);
    lm_job_end(j);
}

static void lm_lane_stop(lm_job *j)
{
    rapt_fail(&j->error, RAPT_ERR_INTERRUPTED, "the generation was cancelled");
}

/* Ends a job that has left the waiting ones. */
static void lm_lane_end_waiting(lm_lane *l, lm_job *j)
{
    lm_lane_stop(j);
    lm_lane_publish(l);
    lm_job_end(j);
}

/* What a sweep asks. */
static bool lm_lane_job_stops(void *job)
{
    return engine_stops(job);
}

/* Ends cancelled jobs, waiting and running ones. Returns whether there were any. */
static bool lm_lane_end_stopped(lm_lane *l)
{
    queue stopped = {0};
    queue_sweep(&l->waiting, QUEUE_ASKED, lm_lane_job_stops, &stopped);
    bool any = stopped.count > 0;
    for (lm_job *j; (j = queue_pop(&stopped));)
        lm_lane_end_waiting(l, j);
    for (size_t i = 0; i < l->slot_count; i++)
        if (l->slots[i].job && engine_stops(&l->slots[i].job->job)) {
            lm_lane_stop(l->slots[i].job);
            lm_lane_end(l, &l->slots[i]);
            any = true;
        }
    return any;
}

/* First come, first served: no job overtakes one that needs more memory. A cancelled job does not begin. */
static void lm_lane_admit(lm_lane *l)
{
    while (l->waiting.first) {
        if (engine_stops((rapt_engine_job *)l->waiting.first)) {
            lm_lane_end_waiting(l, queue_pop(&l->waiting));
            continue;
        }
        if (!lm_slot_admit(l, (lm_job *)l->waiting.first))
            return;
        lm_job *j = queue_pop(&l->waiting);
        j->admitted = clock_seconds();
        if (j->request.score_prompt)
            lm_job_score(j, NULL, l->scratch);
    }
}

/* ---- a step -------------------------------------------------------------------------------------------------------- */

static void lm_lane_put(lm_lane *l, const lm_slot *s, size_t count, size_t rest)
{
    const bool all = lm_job_scores(s->job) || count > rest;
    const lm_piece_logits logits = all ? LM_PIECE_ALL : count == rest ? LM_PIECE_LAST : LM_PIECE_NONE;
    const int32_t *ids = s->job->run.text.ids + s->first + s->held.count;
    l->pieces[l->piece_count++] = (lm_piece){(size_t)(s - l->slots), ids, count, logits};
}

/* Slots whose prompts are read in this step, in the order of admission. */
static size_t lm_lane_prompts(lm_lane *l)
{
    size_t count = 0;
    for (size_t i = 0; i < l->slot_count; i++) {
        lm_slot *s = &l->slots[i];
        if (l->rest[i] <= 1 || lm_slot_follows(l, s))
            continue;
        size_t at = count++;
        for (; at > 0 && l->prompts[at - 1]->order > s->order; at--)
            l->prompts[at] = l->prompts[at - 1];
        l->prompts[at] = s;
    }
    return count;
}

/* Divides a budget of tokens among the prompts: an equal share for each, so that a long prompt does not hold up the others. What
 * short prompts leave goes to the prompts that came first. Returns the number of tokens. */
static size_t lm_lane_share(lm_lane *l, size_t budget)
{
    const size_t count = lm_lane_prompts(l);
    size_t scored = SCORED, left = budget;
    for (size_t i = 0; i < count; i++) {
        size_t waiting = 0;
        for (size_t k = i + 1; k < count; k++)
            waiting += MIN(l->rest[l->prompts[k] - l->slots], budget / count);
        const lm_slot *s = l->prompts[i];
        const size_t rest = l->rest[s - l->slots], most = left > waiting ? left - waiting : 0;
        const size_t tokens = MIN(rest, lm_job_scores(s->job) ? MIN(most, scored) : most);
        if (tokens == 0)
            continue;
        lm_lane_put(l, s, tokens, rest);
        scored -= lm_job_scores(s->job) ? tokens : 0;
        left -= tokens;
    }
    return budget - left;
}

/* The tokens that a slot proposes for a step in which `running` texts get one. They stand behind its text. */
static size_t lm_lane_propose(lm_lane *l, const lm_slot *s, size_t running)
{
    lm_job *j = s->job;
    const size_t seen = s->held.count + 1, room = l->model->language.net->config.context - seen, share = DECODED / running;
    const size_t left = j->run.options.max_tokens - j->run.result.token_count;
    if (lm_job_scores(j) || left == 0 || share == 0)
        return 0;
    const size_t proposed = lookup_propose(&j->lookup, &j->run.text, seen, MIN(share - 1, MIN(left - 1, room)));
    l->counts.proposed_tokens += proposed;
    return proposed;
}

/* Chooses the pieces of a step: a token of each text whose prompt is computed, with its proposals, then chunks of prompts.
 * Returns the number of tokens in the chunks. */
static size_t lm_lane_plan(lm_lane *l)
{
    size_t running = 0;
    l->piece_count = 0;
    for (size_t i = 0; i < l->slot_count; i++) {
        l->rest[i] = l->slots[i].job ? lm_slot_rest(l, &l->slots[i]) : 0;
        running += l->rest[i] == 1;
    }
    for (size_t i = 0; i < l->slot_count; i++)
        if (l->rest[i] == 1)
            lm_lane_put(l, &l->slots[i], 1 + lm_lane_propose(l, &l->slots[i], running), 1);
    return lm_lane_share(l, lm_budget_tokens(&l->budget, l->piece_count));
}

/* A pool_fn. */
static void lm_lane_choose(void *context, size_t at, int worker)
{
    const lm_lane *l = context;
    lm_job_choose(l->choosing[at], l->logits[at], &l->scratch[worker]);
}

/* Reports the scores of a piece's tokens from logits [rows, vocab]. */
static void lm_lane_score(lm_lane *l, lm_job *j, const lm_piece *p, const rapt_real *logits)
{
    const size_t vocab = l->model->language.net->config.vocab;
    for (size_t i = 0; i < p->count && lm_job_scores(j); i++)
        lm_job_score(j, logits + i * vocab, l->scratch);
}

/* Distributes the logits [rows, vocab] of a step: reports scores, and collects the texts that choose a token from theirs. */
static void lm_lane_read(lm_lane *l, const rapt_real *logits)
{
    const size_t vocab = l->model->language.net->config.vocab;
    l->choosing_count = 0;
    for (size_t i = 0; i < l->piece_count; i++) {
        const lm_piece *p = &l->pieces[i];
        lm_slot *s = &l->slots[p->row];
        const size_t rows = p->logits == LM_PIECE_ALL ? p->count : p->logits == LM_PIECE_LAST;
        const size_t proposed = s->job->lookup.proposed, count = p->count - proposed;
        const bool last = s->first + s->held.count + count == s->job->run.text.count;
        if (lm_job_scores(s->job))
            lm_lane_score(l, s->job, p, logits);
        if (!lm_slot_extend(l, s, count))
            rapt_fail(&s->job->error, RAPT_ERR_MEMORY, "out of memory for the tokens of a text");
        else if (last && s->job->run.options.max_tokens == 0)
            lm_lane_end(l, s);
        else if (last) {
            l->choosing[l->choosing_count] = s->job;
            l->logits[l->choosing_count++] = logits + (rows - 1 - proposed) * vocab;
        }
        logits += rows * vocab;
    }
}

/* The text of choosing[at] takes the token that it has chosen. Returns whether that was a proposed one, so that it can take the
 * next one from the logits of this step, too. */
static bool lm_lane_take_token(lm_lane *l, size_t at)
{
    lm_job *j = l->choosing[at];
    lm_slot *s = &l->slots[j->slot];
    const size_t before = j->run.result.token_count;
    const bool proposed = !j->error.code && lookup_judge(&j->lookup, &j->run.text, j->chosen);
    const bool continues = lm_job_take(j, l->logits[at], l->scratch);
    l->counts.generated_tokens += j->run.result.token_count - before;
    l->counts.accepted_tokens += proposed;
    if (continues && proposed && engine_stops(&j->job)) /* as before every other token */
        lm_lane_stop(j);
    else if (continues && proposed && lm_slot_extend(l, s, 1))
        return true;
    else if (continues && proposed)
        rapt_fail(&j->error, RAPT_ERR_MEMORY, "out of memory for the tokens of a text");
    lm_slot_trim(l, s);
    if (!continues)
        lm_lane_end(l, s);
    return false;
}

/* Every text that got its last logits takes a token, and more where its proposal holds. */
static void lm_lane_take(lm_lane *l)
{
    const size_t vocab = l->model->language.net->config.vocab;
    while (l->choosing_count > 0) {
        size_t still = 0;
        pool_run(l->tapes.pool, l->choosing_count, l->choosing_count * vocab * 8, lm_lane_choose, l);
        for (size_t i = 0; i < l->choosing_count; i++) {
            if (!lm_lane_take_token(l, i))
                continue;
            l->choosing[still] = l->choosing[i];
            l->logits[still++] = l->logits[i] + vocab;
        }
        l->choosing_count = still;
    }
}

/* Ends the jobs of a step that failed as a whole, and those that failed alone. */
static void lm_lane_fail(lm_lane *l, const rapt_error *step)
{
    for (size_t i = 0; i < l->slot_count; i++) {
        lm_slot *s = &l->slots[i];
        bool in_step = false;
        for (size_t p = 0; p < l->piece_count; p++)
            in_step = in_step || l->pieces[p].row == i;
        if (s->job && step->code && in_step)
            rapt_fail(&s->job->error, step->code, "%s", step->message);
        if (s->job && s->job->error.code)
            lm_lane_end(l, s);
    }
}

static void lm_lane_count(lm_lane *l, size_t prompts, double seconds)
{
    l->counts.steps++;
    l->counts.prompt_tokens += prompts;
    l->counts.busy_seconds += seconds;
}

static void lm_lane_compute(lm_lane *l)
{
    rapt_error err = {0};
    const double start = clock_seconds();
    const size_t prompts = lm_lane_plan(l);
    size_t running = 0;
    for (size_t i = 0; i < l->slot_count; i++)
        running += l->rest[i] == 1;
    rapt_tape_begin(l->tapes.all, (rapt_pass){0});
    const rapt_tensor *x = lm_step_pieces(l->tapes.all, l->model->language.net, l->kv, l->pieces, l->piece_count);
    if (rapt_tape_status(l->tapes.all, &err) == RAPT_OK && rapt_engine_check(l->served, &err) == RAPT_OK) {
        const double seconds = clock_seconds() - start;
        lm_lane_count(l, prompts, seconds);
        lm_budget_measured(&l->budget, running, prompts, seconds);
        lm_lane_read(l, x->data);
        lm_lane_take(l);
    }
    lm_lane_fail(l, &err);
}

static bool lm_lane_step(rapt_engine_model *m, void *lane)
{
    lm_lane *l = lane;
    rapt_engine_job *job;
    while ((job = engine_take(m)))
        queue_put(&l->waiting, job);
    const bool stopped = lm_lane_end_stopped(l);
    lm_lane_admit(l);
    lm_lane_publish(l);
    if (l->counts.running == 0)
        return stopped;
    lm_lane_compute(l);
    lm_lane_publish(l);
    return true;
}

/* ---- the lane ------------------------------------------------------------------------------------------------------ */

static void lm_lane_free(void *lane)
{
    lm_lane *l = lane;
    for (size_t i = 0; l->slots && i < l->slot_count; i++)
        free(l->slots[i].held.ids);
    for (int i = 0; l->scratch && i < l->tapes.threads; i++)
        arena_free(&l->scratch[i]);
    rapt_kv_cache_free(l->kv);
    model_tapes_free(&l->tapes);
    free(l->slots);
    free(l->pieces);
    free(l->rest);
    free(l->prompts);
    free(l->choosing);
    free(l->logits);
    free(l->scratch);
    free(l);
}

const engine_lane lm_lane_functions = {"a language model", lm_lane_step, lm_lane_free};

/* At least one text of the whole context. */
static size_t lm_lane_positions(const lm_lane *l, size_t bytes)
{
    const rapt_kv_sizes sizes = rapt_kv_cache_sizes(l->kv);
    const size_t position = rapt_kv_position_bytes(&sizes), held = bytes && position ? bytes / position : SIZE_MAX;
    const size_t all = l->slot_count * sizes.capacity;
    return held < sizes.capacity ? sizes.capacity : MIN(held, all);
}

static rapt_code lm_lane_set_up(lm_lane *l, const rapt_engine_model_options *o, int threads, rapt_error *err)
{
    rapt_generate_options of_model = rapt_generate_options_default();
    of_model.beam = 1;
    of_model.compute = o->compute;
    of_model.compute.threads = threads;
    rapt_code code = generate_options_check(l->model, &of_model, err);
    code = code ? code : model_tapes_make(&l->tapes, l->model, &of_model.compute, MODEL_TAPES_ALL, err);
    if (code)
        return code;
    l->slots = calloc(l->slot_count, sizeof *l->slots);
    l->pieces = calloc(l->slot_count, sizeof *l->pieces);
    l->rest = calloc(l->slot_count, sizeof *l->rest);
    l->prompts = calloc(l->slot_count, sizeof *l->prompts);
    l->choosing = calloc(l->slot_count, sizeof *l->choosing);
    l->logits = calloc(l->slot_count, sizeof *l->logits);
    l->scratch = calloc((size_t)threads, sizeof *l->scratch);
    if (!l->slots || !l->pieces || !l->rest || !l->prompts || !l->choosing || !l->logits || !l->scratch)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu slots", l->slot_count);
    for (int i = 0; i < threads; i++)
        arena_init(&l->scratch[i], CHUNK);
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(l->model->language.net, l->slot_count);
    sizes.storage = o->compute.kv_cache;
    sizes.sparse = true; /* most texts are far shorter than the context */
    l->kv = rapt_kv_cache_new(sizes, err);
    if (!l->kv)
        return err->code;
    l->positions = lm_lane_positions(l, o->kv_memory);
    return RAPT_OK;
}

void *lm_lane_new(rapt_engine_model *m, const rapt_engine_model_options *o, int threads, rapt_error *err)
{
    rapt_error own = {0};
    lm_lane *l = calloc(1, sizeof *l);
    if (!l) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to serve a model");
        return NULL;
    }
    *l = (lm_lane){.served = m, .model = m->model, .slot_count = o->slots,
                   .no_prefix_cache = o->no_prefix_cache, .budget = {.fixed = o->chunk}};
    l->counts.slots = m->counts.slots = l->slot_count;
    if (lm_lane_set_up(l, o, threads, &own) == RAPT_OK)
        return l;
    rapt_fail(err, own.code, "%s", own.message);
    lm_lane_free(l);
    return NULL;
}

/* ---- requests ------------------------------------------------------------------------------------------------------ */

rapt_code rapt_engine_generate(rapt_engine_model *m, const rapt_engine_generation *request, rapt_engine_job **job,
                               rapt_error *err)
{
    rapt_error own = {0};
    const rapt_code code = engine_check_request(m, &lm_lane_functions, "generate text from a prompt", &own);
    lm_job *j = code ? NULL : lm_job_new(m, request, ((const lm_lane *)m->of_lane)->tapes.all->k, &own);
    if (!j)
        return rapt_fail(err, own.code, "%s", own.message);
    engine_queue_job(m, &j->job, job);
    return RAPT_OK;
}
