/* rapt/generate.h: text from a language model: a generator continues a prompt, token by token, with a KV cache; and how each
 * token is sampled.
 *
 * From logits x[0 .. vocab-1] to a token, in this order; a zeroed rapt_sample_options stands for what `rapt generate` does
 * without options:
 *
 *   1. repetition penalty r, for each token i of the history, however often it occurs there (Keskar et al. 2019, "CTRL:
 *      A Conditional Transformer Language Model for Controllable Generation", section 4.1):
 *          x_i = x_i / r where x_i > 0, x_i * r elsewhere
 *      (the paper divides in both cases, which would make tokens with negative logits more probable; other programs
 *      multiply those too);
 *   2. logit bias: x_i = x_i + b for each bias b of token i; -inf rules it out;
 *   3. temperature T (Ackley, Hinton, Sejnowski 1985):  p_i = exp(x_i / T) / sum_j exp(x_j / T); greedy
 *      decoding is the limit T = 0, all on the largest logit, the smallest id of equal ones: nothing below matters then;
 *   4. top-k (Fan, Lewis, Dauphin 2018, "Hierarchical Neural Story Generation"): the k most probable tokens stay, of
 *      equal ones those with smaller ids, and p is scaled to sum 1 again;
 *   5. top-p, or nucleus sampling (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", section 3.1):
 *      the smallest set of most probable tokens whose probabilities sum up to p or more stays, of equal ones those with
 *      smaller ids; scaled again;
 *   6. min-p (Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs"): of those
 *      that stay, the tokens with p_i >= m * p_max stay, p_max the largest probability; scaled again. As in Hugging Face's
 *      transformers the probabilities are those after the temperature; llama.cpp takes the temperature last, which at
 *      T = 1 is the same;
 *   7. one of those that stay is drawn with its probability.
 *
 * Where a member is 0, what the policy of a model of Hugging Face says (rapt_model.search) comes before the default that is named
 * there. Such a policy may also exclude and force tokens, between 2 and 3.
 *
 * What is drawn depends on the logits, these options, the sample, the position and, with a penalty, the history: the random
 * number is a function of (seed, sample, position). A logit of -inf stands for a token that is never drawn; so does one so far
 * below the largest that exp((x_i - x_max) / T) is below 2^-126.
 */
#ifndef RAPT_GENERATE_H
#define RAPT_GENERATE_H

#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value that is added to the logit of a token: finite, or -inf. */
typedef struct rapt_logit_bias {
    int32_t id;
    double bias;
} rapt_logit_bias;

#define RAPT_TOP_K_ALL SIZE_MAX      /* rapt_sample_options.top_k: all tokens */
#define RAPT_MIN_P_ALL (-1.0)        /* rapt_sample_options.min_p: all tokens */
#define RAPT_SAMPLE_SEED_0 UINT64_MAX /* rapt_sample_options.seed: the seed 0, as 0 stands for the default */

typedef struct rapt_sample_options {
    double temperature;        /* divides the logits; 0: 0.8; 1: the model's own probabilities; any number >= 0 */
    bool greedy;               /* always the most probable token: the temperature's limit 0 */
    size_t top_k;              /* sample from this many most probable tokens; 0: 200; RAPT_TOP_K_ALL, or the vocabulary: off */
    double top_p;              /* nucleus: the probability mass that is kept, 0 to 1; 0 or 1: off, 1 whatever a
                                  policy says */
    double repetition_penalty; /* 0.001 to 1000, above 1 against repetition; 0 or 1: off */
    size_t repetition_window;  /* N: the penalty covers the last N tokens; 0: all of the context */
    uint64_t seed;             /* 0: 1; RAPT_SAMPLE_SEED_0: 0 */
    double min_p;              /* keep tokens of at least min_p times the largest probability, 0 to 1; 0: off; RAPT_MIN_P_ALL:
                                  off whatever a policy says */
    const rapt_logit_bias *biases; /* [bias_count]; several of one token add up */
    size_t bias_count;
    double presence_penalty;   /* -2 to 2, taken from the logit of a token that was generated (OpenAI's; not of the prompt); */
    double frequency_penalty;  /* and this one as often as it was; after the repetition penalty; 0: off */
} rapt_sample_options;

