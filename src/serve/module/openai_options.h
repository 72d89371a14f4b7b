/* serve/module/openai_options.h: fields that completions and chat share: how text is generated, and how it is sent. */
#ifndef SERVE_MODULE_OPENAI_OPTIONS_H
#define SERVE_MODULE_OPENAI_OPTIONS_H

#include "serve/module/app.h"
#include "serve/module/fields.h"
#include "serve/module/replay.h"

typedef struct openai_options {
    rapt_generate_options o; /* all sampling options are set, so that neither rapt's defaults nor a model's policy applies */
    char **stops;            /* for `o`; owned, including the texts: choices are queued when the fields are already freed */
    rapt_logit_bias *biases; /* for `o`; owned */
    rapt_constraint *constraint; /* for `o`; owned; openai_format.c */
    char *schema, *schema_name; /* of the constraint, owned; NULL: there is none */
    const char *marker;      /* the token after which the constraint holds; NULL: it holds from the beginning */
    uint64_t seed;           /* the request's, or a random one */
    size_t n;                /* choices for each prompt */
    bool stream, include_usage;
} openai_options;

/* Reads temperature, top_p, top_k, min_p, typical_p, repetition_penalty, seed, logit_bias, stop, n, stream, stream_options;
 * user and other fields without effect; presence_penalty, frequency_penalty. Absent fields have OpenAI's defaults: temperature 1,
 * all tokens, a random seed, as for -1. Errors are left in the fields. */
void openai_options_read(openai_options *to, fields *f, const app_limits *limits, const rapt_model *m);
/* Reads only stop, into an object that has none yet. */
void openai_stops_read(openai_options *to, fields *f);
/* Reads only stream, stream_options and fields without effect, for endpoints that do not sample. */
void openai_sending_read(openai_options *to, fields *f);
void openai_options_free(openai_options *o);
/* Adds the same options of `rapt generate`, except the number of tokens. */
void openai_options_replay(const openai_options *o, replay *r);

#endif
