/* rapt/policy.h: how a model of Hugging Face is decoded unless somebody says otherwise: what generation_config.json, or in older
 * folders config.json, holds, with the meaning that generate() of transformers 5 gives to it (its GenerationConfig, logits
 * processors and beam search). rapt_model_load reads it; rapt_translate and rapt_generator_run follow it.
 *
 * From the logits of a position to what a search compares, in the reference's order; a token that is excluded has -inf:
 *
 *   1. beam search: s = log_softmax(logits); greedy search and sampling: s = logits;
 *   2. repetition penalty r, for each token of the text so far: s_i * r where s_i < 0, s_i / r elsewhere;
 *   3. excluded are tokens that complete an n-gram of the text (no_repeat_ngram) or of the source (encoder_no_repeat_ngram),
 *      those that complete a bad word, and the end of text before the least length;
 *   4. the forced first token, and the forced end at the last position: s = 0, all others are excluded;
 *   5. suppressed tokens are excluded;
 *   6. renormalize: s = log_softmax(s).
 *
 * The text of a language model is its prompt and what was generated, that of a translation begins with the decoder's start token;
 * lengths count these, too. Among equal scores the earlier hypothesis and the smaller token win, which the reference leaves open.
 */
#ifndef RAPT_POLICY_H
#define RAPT_POLICY_H

#include "rapt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When a beam search ends that has found as many hypotheses as it has beams. */
typedef enum rapt_early_stopping {
    RAPT_EARLY_STOPPING_NO,   /* the best unfinished one, if it ended here, would not come before the last of them */
    RAPT_EARLY_STOPPING_YES,  /* at once */
    RAPT_EARLY_STOPPING_NEVER /* as NO, but with a positive length penalty "if it ended at the greatest length" */
} rapt_early_stopping;

typedef struct rapt_token_list {
    int32_t *ids; /* [count], below the vocabulary */
    size_t count;
} rapt_token_list;

/* Zeroed (`given` false): a model of rapt, with rapt's own search and sampling. All arrays are the model's. */
typedef struct rapt_search_policy {
    bool given;
    size_t beams;                          /* "num_beams"; 1: greedy search */
    double length_penalty;                 /* a: a hypothesis of n new tokens has the score (sum of s) / n^a */
    rapt_early_stopping early_stopping;
    size_t max_length, min_length;         /* of the whole text, in tokens; 0: not said */
    size_t max_new_tokens, min_new_tokens; /* without prompt and start token; 0: not said; they count before the two above */
    double repetition_penalty;             /* 1: off */
    size_t no_repeat_ngram, encoder_no_repeat_ngram; /* 0: off */
    rapt_token_list *bad_words;            /* [bad_word_count]; one that is an end of text alone does not count */
    size_t bad_word_count;
    rapt_token_list forced_bos;            /* one token, where the text has one token so far; empty: none */
    rapt_token_list forced_eos;            /* at the last position; empty: none */
    rapt_token_list suppressed, suppressed_first; /* everywhere; as the first new token */
    bool renormalize;
    /* Sampling, for rapt_sample_options where those are 0; 0: not said. What a folder with "do_sample": true does not say is what
     * generate() takes: temperature 1, top-k 50. */
    bool greedy;                           /* "do_sample": false */
    double temperature, top_p, min_p;
    size_t top_k;                          /* SIZE_MAX: all */
} rapt_search_policy;

#ifdef __cplusplus
}
#endif

#endif
