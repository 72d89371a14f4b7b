/* rapt/engine.h: many requests at once to models that stay loaded: continuous batching (Yu et al. 2022, "Orca", section 3.2)
 * without sockets. A request gets the bits that it would get alone, from rapt_generator or rapt_translator. They depend neither
 * on other requests, nor on slots, chunks of a prefill, cached prefixes or threads; in bf16 they depend on the processor
 * (rapt_compute.type).
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
 * The threads of an engine compute a step of a language model (a token of every running text, and a chunk of the prompts in
 * prefill), then steps of translations, then a call (rapt_engine_call), and so on. They also call the callbacks of requests, for
 * one request one at a time, except that several threads may ask the `stop` of a translation at once. on_done of a translation
 * may run at the same time as callbacks of other requests. Unless its comment says otherwise, a function of this header must not
 * be called by the engine's own threads; any other thread may call it.
 *
 * A child of fork() has only the thread that forked. In the child, an engine of the parent accepts nothing (RAPT_ERR_VALUE), and
 * freeing it or its jobs does nothing: make a new engine. Models, translators, generators, embedders and rerankers of the parent
 * can be used and freed in a child, on one thread, if no other thread was using them at the time of the fork.
 */
#ifndef RAPT_ENGINE_H
#define RAPT_ENGINE_H

#include "rapt/decode.h"
#include "rapt/embed.h"
#include "rapt/generate.h"
#include "rapt/rerank.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the engine --------------------------------------------------------------------------------------------- */

typedef struct rapt_engine rapt_engine;

typedef struct rapt_engine_options {
    size_t size; /* of this struct; set by rapt_engine_options_default */
    int threads; /* 1 to 256; 0: RAPT_THREADS, or else the number of CPUs that this process may use */
    uint8_t reserved[4]; /* zeros, or else refused */
} rapt_engine_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_engine_options_init(rapt_engine_options *o, size_t size);
/* threads 0. */
static inline rapt_engine_options rapt_engine_options_default(void)
{
    rapt_engine_options o;
    rapt_engine_options_init(&o, sizeof o);
    return o;
}

/* Starts the engine's thread. `options` may be NULL. NULL with `err` set: threads out of range, out of memory. */
RAPT_API rapt_engine *rapt_engine_new(const rapt_engine_options *options, rapt_error *err);
/* Cancels the remaining jobs, waits for the thread and frees the models. The caller must have freed every job whose handle it
 * got. NULL is fine. */
RAPT_API void rapt_engine_free(rapt_engine *e);

/* ---- models ------------------------------------------------------------------------------------------------- */

/* A model that an engine serves. */
typedef struct rapt_engine_model rapt_engine_model;

enum { RAPT_ENGINE_SLOTS = 8 };

typedef struct rapt_engine_model_options {
    size_t size;          /* of this struct; set by rapt_engine_model_options_default */
    rapt_compute compute; /* as in rapt_generate_options and rapt_translate_options, but the engine has the threads (`threads` is
                             not read); a request cannot change it */
    size_t slots;      /* language model: texts that run at the same time; 1 or more for a model of any task */
    size_t kv_memory;  /* language model: max bytes of keys and values, of running texts and cached prefixes; at least what one
                          text of the whole context takes; 0: what `slots` such texts take */
    size_t chunk;      /* language model: max prompt tokens in a step; 0: as many as keep a step with running texts within twice
                          the time of a step without prompts */
    bool no_prefix_cache; /* language model: always compute prompts from their beginning */
    bool borrowed;        /* the model stays the caller's, also after a failure: it must not change while the engine has it, and
                             must outlive it */
    size_t batch;      /* translation: segments in a thread's batch; 1 or more for a model of any task */
    const rapt_translate_options *translate; /* translation: source_language, target_language, split, detokenize and as_tokens,
                                                which are the same for all requests; and beam, length_penalty, n_best, no_repeat,
                                                max_ratio, min_length, prefix, suppress, sample, alignment, tokens, spans,
                                                replace_unknown, patience, coverage_penalty, alternatives, for requests without
                                                options of their own. NULL: the defaults */
    /* Why the model cannot be used any more, such as a file of it that was truncated while it is mapped; NULL: it can. Any thread
     * asks, before and after steps and before results are reported. From the first answer on, jobs of the model end with
     * RAPT_ERR_IO and this message, and none are queued. Or NULL. */
    const char *(*fault)(void *fault_context);
    void (*fault_free)(void *fault_context); /* called once, just before the model is freed, also by rapt_engine_add, whatever it
                                                refuses; or NULL */
    void *fault_context;
} rapt_engine_model_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_engine_model_options_init(rapt_engine_model_options *o, size_t size);
/* slots RAPT_ENGINE_SLOTS, batch RAPT_TRANSLATE_BATCH, all else zero. */
static inline rapt_engine_model_options rapt_engine_model_options_default(void)
{
    rapt_engine_model_options o;
    rapt_engine_model_options_init(&o, sizeof o);
    return o;
}

