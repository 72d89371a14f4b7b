/* rapt/generate.h: how the next token is chosen from a language model's logits.
 *
 * From logits x[0 .. vocab-1] to a token, in this order; a zeroed struct chooses the likeliest token, always:
 *
 *   1. repetition penalty r, for each token i of the history, however often it occurs there (Keskar et al. 2019, "CTRL:
 *      A Conditional Transformer Language Model for Controllable Generation", section 4.1):
 *          x_i = x_i / r where x_i > 0, x_i * r elsewhere
 *      (the paper divides in both cases, which would make tokens with negative logits likelier; other programs
 *      multiply those too);
 *   2. logit bias: x_i = x_i + b for each bias b of token i; -inf rules it out;
 *   3. temperature T (Ackley, Hinton, Sejnowski 1985):  p_i = exp(x_i / T) / sum_j exp(x_j / T); T = 0 is the limit,
 *      all on the largest logit, the smallest id of equal ones: nothing below matters then;
 *   4. top-k (Fan, Lewis, Dauphin 2018, "Hierarchical Neural Story Generation"): the k likeliest tokens stay, of equal
 *      ones those with smaller ids, and p is scaled to sum 1 again;
 *   5. top-p, or nucleus sampling (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", section 3.1):
 *      the likeliest tokens stay, as few as sum up to p at least, of equal ones those with smaller ids; scaled again;
 *   6. min-p (Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs"): of those
 *      that stay, the tokens with p_i >= m * p_max stay, p_max the largest probability; scaled again. As in Hugging Face's
 *      transformers the probabilities are those behind the temperature; llama.cpp takes the temperature last, which at
 *      T = 1 is the same;
 *   7. one of those that stay is drawn with its probability.
 *
 * What is drawn depends on the logits, these options, the row, the position and, with a penalty, the history: the random
 * number is a function of (seed, row, position). A logit of -inf stands for a token that is never drawn; so does one so far
 * below the largest that exp((x_i - x_max) / T) is below 2^-126.
 */
#ifndef RAPT_GENERATE_H
#define RAPT_GENERATE_H

#include "rapt/lm.h"
#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is added to a token's logit: a number, or -inf. */
typedef struct rapt_logit_bias {
    int32_t id;
    double bias;
} rapt_logit_bias;

typedef struct rapt_sample_options {
    double temperature;        /* 0: the likeliest token; 1: as the model says; any number >= 0. It divides the logits */
    size_t top_k;              /* this many tokens stay; 0, or the whole vocabulary: off */
    double top_p;              /* so much probability stays, 0 to 1; 0 or 1: off */
    double repetition_penalty; /* 0.001 to 1000, above 1 against repetition; 0 or 1: off */
    size_t repetition_window;  /* the penalty looks at the last so many tokens; 0: at all that the model sees */
    uint64_t seed;
    double min_p;              /* tokens of so much of the largest probability stay, 0 to 1; 0: off */
    const rapt_logit_bias *biases; /* [bias_count]; they must stay; several of one token add up */
    size_t bias_count;
} rapt_sample_options;

/* Why a text ended. */
typedef enum rapt_finish_reason {
    RAPT_FINISH_LENGTH, /* max_tokens were made, or something failed before */
    RAPT_FINISH_STOP,   /* a stop text came */
    RAPT_FINISH_END_OF_TEXT /* the model's own end of text came */
} rapt_finish_reason;

typedef struct rapt_generated {
    size_t prompt_tokens;
    size_t tokens; /* that were made, the end of text not counted */
    rapt_finish_reason end;
} rapt_generated;

typedef struct rapt_generate_options {
    rapt_sample_options sample;
    size_t max_tokens;        /* new ones at most; 0: none */
    const char *const *stops; /* texts that end the generation; they are left out of it */
    size_t stop_count;
    uint64_t row;             /* which of several texts from one seed this is */
    rapt_generated *report;   /* filled, after a failure too; or NULL */
} rapt_generate_options;

/* Takes text as it comes: whole characters of UTF-8. Another code than RAPT_OK stops the generation, which returns it. */
typedef rapt_code (*rapt_text_sink)(void *context, const char *text, size_t size, rapt_error *err);

/* Continues a prompt of at least one token with a model that keeps keys and values; special tokens in the prompt count
 * as such, and the model's own end of text (the token <|endoftext|>), where it has one, ends it. An empty prompt stands for
 * such an end, after which a text begins; without one it is a failure. What comes depends on model, prompt and options
 * alone. `options` may be NULL: no tokens.
 *
 * Fails where a token of the prompt is beyond the model's vocabulary ("token 7, at byte 12 of the prompt, is 50256; the
 * model knows 50000": tokens count from 0, bytes from 1), where a logit bias is of such a token, where logits are not
 * finite, and with a tokenizer of words. What was handed to the sink before a failure is good; nothing was where prompt or
 * options are at fault. */
rapt_code rapt_generate(rapt_tape *t, const rapt_lm *m, const rapt_tokenizer *k, const char *prompt, size_t size,
                        const rapt_generate_options *options, rapt_text_sink sink, void *context, rapt_error *err);
/* The same into memory that the caller frees, without the prompt; NULL on failure. `length` may be NULL. */
char *rapt_generate_text(rapt_tape *t, const rapt_lm *m, const rapt_tokenizer *k, const char *prompt, size_t size,
                         const rapt_generate_options *options, size_t *length, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
