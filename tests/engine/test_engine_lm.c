/* tests/engine/test_engine_lm.c: an engine's texts have the bits that a generator gives each alone: for any number of slots,
 * chunks of prompts, proposals, threads and requests at once, with and without cached prefixes, whatever model and KV cache; jobs
 * that are cancelled or stop leave the others as they are; prompts are scored as the model's softmax has them.
 * labels: threads */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/fault.h"
#include "engine/gate.h"
#include "engine/lm_requests.h"

#include "base/math.h"
#include "options.h"
#include "tape/tape_core.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

enum { CLIENTS = 4 };

static rapt_engine *engine_new(int threads)
{
    rapt_error err = {0};
    rapt_engine *e = rapt_engine_new(&ENGINE(.threads = threads), &err);
    if (!e)
        fail_msg("%s", err.message);
    return e;
}

static rapt_engine_model *engine_add(rapt_engine *e, size_t variant, const rapt_engine_model_options *o)
{
    rapt_error err = {0};
    rapt_engine_model *m = rapt_engine_add(e, request_model(variant), o, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

/* ---- the same bits --------------------------------------------------------------------------------------------------- */

typedef struct client {
    rapt_engine_model *m;
    lm_request *r;
    size_t number;
    uint64_t cancels; /* a key of what is cancelled; 0: nothing is */
} client;

/* Every fourth request, in an order of its own. */
static void *client_main(void *context)
{
    const client *c = context;
    rapt_engine_job *jobs[REQUESTS] = {NULL};
    for (size_t i = c->number; i < REQUESTS; i += CLIENTS)
        jobs[i] = request_queue(&c->r[i], c->m);
    for (size_t i = c->number; i < REQUESTS && c->cancels; i += CLIENTS)
        if (rng_below(c->cancels, i, 3) == 0)
            rapt_engine_cancel(jobs[i]);
    for (size_t i = REQUESTS; i-- > 0;)
        rapt_engine_job_free(jobs[i]);
    return NULL;
}

static void serve_all(rapt_engine_model *m, lm_request *r, uint64_t cancels)
{
    pthread_t threads[CLIENTS];
    client clients[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){m, r, i, cancels};
        assert_int_equal(pthread_create(&threads[i], NULL, client_main, &clients[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < REQUESTS; i++)
        request_check(&r[i]);
}

/* The engine counts at the end of a step: after its jobs are done. */
static rapt_engine_counts counts_at_rest(const rapt_engine_model *m)
{
    rapt_engine_counts counts = rapt_engine_model_counts(m);
    for (int i = 0; i < 5000 && counts.running + counts.waiting > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        counts = rapt_engine_model_counts(m);
    }
    assert_int_equal(counts.running + counts.waiting, 0);
    return counts;
}

static void check_setting(size_t variant, int threads, const rapt_engine_model_options *o, uint64_t cancels)
{
    lm_request *r = calloc(REQUESTS, sizeof *r);
    rapt_engine *e = engine_new(threads);
    rapt_engine_model *m = engine_add(e, variant, o);
    assert_non_null(r);
    requests_make(r, rapt_engine_model_of(m));
    requests_alone(r, o);
    for (size_t i = 0; i < REQUESTS && cancels; i++)
        r[i].stop_after = (size_t)rng_below(cancels, 100 + i, 8);
    serve_all(m, r, cancels);
    serve_all(m, r, cancels); /* with what is left in the slots */
    const rapt_engine_counts counts = counts_at_rest(m);
    assert_int_equal(counts.done + counts.cancelled, 2 * REQUESTS);
    assert_int_equal(counts.failed, 0);
    assert_true(!o->no_prefix_cache || counts.cached_tokens == 0);
    assert_true(counts.accepted_tokens <= counts.proposed_tokens && counts.accepted_tokens <= counts.generated_tokens);
    rapt_engine_free(e);
    requests_free(r);
    free(r);
}

static void texts_have_the_bits_of_a_generator(void **state)
{
    static const size_t slots[] = {1, 3, 16}, chunks[] = {1, 7, 64, 0};
    static const int threads[] = {1, 2, 5};
    static const rapt_type precisions[6] = {[2] = RAPT_TYPE_BF16, [5] = RAPT_TYPE_Q8_0};
    (void)state;
    for (size_t i = 0; i < 36; i++) {
        const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS, .slots = slots[i % 3], .chunk = chunks[i / 3 % 4],
                                             .no_prefix_cache = i % 5 == 0,
                                             .compute.kv_cache = (rapt_type)(i % 4 == 3 ? RAPT_TYPE_Q8_0 : RAPT_TYPE_FP32),
                                             .compute.type = precisions[i % 6]};
        check_setting(i * 7 % LM_VARIANTS, threads[i / 12], &o, 0);
    }
}

static void stopped_jobs_leave_the_others(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 24; i++) {
        const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS, .slots = 1 + i % 5, .chunk = i % 3,
                                             .no_prefix_cache = i % 4 == 0};
        check_setting(i * 5 % LM_VARIANTS, 1 + (int)(i % 3), &o, i);
    }
}

/* What running texts have reserved, asked with each token. */
typedef struct memory_watch {
    rapt_engine_model *m;
    size_t most;
} memory_watch;

static void watch_memory(void *context, const rapt_generated_token *token)
{
    memory_watch *w = context;
    const size_t bytes = rapt_engine_model_counts(w->m).kv_bytes;
    (void)token;
    w->most = bytes > w->most ? bytes : w->most;
}

/* A text whose keys and values have no room waits for the others. */
static void memory_is_never_passed(void **state)
{
    (void)state;
    for (size_t i = 1; i < 4; i++) {
        const rapt_kv_sizes sizes = {2, 1, LM_CONTEXT, 24, .head = 4}; /* of variant 1: as many keys as queries */
        const size_t context = LM_CONTEXT * rapt_kv_position_bytes(&sizes);
        const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS, .slots = 4, .kv_memory = i * context};
        rapt_engine *e = engine_new(2);
        memory_watch w = {.m = engine_add(e, 1, &o)};
        rapt_engine_job *jobs[8], *waiting;
        gate g0 = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};
        rapt_error err = {0};
        check_setting(i, 2, &o, 0);
        assert_int_equal(rapt_engine_call(w.m, wait_at_gate, NULL, &g0, &waiting, &err), RAPT_OK);
        for (size_t k = 0; k < 8; k++) { /* texts that fill their context */
            const rapt_engine_generation g = {.tokens = (int32_t[]){1, 2, 3}, .count = 3, .options = &GENERATE(.max_tokens = 20),
                                              .on_token = watch_memory, .context = &w};
            assert_int_equal(rapt_engine_generate(w.m, &g, &jobs[k], &err), RAPT_OK);
        }
        open_gate(&g0);
        rapt_engine_job_free(waiting);
        for (size_t k = 0; k < 8; k++)
            rapt_engine_job_free(jobs[k]);
        assert_int_equal(w.most, i * context);
        rapt_engine_free(e);
    }
}