/* Takes over a model (and frees it after a failure) unless it is `borrowed`, and packs its weights, so that no request waits for
 * that. `options` may be NULL and is copied; the texts that options->translate points to must outlive the model. NULL with `err`
 * set: errors of rapt_generator_new, rapt_translator_new, rapt_embedder_new or rapt_reranker_new; RAPT_ERR_VALUE: 0 slots, a
 * batch of 0. */
RAPT_API rapt_engine_model *rapt_engine_add(rapt_engine *e, rapt_model *model, const rapt_engine_model_options *options,
                                            rapt_error *err);
/* The caller promises not to queue requests for the model any more, but for functions that rapt_engine_call runs, which may queue
 * one more call each. It is freed once its last job is done and freed. */
RAPT_API void rapt_engine_remove(rapt_engine_model *m);
/* The model, which is only read. */
RAPT_API const rapt_model *rapt_engine_model_of(const rapt_engine_model *m);
/* The embedder of an encoder, only for functions that rapt_engine_call runs, which are called one at a time. NULL for other
 * models. */
RAPT_API rapt_embedder *rapt_engine_embedder(const rapt_engine_model *m);
/* The reranker of a cross-encoder, likewise. */
RAPT_API rapt_reranker *rapt_engine_reranker(const rapt_engine_model *m);

/* RAPT_ERR_IO, with the model's fault as message, if it has one (rapt_engine_model_options). What was computed of it before this
 * returns RAPT_OK is right. Any thread, the engine's own among them, while the model has a job or is not removed. */
RAPT_API rapt_code rapt_engine_check(const rapt_engine_model *m, rapt_error *err);

/* What an engine is doing for a model, and what it has done. */
typedef struct rapt_engine_counts {
    size_t waiting, running;       /* jobs */
    size_t slots;                  /* language models: max running texts */
    size_t kv_positions, kv_bytes; /* KV cache that running texts have reserved */
    uint64_t steps;                /* language models: steps; translations: decoding steps, of all threads */
    uint64_t prompt_tokens;        /* language models: tokens computed many at once, in prompts and in windows that are
                                      recomputed; translations: source tokens */
    uint64_t cached_tokens;        /* prompt tokens that were found in cached prefixes */
    uint64_t generated_tokens;     /* translations: positions that were searched */
    uint64_t proposed_tokens;      /* language models: computed ahead by prompt lookup (rapt_generate_options.lookup), */
    uint64_t accepted_tokens;      /* and how many of them became tokens of a text */
    uint64_t done, cancelled, failed; /* jobs */
    double busy_seconds;           /* time of its steps, without the choice of tokens */
} rapt_engine_counts;

RAPT_API rapt_engine_counts rapt_engine_model_counts(const rapt_engine_model *m);

/* ---- jobs --------------------------------------------------------------------------------------------------- */

/* The handle of a request that was queued. The functions that queue a request store it in *job before the first callback of the
 * request; `job` may be NULL, and then the job is freed when its on_done has returned. */
typedef struct rapt_engine_job rapt_engine_job;

/* Ends the job before its next step; if it is waiting among many, within a few steps. on_done gets RAPT_ERR_INTERRUPTED. May be
 * called from any thread, including the engine's. Does nothing to a job that is done. */
RAPT_API void rapt_engine_cancel(rapt_engine_job *job);
/* Waits until on_done has returned, and frees the job. NULL is fine. */
RAPT_API void rapt_engine_job_free(rapt_engine_job *job);

/* How a text ended. Pointers are valid during the call. */
typedef struct rapt_engine_generated {
    rapt_code code;
    const char *message;         /* if code is not RAPT_OK */
    const rapt_generated *result; /* as from rapt_generator_run; after a failure, what was generated before it */
    const char *rest;            /* [rest_size] text that was held back until now */
    size_t rest_size;
    size_t cached_tokens;        /* prompt tokens that were found in cached prefixes */
    double wait_seconds;         /* from the request to its slot */
    double prefill_seconds;      /* from there to its first token */
    double decode_seconds;       /* from there to its end */
} rapt_engine_generated;

