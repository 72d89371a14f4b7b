/* cli/generation_options.c: options of commands that generate text. */
#define _GNU_SOURCE
#include "cli/generation_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static void take_stop(generation_options *g, const char *text, struct argp_state *state)
{
    if (g->o.stop_count == GENERATE_MAX_STOPS)
        cli_usage_error(state, "more than %d --stop", GENERATE_MAX_STOPS);
    if (!*text)
        cli_usage_error(state, "--stop: the stop sequence is empty");
    g->stops[g->o.stop_count++] = text;
}

static void take_bias(generation_options *g, const char *text, struct argp_state *state)
{
    char id[32];
    const char *colon = strchr(text, ':');
    if (g->o.sample.bias_count == GENERATE_MAX_BIASES)
        cli_usage_error(state, "more than %d --logit-bias", GENERATE_MAX_BIASES);
    if (!colon || (size_t)(colon - text) >= sizeof id)
        cli_usage_error(state, "--logit-bias: '%s' is not ID:BIAS", text);
    snprintf(id, sizeof id, "%.*s", (int)(colon - text), text);
    rapt_logit_bias *bias = &g->biases[g->o.sample.bias_count++];
    bias->id = (int32_t)cli_integer(id, 0, INT32_MAX, "logit-bias", state);
    bias->bias = strcmp(colon + 1, "-inf") == 0 ? -INFINITY : cli_number(colon + 1, -1e6, 1e6, "logit-bias", state);
}

/* A seed that --seed also accepts, so that the run can be repeated. */
static uint64_t random_seed(struct argp_state *state)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        cli_usage_error(state, "--random-seed: the system has no random numbers");
    return seed % CLI_MAX;
}

/* 0 is greedy here, and the default in the library. */
static void take_temperature(generation_options *g, const char *text, struct argp_state *state)
{
    g->o.sample.temperature = cli_number(text, 0, 1e6, "temperature", state);
    g->o.sample.greedy = g->greedy || g->o.sample.temperature == 0;
}

static void take_top_k(generation_options *g, const char *text, struct argp_state *state)
{
    long k = cli_integer(text, 0, CLI_MAX, "top-k", state);
    g->o.sample.top_k = k ? (size_t)k : RAPT_TOP_K_ALL;
}

/* In the library 0 means the default. */
static void take_top_p(generation_options *g, const char *text, struct argp_state *state)
{
    double p = cli_number(text, 0, 1, "top-p", state);
    g->o.sample.top_p = p == 0 ? 1 : p;
}

static void take_min_p(generation_options *g, const char *text, struct argp_state *state)
{
    double p = cli_number(text, 0, 1, "min-p", state);
    g->o.sample.min_p = p == 0 ? RAPT_MIN_P_ALL : p;
}

static bool asks_for_sampling(const generation_options *g, long samples)
{
    const rapt_sample_options *s = &g->o.sample;
    return s->greedy || s->temperature != 0 || s->top_k != 0 || s->top_p != 0 || s->min_p != 0 || samples > 1;
}

error_t generation_options_take(generation_options *g, int key, const char *text, struct argp_state *state)
{
    rapt_sample_options *s = &g->o.sample;
    switch (key) {
    case KEY_MAX_TOKENS: g->max_tokens = cli_integer(text, 0, CLI_MAX, "max-tokens", state); return 0;
    case KEY_TEMPERATURE: take_temperature(g, text, state); return 0;
    case KEY_BEAM: g->o.beam = (size_t)cli_integer(text, 1, 1024, "beam", state); return 0;
    case KEY_GREEDY: g->greedy = s->greedy = true; return 0;
    case KEY_TOP_K: take_top_k(g, text, state); return 0;
    case KEY_TOP_P: take_top_p(g, text, state); return 0;
    case KEY_MIN_P: take_min_p(g, text, state); return 0;
    case KEY_BIAS: take_bias(g, text, state); return 0;
    case KEY_RANDOM_SEED: g->random_seed = true; return 0;
    case KEY_PENALTY: s->repetition_penalty = cli_number(text, 0.001, 1000, "repetition-penalty", state); return 0;
    case KEY_PRESENCE: s->presence_penalty = cli_number(text, -2, 2, "presence-penalty", state); return 0;
    case KEY_FREQUENCY: s->frequency_penalty = cli_number(text, -2, 2, "frequency-penalty", state); return 0;
    case KEY_WINDOW: s->repetition_window = (size_t)cli_integer(text, 0, CLI_MAX, "repetition-window", state); return 0;
    case CLI_KEY_SEED:
        g->seed = (uint64_t)cli_seed(text, state);
        g->has_seed = true;
        return 0;
    case KEY_STOP: take_stop(g, text, state); return 0;
    case CLI_KEY_CONTEXT: g->context = cli_integer(text, 1, CLI_MAX, "context", state); return 0;
    case CLI_KEY_ADAPTER: g->adapter = text; return 0;
    case CLI_KEY_PRECISION: g->o.precision = cli_precision(text, state); return 0;
    case CLI_KEY_WEIGHTS: g->o.weights = cli_weights(text, &g->o.precision, state); return 0;
    case CLI_KEY_KV_CACHE: g->o.kv_cache = cli_kv_cache(text, state); return 0;
    case CLI_KEY_THREADS: g->o.threads = cli_threads(text, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void generation_options_finish(generation_options *g, long samples, struct argp_state *state)
{
    if (g->o.beam > 1 && asks_for_sampling(g, samples))
        cli_usage_error(state, "--beam does not sample: not with --temperature, --greedy, --top-k, --top-p, --min-p, --samples");
    if (g->o.beam > 1 && g->o.sample.repetition_window > 0)
        cli_usage_error(state, "--repetition-window is not for --beam, whose penalty covers the whole text");
    if (samples > 1)
        g->o.beam = 1;
    if (g->random_seed && g->has_seed)
        cli_usage_error(state, "--seed or --random-seed, not both");
    if (g->random_seed)
        g->seed = random_seed(state);
    g->o.sample.seed = g->seed ? g->seed : RAPT_SAMPLE_SEED_0;
    g->o.sample.biases = g->biases;
    g->o.stops = g->stops;
    g->o.max_tokens = (size_t)g->max_tokens;
}
