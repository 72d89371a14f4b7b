/* search/sentence.h: sentences that are being translated: the search of each, and the keys that its rows attend to. They are
 * encoded together, and share decoding steps with any others, whenever those began. For segment_runs.c, and for one pass of
 * explain. */
#ifndef SEARCH_SENTENCE_H
#define SEARCH_SENTENCE_H

#include "search/search.h"
#include "tensor/packed_weights.h"

/* The forced prefix of a sentence: all its hypotheses begin with it. */
typedef struct search_prefix {
    const int32_t *ids; /* [count] */
    size_t count;
} search_prefix;

/* What is translated. Everything but `options` must last as long as the search. */
typedef struct sentence_source {
    const int32_t *ids; /* [count] source tokens, at least one, with <eos> */
    size_t count;
    search_prefix prefix;
    size_t limit;       /* max target tokens, with the prefix and <eos> */
    uint64_t row;       /* which random numbers are its own, if tokens are drawn */
    const search_options *options;
    search_phrases phrases; /* that all its hypotheses must contain */
} sentence_source;

/* Memory is reused from sentence to sentence. */
typedef struct sentence {
    rapt_decoder_state **states; /* [models] */
    size_t models;
    arena memory;   /* of the search */
    search *search; /* NULL: there is no sentence */
    rapt_code code; /* whether this sentence alone has failed in its last step, and how */
    rapt_error error;
} sentence;

/* `models`: how many translate it together. sentence_free in any case. */
rapt_code sentence_init(sentence *s, size_t models, rapt_error *err);
void sentence_free(sentence *s);

enum { SENTENCE_MODELS = 64 }; /* that may translate together */

/* A network, with its packed weights if the tape is to use them. */
typedef struct sentence_net {
    const rapt_transformer *net;
    const packed_weights *packed;
} sentence_net;

/* Memory for the logits of all networks but the last, in a step. Zeroed: none yet. */
typedef struct sentence_scratch {
    rapt_real *logits;
    size_t capacity;
} sentence_scratch;

/* The tape, the networks, and the numeric type of KV caches. The tape may differ from step to step. */
typedef struct sentence_model {
    rapt_tape *t;
    const sentence_net *nets;  /* [count] of the same vocabularies; several translate by the mean of their log-probabilities */
    size_t count;
    rapt_type kv_cache;
    sentence_scratch *scratch; /* for steps of several; may be NULL for one */
} sentence_model;

/* Encodes sources[count] in one pass of each network and begins their searches. After a failure none has begun. */
rapt_code sentence_begin(const sentence_model *on, sentence *const *s, const sentence_source *sources, size_t count,
                          rapt_error *err);
/* One decoding step of s[count], count > 0, none of which is over. Each gets the bits that it gets alone. Fails if the pass
 * fails; numbers that are not finite and policies that leave no token are failures of one sentence (s->code). */
rapt_code sentence_step(const sentence_model *on, sentence *const *s, size_t count, rapt_error *err);
/* Whether the search is over. */
static inline bool sentence_is_over(const sentence *s)
{
    return search_rows(s->search) == 0;
}
/* sentence_begin for one source, and all steps. */
rapt_code sentence_run(const sentence_model *on, sentence *s, const sentence_source *source, rapt_error *err);

#endif
