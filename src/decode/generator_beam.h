/* decode/generator_beam.h: beam search over the continuations of a text by a language model. For generator.c. */
#ifndef DECODE_GENERATOR_BEAM_H
#define DECODE_GENERATOR_BEAM_H

#include "base/arena.h"
#include "search/search.h"
#include "rapt/io.h"

typedef struct generator_beams {
    rapt_tape *tape;
    const rapt_model *model;
    const int32_t *text; /* [count], at most the model's context */
    size_t count;
    size_t beams;
    size_t max_tokens;        /* as many tokens as the context has room for are searched */
    rapt_stop_fn *stop;       /* asked before each step */
    void *context;            /* of stop */
    rapt_type kv_cache;    /* numeric type of their KV cache */
} generator_beams;

/* The hypotheses, best first, in memory of the arena: new tokens, including the end of text, and scores as in rapt/policy.h, with
 * a length penalty of 1 if the model has no policy. `repetition_penalty` (1: none) replaces the policy's. */
rapt_code generator_beam(const generator_beams *b, double repetition_penalty, arena *memory, search_result *result,
                         rapt_error *err);

#endif
