/* engine/translation_job.c: requests to translate lines, which the lane of a translator computes (decode/translate_lane.c). The
 * calling thread encodes the lines, so that errors are reported at once and the engine's thread has less to do. */
#include "base/sized.h"
#include "decode/translate.h"
#include "decode/translate_options.h"
#include "engine/engine_core.h"

#include <stdlib.h>
#include <string.h>

typedef struct translation_job {
    rapt_engine_job job;
    void (*on_done)(void *context, rapt_code code, const char *message, const rapt_translation *out);
    char *memory;            /* holds the lines */
    rapt_text *lines;
    translate_text text;     /* its context is the job */
    atomic_bool interrupted; /* it was to stop before it was done */
} translation_job;

/* ---- from a request ------------------------------------------------------------------------------------------------- */

static void translation_job_free(rapt_engine_job *job)
{
    translation_job *j = (translation_job *)job;
    translate_text_free(&j->text);
    free(j->lines);
    free(j->memory);
    free(j);
}

/* A translate_text's question. */
static bool translation_job_stops(void *context)
{
    translation_job *j = context;
    const bool stops = engine_stops(&j->job);
    if (stops)
        atomic_store(&j->interrupted, true);
    return stops;
}

static rapt_code translation_job_copy(translation_job *j, const rapt_engine_translation *request, rapt_error *err)
{
    size_t size = 1, at = 0;
    for (size_t i = 0; i < request->count; i++)
        size += request->lines[i].size;
    j->memory = malloc(size);
    j->lines = calloc(request->count + 1, sizeof *j->lines);
    if (!j->memory || !j->lines)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", request->count);
    for (size_t i = 0; i < request->count; i++) {
        const rapt_text line = request->lines[i];
        if (line.size > 0)
            memcpy(j->memory + at, line.data, line.size);
        j->lines[i] = (rapt_text){line.data ? j->memory + at : NULL, line.size};
        at += line.size;
    }
    return RAPT_OK;
}

/* Copies and encodes the lines. NULL with `err` set. */
static translation_job *translation_job_new(const rapt_translator *t, const rapt_engine_translation *request, rapt_error *err)
{
    const rapt_translator_request options = {.options = request->options};
    translation_job *j = calloc(1, sizeof *j);
    if (!j) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a request");
        return NULL;
    }
    j->job = (rapt_engine_job){.free = translation_job_free, .stop = request->stop, .context = request->context};
    j->on_done = request->on_done;
    rapt_code code = sized_check_reserved(request->reserved, sizeof request->reserved, "engine_translation", err);
    code = code ? code : translation_job_copy(j, request, err);
    j->text = (translate_text){.lines = j->lines, .count = request->count, .stop_all = translation_job_stops, .context = j};
    code = code ? code : translate_text_encode(&j->text, &t->setup, &options, &t->prefix, err);
    if (!code)
        return j;
    translation_job_free(&j->job);
    return NULL;
}

rapt_code rapt_engine_translate(rapt_engine_model *m, const rapt_engine_translation *request, rapt_engine_job **job,
                                rapt_error *err)
{
    rapt_error own = {0};
    const rapt_code code = engine_check_request(m, &translation_functions, "translate", &own);
    translation_job *j = code ? NULL : translation_job_new(m->of_lane, request, &own);
    if (!j)
        return rapt_fail(err, own.code, "%s", own.message);
    engine_queue_job(m, &j->job, job);
    return RAPT_OK;
}

/* ---- what the lane asks of the engine: a translate_host, whose context is the model ----------------------------------- */

static void translation_take(void *model)
{
    rapt_engine_model *m = model;
    translation_job *j;
    while ((j = (translation_job *)engine_take(m)))
        translate_lane_add(m->of_lane, &j->text);
}

static void translation_count(void *model, const translate_counts *c)
{
    const rapt_engine_counts counts = {.waiting = c->waiting, .running = c->running, .steps = c->steps,
                                       .prompt_tokens = c->source_tokens, .generated_tokens = c->tokens, .busy_seconds = c->busy};
    engine_publish(model, &counts);
}

static void translation_end(void *model, translate_text *x)
{
    translation_job *j = x->context;
    rapt_error err = {0};
    const size_t count = x->count;
    rapt_translation *out = calloc(count + 1, sizeof *out);
    rapt_code code = rapt_engine_check(model, &err);
    code = code ? code : !out ? rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for %zu translations", count) :
                     atomic_load(&j->interrupted) ? rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the translation was cancelled") :
                     translate_text_write(x, out, &err);
    engine_job_ends(&j->job, code);
    if (j->on_done)
        j->on_done(j->job.context, code, err.message, code ? NULL : out);
    if (!code)
        rapt_translations_free(out, count);
    free(out);
    engine_job_done(&j->job);
}

static const translate_host translation_host = {translation_take,  translation_count, translation_end, engine_is_alone,
                                                engine_is_awaited, engine_wait,       engine_wake};

/* ---- the model's lane ------------------------------------------------------------------------------------------------- */

static bool translation_step(rapt_engine_model *m, void *lane)
{
    (void)m;
    return translate_lane_step(lane);
}

static void translation_free(void *lane)
{
    rapt_translator_free(lane);
}

rapt_tape *engine_translation_tape(const rapt_engine_model *m)
{
    return ((const rapt_translator *)m->of_lane)->tapes.all;
}

const engine_lane translation_functions = {"a translation model", translation_step, translation_free};

void *translations_new(rapt_engine_model *m, const rapt_engine_model_options *o, int threads, rapt_error *err)
{
    rapt_translate_options options;
    if (translate_options_take(o->translate, &options, err) != RAPT_OK)
        return NULL;
    options.compute = o->compute;
    options.compute.threads = threads;
    options.batch = o->batch;
    rapt_translator *t = rapt_translator_new(m->model, &options, err);
    if (t) {
        t->lane.host = &translation_host;
        t->lane.context = m;
    }
    return t;
}
