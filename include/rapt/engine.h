/* rapt/engine.h: many requests at once to models that stay loaded: continuous batching (Yu et al. 2022, "Orca", section 3.2)
 * without sockets. What a request gets has the bits that it gets alone, from rapt_generator or rapt_translator: they depend
 * neither on the requests beside it, nor on slots, chunks of a prefill, cached prefixes or threads (in fp32, and with weights in
 * fewer bits; in bf16 products see rapt_precision).
 *
 *    rapt_engine *engine = rapt_engine_new(NULL, &err);
 *    rapt_engine_model *lm = engine ? rapt_engine_add(engine, model, NULL, &err) : NULL;
 *    const rapt_engine_generation request = {.tokens = ids, .count = count, .on_token = print, .on_done = done};
 *    rapt_engine_job *job = NULL;
 *    rapt_code code = lm ? rapt_engine_generate(lm, &request, &job, &err) : err.code;
 *    ...                             // `print` and `done` are called by a thread of the engine
 *    rapt_engine_job_free(job);      // waits for `done`
 *    rapt_engine_free(engine);
 *
 * The threads of an engine compute a step of a language model (a token of every running text, and a part of the prompts that are
 * read), then steps of translations, then a call, and so on. They call a request's functions: of one request one at a time, but
 * for the `stop` of a translation, which several may ask at once; on_done of a translation may run beside functions of other
 * requests. All functions here may be called by any thread but these, unless they say otherwise.
 *
 * A child of fork() has no threads but the one that forked: there an engine of the parent accepts nothing (RAPT_ERR_VALUE), and
 * freeing it or its jobs does nothing; make a new one. Models, translators, generators and embedders of the parent can be used
 * and freed in a child, on one thread, if no other thread was using them at the time of the fork.
 */
#ifndef RAPT_ENGINE_H
#define RAPT_ENGINE_H

#include "rapt/decode.h"
#include "rapt/embed.h"
#include "rapt/generate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the engine --------------------------------------------------------------------------------------------- */

typedef struct rapt_engine rapt_engine;

/* Zeroed: the defaults. */
typedef struct rapt_engine_options {
    int threads; /* 1 to 256; 0: RAPT_THREADS, else the CPUs that this process may use */
} rapt_engine_options;

/* Starts the engine's thread. `options` may be NULL. NULL with `err` set: threads out of range, out of memory. */
RAPT_API rapt_engine *rapt_engine_new(const rapt_engine_options *options, rapt_error *err);
/* Cancels the jobs that are left, waits for the thread and frees the models. The caller has freed every job whose handle was
 * handed out. NULL is fine. */
RAPT_API void rapt_engine_free(rapt_engine *e);

/* ---- models ------------------------------------------------------------------------------------------------- */

/* A model that an engine serves. */
typedef struct rapt_engine_model rapt_engine_model;

enum { RAPT_ENGINE_SLOTS = 8 };

/* Zeroed: the defaults. */
typedef struct rapt_engine_model_options {
    rapt_precision precision; /* as in rapt_generate_options and rapt_translate_options; those of requests are not heeded */
    const char *weights;
    rapt_storage kv_cache;
    size_t slots;      /* language model: texts that run together; 0: RAPT_ENGINE_SLOTS */
    size_t kv_memory;  /* language model: bytes that keys and values of running texts and cached prefixes may come to, at least
                          those of one text of the whole context; 0: as many as `slots` such texts take */
    size_t chunk;      /* language model: tokens of prompts in a step; 0: as many as keep a step beside running texts within twice
                          the time of one without */
    bool no_prefix_cache; /* language model: prompts are always computed from their beginning */
    size_t batch;      /* translation: segments that a thread computes together; 0: RAPT_TRANSLATE_BATCH */
    rapt_translate_options translate; /* translation: languages, split and detokenization, the same for all requests */
} rapt_engine_model_options;

/* Takes a model over, also where it fails (it frees it then), and packs its weights, so that no request waits for that.
 * `options` may be NULL and is copied, but for the texts that options->translate points to, which must last. NULL with `err`
 * set: errors of rapt_generator_new, rapt_translator_new or rapt_embedder_new. */
RAPT_API rapt_engine_model *rapt_engine_add(rapt_engine *e, rapt_model *model, const rapt_engine_model_options *options,
                                            rapt_error *err);
/* No request comes for it any more: it is freed once its last job is done and freed. */
RAPT_API void rapt_engine_remove(rapt_engine_model *m);
/* The model, which is only read. */
RAPT_API const rapt_model *rapt_engine_model_of(const rapt_engine_model *m);
/* Of an encoder: what computes its embeddings, for functions of rapt_engine_call only, one of which runs at a time. NULL for
 * other models. */
RAPT_API rapt_embedder *rapt_engine_embedder(const rapt_engine_model *m);

/* What an engine does at the moment for a model, and has done. */
typedef struct rapt_engine_counts {
    size_t waiting, running;       /* jobs */
    size_t slots;                  /* of a language model */
    size_t kv_positions, kv_bytes; /* of a KV cache, that running texts have reserved */
    uint64_t steps;                /* of a language model; decoding steps of a thread's translations */
    uint64_t prompt_tokens;        /* of language models: computed many at once, in prompts and in windows that are read anew; of
                                      translations: tokens of sources */
    uint64_t cached_tokens;        /* of prompts, found in cached prefixes */
    uint64_t generated_tokens;     /* of translations: positions that were searched */
    uint64_t done, cancelled, failed; /* jobs */
    double busy_seconds;           /* in which its steps were computed, but for choosing tokens */
} rapt_engine_counts;

RAPT_API rapt_engine_counts rapt_engine_model_counts(const rapt_engine_model *m);

