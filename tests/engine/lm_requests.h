/* tests/engine/lm_requests.h: texts to continue, what a generator makes of each alone, and what an engine makes of them. For the
 * tests of this folder. */
#ifndef TESTS_ENGINE_LM_REQUESTS_H
#define TESTS_ENGINE_LM_REQUESTS_H

#include "decode/generate_case.h"
#include "options.h"
#include "rapt/engine.h"

#include <stdatomic.h>

enum { REQUESTS = 24, PROMPT = 11 };

/* One text, and what became of it. */
typedef struct lm_request {
    const rapt_model *m;
    int32_t prompt[PROMPT];
    size_t count;
    rapt_generate_options options;
    uint64_t sample;
    rapt_generated want;
    /* of the engine */
    rapt_generated got;
    char text[1024]; /* put together from what the tokens brought */
    size_t size, tokens, stop_after; /* stop_after: tokens after which it stops itself; 0: never */
    atomic_size_t seen;
    rapt_code code;
    size_t cached;
} lm_request;

/* A model of its own for each engine, which frees it; all with the same parameters. */
static inline rapt_model *request_model(size_t variant)
{
    rapt_lm_config c = lm_variant(variant);
    rapt_model *m = malloc(sizeof *m);
    assert_non_null(m);
    c.embedding_std = c.tied ? 0.15 : 2;
    *m = case_model(lm_model(&c), case_characters());
    m->params = m->language.net->params;
    return m;
}

/* Prompts begin alike in groups, so that there are prefixes to be found. */
static inline void requests_make(lm_request *r, const rapt_model *m)
{
    static const char *const stops[] = {"t", "e"};
    for (size_t i = 0; i < REQUESTS; i++) {
        r[i] = (lm_request){.m = m, .count = 1 + (size_t)rng_below(91, i, PROMPT), .sample = i % 3};
        for (size_t k = 0; k < r[i].count; k++)
            r[i].prompt[k] = (int32_t)rng_below(k < 6 ? i % 4 : i, k, 20);
        r[i].options = GENERATE(.sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 3 + i % 2}, .max_tokens = 1 + i % 25);
        r[i].options.sample.greedy = i % 5 == 4;
        r[i].options.sample.repetition_penalty = i % 7 == 3 ? 1.3 : 1;
        r[i].options.lookup = (size_t[]){16, 1, 64, 0, 5}[i * 3 % 5];
        r[i].options.stops = stops;
        r[i].options.stop_count = i % 6 == 5 ? 2 : 0;
    }
}

/* What a generator makes of each. */
static inline void requests_alone(lm_request *r, const rapt_engine_model_options *o)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        rapt_error err = {0};
        rapt_generate_options options = r[i].options;
        options.lookup = 0;
        options.compute.threads = 1;
        options.compute.type = o->compute.type;
        options.compute.kv_cache = o->compute.kv_cache;
        rapt_generator *g = rapt_generator_new(r[i].m, &options, &err);
        if (!g || rapt_generator_begin_tokens(g, r[i].prompt, r[i].count, &err) ||
            rapt_generator_run(g, r[i].sample, &r[i].want, &err))
            fail_msg("%s", err.message);
        rapt_generator_free(g);
    }
}

static inline void request_token(void *context, const rapt_generated_token *token)
{
    lm_request *r = context;
    assert_true(r->size + token->size < sizeof r->text);
    memcpy(r->text + r->size, token->text, token->size);
    r->size += token->size;
    r->tokens++;
    atomic_store(&r->seen, r->tokens);
}

static inline void request_done(void *context, const rapt_engine_generated *end)
{
    lm_request *r = context;
    assert_true(r->size + end->rest_size < sizeof r->text);
    if (end->rest_size > 0)
        memcpy(r->text + r->size, end->rest, end->rest_size);
    r->size += end->rest_size;
    r->code = end->code;
    r->cached = end->cached_tokens;
    r->got = *end->result;
    r->got.text = calloc(1, end->result->text_size + 1);
    r->got.tokens = malloc((r->got.token_count + 1) * sizeof *r->got.tokens);
    r->got.log_probs = malloc((r->got.token_count + 1) * sizeof *r->got.log_probs);
    assert_true(r->got.text && r->got.tokens && r->got.log_probs);
    if (end->result->text_size > 0)
        memcpy(r->got.text, end->result->text, end->result->text_size);
    if (r->got.token_count > 0) {
        memcpy(r->got.tokens, end->result->tokens, r->got.token_count * sizeof *r->got.tokens);
        memcpy(r->got.log_probs, end->result->log_probs, r->got.token_count * sizeof *r->got.log_probs);
    }
}

static inline bool request_stops(void *context)
{
    lm_request *r = context;
    return r->stop_after > 0 && atomic_load(&r->seen) >= r->stop_after;
}

/* Queues one, and returns its job. */
static inline rapt_engine_job *request_queue(lm_request *r, rapt_engine_model *m)
{
    rapt_error err = {0};
    rapt_engine_job *job = NULL;
    const rapt_engine_generation g = {.tokens = r->prompt, .count = r->count, .options = &r->options, .sample = r->sample,
                                      .on_token = request_token, .on_done = request_done, .stop = request_stops, .context = r};
    r->size = r->tokens = 0;
    atomic_store(&r->seen, 0);
    if (rapt_engine_generate(m, &g, &job, &err))
        fail_msg("%s", err.message);
    return job;
}

/* The engine's result is the generator's, bit for bit, or, where the job was stopped, its beginning. */
static inline void request_check(lm_request *r)
{
    const rapt_generated *want = &r->want, *got = &r->got;
    if (r->code == RAPT_OK) {
        assert_int_equal(got->token_count, want->token_count);
        assert_int_equal(got->finish, want->finish);
        assert_int_equal(got->prompt_tokens, want->prompt_tokens);
        assert_string_equal(got->text, want->text);
        assert_int_equal(r->size, want->text_size);
        assert_memory_equal(r->text, want->text, r->size);
    } else {
        assert_true(r->code == RAPT_ERR_INTERRUPTED || r->code == RAPT_ERR_IO);
        assert_true(got->token_count <= want->token_count);
    }
    assert_int_equal(r->tokens, got->token_count);
    if (got->token_count > 0) {
        assert_memory_equal(got->tokens, want->tokens, got->token_count * sizeof *got->tokens);
        assert_memory_equal(got->log_probs, want->log_probs, got->token_count * sizeof *got->log_probs);
    }
    rapt_generated_free(&r->got);
}

static inline void requests_free(lm_request *r)
{
    for (size_t i = 0; i < REQUESTS; i++)
        rapt_generated_free(&r[i].want);
}

#endif
