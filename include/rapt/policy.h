/* rapt/policy.h: how a Hugging Face model is decoded unless the caller sets other options: the contents of generation_config.json
 * (in older folders, config.json) with the meaning that they have for generate() of transformers 5 (GenerationConfig, logits
 * processors, beam search). rapt_model_load reads the policy; rapt_translate and rapt_generator_run follow it.
 *
 * These steps turn the logits of a position into the scores s that a search compares, in the order of transformers. An excluded
 * token gets s = -inf.
 *
 *   1. beam search: s = log_softmax(logits); greedy search and sampling: s = logits;
 *   2. repetition penalty r, for each token of the text so far: s_i * r where s_i < 0, s_i / r elsewhere;
 *   3. excluded are tokens that complete an n-gram of the text (no_repeat_ngram) or of the source (encoder_no_repeat_ngram),
 *      those that complete a bad word, and the end of text before the least length;
 *   4. the forced first token, and the forced end at the last position: s = 0, all others are excluded;
 *   5. suppressed tokens are excluded;
 *   6. renormalize: s = log_softmax(s).
 *
 * "The text" is, for a language model, its prompt and what was generated; for a translation, what was generated, after the
 * decoder's start token. Lengths count the prompt and the start token. Among equal scores the earlier hypothesis and the smaller
 * token win; transformers leaves this open.
 */
#ifndef RAPT_POLICY_H
#define RAPT_POLICY_H

#include "rapt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When a beam search ends after it has found as many hypotheses as it has beams. */
typedef enum rapt_early_stopping {
    RAPT_EARLY_STOPPING_NO,   /* if the best unfinished hypothesis, ended here, would not beat the worst of them */
    RAPT_EARLY_STOPPING_YES,  /* at once */
    RAPT_EARLY_STOPPING_NEVER /* as NO, but with a positive length penalty, the unfinished one is ended at the max length */
} rapt_early_stopping;

typedef struct rapt_token_list {
    int32_t *ids; /* [count], below the vocabulary */
    size_t count;
} rapt_token_list;

/* Zeroed (`given` false): a model of rapt, with rapt's own search and sampling. All arrays belong to the model. */
typedef struct rapt_search_policy {
    bool given;
    size_t beams;                          /* "num_beams"; 1: greedy search */
    double length_penalty;                 /* a: a hypothesis of n new tokens has the score (sum of s) / n^a */
    rapt_early_stopping early_stopping;
    size_t max_length, min_length;         /* of the whole text, in tokens; 0: not set */
    size_t max_new_tokens, min_new_tokens; /* without prompt and start token; override the two above; 0: not set */
    double repetition_penalty;             /* 1: off */
    size_t no_repeat_ngram, encoder_no_repeat_ngram; /* 0: off */
    rapt_token_list *bad_words;            /* [bad_word_count]; a list that is only an end-of-text token is ignored */
    size_t bad_word_count;
    rapt_token_list forced_bos;            /* the second token of the text, or empty */
    rapt_token_list forced_eos;            /* the token at the last position, or empty */
    rapt_token_list suppressed, suppressed_first; /* excluded everywhere; excluded as the first new token */
    bool renormalize;
    /* Sampling: what RAPT_AS_MODEL stands for; 0: not set. If a folder has "do_sample": true, the defaults
     * of generate() fill what it does not set: temperature 1, top-k 50. */
    bool greedy;                           /* "do_sample": false */
    double temperature, top_p, min_p, typical_p;
    size_t top_k;                          /* SIZE_MAX: all */
} rapt_search_policy;

#ifdef __cplusplus
}
#endif

#endif
