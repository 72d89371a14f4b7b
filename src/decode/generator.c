/* decode/generator.c: rapt_generator: a text, its KV cache, and runs that add to it token by token. For `rapt generate`, samples
 * in training, and C programs. continuation.c chooses tokens from logits, prompt.c encodes prompts. */
#include "decode/generator.h"

#include "base/min.h"
#include "decode/continuation.h"
#include "decode/generate_options.h"
#include "decode/generator_beam.h"
#include "decode/lookup.h"
#include "decode/model_tapes.h"
#include "decode/prompt.h"
#include "io/model_core.h"
#include "tape/tape_core.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)64 << 10)
#define LONG_PROMPT 256 /* tokens; with more, weights are packed before the first pass */

struct rapt_generator {
    const rapt_model *model;
    continuation run;              /* the text, and the run in progress */
    model_tapes own;               /* none if the tape is the caller's */
    bool answered;                 /* a pass was made: before the next one, own's weights are packed */
    rapt_tape *tape;
    rapt_kv_cache *cache;          /* holds the positions of the text that were computed */
    arena scratch;                 /* lives as long as one token, in a beam search as the run */
    atomic_bool cancelled;
    rapt_error failure;            /* how the run failed */
    bool searched;                 /* by beam search: */
    search_hypothesis best;        /* what was found, and how much of it is taken */
    size_t taken;
    int32_t *top_ids;              /* [options.top], in the memory of `run`, for the token that is reported */
    double *top;
    const rapt_real *logits;       /* of that token, until the next pass; NULL: a beam search has none */
    lookup lookup;                 /* while a proposal is judged, positions of it are in the cache, */
    const rapt_real *ahead;        /* and here are the logits [proposed + 1, vocab] of its pass */
};

/* ---- the text ----------------------------------------------------------------------------------------------------- */

/* Drops what the cache holds behind the text. */
static void generator_drop_ahead(rapt_generator *g)
{
    if (g->ahead)
        rapt_kv_cache_truncate(g->cache, g->run.text.count);
    g->ahead = NULL;
}

/* Ends a run that nobody finishes. */
static void generator_drop_run(rapt_generator *g)
{
    generator_drop_ahead(g);
    if (g->run.runs)
        atomic_store(&g->cancelled, false); /* a cancel was for this run */
    continuation_drop(&g->run);
    arena_release(&g->scratch, (arena_mark){0});
}

/* Keeps tokens 0 .. at - 1 and appends `count` tokens to them. A run in progress ends. */
static rapt_code generator_put(rapt_generator *g, size_t at, const int32_t *tokens, size_t count, rapt_error *err)
{
    generator_drop_run(g);
    rapt_code code = text_tokens_put(&g->run.text, at, tokens, count, err);
    if (!code)
        rapt_kv_cache_truncate(g->cache, at);
    return code;
}

/* At token 0, an empty text becomes the end-of-text token; elsewhere it has no tokens. */
static rapt_code generator_put_text(rapt_generator *g, size_t at, const char *text, size_t size, rapt_error *err)
{
    prompt p;
    if (at > 0 && size == 0)
        return RAPT_OK;
    rapt_code code = prompt_encode(g->model, text, size, &p, err);
    if (code)
        return code;
    code = generator_put(g, at, p.ids, p.count, err);
    free(p.ids);
    return code;
}

static rapt_code generator_put_tokens(rapt_generator *g, size_t at, const int32_t *tokens, size_t count, rapt_error *err)
{
    if (at + count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "a prompt of at least one token is needed");
    rapt_code code = prompt_check(g->model, tokens, count, err);
    return code ? code : generator_put(g, at, tokens, count, err);
}

rapt_code rapt_generator_begin(rapt_generator *g, const char *text, size_t size, rapt_error *err)
{
    return generator_put_text(g, 0, text, size, err);
}

rapt_code rapt_generator_begin_tokens(rapt_generator *g, const int32_t *tokens, size_t count, rapt_error *err)
{
    return generator_put_tokens(g, 0, tokens, count, err);
}

rapt_code rapt_generator_append(rapt_generator *g, const char *text, size_t size, rapt_error *err)
{
    return generator_put_text(g, g->run.text.count, text, size, err);
}

