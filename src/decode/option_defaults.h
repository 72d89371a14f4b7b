/* decode/option_defaults.h: the defaults of options as designated initializers, for the functions that make them, and for tests,
 * which write other members behind them. */
#ifndef DECODE_OPTION_DEFAULTS_H
#define DECODE_OPTION_DEFAULTS_H

#include "rapt/defaults.h"

#define SAMPLE_DEFAULTS                                                                                                  \
    .temperature = RAPT_AS_MODEL, .top_k = (size_t)RAPT_AS_MODEL, .top_p = RAPT_AS_MODEL,                               \
    .repetition_penalty = RAPT_AS_MODEL, .min_p = RAPT_AS_MODEL, .typical_p = RAPT_AS_MODEL, .seed = 1

#define GENERATE_DEFAULTS                                                                                                \
    .size = sizeof(rapt_generate_options), .sample = {SAMPLE_DEFAULTS}, .max_tokens = RAPT_GENERATE_TOKENS,              \
    .beam = (size_t)RAPT_AS_MODEL, .lookup = RAPT_GENERATE_LOOKUP

#define TRANSLATE_DEFAULTS                                                                                               \
    .size = sizeof(rapt_translate_options), .beam = (size_t)RAPT_AS_MODEL, .length_penalty = RAPT_AS_MODEL, .n_best = 1, \
    .batch = RAPT_TRANSLATE_BATCH, .no_repeat = (size_t)RAPT_AS_MODEL, .max_ratio = RAPT_AS_MODEL,                       \
    .min_length = (size_t)RAPT_AS_MODEL, .sample = {SAMPLE_DEFAULTS}

#define EMBEDDER_DEFAULTS                                                                                                \
    .size = sizeof(rapt_embedder_options), .normalize = RAPT_AS_MODEL, .batch = RAPT_EMBED_BATCH

#define RERANKER_DEFAULTS .size = sizeof(rapt_reranker_options), .batch = RAPT_RERANK_BATCH

#define SCORE_DEFAULTS .size = sizeof(rapt_score_options)

#endif