/* ---- proposals ------------------------------------------------------------------------------------------------------- */

enum { LOOPING = 3, LONG = 150 };

/* Greedy texts of a token that a bias prefers: each proposal is right. */
static void looping_requests(lm_request *r, const rapt_model *m)
{
    static const rapt_logit_bias bias[] = {{5, 100}};
    requests_make(r, m);
    for (size_t i = 0; i < LOOPING; i++) {
        r[i].options = GENERATE(.max_tokens = LONG + i, .lookup = 16 >> i,
                                .sample = {SAMPLE_DEFAULTS, .greedy = true, .biases = bias, .bias_count = 1});
        r[i].stop_after = 0;
    }
}

/* Proposals that hold make texts in fewer steps, beyond the context, too. A text that is stopped among the tokens of a step ends
 * there, and what its slot holds then serves the next text. */
static void repeats_take_fewer_steps(void **state)
{
    (void)state;
    for (int threads = 1; threads < 4; threads++) {
        const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS, .slots = LOOPING, .no_prefix_cache = threads == 3};
        lm_request *r = calloc(REQUESTS, sizeof *r);
        rapt_engine *e = engine_new(threads);
        rapt_engine_model *m = engine_add(e, 24, &o);
        rapt_engine_job *jobs[LOOPING];
        assert_non_null(r);
        looping_requests(r, rapt_engine_model_of(m));
        requests_alone(r, &o);
        for (size_t round = 0; round < 4; round++) {
            const rapt_engine_counts before = counts_at_rest(m);
            for (size_t i = 0; i < LOOPING; i++) {
                r[i].stop_after = round == 1 ? 20 + 7 * i : 0;
                jobs[i] = request_queue(&r[i], m);
            }
            for (size_t i = 0; i < LOOPING; i++) {
                rapt_engine_job_free(jobs[i]);
                assert_int_equal(r[i].got.token_count, round == 1 ? r[i].stop_after : LONG + i);
                request_check(&r[i]);
            }
            const rapt_engine_counts now = counts_at_rest(m);
            const uint64_t accepted = now.accepted_tokens - before.accepted_tokens; /* each spares its text a step */
            assert_true(accepted > 0 && now.accepted_tokens <= now.proposed_tokens);
            assert_true(round == 1 || 2 * accepted > now.generated_tokens - before.generated_tokens); /* else new windows */
        }
        rapt_engine_free(e);
        requests_free(r);
        free(r);
    }
}