/* A text to continue. Pointers are read during rapt_engine_generate only, except `context`. */
typedef struct rapt_engine_generation {
    const int32_t *tokens;         /* [count] the prompt, at least one token (rapt_tokenizer_encode_bytes, rapt_chat_encode) */
    size_t count;
    const rapt_generate_options *options; /* sample, max_tokens, stops and chat; a beam must be 1 or RAPT_AS_MODEL, which is 1
                                             here. compute.type and compute.kv_cache must be types that there are, but the model's
                                             count; on_text, `stop`, `context` and the rest of compute are not read. NULL: the
                                             defaults */
    uint64_t sample;               /* sample index, as in rapt_generator_run */
    size_t top;                    /* number of most probable tokens to report with each token */
    bool score_prompt;             /* report the prompt's tokens as well, before the generated ones */
    /* A thread of the engine calls these three, each of which may be NULL, with `context`. on_prompt_token, with score_prompt,
     * gets token `position` of the prompt. The first token has an empty text, no most probable tokens, and NaN as
     * log-probability. */
    void (*on_prompt_token)(void *context, size_t position, const rapt_generated_token *token);
    void (*on_token)(void *context, const rapt_generated_token *token);
    void (*on_done)(void *context, const rapt_engine_generated *end);
    rapt_stop_fn *stop;            /* true cancels the job; or NULL. Asked before the text begins and before each of its steps;
                                      while the text waits among many, only now and then */
    void *context;
    const void *reserved[4];       /* NULL, or the request is refused */
} rapt_engine_generation;

/* Queues a text: first come, first served. Callbacks of other texts may call this too. After a failure no callback is called.
 * RAPT_ERR_VALUE: the prompt is empty, longer than the model's context, or has a token outside its vocabulary; an option is out
 * of range; a beam search; not a language model. RAPT_ERR_MEMORY; RAPT_ERR_IO: the model has a fault. */
RAPT_API rapt_code rapt_engine_generate(rapt_engine_model *m, const rapt_engine_generation *request, rapt_engine_job **job,
                                        rapt_error *err);

/* Lines to translate. Pointers are read during rapt_engine_translate only, except `context`. */
typedef struct rapt_engine_translation {
    const rapt_text *lines;         /* [count] valid UTF-8 */
    size_t count;
    const rapt_translate_options *options; /* beam, length_penalty, n_best, no_repeat, max_ratio, min_length, prefix, suppress,
                                              sample, alignment, tokens, spans, replace_unknown, patience,
                                              coverage_penalty, alternatives, glossary; the model's options
                                              (rapt_engine_model_options.translate) decide the others. NULL: they decide these as
                                              well, n_best and prefix among them */
    void (*on_done)(void *context, rapt_code code, const char *message, const rapt_translation *out); /* out[count] is valid
                                                                                                         during the call; NULL
                                                                                                         after a failure */
    rapt_stop_fn *stop;             /* true cancels the job; or NULL. Asked before each decoding step; while the lines wait among
                                       many requests, only now and then */
    void *context;
    const void *reserved[4];        /* NULL, or the request is refused */
} rapt_engine_translation;

/* Queues lines. Requests take turns, one segment at a time; a request of which no segment is running gets one into the batch
 * within about a step. Segments join the decoding steps of others, and leave the batch when they are done. The calling thread
 * encodes the lines. After a failure no callback is called. RAPT_ERR_VALUE: an option or a prefix that rapt_translate would
 * refuse, or not a translation model; RAPT_ERR_FORMAT: a line is not UTF-8; RAPT_ERR_MEMORY; RAPT_ERR_IO: the model has a fault.
 * If a line fails later, on_done of this request alone gets the error, the same one that rapt_translate returns. */
RAPT_API rapt_code rapt_engine_translate(rapt_engine_model *m, const rapt_engine_translation *request, rapt_engine_job **job,
                                         rapt_error *err);

/* Calls fn(context, model, threads) between two steps, for other kinds of passes, such as rapt_explanation_new; fn may compute
 * with `threads` threads. `stop`, unless NULL, is asked before: if it returns true, the job was cancelled, or the model has a
 * fault, fn is called with a NULL model instead. Before fn reports what it has computed, it should call rapt_engine_check. It
 * may queue one more call: a model's calls are made in the order in which they were queued, so that callers take
 * turns. After RAPT_ERR_MEMORY or RAPT_ERR_IO fn is not called. */
RAPT_API rapt_code rapt_engine_call(rapt_engine_model *m, void (*fn)(void *context, const rapt_model *model, int threads),
                                    rapt_stop_fn *stop, void *context, rapt_engine_job **job, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
