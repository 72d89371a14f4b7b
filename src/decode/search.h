/* decode/search.h: greedy and beam search over one batch of source sentences. */
#ifndef DECODE_SEARCH_H
#define DECODE_SEARCH_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "rapt/io.h"

typedef struct search_options {
    size_t beam;
    double length_penalty;
    size_t n_best;         /* hypotheses wanted, 1 .. beam */
    size_t no_repeat;      /* no-repeat n-gram size; 0: off */
    double max_ratio;      /* see search_limit */
    rapt_special_ids special; /* of the model; <bos> begins a hypothesis, <eos> ends it */
    const rapt_search_policy *policy; /* of the model; NULL: rapt's own search */
    const rapt_tokenizer *whole; /* byte-level tokenizer whose tokens must form whole characters; NULL: any token may follow any
                                    other */
} search_options;

/* The forced prefix of a sentence: all its hypotheses begin with it. */
typedef struct search_prefix {
    const int32_t *ids; /* [count] */
    size_t count;
} search_prefix;

/* A finished hypothesis: tokens without <bos>, and with <eos> unless the limit truncated it. */
typedef struct search_hypothesis {
    int32_t *tokens;
    size_t length;
    double log_prob; /* of all its tokens, including a forced prefix */
    double score;    /* log_prob / search_penalty(length_penalty, length), whichever search found it */
} search_hypothesis;

/* Up to `n_best` hypotheses of one sentence, best first. Allocated in the arena given to the search. */
typedef struct search_result {
    search_hypothesis *best;
    size_t count;
} search_result;

/* Cancels sentences of a search. */
typedef struct search_stop {
    bool (*asked)(void *context, size_t sentence); /* called for each unfinished sentence in each decoding step: true cancels it;
                                                      NULL: never */
    void *context;
    bool *stopped; /* [batch], set for cancelled sentences: they leave the batch like finished ones, without hypotheses */
} search_stop;

typedef struct search_batch {
    rapt_tokens source;
    const int32_t *source_lens; /* [batch] */
    const size_t *limits;       /* [batch] max target tokens */
    const search_prefix *prefixes; /* [batch], NULL: none */
    search_stop stop;
    bool *over; /* [batch], set when a sentence's result is there, or it was stopped; or NULL */
} search_batch;

/* Max target tokens for a source of `source_count` tokens, both with <eos>. The book's models end at the length of their rows,
 * models with a policy at the policy's length, others after the prefix plus o->max_ratio (0: 2) times the source plus 10. At
 * least 1 token after the prefix and the token that a policy puts before it. A given max_ratio applies to all models. */
size_t search_limit(const rapt_model *m, const search_options *o, size_t source_count, size_t prefix_count);

/* The tape, network and decoder state of a search: one for each thread, for any number of batches. The tape may differ from step
 * to step; the state belongs to one search at a time. */
typedef struct searcher {
    rapt_tape *t;
    const rapt_transformer *m;
    rapt_decoder_state *state;
    rapt_storage kv_cache; /* numeric type of its KV caches */
} searcher;

/* A search in progress, in the arena that it was begun with. */
typedef struct search_run search_run;
struct search_run {
    /* Extends its rows by a token, chosen from the logits [rows, vocabulary], which may be overwritten, and selects the rows of
     * the state that stay. */
    rapt_code (*extend)(search_run *s, rapt_decoder_state *state, rapt_real *logits, rapt_error *err);
    size_t rows;           /* unfinished hypotheses; 0: it is over */
    const int32_t *tokens; /* [rows] the last one of each */
};

/* Begin a greedy or a beam search: encode the batch. The arguments must last until the search is over; it then has filled
 * results[batch], in memory of the arena. A beam search ends a sentence when no unfinished hypothesis can beat the worst of its
 * n_best finished ones; the result is the beginning of the result for any larger n_best. */
rapt_code search_greedy(const searcher *on, const search_batch *batch, const search_options *options, arena *memory,
                        search_result *results, search_run **s, rapt_error *err);
rapt_code search_beam(const searcher *on, const search_batch *batch, const search_options *options, arena *memory,
                      search_result *results, search_run **s, rapt_error *err);

/* The search of options->policy, which the two above do not support: greedy with a beam of 1. options->special.bos is the
 * decoder's start token. The log_prob of a hypothesis is the sum of its scores (rapt/policy.h), without the scores of a
 * prefix. */
rapt_code search_policy(const searcher *on, const search_batch *batch, const search_options *options, arena *memory,
                        search_result *results, search_run **s, rapt_error *err);

/* Continues a search to its end. */
rapt_code search_finish(search_run *s, const searcher *on, rapt_error *err);

/* A search and the state that it was begun with. */
typedef struct search_part {
    search_run *run;
    rapt_decoder_state *state;
} search_part;

/* search_step for parts[count], all of which have rows, in one pass: *logits [all rows, vocabulary], part by part. `on` has no
 * state. */
rapt_code search_step_parts(const searcher *on, const search_part *parts, size_t count, rapt_real **logits, rapt_error *err);

/* Whether a sentence is cancelled; if so, marks it in `stopped`. */
bool search_is_stopped(const search_stop *stop, size_t sentence);
/* A sentence's result is there. */
static inline void search_end_sentence(const search_batch *b, size_t sentence)
{
    if (b->over)
        b->over[sentence] = true;
}

/* Encodes the batch and starts the decoder's state: one row of each sentence, capacity for `beam`. */
rapt_code search_start(const searcher *on, const search_batch *batch, size_t beam, rapt_error *err);

/* One decoding step: *logits [rows, vocabulary] of the next position; they belong to the tape and may be overwritten. */
rapt_code search_step(const searcher *on, const int32_t *tokens, size_t rows, rapt_real **logits, rapt_error *err);

/* The forced token at position `length` of a sentence, or -1. */
int32_t search_forced(const search_batch *b, size_t sentence, size_t length);
/* Sets the logits of tokens to -inf that would complete an n-gram that is already in tokens[length]; n 0: none. */
void search_ban_repeats(size_t n, const int32_t *tokens, size_t length, rapt_real *logits);
/* Sets the logits [classes] of tokens to -inf that would complete an n-gram of no_repeat tokens that is already in tokens[length]
 * (never <eos>); and, with `whole`, of tokens that would not form whole characters. Within a character repeats are allowed. */
void search_ban(const search_options *o, const int32_t *tokens, size_t length, size_t classes, rapt_real *logits);

/* RAPT_ERR_NOT_FINITE if this maximum and sum of exponentials show that a logit was not finite. */
rapt_code search_check(rapt_real max, rapt_real sum, rapt_error *err);

/* The largest of the batch's limits, min 1: the positions that a decoder's state for it needs. */
size_t search_max_limit(const search_batch *b);

/* The kernels that a search on this tape uses. */
const kernels *search_kernels(const rapt_tape *t);

/* The length penalty ((5 + length) / 6)^a (Wu et al. 2016, eq. 14). */
double search_penalty(double a, size_t length);

#endif