/* ---- turns ----------------------------------------------------------------------------------------------------------- */

typedef struct turn {
    gate *g;
    int first; /* its first token's place among all tokens */
} turn;

static void take_turn(void *context, const rapt_generated_token *token)
{
    turn *t = context;
    (void)token;
    t->first = t->first ? t->first : ++t->g->order;
}

/* Prompts share the tokens of a step: a short one that comes later has its first token before a long one. */
static void short_prompts_pass_long_ones(void **state)
{
    (void)state;
    const int32_t ids[PROMPT] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, other[] = {20, 21, 22};
    gate g = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};
    turn long_one = {&g, 0}, short_one = {&g, 0};
    rapt_engine *e = engine_new(1);
    rapt_engine_model *m = engine_add(e, 12, &ENGINE_MODEL(.slots = 3, .chunk = 2));
    rapt_engine_job *jobs[3];
    rapt_error err = {0};
    const rapt_engine_generation a = {.tokens = ids, .count = PROMPT, .options = &GENERATE(.max_tokens = 1),
                                      .on_token = take_turn,
                                      .context = &long_one};
    const rapt_engine_generation b = {.tokens = other, .count = 3, .options = &GENERATE(.max_tokens = 1), .on_token = take_turn,
                                      .context = &short_one};
    assert_int_equal(rapt_engine_call(m, wait_at_gate, NULL, &g, &jobs[0], &err), RAPT_OK);
    assert_int_equal(rapt_engine_generate(m, &a, &jobs[1], &err), RAPT_OK);
    assert_int_equal(rapt_engine_generate(m, &b, &jobs[2], &err), RAPT_OK);
    open_gate(&g);
    for (int i = 0; i < 3; i++)
        rapt_engine_job_free(jobs[i]);
    assert_int_equal(short_one.first, 1);
    assert_int_equal(long_one.first, 2);
    rapt_engine_free(e);
}

/* ---- prefixes -------------------------------------------------------------------------------------------------------- */