rapt_code rapt_generator_append_tokens(rapt_generator *g, const int32_t *tokens, size_t count, rapt_error *err)
{
    return generator_put_tokens(g, g->run.text.count, tokens, count, err);
}

size_t rapt_generator_tokens(const rapt_generator *g)
{
    return g->run.text.count;
}

rapt_code rapt_generator_rewind(rapt_generator *g, size_t count, rapt_error *err)
{
    if (count == 0 || count > g->run.text.count)
        return rapt_fail(err, RAPT_ERR_VALUE, "a text of %zu tokens does not go back to %zu", g->run.text.count, count);
    return generator_put(g, count, NULL, 0, err);
}

/* ---- a run -------------------------------------------------------------------------------------------------------- */

/* Begins a pass. The first one reads weights from the model's file where it can, so that its token does not wait for packing; the
 * next ones are faster with packed weights, and so is a long prompt, which takes much longer than packing. */
static rapt_code generator_begin_pass(rapt_generator *g, rapt_error *err)
{
    const bool packed = g->answered || g->run.text.count > LONG_PROMPT;
    rapt_code code = packed ? model_tapes_complete(&g->own, err) : RAPT_OK;
    g->answered = true;
    rapt_tape_begin(g->tape, (rapt_pass){0});
    return code;
}

/* Logits [vocab] after the whole text; they belong to the tape until its next pass. NULL with `err` set. */
static const rapt_real *generator_logits(rapt_generator *g, rapt_error *err)
{
    const text_tokens *text = &g->run.text;
    if (text->count == 0) {
        rapt_fail(err, RAPT_ERR_VALUE, "there is no text to continue");
        return NULL;
    }
    if (generator_begin_pass(g, err))
        return NULL;
    const rapt_tensor *logits = rapt_lm_next(g->tape, g->model->language.net, g->cache, text->ids, text->count, text->count);
    if (rapt_tape_status(g->tape, err))
        return NULL;
    return logits->data;
}

/* Logits [proposed + 1, vocab] after the text and after each token of a proposal. NULL: there is none, or `err` is set. */
static const rapt_real *generator_look_up(rapt_generator *g, rapt_error *err)
{
    text_tokens *text = &g->run.text;
    const rapt_lm *net = g->model->language.net;
    const size_t visible = rapt_lm_visible(&net->config, text->count), first = text->count - visible;
    const size_t left = g->run.options.max_tokens - g->run.result.token_count;
    if (rapt_kv_cache_first(g->cache) != first || rapt_kv_cache_past(g->cache) + 1 != visible) /* more than a token lacks */
        return NULL;
    const size_t proposed = lookup_propose(&g->lookup, text, visible, MIN(left - 1, net->config.context - visible));
    if (proposed == 0)
        return NULL;
    const rapt_tokens tokens = {text->ids + text->count - 1, 1, proposed + 1, NULL};
    if (generator_begin_pass(g, err))
        return NULL;
    const rapt_tensor *logits = rapt_lm_step(g->tape, net, g->cache, tokens, false);
    return rapt_tape_status(g->tape, err) ? NULL : logits->data;
}

/* The logits from which the next token of the run is chosen. NULL with `err` set. */
static const rapt_real *generator_run_logits(rapt_generator *g, rapt_error *err)
{
    if (!g->ahead)
        g->ahead = generator_look_up(g, err);
    if (g->ahead)
        return g->ahead + g->lookup.taken * g->model->language.net->config.vocab;
    return err->code ? NULL : generator_logits(g, err);
}

/* A rapt_stop_fn: whether the run in progress is cancelled. A cancel holds for one run. */
static bool generator_stops(void *context)
{
    rapt_generator *g = context;
    const rapt_generate_options *o = &g->run.options;
    return atomic_exchange(&g->cancelled, false) || (o->stop && o->stop(o->context));
}

static rapt_code generator_cancelled(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the generation was cancelled");
}

static rapt_code generator_search(rapt_generator *g, rapt_error *err)
{
    const rapt_generate_options *o = &g->run.options;
    const text_tokens *text = &g->run.text;
    const generator_beams b = {g->tape, g->model, text->ids, text->count, o->beam, o->max_tokens, generator_stops, g,
                               o->compute.kv_cache};
    search_result found = {0};
    rapt_code code = text->count > 0 ? model_tapes_complete(&g->own, err)
                                     : rapt_fail(err, RAPT_ERR_VALUE, "there is no text to continue");
    code = code ? code : generator_beam(&b, o->sample.repetition_penalty, &g->scratch, &found, err);
    g->searched = true;
    g->best = !code && found.count > 0 ? found.best[0] : (search_hypothesis){0};
    g->run.result.score = g->best.score;
    return code;
}

