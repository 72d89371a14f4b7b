/* rapt/generate.h: text generation with a language model: a generator continues a prompt, token by token, with a KV cache.
 *
 * How a token is sampled from logits x[0 .. vocab-1], in this order:
 *
 *   1. repetition penalty r, for each token i of the history, however often it occurs there (Keskar et al. 2019, "CTRL:
 *      A Conditional Transformer Language Model for Controllable Generation", section 4.1):
 *          x_i = x_i / r where x_i > 0, x_i * r elsewhere
 *      (the paper divides in both cases, which would make tokens with negative logits more probable; other programs
 *      multiply those too);
 *   2. logit bias: x_i = x_i + b for each bias b of token i; -inf rules it out;
 *   3. temperature T (Ackley, Hinton, Sejnowski 1985): p_i = exp(x_i / T) / sum_j exp(x_j / T); greedy decoding is the limit T =
 *      0: it takes the largest logit, the smallest id among equal ones, and the later steps have no effect;
 *   4. top-k (Fan, Lewis, Dauphin 2018, "Hierarchical Neural Story Generation"): only the k most probable tokens stay (smaller
 *      ids first among equals), and p is scaled to sum 1 again;
 *   5. top-p, or nucleus sampling (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", section 3.1): only the
 *      smallest set of most probable tokens whose probabilities sum to p or more stays (smaller ids first among equals); scaled
 *      again;
 *   6. min-p (Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs"): only tokens with
 *      p_i >= m * p_max stay, where p_max is the largest probability; scaled again. As in Hugging Face's transformers, the
 *      temperature has been applied before; llama.cpp applies it last, which makes no difference at T = 1;
 *   7. locally typical sampling (Meister et al. 2023, "Locally Typical Sampling", section 4): only the tokens whose information
 *      -log p_i is nearest to the entropy -sum_j p_j log p_j stay: the smallest set of them whose probabilities sum to t or more,
 *      and all that are as near as the last of these; scaled again. So the most probable token may go. Hugging Face's
 *      transformers has the same order of steps, and keeps the same tokens;
 *   8. one of the remaining tokens is drawn with its probability.
 *
 * A model's policy (rapt_model_search) may also exclude and force tokens, between steps 2 and 3.
 *
 * The drawn token depends on the logits, these options, the sample, the position and, with a penalty, the history: the random
 * number is a function of (seed, sample, position). A token is never drawn if its logit is -inf, or so far below the largest that
 * exp((x_i - x_max) / T) is below 2^-126.
 */
#ifndef RAPT_GENERATE_H
#define RAPT_GENERATE_H

#include "rapt/defaults.h"
#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value that is added to the logit of a token; finite or -inf. */
typedef struct rapt_logit_bias {
    int32_t id;
    double bias;
} rapt_logit_bias;

/* RAPT_AS_MODEL is what the model's policy says; what a member's comment says, without one. */
typedef struct rapt_sample_options {
    double temperature;        /* divides the logits, >= 0; 0: greedy; 1: the model's own probabilities. RAPT_AS_MODEL: 0.8 */
    bool greedy;               /* always the most probable token: temperature 0 */
    size_t top_k;              /* sample from this many most probable tokens; 0, or the vocabulary: all. RAPT_AS_MODEL: 200 */
    double top_p;              /* nucleus: the probability mass that is kept, above 0 to 1; 1: all. RAPT_AS_MODEL: 1 */
    double repetition_penalty; /* 0.001 to 1000, above 1 against repetition; 1: off. RAPT_AS_MODEL: 1 */
    size_t repetition_window;  /* N: the penalty covers the last N tokens; 0: all of the context */
    uint64_t seed;
    double min_p;              /* keep tokens of at least min_p times the largest probability, 0 to 1; 0: all. RAPT_AS_MODEL: 0 */
    const rapt_logit_bias *biases; /* [bias_count]; several biases of one token add up */
    size_t bias_count;
    double presence_penalty;   /* -2 to 2, subtracted once from the logit of each token that was generated (as in OpenAI's API;
                                  not from tokens of the prompt), after the repetition penalty; 0: off */
    double frequency_penalty;  /* likewise, but subtracted as many times as the token was generated */
    double typical_p;          /* locally typical sampling: the probability mass that is kept, 0 to 1; 0 or 1: all.
                                  RAPT_AS_MODEL: 0 */
    double reserved[7];        /* zeros, or else refused: members of later versions, in which 0 means as before. The struct is a
                                  member of others, so it cannot grow */
} rapt_sample_options;

/* Writes the defaults into options that have `size` bytes in the program. They store no size: where they are taken, they are a
 * member of options that have one. */