static void prefixes_are_found(void **state)
{
    (void)state;
    lm_request *r = calloc(REQUESTS, sizeof *r);
    rapt_engine *e = engine_new(1);
    rapt_engine_model *m = engine_add(e, 4, &ENGINE_MODEL(.slots = 2));
    const rapt_engine_model_options plain = {ENGINE_MODEL_DEFAULTS};
    assert_non_null(r);
    requests_make(r, rapt_engine_model_of(m));
    for (size_t i = 0; i < REQUESTS; i++) {
        r[i].count = 8;
        for (size_t k = 0; k < 8; k++)
            r[i].prompt[k] = (int32_t)(k < 7 ? k : i % 3);
        r[i].options = GENERATE(.max_tokens = 3);
    }
    requests_alone(r, &plain);
    rapt_engine_job_free(request_queue(&r[0], m));
    assert_int_equal(r[0].cached, 0);
    rapt_engine_job_free(request_queue(&r[1], m));
    assert_int_equal(r[1].cached, 7);
    request_check(&r[0]);
    request_check(&r[1]);
    serve_all(m, r, 0);
    for (size_t i = 0; i < REQUESTS; i++)
        assert_int_equal(r[i].cached, 7);
    assert_int_equal(counts_at_rest(m).cached_tokens, 7 * (REQUESTS + 1));
    rapt_engine_free(e);
    requests_free(r);
    free(r);
}

/* ---- scores ---------------------------------------------------------------------------------------------------------- */

typedef struct scores {
    size_t count, top;
    double log_probs[PROMPT];
    int32_t first[PROMPT];
    double first_log_probs[PROMPT];
    bool done;
} scores;

static void score_token(void *context, size_t position, const rapt_generated_token *token)
{
    scores *s = context;
    assert_int_equal(position, s->count);
    assert_int_equal(token->count, position > 0 ? s->top : 0);
    s->log_probs[s->count] = token->log_prob;
    s->first[s->count] = token->count ? token->ids[0] : -1;
    s->first_log_probs[s->count++] = token->count ? token->log_probs[0] : 0;
}

static void score_done(void *context, const rapt_engine_generated *end)
{
    scores *s = context;
    assert_int_equal(end->code, RAPT_OK);
    assert_int_equal(end->result->token_count, 0);
    s->done = true;
}

static void prompts_are_scored(void **state)
{
    (void)state;
    for (size_t chunk = 0; chunk < 5; chunk++) {
        int32_t ids[PROMPT];
        rapt_error err = {0};
        scores s = {.top = 3};
        rapt_engine *e = engine_new(2);
        rapt_engine_model *m = engine_add(e, 60 + chunk, &ENGINE_MODEL(.chunk = chunk, .slots = 1));
        const rapt_lm *net = rapt_model_language(rapt_engine_model_of(m))->net;
        rapt_engine_job *job;
        model_ids(ids, PROMPT, chunk);
        rapt_tape *t = model_tape(NULL, 1);
        rapt_real *logits = lm_whole(t, net, ids, 1, PROMPT);
        for (int again = 0; again < 2; again++) { /* and with the prompt in the cache */
            const rapt_engine_generation g = {.tokens = ids, .count = PROMPT, .options = &GENERATE(.max_tokens = 0),
                                              .score_prompt = true, .top = 3,
                                              .on_prompt_token = score_token, .on_done = score_done, .context = &s};
            s.count = 0;
            s.done = false;
            assert_int_equal(rapt_engine_generate(m, &g, &job, &err), RAPT_OK);
            rapt_engine_job_free(job);
            assert_true(s.done && s.count == PROMPT && isnan(s.log_probs[0]));
            for (size_t i = 1; i < PROMPT; i++) {
                const rapt_real *x = logits + (i - 1) * MODEL_VOCAB;
                rapt_real max, sum;
                size_t best = 0;
                for (size_t k = 0; k < MODEL_VOCAB; k++)
                    best = x[k] > x[best] ? k : best;
                t->k->log_sum_exp(MODEL_VOCAB, x, &max, &sum);
                assert_true(s.log_probs[i] == (double)x[ids[i]] - ((double)max + math_log((double)sum)));
                assert_int_equal(s.first[i], best);
                assert_true(s.first_log_probs[i] == (double)x[best] - ((double)max + math_log((double)sum)));
            }
        }
        free(logits);
        rapt_tape_free(t);
        rapt_engine_free(e);
    }
}

