/* serve/module/openai_options.c: reads the options of generation. */
#define _GNU_SOURCE /* strdup */
#include "serve/module/openai_options.h"

#include "base/system_random.h"
#include "io/model_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits. Each choice has a table for each stop text, several times as long as the text. */
enum { MAX_STOPS = 4, MAX_STOP_CHARACTERS = 4096, MAX_BIASES = 1024 };

#define TINY_TOP_P 1e-9           /* for top_p 0, which means only the most probable token; to `rapt generate` 0 means all
                                     tokens */

/* ---- sampling ----------------------------------------------------------------------------------------------------------- */

/* A small number, because people may type it. */
static uint64_t draw_seed(void)
{
    uint64_t seed;
    return system_random(&seed) ? (uint32_t)seed : 1;
}

static void options_read_sampling(openai_options *to, fields *f)
{
    rapt_sample_options *s = &to->o.sample;
    s->temperature = fields_number(f, "temperature", 1, 0, 2);
    s->greedy = s->temperature == 0;
    s->top_p = fields_number(f, "top_p", 1, 0, 1);
    s->top_p = s->top_p > 0 ? s->top_p : TINY_TOP_P;
    const int64_t k = fields_integer(f, "top_k", 0, -1, INT32_MAX);
    s->top_k = k > 0 ? (size_t)k : 0;
    s->min_p = fields_number(f, "min_p", 0, 0, 1);
    s->typical_p = fields_number(f, "typical_p", 0, 0, 1);
    s->repetition_penalty = fields_number(f, "repetition_penalty", 1, 0.001, 1000);
    s->presence_penalty = fields_number(f, "presence_penalty", 0, -2, 2);
    s->frequency_penalty = fields_number(f, "frequency_penalty", 0, -2, 2);
    const int64_t seed = fields_integer(f, "seed", -1, INT64_MIN, INT64_MAX);
    to->seed = seed == -1 ? draw_seed() : (uint64_t)seed; /* as peers have it */
    s->seed = to->seed;
    to->o.beam = 1; /* even if a model's policy has a beam */
}

/* A key of logit_bias. False: no token of the model. */
static bool options_read_id(const char *text, size_t vocab, int32_t *id)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits])
        return false;
    *id = (int32_t)strtol(text, NULL, 10);
    return (size_t)*id < vocab;
}

static void options_read_biases(openai_options *to, fields *f, const rapt_model *m)
{
    fields inner;
    const char *key;
    json_t *value;
    const size_t vocab = m->language.net->config.vocab;
    if (!fields_object(f, "logit_bias", &inner)) {
        fields_free(&inner);
        return;
    }
    const size_t count = json_object_size(inner.object);
    to->biases = calloc(count + 1, sizeof *to->biases);
    if (count > MAX_BIASES)
        fields_fail(f, "logit_bias", "%zu tokens, where at most %d are taken", count, MAX_BIASES);
    else if (!to->biases)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    else
        json_object_foreach(inner.object, key, value) {
            rapt_logit_bias *bias = &to->biases[to->o.sample.bias_count];
            if (!options_read_id(key, vocab, &bias->id))
                fields_fail(f, "logit_bias", "\"%.40s\" is not the id of a token, which are 0 to %zu", key, vocab - 1);
            bias->bias = fields_number(&inner, key, 0, -100, 100);
            to->o.sample.bias_count++;
        }
    to->o.sample.biases = to->biases;
    fields_free(&inner);
}

void openai_stops_read(openai_options *to, fields *f)
{
    size_t count;
    const char **texts = fields_texts(f, "stop", 0, MAX_STOPS, &count, NULL);
    to->stops = calloc(count + 1, sizeof *to->stops);
    to->o.stops = (const char *const *)to->stops;
    bool ok = to->stops != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        if (!*texts[i])
            fields_fail(f, "stop", "a text that is empty ends no other");
        if (fields_is_longer(texts[i], MAX_STOP_CHARACTERS))
            fields_fail(f, "stop", "a text has at most %d characters", MAX_STOP_CHARACTERS);
        ok = (to->stops[i] = strdup(texts[i])) != NULL;
        to->o.stop_count += ok;
    }
    if (!ok)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    free(texts);
}

/* ---- sending ------------------------------------------------------------------------------------------------------------ */

void openai_sending_read(openai_options *to, fields *f)
{
    static const char *const ignored[] = {"user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"};
    fields inner;
    to->stream = fields_flag(f, "stream", false);
    if (fields_object(f, "stream_options", &inner)) {
        to->include_usage = fields_flag(&inner, "include_usage", false);
        fields_neutral(&inner, "include_obfuscation", "[false]");
        fields_finish(&inner);
        if (!to->stream)
            fields_fail(f, "stream_options", "only a request with \"stream\": true has these");
    }
    fields_free(&inner);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        fields_ignore(f, ignored[i]);
}

void openai_options_read(openai_options *to, fields *f, const app_limits *limits, const rapt_model *m)
{
    *to = (openai_options){.n = 1, .o = rapt_generate_options_default()};
    options_read_sampling(to, f);
    options_read_biases(to, f, m);
    openai_stops_read(to, f);
    to->n = (size_t)fields_integer(f, "n", 1, 1, (int64_t)limits->n);
    openai_sending_read(to, f);
}

void openai_options_free(openai_options *o)
{
    for (size_t i = 0; i < o->o.stop_count; i++)
        free(o->stops[i]);
    free(o->stops);
    free(o->biases);
    rapt_constraint_free(o->constraint);
    free(o->schema);
    free(o->schema_name);
    *o = (openai_options){0};
}

/* ---- as options of the program ------------------------------------------------------------------------------------------ */

void openai_options_replay(const openai_options *o, replay *r)
{
    const rapt_sample_options *s = &o->o.sample;
    replay_number(r, "--temperature", s->temperature);
    replay_words(r, " --top-k %zu", s->top_k);
    replay_number(r, "--top-p", s->top_p);
    replay_number(r, "--min-p", s->min_p);
    replay_number(r, "--typical-p", s->typical_p);
    replay_number(r, "--repetition-penalty", s->repetition_penalty);
    if (s->presence_penalty != 0)
        replay_number(r, "--presence-penalty", s->presence_penalty);
    if (s->frequency_penalty != 0)
        replay_number(r, "--frequency-penalty", s->frequency_penalty);
    r->unfaithful = r->unfaithful || o->seed > REPLAY_MAX_SEED;
    for (size_t i = 0; i < s->bias_count; i++) {
        replay_words(r, " --logit-bias %d:", (int)s->biases[i].id);
        replay_value(r, s->biases[i].bias);
    }
    for (size_t i = 0; i < o->o.stop_count; i++)
        replay_text(r, "--stop", o->stops[i], strlen(o->stops[i]));
    replay_words(r, " --seed %llu --samples %zu", (unsigned long long)o->seed, o->n);
}
