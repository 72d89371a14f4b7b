/* serve/module/openai_options.h: fields that completions and chat share: how text is generated, and how it is sent. */
#ifndef SERVE_MODULE_OPENAI_OPTIONS_H
#define SERVE_MODULE_OPENAI_OPTIONS_H

#include "serve/module/app.h"
#include "serve/module/fields.h"
#include "serve/module/replay.h"

typedef struct openai_options {
    rapt_generate_options o; /* all of its sampling is set: neither rapt's defaults nor a model's policy fills in any */
    char **stops;            /* of `o`, owned, with the texts: choices are queued when the fields are gone */
    rapt_logit_bias *biases; /* of `o`, owned */
    uint64_t seed;           /* of the request, or a random one */
    size_t n;                /* choices for each prompt */
    bool stream, include_usage;
} openai_options;

/* Reads temperature, top_p, top_k, min_p, repetition_penalty, seed, logit_bias, stop, n, stream, stream_options; user and others
 * that change nothing; presence_penalty, frequency_penalty. What is absent is as OpenAI has it: temperature 1, all
 * tokens, a random seed, as for -1. Errors are the fields'. */
void openai_options_read(openai_options *to, fields *f, const app_limits *limits, const rapt_model *m);
/* Of them only stop, into an object that has none yet. */
void openai_stops_read(openai_options *to, fields *f);
/* Of them only stream and stream_options, and those that change nothing, where nothing is sampled. */
void openai_sending_read(openai_options *to, fields *f);
void openai_options_free(openai_options *o);
/* The same options, but for the number of tokens, of `rapt generate`. */
void openai_options_replay(const openai_options *o, replay *r);

#endif
