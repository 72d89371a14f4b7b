/* decode/continuation.h: one run over a text: chooses the next token from the logits, keeps it and its text, and decides when the
 * run ends. For generators (one text) and the engine (many), which compute the logits. */
#ifndef DECODE_CONTINUATION_H
#define DECODE_CONTINUATION_H

#include "base/arena.h"
#include "base/buffer.h"
#include "search/policy_scores.h"
#include "decode/sampler.h"
#include "search/text_stream.h"
#include "search/token_text.h"

/* A text as tokens; zeroed: empty. */
typedef struct text_tokens {
    int32_t *ids; /* [count]; free() it */
    size_t count, capacity;
} text_tokens;

/* Keeps tokens 0 .. at - 1 and appends `count` tokens to them. */
rapt_code text_tokens_put(text_tokens *list, size_t at, const int32_t *ids, size_t count, rapt_error *err);

typedef struct continuation {
    const rapt_model *model;
    const rapt_generate_options *options; /* with defaults in place (generate_options_fill) */
    const sampler *sampler;
    const kernels *k;
    text_tokens *text;       /* the prompt and what is generated */
    uint64_t sample;
    rapt_text_fn *on_text;  /* or NULL */
    void *context;          /* of on_text */
    rapt_generated *result; /* what the run has generated so far; its text is in `kept` until continuation_end */
    buffer kept;
    size_t token_capacity, log_prob_capacity; /* capacities of the result's arrays */
    token_text shown;
    text_stream *out;
    rapt_finish_reason finish;
} continuation;

/* Begins a run over c->text; the members above `kept` are the caller's to set, with a zeroed result. RAPT_ERR_MEMORY. */
rapt_code continuation_begin(continuation *c, rapt_error *err);
/* Whether the run is at its end: its tokens are all there, a stop text came, or the model ended the text. */
bool continuation_is_over(const continuation *c);
/* Chooses the next token by the logits [vocab] after the text, with its log-probability. Changes nothing, so that threads may
 * choose for several runs at once, and leaves nothing in `scratch`. Errors as in rapt_generator_run. */
rapt_code continuation_choose(const continuation *c, const rapt_real *logits, arena *scratch, int32_t *id, double *log_prob,
                              rapt_error *err);
/* Keeps a token that was chosen; the end of text ends the run and is not kept. */
rapt_code continuation_put(continuation *c, int32_t id, double log_prob, rapt_error *err);
/* Hands out the text that was held back, unless `failed`, and fills the result. Must be called after continuation_begin, whatever
 * that returned. */
rapt_code continuation_end(continuation *c, bool failed, rapt_error *err);

#endif