/* The next token by beam search: the best hypothesis is found at once. *id -1: there are no more. */
static rapt_code generator_found(rapt_generator *g, int32_t *id, double *log_prob, rapt_error *err)
{
    rapt_code code = g->searched ? RAPT_OK : generator_search(g, err);
    *id = !code && g->taken < g->best.length ? g->best.tokens[g->taken++] : -1;
    *log_prob = NAN;
    return code;
}

static rapt_code generator_choose(rapt_generator *g, int32_t *id, double *log_prob, rapt_error *err)
{
    if (generator_stops(g))
        return generator_cancelled(err);
    if (g->run.options.beam > 1)
        return generator_found(g, id, log_prob, err);
    g->logits = generator_run_logits(g, err);
    rapt_code code = g->logits ? continuation_choose(&g->run, g->logits, &g->scratch, id, log_prob, err) : err->code;
    if (!code && g->ahead && !lookup_judge(&g->lookup, &g->run.text, *id))
        generator_drop_ahead(g);
    return code;
}

rapt_code rapt_generator_start(rapt_generator *g, uint64_t sample, rapt_error *err)
{
    generator_drop_run(g);
    g->failure = (rapt_error){0};
    g->taken = 0;
    g->searched = false;
    g->logits = NULL;
    lookup_begin(&g->lookup, g->run.options.lookup);
    continuation_begin(&g->run, sample, &g->failure);
    return g->failure.code ? rapt_fail(err, g->failure.code, "%s", g->failure.message) : RAPT_OK;
}

/* Chooses a token and keeps it. False: the run is over, or has failed. */
static bool generator_advance(rapt_generator *g, int32_t *id, double *log_prob)
{
    const size_t before = g->run.result.token_count;
    if (g->failure.code || continuation_is_over(&g->run))
        return false;
    rapt_code code = generator_choose(g, id, log_prob, &g->failure);
    if (!code && (*id >= 0 || !g->searched))
        continuation_put(&g->run, *id, *log_prob, &g->failure);
    return !g->failure.code && g->run.result.token_count > before;
}

bool rapt_generator_next(rapt_generator *g, rapt_generated_token *token, rapt_error *err)
{
    *token = (rapt_generated_token){.text = ""};
    if (!g->run.runs) {
        rapt_fail(err, RAPT_ERR_VALUE, "no run was started");
        return false;
    }
    if (!generator_advance(g, &token->id, &token->log_prob)) {
        *token = (rapt_generated_token){.text = ""}; /* it may be the end of text */
        if (g->failure.code)
            rapt_fail(err, g->failure.code, "%s", g->failure.message);
        return false;
    }
    *token = continuation_token(&g->run, token->id, token->log_prob);
    if (g->logits)
        continuation_likeliest(&g->run, g->logits, g->run.options.top, g->top_ids, g->top, &g->scratch, token);
    return true;
}

rapt_code rapt_generator_finish(rapt_generator *g, rapt_generated *result, rapt_error *err)
{
    if (result)
        *result = (rapt_generated){0};
    if (!g->run.runs)
        return rapt_fail(err, RAPT_ERR_VALUE, "no run was started");
    continuation_end(&g->run, g->failure.code != RAPT_OK, &g->failure);
    if (!g->failure.code && generator_stops(g)) { /* during the last token: not the next run's */
        g->run.result.finish = RAPT_FINISH_NONE;
        generator_cancelled(&g->failure);
    }
    if (result) {
        *result = g->run.result;
        g->run.result = (rapt_generated){0};
    }
    generator_drop_run(g);
    return g->failure.code ? rapt_fail(err, g->failure.code, "%s", g->failure.message) : RAPT_OK;
}

rapt_code rapt_generator_run(rapt_generator *g, uint64_t sample, rapt_generated *result, rapt_error *err)
{
    rapt_generated_token token;
    rapt_generator_start(g, sample, NULL);
    while (rapt_generator_next(g, &token, NULL))
        ;
    return rapt_generator_finish(g, result, err); /* tells any failure */
}