RAPT_API void rapt_sample_options_init(rapt_sample_options *o, size_t size);
/* temperature, top_k, top_p, min_p, typical_p and repetition_penalty are RAPT_AS_MODEL, seed is 1, all else zero. */
static inline rapt_sample_options rapt_sample_options_default(void)
{
    rapt_sample_options o;
    rapt_sample_options_init(&o, sizeof o);
    return o;
}

/* Receives generated text as it comes: `size` > 0 bytes, whole characters of UTF-8, without a NUL. If it returns a code other
 * than RAPT_OK, the run ends and returns that code. */
typedef rapt_code rapt_text_fn(void *context, const char *text, size_t size, rapt_error *err);

/* Changes the logits of a position before a token is chosen, and before anything that options and the model's policy do with
 * them: logits[vocab] is a copy, to be written during the call only; -INFINITY excludes a token. `step` counts the tokens of the
 * run that were chosen before, from 0. Called in the thread that asks for the token. If it returns a code other than RAPT_OK, the
 * run ends and returns that code; so it does with RAPT_ERR_NOT_FINITE if it leaves NaN, inf or no token. */
typedef rapt_code rapt_logits_fn(void *context, size_t step, rapt_real *logits, size_t vocab, rapt_error *err);

/* What texts obey: a JSON schema. Nothing changes it, and any number of generators and requests of engines, in any threads, may
 * have the same one. */
typedef struct rapt_constraint rapt_constraint;

/* From `size` bytes of a JSON schema; docs/constrained.md has the keywords. A text that obeys it is one JSON value. NULL with
 * `err` set: RAPT_ERR_VALUE, which names the place as a JSON pointer ("schema, #/properties/a: ..."): a keyword that is not
 * supported, no JSON, too large or too deep, or no value obeys it; RAPT_ERR_MEMORY. */
RAPT_API rapt_constraint *rapt_constraint_json_schema(const char *schema, size_t size, rapt_error *err);
/* Generators and requests that have it keep it until they end. NULL is fine. */
RAPT_API void rapt_constraint_free(rapt_constraint *c);

enum { RAPT_GENERATE_TOKENS = 200, RAPT_GENERATE_LOOKUP = 16 };

typedef struct rapt_generate_options {
    size_t size;              /* of this struct; set by rapt_generate_options_default */
    rapt_sample_options sample;
    size_t max_tokens;        /* max new tokens in a run */
    const char *const *stops; /* [stop_count] stop sequences: texts that end a run and are left out of its text. Not empty, valid
                                 UTF-8 */
    size_t stop_count;
    rapt_text_fn *on_text;    /* streams the text of a run; or NULL */
    rapt_stop_fn *stop;       /* asked before each token, in beam search too: true cancels the run as rapt_generator_cancel does;
                                 or NULL */
    rapt_logits_fn *on_logits; /* changes the logits of each position; not in a beam search, nor in an engine, which refuse it; or
                                 NULL. Log-probabilities are of the logits before */
    void *context;            /* of on_text, stop and on_logits */
    rapt_compute compute;
    size_t beam;              /* above 1: beam search with this many hypotheses for the text of the highest score (rapt/policy.h)
                                 instead of sampling, without logit biases and repetition window; its text comes at the end, all
                                 at once. 1: sampling. RAPT_AS_MODEL: what the model's policy says, unless `sample` asks for a
                                 kind of sampling: greedy, or a temperature, top_k, top_p, min_p or typical_p other than
                                 RAPT_AS_MODEL; 1 then, and without a policy. So a program that sets top_k alone gets samples,
                                 also of a model whose policy is beam search or greedy; penalties and the seed leave its policy
                                 as it is */
    size_t top;               /* most probable tokens that rapt_generator_next reports with each token; 0: none, as always in a
                                 beam search */
    size_t lookup;            /* prompt lookup (Saxena 2023): where the last tokens of the text occurred in it before, at most
                                 this many tokens that followed them are computed in one pass with the next token; up to 64. Each
                                 token is chosen as ever, so no bit of a text depends on it; a text that repeats parts of its
                                 prompt takes less time. 0: off; not in a beam search */
    const rapt_constraint *constraint; /* what a run generates obeys it, and the run ends with the value (RAPT_FINISH_END_OF_TEXT)
                                 unless max_tokens end it before (RAPT_FINISH_LENGTH); not in a beam search, nor with stop
                                 sequences, nor of models whose tokens cannot spell it. A run ends with RAPT_ERR_VALUE where other
                                 options exclude all tokens that it allows. NULL: none */
    bool chat;                /* the text is a chat: the model's end_of_turn also ends a run */
    uint8_t reserved[7];      /* zeros, or else refused */
} rapt_generate_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_generate_options_init(rapt_generate_options *o, size_t size);
/* What `rapt generate` does without options: `sample` as rapt_sample_options_default makes it, max_tokens RAPT_GENERATE_TOKENS,
 * beam RAPT_AS_MODEL, lookup RAPT_GENERATE_LOOKUP, all else zero. */