/* ---- refusals, calls, models ----------------------------------------------------------------------------------------- */

static void refuse(rapt_engine_model *m, const rapt_engine_generation *g, const char *message)
{
    rapt_error err = {0};
    rapt_engine_job *job = NULL;
    assert_int_equal(rapt_engine_generate(m, g, &job, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    assert_null(job);
}

static rapt_code never_called(void *context, size_t step, rapt_real *logits, size_t vocab, rapt_error *err)
{
    (void)context, (void)step, (void)logits, (void)vocab, (void)err;
    fail();
    return RAPT_OK;
}

static void requests_are_refused(void **state)
{
    (void)state;
    rapt_engine *e = engine_new(1);
    rapt_engine_model *m = engine_add(e, 1, NULL);
    const int32_t ids[LM_CONTEXT + 1] = {0}, bad[] = {1, -1};
    refuse(m, &(rapt_engine_generation){.tokens = ids}, "a prompt of at least one token is needed");
    refuse(m, &(rapt_engine_generation){.tokens = ids, .count = LM_CONTEXT + 1},
           "the prompt has 13 tokens, the model's context 12");
    refuse(m, &(rapt_engine_generation){.tokens = ids, .count = 1, .options = &GENERATE(.beam = 2)},
           "an engine does no beam search of texts");
    refuse(m, &(rapt_engine_generation){.tokens = ids, .count = 1, .options = &GENERATE(.on_logits = never_called)},
           "an engine, whose thread chooses tokens, calls no on_logits; a generator does");
    refuse(m, &(rapt_engine_generation){.tokens = ids, .count = 1, .options = &GENERATE(.sample.temperature = -1)},
           "temperature -1: it is a number of 0 or more");
    refuse(m, &(rapt_engine_generation){.tokens = ids, .count = 1, .options = &GENERATE(.max_tokens = (size_t)RAPT_AS_MODEL)},
           "max_tokens is RAPT_AS_MODEL: a model's folder does not decide it");
    rapt_error err = {0};
    assert_int_equal(rapt_engine_generate(m, &(rapt_engine_generation){.tokens = bad, .count = 2}, NULL, &err),
                     RAPT_ERR_VALUE);
    rapt_engine_free(e);
}

static void call(void *context, const rapt_model *model, int threads)
{
    *(int *)context += model ? threads : 100;
}

typedef struct asking {
    atomic_bool stops;
    atomic_size_t asked, ended, steps;
} asking;

static bool asking_stops(void *context)
{
    asking *a = context;
    atomic_fetch_add(&a->asked, 1);
    return atomic_load(&a->stops);
}

static void asking_token(void *context, const rapt_generated_token *token)
{
    asking *a = context;
    (void)token;
    atomic_fetch_add(&a->steps, 1);
}

static void asking_done(void *context, const rapt_engine_generated *end)
{
    asking *a = context;
    assert_int_equal(end->code, RAPT_ERR_INTERRUPTED);
    atomic_fetch_add(&a->ended, 1);
}

static void asking_runner_done(void *context, const rapt_engine_generated *end)
{
    asking *a = context;
    assert_int_equal(end->code, RAPT_OK);
    atomic_store(&a->stops, true);
}

/* A long queue costs a step no more than a short one, and all of it ends when it is to stop. */
static void few_of_those_that_wait_are_asked(void **state)
{
    (void)state;
    enum { WAITING = 300, ASKED = 16 };
    rapt_engine *e = engine_new(1);
    rapt_error err = {0};
    rapt_engine_model *m = engine_add(e, 9, &ENGINE_MODEL(.slots = 1));
    const int32_t prompt[] = {1};
    asking a = {.stops = false};
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
    rapt_engine_job *gate_job, *jobs[WAITING];
    assert_int_equal(rapt_engine_call(m, wait_at_gate, NULL, &g, &gate_job, &err), RAPT_OK);
    rapt_engine_generation request = {.tokens = prompt, .count = 1, .options = &GENERATE(.max_tokens = 20),
                                      .on_token = asking_token,
                                      .on_done = asking_runner_done, .context = &a};
    rapt_engine_job *runner;
    assert_int_equal(rapt_engine_generate(m, &request, &runner, &err), RAPT_OK);
    request = (rapt_engine_generation){.tokens = prompt, .count = 1, .on_done = asking_done, .stop = asking_stops, .context = &a};
    for (size_t i = 0; i < WAITING; i++)
        assert_int_equal(rapt_engine_generate(m, &request, &jobs[i], &err), RAPT_OK);
    rapt_engine_cancel(jobs[WAITING - 1]);
    open_gate(&g);
    rapt_engine_job_free(runner);
    for (size_t i = 0; i < WAITING; i++)
        rapt_engine_job_free(jobs[i]);
    rapt_engine_job_free(gate_job);
    assert_int_equal(atomic_load(&a.ended), WAITING);
    assert_true(atomic_load(&a.asked) <= (atomic_load(&a.steps) + 2) * (ASKED + 1) + WAITING);
    rapt_engine_free(e);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* Calls get the model between steps; a model that is removed finishes its jobs; jobs without a handle free themselves. */
static void models_come_and_go(void **state)
{
    (void)state;
    lm_request *r = calloc(REQUESTS, sizeof *r);
    rapt_engine *e = engine_new(2);
    rapt_engine_job *job, *stopped;
    rapt_error err = {0};
    int calls = 0;
    rapt_engine_model *a = engine_add(e, 9, NULL), *b = engine_add(e, 9, NULL);
    assert_non_null(r);
    requests_make(r, rapt_engine_model_of(a));
    requests_alone(r, &ENGINE_MODEL());
    rapt_engine_job *first = request_queue(&r[0], a), *second = request_queue(&r[1], b);
    rapt_engine_remove(a);
    assert_int_equal(rapt_engine_call(b, call, NULL, &calls, &job, &err), RAPT_OK);
    rapt_engine_job_free(job);
    assert_int_equal(rapt_engine_call(b, call, always, &calls, &stopped, &err), RAPT_OK);
    rapt_engine_job_free(stopped);
    assert_int_equal(calls, 102);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(rapt_engine_generate(b, &(rapt_engine_generation){.tokens = r[0].prompt, .count = 1}, NULL, &err), 0);
    rapt_engine_job_free(first);
    rapt_engine_job_free(second);
    request_check(&r[0]);
    request_check(&r[1]);
    rapt_engine_free(e);
    rapt_engine_free(NULL);
    requests_free(r);
    free(r);
}

static void see_call(void *context, const rapt_model *model, int threads)
{
    (void)threads;
    *(bool *)context = model != NULL;
}

/* Asks a model that has a fault from question `sound` on for a text, beside another model. Whether it got a text. */
static bool text_of_faulty(lm_request *r, rapt_engine *e, rapt_engine_model *whole, size_t sound)
{
    rapt_error err = {0};
    bool called = true;
    fault_case f = {.sound = sound};
    rapt_engine_model *m = engine_add(e, 9, &ENGINE_MODEL(.fault = fault_after, .fault_context = &f));
    const rapt_engine_generation g = {.tokens = r[4].prompt, .count = r[4].count, .options = &r[4].options, .sample = r[4].sample,
                                      .on_token = request_token, .on_done = request_done, .context = &r[4]};
    rapt_engine_job *other = request_queue(&r[3], whole), *job = NULL;
    r[4].size = r[4].tokens = 0;
    const rapt_code code = rapt_engine_generate(m, &g, &job, &err); /* r[4].code is request_done's, which may come before */
    assert_true(code == RAPT_OK || strcmp(err.message, FAULT_MESSAGE) == 0);
    rapt_engine_job_free(job);
    if (code)
        r[4].code = code;
    else
        request_check(&r[4]); /* no token comes from a step after which it has the fault */
    assert_true(r[4].code == RAPT_OK || r[4].code == RAPT_ERR_IO);
    rapt_engine_job_free(other);
    request_check(&r[3]);
    assert_int_equal(r[3].code, RAPT_OK);
    if (r[4].code) {
        assert_int_equal(rapt_engine_call(m, see_call, NULL, &called, NULL, &err), RAPT_ERR_IO);
        assert_int_equal(rapt_engine_generate(m, &g, NULL, &err), RAPT_ERR_IO);
    }
    rapt_engine_remove(m);
    return !r[4].code;
}

/* Whenever a model gets a fault, its text has the right bits until then and ends with the reason, and the other model goes on. */
static void faults_are_a_models_own(void **state)
{
    (void)state;
    enum { MOST = 1000 };
    lm_request *r = calloc(REQUESTS, sizeof *r);
    rapt_engine *e = engine_new(2);
    rapt_engine_model *whole = engine_add(e, 9, NULL);
    size_t sound = 0;
    assert_non_null(r);
    requests_make(r, rapt_engine_model_of(whole));
    requests_alone(r, &ENGINE_MODEL());
    while (sound < MOST && !text_of_faulty(r, e, whole, sound))
        sound++;
    assert_in_range(sound, 2 * r[4].want.token_count, MOST - 1); /* it is asked before and after each step */
    fault_case f = {.sound = 1};
    bool called = true;
    rapt_engine_job *job = NULL;
    const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS, .fault = fault_after, .fault_free = fault_count_free,
                                         .fault_context = &f};
    rapt_engine_model *m = engine_add(e, 9, &o);
    assert_int_equal(rapt_engine_call(m, see_call, NULL, &called, &job, NULL), RAPT_OK);
    rapt_engine_job_free(job);
    assert_false(called);
    rapt_engine_model_options wrong = o; /* the model is freed at once */
    wrong.compute.kv_cache = (rapt_type)99;
    assert_null(rapt_engine_add(e, request_model(9), &wrong, NULL));
    assert_int_equal(atomic_load(&f.freed), 1);
    wrong = o;
    wrong.size = 0;
    assert_null(rapt_engine_add(e, request_model(9), &wrong, NULL));
    assert_int_equal(atomic_load(&f.freed), 2);
    wrong = o;
    wrong.batch = 0; /* refused for a model of any task */
    assert_null(rapt_engine_add(e, request_model(9), &wrong, NULL));
    assert_int_equal(atomic_load(&f.freed), 3);
    rapt_model *lent = request_model(9);
    wrong.borrowed = true;
    assert_null(rapt_engine_add(e, lent, &wrong, NULL));
    wrong.batch = 1;
    assert_non_null(rapt_engine_add(e, lent, &wrong, NULL));
    rapt_engine_free(e);
    rapt_model_free(lent); /* with the address sanitizer: it was not freed before */
    assert_int_equal(atomic_load(&f.freed), 6);
    requests_free(r);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_the_bits_of_a_generator), cmocka_unit_test(stopped_jobs_leave_the_others),
        cmocka_unit_test(memory_is_never_passed),             cmocka_unit_test(prefixes_are_found),
        cmocka_unit_test(short_prompts_pass_long_ones),       cmocka_unit_test(repeats_take_fewer_steps),
        cmocka_unit_test(prompts_are_scored),                 cmocka_unit_test(requests_are_refused),
        cmocka_unit_test(models_come_and_go),                 cmocka_unit_test(few_of_those_that_wait_are_asked),
        cmocka_unit_test(faults_are_a_models_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
