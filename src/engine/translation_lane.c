/* engine/translation_lane.c: the lane of a translation model: a request after the other. */
#include "engine/engine_core.h"

#include <stdlib.h>
#include <string.h>

typedef struct translation_job {
    rapt_engine_job job;
    rapt_engine_translation request;
    char **lines;
} translation_job;

typedef struct translation_lane {
    rapt_engine_model_options options;
    int threads;
} translation_lane;

static void translation_job_free(rapt_engine_job *job)
{
    translation_job *j = (translation_job *)job;
    for (size_t i = 0; j->lines && i < j->request.count; i++)
        free(j->lines[i]);
    free(j->lines);
    free(j);
}

static bool translation_lane_step(rapt_engine_model *m, void *lane)
{
    const translation_lane *l = lane;
    translation_job *j = (translation_job *)engine_take(m);
    if (!j)
        return false;
    rapt_error err = {0};
    rapt_translate_options o = j->request.options;
    o.threads = l->threads;
    o.source_language = l->options.translate.source_language;
    o.target_language = l->options.translate.target_language;
    rapt_translation *out = calloc(j->request.count + 1, sizeof *out);
    rapt_code code = engine_stops(&j->job) ? rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the translation was cancelled") :
                     !out ? rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for translations") :
                     rapt_translate(m->model, (const char *const *)j->lines, j->request.count, &o, out, &err);
    j->request.on_done(j->request.context, code, err.message, code ? NULL : out);
    if (!code)
        rapt_translations_free(out, j->request.count);
    free(out);
    engine_job_done(&j->job, code);
    return true;
}

static void translation_lane_free(void *lane)
{
    free(lane);
}

const engine_lane translation_lane_functions = {translation_lane_step, translation_lane_free};

void *translation_lane_new(rapt_engine_model *m, const rapt_engine_model_options *o, int threads, rapt_error *err)
{
    translation_lane *l = calloc(1, sizeof *l);
    (void)m, (void)err;
    *l = (translation_lane){*o, threads};
    return l;
}

rapt_code rapt_engine_translate(rapt_engine *e, rapt_engine_model *m, const rapt_engine_translation *request,
                                rapt_engine_job **job, rapt_error *err)
{
    (void)e;
    if (m->lane != &translation_lane_functions)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model does not translate");
    translation_job *j = calloc(1, sizeof *j);
    *j = (translation_job){.job = {.free = translation_job_free, .stop = request->stop, .context = request->context},
                           .request = *request};
    j->lines = calloc(request->count + 1, sizeof *j->lines);
    for (size_t i = 0; i < request->count; i++) {
        j->lines[i] = malloc(strlen(request->lines[i]) + 1);
        strcpy(j->lines[i], request->lines[i]);
    }
    engine_queue_job(m, &j->job, job);
    return RAPT_OK;
}