void rapt_generator_cancel(rapt_generator *g)
{
    atomic_store(&g->cancelled, true);
}

rapt_code rapt_generator_likeliest(rapt_generator *g, size_t count, int32_t *ids, double *probabilities, rapt_error *err)
{
    rapt_error own = {0};
    const size_t vocab = g->model->language.net->config.vocab;
    if (count < 1 || count > vocab)
        return rapt_fail(err, RAPT_ERR_VALUE, "the %zu most probable tokens: the model has 1 to %zu", count, vocab);
    generator_drop_run(g);
    const rapt_real *logits = generator_logits(g, &own);
    const sampler_input in = {.logits = logits, .vocab = vocab, .position = g->run.text.count - 1};
    if (!logits || sampler_likeliest(g->tape->k, &in, count, ids, probabilities, &g->scratch, &own))
        return rapt_fail(err, own.code, "%s", own.message);
    return RAPT_OK;
}

/* ---- the generator ------------------------------------------------------------------------------------------------ */

static rapt_code generator_make_top(rapt_generator *g, rapt_error *err)
{
    const size_t vocab = g->model->language.net->config.vocab, asked = g->run.options.top;
    const size_t top = g->run.options.top = asked < vocab ? asked : vocab;
    g->top_ids = arena_array(&g->run.memory, top, sizeof *g->top_ids);
    g->top = arena_array(&g->run.memory, top, sizeof *g->top);
    return g->top_ids && g->top ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", top);
}

static rapt_code generator_set_up(rapt_generator *g, const rapt_generate_options *options, rapt_error *err)
{
    rapt_generate_options o;
    rapt_code code = generate_options_take(options, &o, err);
    code = code ? code : generate_options_check(g->model, &o, err);
    if (!code && !g->tape) {
        code = model_tapes_make(&g->own, g->model, &o.compute, MODEL_TAPES_ALL | MODEL_TAPES_PACK_LATER, err);
        g->tape = g->own.all;
    }
    code = code ? code : continuation_init(&g->run, g->model, &o, g->tape->k, err);
    code = code ? code : generator_make_top(g, err);
    rapt_kv_sizes sizes = code ? (rapt_kv_sizes){0} : rapt_lm_kv_sizes(g->model->language.net, 1);
    sizes.storage = o.compute.kv_cache;
    if (!code && !(g->cache = rapt_kv_cache_new(sizes, err)))
        code = err->code;
    return code;
}

/* Makes a generator on `tape`; NULL: on its own tape. */
static rapt_generator *generator_make(const rapt_model *model, rapt_tape *tape, const rapt_generate_options *options,
                                      rapt_error *err)
{
    rapt_error own = {0};
    rapt_generator *g = calloc(1, sizeof *g);
    if (!g) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a generator");
        return NULL;
    }
    g->model = model;
    g->tape = tape;
    arena_init(&g->scratch, CHUNK);
    if (generator_set_up(g, options, &own) == RAPT_OK)
        return g;
    rapt_fail(err, own.code, "%s", own.message);
    rapt_generator_free(g);
    return NULL;
}

rapt_generator *rapt_generator_new(const rapt_model *model, const rapt_generate_options *options, rapt_error *err)
{
    return generator_make(model, NULL, options, err);
}

rapt_generator *generator_on_tape(const rapt_model *model, rapt_tape *tape, const rapt_generate_options *options,
                                  rapt_error *err)
{
    return generator_make(model, tape, options, err);
}

void rapt_generator_free(rapt_generator *g)
{
    if (!g)
        return;
    continuation_free(&g->run);
    rapt_kv_cache_free(g->cache);
    model_tapes_free(&g->own);
    arena_free(&g->scratch);
    free(g);
}

rapt_code rapt_generate(const rapt_model *model, const char *text, const rapt_generate_options *options,
                        rapt_generated *result, rapt_error *err)
{
    rapt_error own = {0};
    if (result)
        *result = (rapt_generated){0};
    rapt_generator *g = rapt_generator_new(model, options, &own);
    rapt_code code = g ? rapt_generator_begin(g, text, strlen(text), &own) : own.code;
    code = code ? code : rapt_generator_run(g, 0, result, &own);
    rapt_generator_free(g);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