/* Takes generated text as it comes: `size` > 0 bytes, whole characters of UTF-8, no NUL added. Another code than RAPT_OK ends
 * the run, which returns it. */
typedef rapt_code rapt_text_fn(void *context, const char *text, size_t size, rapt_error *err);

enum { RAPT_GENERATE_TOKENS = 200 };

/* Zeroed: what `rapt generate` does without options. */
typedef struct rapt_generate_options {
    rapt_sample_options sample;
    size_t max_tokens;        /* max new tokens of a run; 0: RAPT_GENERATE_TOKENS */
    const char *const *stops; /* [stop_count] texts that end a run; they are left out of its text. Not empty, valid UTF-8 */
    size_t stop_count;
    rapt_text_fn *on_text;    /* streams the text of a run; or NULL */
    rapt_stop_fn *stop;       /* asked before each token, of beam search, too: true ends the run as rapt_generator_cancel does;
                                 or NULL */
    void *context;            /* of on_text and stop */
    int threads;              /* 1 to 256; 0: RAPT_THREADS, else the CPUs that this process may use; fp32 results don't
                                 depend on it */
    rapt_precision precision; /* of matrix products, and of the weights that are held for them */
    const char *weights;      /* types of these by name, or NULL: see rapt_tape_options */
    rapt_storage kv_cache;    /* what keys and values are stored in: their rounding is part of the result */
    size_t beam;              /* above 1: beam search for the text of the highest score (rapt/policy.h), not sampling, with this
                                 many hypotheses, without logit biases and without a repetition window; its text comes at the
                                 end, all at once. 0: what the model's policy says, 1 where `sample` asks for a kind of
                                 sampling */
    bool chat;                /* the text is a chat: the model's end_of_turn ends a run, too */
} rapt_generate_options;

/* Why a run ended. */
typedef enum rapt_finish_reason {
    RAPT_FINISH_NONE,       /* it failed, or was cancelled */
    RAPT_FINISH_LENGTH,     /* max_tokens were generated */
    RAPT_FINISH_STOP,       /* a stop text came */
    RAPT_FINISH_END_OF_TEXT /* the model ended the text */
} rapt_finish_reason;

/* What a run generated. Arrays are owned: rapt_generated_free. */
typedef struct rapt_generated {
    int32_t *tokens;      /* [token_count], the end of text not among them, those of a stop text among them */
    double *log_probs;    /* [token_count] log-probability of each, in nats: of the model's softmax, before any option; NaN
                             after a beam search */
    size_t token_count;
    char *text;           /* [text_size] and a NUL: whole characters of UTF-8, U+FFFD for bytes that are none */
    size_t text_size;     /* bytes */
    size_t prompt_tokens; /* of the text before the run */
    rapt_finish_reason finish;
    double score;         /* of a beam search: see rapt_search_policy.length_penalty; else 0 */
} rapt_generated;

/* Frees the arrays of a result and zeroes it; a zeroed one is fine. */
RAPT_API void rapt_generated_free(rapt_generated *result);

/* Generates text with one model: holds a text (a prompt and what came after it), the KV cache of what the model has seen of it,
 * packed weights and scratch memory. One caller at a time; any number of generators, each in a thread of its own, may share a
 * model, which they only read. */
typedef struct rapt_generator rapt_generator;

/* A generator without a text. `options` may be NULL, and is copied with all it points to, but for the context. The model
 * must stay as it is while the generator lives. NULL with `err` set: not a language model, an option out of its range, a logit
 * bias of a token that the model does not know, a tokenizer of words, out of memory. */
RAPT_API rapt_generator *rapt_generator_new(const rapt_model *model, const rapt_generate_options *options, rapt_error *err);
RAPT_API void rapt_generator_free(rapt_generator *g); /* NULL is fine */

