/* search/search.h: greedy and beam search for one text. The caller has the model: it computes the logits of the rows, and keeps
 * their keys and values. For translations (sentence.c) and generators (generator_beam.c). */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "rapt/io.h"
#include "search/phrases.h"

/* The next token of a hypothesis, to be drawn. */
typedef struct search_place {
    const kernels *k;
    const rapt_real *x;    /* [classes] what candidates are compared by; -inf: the token may not follow */
    size_t classes;
    uint64_t row, position; /* of the random number: search_text.row, and the tokens before without the start */
    arena *scratch;
} search_place;

/* Draws *token. `sampler` is search_options.sampler. */
typedef rapt_code search_draw_fn(const void *sampler, const search_place *at, int32_t *token, rapt_error *err);

typedef struct search_options {
    size_t beam;           /* unfinished hypotheses, at least 1: greedy search */
    double length_penalty;
    size_t n_best;         /* hypotheses wanted, 1 .. beam */
    double patience;       /* P > 0: the search is over once beam * P hypotheses, rounded, have ended (Kasai et al. 2022); with a
                              policy, that replaces its early_stopping. 0: the rule alone says when */
    bool alternatives;     /* the best `beam` tokens after the prompt are rows, each of which continues by its own best tokens;
                              n_best is the beam then */
    size_t no_repeat;      /* no-repeat n-gram size; 0: off */
    double max_ratio;      /* see search_limit */
    size_t min_length;     /* tokens after the prompt that come before <eos>; 0: as the policy says, or none; SIZE_MAX: none */
    double repetition_penalty; /* 0: the policy's, or none; 1: none; r: the logits x of tokens that the hypothesis has
                                  become x / r where x > 0, x * r elsewhere (with a policy, as rapt/policy.h says) */
    const rapt_token_list *suppressed; /* [suppressed_count] sequences of tokens that no hypothesis has, but in a prompt */
    size_t suppressed_count;
    rapt_special_ids special; /* of a translation model; <bos> begins a hypothesis, <eos> ends it */
    const rapt_search_policy *policy; /* search as rapt/policy.h says; NULL: rapt's own search */
    const rapt_tokenizer *whole; /* byte-level tokenizer whose tokens must form whole characters; NULL: any token may follow any
                                    other */
    bool log_probs;        /* hypotheses have log-probabilities of tokens */
    search_draw_fn *draw;  /* with a beam of 1: draws each token that is not forced; NULL: the best token follows */
    const void *sampler;   /* of draw */
} search_options;

/* What a search continues. Everything must last as long as the search. */
typedef struct search_text {
    const int32_t *prompt; /* [count] tokens that every hypothesis begins with */
    size_t count, known;   /* the first step computes `known` of them, at least 1; the others are appended one by one */
    size_t max_length;     /* max tokens of a hypothesis, with the prompt */
    const int32_t *source; /* [source_count] for the policy's rules about it */
    size_t source_count;
    const int32_t *eos;    /* [eos_count] tokens that end a hypothesis */
    size_t eos_count;
    uint64_t row;          /* which random numbers `draw` takes */
    search_phrases phrases; /* that every hypothesis must contain, after the first `known` tokens; not with `draw` or
                               alternatives. Tokens that the rule excludes stay excluded. If the phrases cannot be had within
                               max_length, there is no hypothesis */
} search_text;

/* A finished hypothesis: the tokens after the first `known`, with <eos> unless the limit truncated it. */
typedef struct search_hypothesis {
    int32_t *tokens;
    double *log_probs; /* [length] of each token, which add up to log_prob; NULL unless they were asked for */
    size_t length;
    double log_prob; /* of all its tokens, including a forced prefix; with a policy the sum of its scores (rapt/policy.h), without
                        the scores of a prefix */
    double score;    /* rapt's own search: log_prob / ((5 + length) / 6)^length_penalty (Wu et al. 2016, eq. 14) */
} search_hypothesis;

/* Hypotheses of one text, best first. */
typedef struct search_result {
    search_hypothesis *best;
    size_t count;
} search_result;

/* A search in progress. The unfinished hypotheses are its rows. */
typedef struct search search;

/* The beam that a search for a text with these phrases has: o->beam, unless they need a wider one. */
size_t search_beam(const search_options *o, const search_phrases *p);

/* Begins a search with one row, in memory of the arena, as its result will be. `classes`: size of the vocabulary. rapt's own
 * search ends when no unfinished hypothesis can beat the worst of the n_best finished ones; its result is the beginning of the
 * result for any larger n_best. Among equal scores the earlier row and the smaller token win, so that results are deterministic.
 * NULL with `err` set: RAPT_ERR_MEMORY. */
search *search_new(const search_options *o, const search_text *text, const kernels *k, size_t classes, arena *memory,
                   rapt_error *err);

/* Extends the hypotheses by a token, chosen from logits[models], the logits [rows, classes] of each model, which are overwritten.
 * A token has the mean of the log-probabilities that the models give it, each by all rules; with several models, that is not the
 * log-probability of a distribution. Equal models have the mean that each alone gives, to the bit. RAPT_ERR_NOT_FINITE: a logit
 * was not finite; RAPT_ERR_VALUE: the policy leaves no token. */
rapt_code search_extend(search *s, rapt_real *const *logits, size_t models, rapt_error *err);
/* The rows of the next step; 0: the search is over. */
size_t search_rows(const search *s);
/* [rows] the last token of each row. */
const int32_t *search_tokens(const search *s);
/* [rows] the row before the last step that each row continues; NULL if they are the same rows, in the same order. */
const int32_t *search_parents(const search *s);
/* The finished hypotheses; up to n_best, with a policy up to `beam`, once the search is over. */
search_result search_found(const search *s);

/* Max target tokens for a source of `source_count` tokens, both with <eos>. The book's models end at the length of their rows,
 * models with a policy at the policy's length, others after the prefix plus o->max_ratio (0: 2) times the source plus 10. At
 * least 1 token after the prefix and the token that a policy puts before it. A given max_ratio applies to all models. */
size_t search_limit(const rapt_model *m, const search_options *o, size_t source_count, size_t prefix_count);

#endif