static inline rapt_generate_options rapt_generate_options_default(void)
{
    rapt_generate_options o;
    rapt_generate_options_init(&o, sizeof o);
    return o;
}

/* Why a run ended:
 *   NONE         it failed or was cancelled
 *   LENGTH       max_tokens were generated
 *   STOP         a stop sequence was generated
 *   END_OF_TEXT  the model ended the text */
#define RAPT_FINISH_REASONS(X)                                                                     \
    X(RAPT_FINISH_NONE)                                                                            \
    X(RAPT_FINISH_LENGTH)                                                                          \
    X(RAPT_FINISH_STOP)                                                                            \
    X(RAPT_FINISH_END_OF_TEXT)

typedef enum rapt_finish_reason {
#define RAPT_FINISH_REASON_ENUM(name) name,
    RAPT_FINISH_REASONS(RAPT_FINISH_REASON_ENUM)
#undef RAPT_FINISH_REASON_ENUM
} rapt_finish_reason;

/* What a run generated. The caller frees the arrays with rapt_generated_free. */
typedef struct rapt_generated {
    int32_t *tokens;      /* [token_count]; includes the tokens of a stop sequence, but not the end-of-text token */
    double *log_probs;    /* [token_count] log-probability of each token in nats, from the model's softmax before any option; NaN
                             after a beam search */
    size_t token_count;
    char *text;           /* [text_size] and a NUL: whole characters of UTF-8; bytes that are not UTF-8 become U+FFFD */
    size_t text_size;     /* bytes */
    size_t prompt_tokens; /* tokens of the text before the run */
    rapt_finish_reason finish;
    double score;         /* score of a beam search (rapt_search_policy.length_penalty); else 0 */
} rapt_generated;

/* One token of a run, with the part of the text that became final with it. */
typedef struct rapt_generated_token {
    int32_t id;
    double log_prob;         /* in nats, from the model's softmax, before any option; NaN after a beam search */
    size_t count;            /* length of the lists below: as many as were asked for (rapt_generate_options.top,
                                rapt_engine_generation.top), or the size of a smaller vocabulary */
    const int32_t *ids;      /* [count] the most probable tokens at this position, the most probable first */
    const double *log_probs; /* [count] */
    const char *text;        /* [size] the text that can be handed out with this token: whole characters, maybe none */
    size_t size;
} rapt_generated_token;

/* Frees the arrays of a result and zeroes it; a zeroed one is fine. */
RAPT_API void rapt_generated_free(rapt_generated *result);

/* Generates text with one model. Holds a text (a prompt and what came after it), its KV cache, packed weights and scratch memory.
 * One caller at a time. Any number of generators, each in its own thread, may share a model, which they only read. */
typedef struct rapt_generator rapt_generator;

/* A generator without a text. `options` may be NULL; it is copied with everything that it points to, except `context`. The model
 * must not change while the generator lives. NULL with `err` set: not a language model, an option out of range, a logit bias for
 * a token that the model does not know, a tokenizer of words, out of memory. */
RAPT_API rapt_generator *rapt_generator_new(const rapt_model *model, const rapt_generate_options *options, rapt_error *err);
RAPT_API void rapt_generator_free(rapt_generator *g); /* NULL is fine */

/* Replaces the text by `size` bytes of a prompt. Texts of special tokens in it become those tokens. An empty prompt stands for
 * the model's end-of-text token, after which a text begins. Nothing is computed before the next run. A failure leaves the text as
 * it was. RAPT_ERR_VALUE: a token is outside the model's vocabulary ("token 7, at byte 12 of the prompt, is 50256; the model
 * knows 50000": tokens count from 0, bytes from 1), or the prompt is empty and the model has no end-of-text token;
 * RAPT_ERR_FORMAT: not UTF-8, with a tokenizer that needs it. */
RAPT_API rapt_code rapt_generator_begin(rapt_generator *g, const char *prompt, size_t size, rapt_error *err);
/* Replaces the text by `count` tokens, at least one. Errors as in rapt_generator_begin. */
RAPT_API rapt_code rapt_generator_begin_tokens(rapt_generator *g, const int32_t *tokens, size_t count, rapt_error *err);
/* Adds `size` bytes to the text, tokenized by themselves. The next run continues the longer text and computes only what is new.
 * Errors as in rapt_generator_begin, except that an empty addition is allowed. */
RAPT_API rapt_code rapt_generator_append(rapt_generator *g, const char *text, size_t size, rapt_error *err);
/* Adds `count` tokens to the text. Errors as in rapt_generator_begin. */
RAPT_API rapt_code rapt_generator_append_tokens(rapt_generator *g, const int32_t *tokens, size_t count, rapt_error *err);

