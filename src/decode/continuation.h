/* decode/continuation.h: a text that a language model continues, and runs over it: a run chooses the next token from the logits,
 * keeps it and its text, and decides when it ends. For generators (one text) and the engine (many), which compute the logits. */
#ifndef DECODE_CONTINUATION_H
#define DECODE_CONTINUATION_H

#include "base/arena.h"
#include "base/buffer.h"
#include "decode/sampler.h"
#include "decode/schema/constraint.h"
#include "search/policy_scores.h"
#include "search/text_stream.h"
#include "search/token_text.h"

#include "rapt/generate.h"

/* A text as tokens; zeroed: empty. */
typedef struct text_tokens {
    int32_t *ids; /* [count]; free() it */
    size_t count, capacity;
} text_tokens;

/* Keeps tokens 0 .. at - 1 and appends `count` tokens to them. */
rapt_code text_tokens_put(text_tokens *list, size_t at, const int32_t *ids, size_t count, rapt_error *err);

typedef struct continuation {
    const rapt_model *model;
    const kernels *k;
    rapt_generate_options options; /* with defaults in place, and copies of their arrays in `memory` */
    arena memory;
    sampler sampler;
    constrained obeys;     /* options.constraint, and how far the run in progress is */
    int32_t *ends;         /* [end_count] tokens that end a text, for a constraint */
    size_t end_count;
    text_tokens text;      /* the prompt and what is generated */
    /* of the run in progress */
    bool runs;
    uint64_t sample;
    rapt_generated result; /* what it has generated so far; its text is in `kept` until continuation_end */
    buffer kept;
    size_t token_capacity, log_prob_capacity; /* capacities of the result's arrays */
    size_t given;          /* bytes of its text that continuation_token has handed out */
    token_text shown;
    text_stream *out;
    rapt_finish_reason finish;
    bool stuck;            /* there is no token that may come next */
} continuation;

/* Copies the options; `k`: kernels of the tape that computes the logits. *c must be freed in any case. Errors of options: see
 * generate_options_check. */
rapt_code continuation_init(continuation *c, const rapt_model *m, const rapt_generate_options *options, const kernels *k,
                            rapt_error *err);
void continuation_free(continuation *c);

/* Begins a run over c->text, after continuation_drop. RAPT_ERR_MEMORY: the run has begun, and can only be ended. */
rapt_code continuation_begin(continuation *c, uint64_t sample, rapt_error *err);
/* Whether the run is at its end: its tokens are all there, a stop text came, or the model ended the text, or none may come. */
bool continuation_is_over(const continuation *c);
/* Chooses the next token by the logits [vocab] after the text, with its log-probability. Changes nothing, so that threads may
 * choose for several runs at once, and leaves nothing in `scratch`. *id -1: the run ends here, because no token is left and the
 * text may end, or the model's policy ends it at its last token. Errors as in rapt_generator_run. */
rapt_code continuation_choose(const continuation *c, const rapt_real *logits, arena *scratch, int32_t *id, double *log_prob,
                              rapt_error *err);
/* Keeps a token that was chosen, or -1; the end of text ends the run and is not kept. */
rapt_code continuation_put(continuation *c, int32_t id, double log_prob, rapt_error *err);
/* A token with the text that has become certain since the last call, which is valid until the next continuation_put. */
rapt_generated_token continuation_token(continuation *c, int32_t id, double log_prob);
/* Fills in the `top` most probable tokens of logits [vocab], at most the vocabulary, with arrays ids[top] and log_probs[top]. If
 * out of memory, none are reported. */
void continuation_likeliest(const continuation *c, const rapt_real *logits, size_t top, int32_t *ids, double *log_probs,
                            arena *scratch, rapt_generated_token *token);
/* Hands out the text that was held back, unless `failed`, and fills the result. */
rapt_code continuation_end(continuation *c, bool failed, rapt_error *err);
/* Ends a run in progress, if any, and frees its result. */
void continuation_drop(continuation *c);

#endif
