/* engine/translation_job.c: a request to translate lines. The calling thread encodes the lines, so that errors are reported at
 * once and the engine's thread has less to do. */
#include "engine/translation_job.h"

#include <stdlib.h>
#include <string.h>

static void translation_job_free(rapt_engine_job *job)
{
    translation_job *j = (translation_job *)job;
    translate_text_free(&j->text);
    free(j->lines);
    free(j->memory);
    free(j);
}

/* A translate_text's question. */
static bool translation_job_stops(void *context, size_t line)
{
    translation_job *j = context;
    (void)line;
    const bool stops = engine_stops(&j->job);
    if (stops)
        atomic_store(&j->interrupted, true);
    return stops;
}

static rapt_code translation_job_copy(translation_job *j, const rapt_engine_translation *request, rapt_error *err)
{
    size_t size = 1, at = 0;
    for (size_t i = 0; i < request->count; i++)
        size += strlen(request->lines[i]) + 1;
    j->memory = malloc(size);
    j->lines = calloc(request->count + 1, sizeof *j->lines);
    if (!j->memory || !j->lines)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", request->count);
    for (size_t i = 0; i < request->count; i++) {
        const size_t length = strlen(request->lines[i]) + 1;
        j->lines[i] = memcpy(j->memory + at, request->lines[i], length);
        at += length;
    }
    return RAPT_OK;
}

translation_job *translation_job_new(const rapt_translator *t, const rapt_engine_translation *request, rapt_error *err)
{
    const rapt_translator_request options = {.options = &request->options};
    translation_job *j = calloc(1, sizeof *j);
    if (!j) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a request");
        return NULL;
    }
    j->job = (rapt_engine_job){.free = translation_job_free, .stop = request->stop, .context = request->context};
    j->on_done = request->on_done;
    j->context = request->context;
    rapt_code code = translation_job_copy(j, request, err);
    j->text = (translate_text){.lines = j->lines, .count = request->count, .stop = translation_job_stops, .context = j};
    code = code ? code : translate_text_encode(&j->text, &t->setup, &options, &t->prefix, err);
    if (!code)
        return j;
    translation_job_free(&j->job);
    return NULL;
}

size_t translation_job_waiting(const translation_job *j)
{
    return j->text.source.count - j->next;
}

size_t translation_job_running(const translation_job *j)
{
    return atomic_load(&j->text.left) - translation_job_waiting(j);
}

void translation_job_check(translation_job *j)
{
    const size_t waiting = translation_job_waiting(j);
    if (waiting == 0 || (translate_text_is_wanted(&j->text.items[j->next]) && !translation_job_stops(j, 0)))
        return;
    j->next = j->text.source.count;
    translate_text_drop(&j->text, waiting);
}

void translation_job_end(translation_job *j)
{
    rapt_error err = {0};
    const size_t count = j->text.count;
    rapt_translation *out = calloc(count + 1, sizeof *out);
    rapt_code code = rapt_engine_check(j->job.model, &err);
    code = code ? code : !out ? rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for %zu translations", count) :
                     atomic_load(&j->interrupted) ? rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the translation was cancelled") :
                     translate_text_write(&j->text, out, &err);
    engine_job_ends(&j->job, code);
    if (j->on_done)
        j->on_done(j->context, code, err.message, code ? NULL : out);
    if (!code)
        rapt_translations_free(out, count);
    free(out);
    engine_job_done(&j->job);
}