/* ---- jobs --------------------------------------------------------------------------------------------------- */

/* A request that an engine works on. The functions that queue one have a parameter `job`: NULL, or where the handle goes, before
 * the first call of the request's functions. A job without a handle is freed when its on_done has returned. */
typedef struct rapt_engine_job rapt_engine_job;

/* Ends the job before its next step, or, where it waits among many, within a few steps; on_done gets RAPT_ERR_INTERRUPTED. From
 * any thread, the engine's own ones too. A job that is done stays as it is. */
RAPT_API void rapt_engine_cancel(rapt_engine_job *job);
/* Waits until on_done has returned, and frees the job. Not from a thread of the engine. NULL is fine. */
RAPT_API void rapt_engine_job_free(rapt_engine_job *job);

/* One token of a text, with what it makes certain of the text. */
typedef struct rapt_engine_token {
    int32_t id;
    double log_prob;         /* of the model's softmax, in nats, before any option */
    size_t count;            /* of the most probable tokens below: request.top, or the whole of a smaller vocabulary */
    const int32_t *ids;      /* [count] the most probable tokens at this position, the most probable first */
    const double *log_probs; /* [count] */
    const char *text;        /* [size] of the text that could be handed out with this token: whole characters, maybe none */
    size_t size;
} rapt_engine_token;

/* How a text ended. What it points to lasts during the call. */
typedef struct rapt_engine_generated {
    rapt_code code;
    const char *message;         /* where code is not RAPT_OK */
    const rapt_generated *result; /* as of rapt_generator_run; what there is of it after a failure */
    const char *rest;            /* [rest_size] text that was held back until the end */
    size_t rest_size;
    size_t cached_tokens;        /* of the prompt, found in cached prefixes */
    double wait_seconds;         /* from the request to its slot */
    double prefill_seconds;      /* from there to its first token */
    double decode_seconds;       /* from there to its end */
} rapt_engine_generated;

/* A text to continue. Pointers are read during rapt_engine_generate only, but for the context. */
typedef struct rapt_engine_generation {
    const int32_t *tokens;         /* [count] the prompt, at least one token (rapt_tokenizer_encode_bytes, rapt_chat_encode) */
    size_t count;
    rapt_generate_options options; /* sample, max_tokens, stops; `beam` has to be 0 or 1, and all others are ignored */
    bool no_tokens;                /* nothing is generated: the prompt is scored only (options.max_tokens of 0 is the default) */
    uint64_t sample;               /* sample index, as in rapt_generator_run */
    size_t top;                    /* most probable tokens to report with each token; 0: none */
    bool score_prompt;             /* report the prompt's tokens as well, before the generated ones */
    /* All three may be NULL, and are called by a thread of the engine with `context`. on_prompt_token: token `position` of the
     * prompt (score_prompt); the first one has no log-probability, NaN, and no most probable tokens; its text is empty. */
    void (*on_prompt_token)(void *context, size_t position, const rapt_engine_token *token);
    void (*on_token)(void *context, const rapt_engine_token *token);
    void (*on_done)(void *context, const rapt_engine_generated *end);
    rapt_stop_fn *stop;            /* true cancels the job; or NULL. Asked before each step of a text that runs, and before it
                                      begins; while it waits only now and then where many wait */
    void *context;
} rapt_engine_generation;

/* Queues a text: first come, first served; callbacks of other texts may do so as well. A failure calls nothing:
 * RAPT_ERR_VALUE for an empty prompt, one that is longer than the model's context or has a token beyond its vocabulary, an option
 * out of range, a beam search; not a language model; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_engine_generate(rapt_engine_model *m, const rapt_engine_generation *request, rapt_engine_job **job,
                                        rapt_error *err);

/* Lines to translate. Pointers are read during rapt_engine_translate only, but for the context. */
typedef struct rapt_engine_translation {
    const char *const *lines;       /* [count] valid UTF-8, strings */
    size_t count;
    rapt_translate_options options; /* beam, length_penalty, no_length_penalty, n_best, no_repeat, max_ratio, prefix, alignment,
                                       tokens; the others are those of the model's options */
    void (*on_done)(void *context, rapt_code code, const char *message, const rapt_translation *out); /* out[count] lasts during
                                       the call; NULL after a failure */
    rapt_stop_fn *stop;             /* asked before each decoding step: true cancels the job; or NULL */
    void *context;
} rapt_engine_translation;

/* Queues lines. Requests take turns, a segment each, and one of which nothing is running gets a segment in within about a step;
 * segments join the decoding steps of others, and leave when they are done. A failure calls nothing: RAPT_ERR_VALUE for an option
 * out of range or a prefix that is refused, as of rapt_translate; RAPT_ERR_FORMAT for a line that is not UTF-8; not a translation
 * model; RAPT_ERR_MEMORY. Lines are encoded by the calling thread. A failure that comes later, of one of the lines, is the
 * request's own, and the one that rapt_translate names. */
RAPT_API rapt_code rapt_engine_translate(rapt_engine_model *m, const rapt_engine_translation *request, rapt_engine_job **job,
                                         rapt_error *err);

/* Calls fn(context, model, threads) between two steps; fn may compute with `threads` threads: for passes of other kinds, such
 * as rapt_explanation_new. `stop` (or NULL) is asked before: true, or a cancel, calls fn with a NULL model in its place.
 * RAPT_ERR_MEMORY calls nothing. */
RAPT_API rapt_code rapt_engine_call(rapt_engine_model *m, void (*fn)(void *context, const rapt_model *model, int threads),
                                    rapt_stop_fn *stop, void *context, rapt_engine_job **job, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