/* The number of tokens of the text: prompt, additions, and what runs generated. */
RAPT_API size_t rapt_generator_tokens(const rapt_generator *g);
/* Keeps only the first `count` tokens of the text, at least 1, so that runs can branch off from there: for several samples of one
 * prompt, rewind between the runs, and the prompt is computed once. RAPT_ERR_VALUE: the text is shorter. */
RAPT_API rapt_code rapt_generator_rewind(rapt_generator *g, size_t count, rapt_error *err);

/* The `count` most probable next tokens after the text, 1 to the size of the vocabulary: ids[count], the most probable first
 * (smaller ids first among equals), and probabilities[count], 0 to 1, by the model's softmax without any option. A run in
 * progress ends. The arrays are undefined after a failure. RAPT_ERR_VALUE: a count out of range; other errors as in
 * rapt_generator_run. Sets the floating-point environment of the calling thread, as rapt_tape_begin does. */
RAPT_API rapt_code rapt_generator_likeliest(rapt_generator *g, size_t count, int32_t *ids, double *probabilities,
                                            rapt_error *err);

/* Continues the text until a stop sequence, the model's end of text or max_tokens. What is generated becomes part of the text,
 * except the end-of-text token, and the next run continues it. `sample` is the sample index: with equal seed and text, each index
 * has its own random stream. If the text is longer than the model's context, the model sees only its end (rapt_lm_visible).
 * Tokens depend on model, text, options and `sample` alone, not on the calls that made the text; in bf16 also on the processor
 * (rapt_compute.type).
 *
 * The text of each run is decoded by itself. Bytes that are not UTF-8 become U+FFFD, one for each maximal subpart (Unicode 3.9),
 * as with Python's errors="replace". If max_tokens splits a character, so do its bytes at the end of this run and at the start of
 * the next one. A stop sequence is found only if it lies within one run. After a failure, text that was held back (the beginning
 * of a stop sequence or of a character) is missing, though its tokens are there: rapt_tokenizer_decode of the tokens of all runs
 * gives the whole text.
 *
 * *result is always filled, after a failure with what was generated before it, and the caller frees it; `result` may be NULL.
 * RAPT_ERR_VALUE: there is no text; RAPT_ERR_NOT_FINITE: logits are not finite; RAPT_ERR_INTERRUPTED: cancelled by
 * rapt_generator_cancel or options->stop; or the code of on_text. The generator stays usable. Sets the floating-point environment
 * of the calling thread, as rapt_tape_begin does. */
RAPT_API rapt_code rapt_generator_run(rapt_generator *g, uint64_t sample, rapt_generated *result, rapt_error *err);

/* rapt_generator_run in parts, for programs that take one token after the other: it is rapt_generator_start, rapt_generator_next
 * until that is false, and rapt_generator_finish. The text, its bits and its errors are the same. A run in progress ends, without
 * a result, when another one is started, and when the text is replaced, added to or rewound. */
/* Starts a run; nothing is computed yet. RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_generator_start(rapt_generator *g, uint64_t sample, rapt_error *err);
/* Computes a token. *token is valid until the next call for the generator; the text that it lacks, because a character or a stop
 * sequence may be incomplete, comes with a later token or in the result. False, with an empty token: the run is over (`err` is as
 * it was), or has failed (`err` set, as rapt_generator_run fails; RAPT_ERR_VALUE: no run was started). In a beam search the first
 * token takes all the time. Sets the floating-point environment of the calling thread, as rapt_tape_begin does. */
RAPT_API bool rapt_generator_next(rapt_generator *g, rapt_generated_token *token, rapt_error *err);
/* Ends the run, at any token, and hands out what it generated; the rest of the text goes to on_text. *result, `result` NULL and
 * errors as in rapt_generator_run, also if a token failed; `finish` is RAPT_FINISH_LENGTH if the run was ended early.
 * RAPT_ERR_VALUE also: no run was started. */
RAPT_API rapt_code rapt_generator_finish(rapt_generator *g, rapt_generated *result, rapt_error *err);

/* Makes the run in progress, or else the next run, return RAPT_ERR_INTERRUPTED before its next token, or at its end if it has
 * generated its last token. May be called from any thread and from a signal handler, but not during or after
 * rapt_generator_free. */
RAPT_API void rapt_generator_cancel(rapt_generator *g);

/* Makes a generator, begins with `prompt` (a string), does one run with sample 0 and frees the generator. *result and errors as
 * in these functions. `options` and `result` may be NULL. */
RAPT_API rapt_code rapt_generate(const rapt_model *model, const char *prompt, const rapt_generate_options *options,
                                 rapt_generated *result, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