/* Begins another text with `size` bytes of a prompt. Special tokens in it count as such. An empty prompt stands for the model's
 * end of text, after which a text begins. Nothing is computed before the next run. RAPT_ERR_VALUE: a token is beyond the
 * model's vocabulary ("token 7, at byte 12 of the prompt, is 50256; the model knows 50000": tokens count from 0, bytes from
 * 1), or the prompt is empty and the model has no end of text; RAPT_ERR_FORMAT: not UTF-8, with a tokenizer that needs it. The
 * text before stays after a failure. */
RAPT_API rapt_code rapt_generator_begin(rapt_generator *g, const char *prompt, size_t size, rapt_error *err);
/* Begins another text with `count` tokens, at least one. Errors as of rapt_generator_begin. */
RAPT_API rapt_code rapt_generator_begin_tokens(rapt_generator *g, const int32_t *tokens, size_t count, rapt_error *err);
/* Adds `size` bytes to the text, tokenized by themselves: the next run continues what stands there then, computing what is new
 * only. Errors as of rapt_generator_begin, but that an empty addition is none. */
RAPT_API rapt_code rapt_generator_append(rapt_generator *g, const char *text, size_t size, rapt_error *err);
/* Adds `count` tokens to the text. Errors as of rapt_generator_begin. */
RAPT_API rapt_code rapt_generator_append_tokens(rapt_generator *g, const int32_t *tokens, size_t count, rapt_error *err);

/* Tokens of the text: prompt, additions, and what runs generated. */
RAPT_API size_t rapt_generator_tokens(const rapt_generator *g);
/* Drops all but the first `count` tokens of the text, 1 or more, so that runs can branch off from there: several samples of one
 * prompt are runs with a rewind between them, which keeps the prompt's prefill. RAPT_ERR_VALUE: the text is shorter. */
RAPT_API rapt_code rapt_generator_rewind(rapt_generator *g, size_t count, rapt_error *err);

/* Continues the text until a stop, the model's end of text or max_tokens; what is generated becomes part of the text, but for
 * the end of text, and another run continues it. `sample` is the sample index: with equal seed and text, another index gives
 * another random stream. Where the text is longer than the model's context, the model sees its end (rapt_lm_visible). In fp32,
 * tokens depend on model, text, options and `sample` alone, not on how the text came about; in bf16 also on the processor and
 * on how many tokens are computed at once (rapt_precision).
 *
 * The text of a run is decoded by itself, with U+FFFD for bytes that are no character, one for each maximal subpart
 * (Unicode 3.9), as Python's errors="replace" has it: also for a character that max_tokens cuts, and for its other bytes in
 * the next run. A stop text is found within one run only. After a failure, text that was held back (the beginning of a stop
 * text or of a character) is missing, though its tokens are there: rapt_tokenizer_decode of the tokens, of one run or
 * several, gives all of it.
 *
 * *result is filled whatever happens, with what was generated before a failure, too; it is to be freed, and may be NULL.
 * RAPT_ERR_VALUE: there is no text; RAPT_ERR_NOT_FINITE: logits are not finite; RAPT_ERR_INTERRUPTED: cancelled, or
 * stopped; the code of on_text where that ended it. The generator stays usable. Sets the floating-point environment of the
 * calling thread, as rapt_tape_begin does. */
RAPT_API rapt_code rapt_generator_run(rapt_generator *g, uint64_t sample, rapt_generated *result, rapt_error *err);

/* Makes the run in progress return RAPT_ERR_INTERRUPTED before its next token, or, when it has generated its last one, at its
 * end; when none is in progress, the next run. From any thread, and from a signal handler, but not while rapt_generator_free
 * runs, nor after it. */
RAPT_API void rapt_generator_cancel(rapt_generator *g);

/* A generator for one prompt (a string) and one run, sample 0. *result is as of rapt_generator_run, and errors are those of all
 * three. `options` and `result` may be NULL. */
RAPT_API rapt_code rapt_generate(const rapt_model *model, const char *prompt, const rapt_generate_options *options,
                                 rapt_generated *result, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
