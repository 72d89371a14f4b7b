/* decode/translate.c: the translator: lines of text in (translate_text.c), their segments on threads (translate_lane.c),
 * translations out. For the program and for C programs. */
#include "decode/translate.h"

#include "base/texts.h"
#include "decode/translator_weights.h"
#include "io/model_core.h"
#include "tape/tape_core.h"

#include <stdlib.h>
#include <string.h>

/* ---- the translator ----------------------------------------------------------------------------------------------- */

/* Encodes the options' prefix, for all runs that have no other. */
static rapt_code translate_set_prefix(rapt_translator *t, rapt_error *err)
{
    const rapt_text prefix = rapt_text_of(t->setup.o.prefix);
    t->setup.o.prefix = NULL; /* it doesn't last */
    return prefix.data ? prefixes_encode(&t->prefix, t->setup.m, &t->setup.lang.policy, &prefix, 1, err) : RAPT_OK;
}

rapt_translator *rapt_translator_new(const rapt_model *m, const rapt_translate_options *options, rapt_error *err)
{
    rapt_translator *t = calloc(1, sizeof *t);
    if (!t) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
        return NULL;
    }
    thread_mutex_init(&t->lane.lock);
    if (translate_setup_init(&t->setup, m, options, err) == RAPT_OK && translate_set_prefix(t, err) == RAPT_OK &&
        model_tapes_make(&t->tapes, m, &t->setup.o.compute, MODEL_TAPES_EACH | MODEL_TAPES_ALL, err) == RAPT_OK &&
        ensemble_make(&t->setup.ensemble, m, t->setup.o.others, t->setup.o.other_count, &t->tapes, err) == RAPT_OK &&
        translate_lane_init(t, err) == RAPT_OK)
        return t;
    rapt_translator_free(t);
    return NULL;
}

void rapt_translator_free(rapt_translator *t)
{
    if (!t)
        return;
    translate_lane_free(t);
    model_tapes_free(&t->tapes);
    prefixes_free(&t->prefix);
    translate_setup_free(&t->setup);
    thread_mutex_free(&t->lane.lock);
    free(t);
}

const packed_weights *translator_weights(const rapt_translator *t, uint64_t *read)
{
    *read = 0;
    for (int i = 0; i < t->tapes.count; i++)
        *read += t->tapes.list[i]->weight_bytes;
    return t->tapes.packed;
}

/* ---- a run -------------------------------------------------------------------------------------------------------- */

typedef struct translate_call {
    rapt_translator *t;
    const rapt_translator_request *request;
} translate_call;

/* A translate_text's questions. */
static bool translate_call_stops(void *context, size_t line)
{
    const rapt_translator_request *r = ((const translate_call *)context)->request;
    return r->stop(r->context, line);
}

static bool translate_call_is_cancelled(void *context)
{
    return atomic_load(&((const translate_call *)context)->t->cancelled);
}

/* The lane of the translator computes on the threads of its pool, the caller's among them, until the text is done. */
rapt_code rapt_translator_run(rapt_translator *t, const rapt_translator_request *request, const rapt_text *lines,
                              size_t count, rapt_translation *out, rapt_error *err)
{
    const rapt_translator_request none = {0};
    request = request ? request : &none;
    translate_call c = {t, request};
    translate_text x = {.lines = lines, .count = count, .stop = request->stop ? translate_call_stops : NULL,
                        .stop_all = translate_call_is_cancelled, .context = &c};
    memset(out, 0, count * sizeof *out);
    rapt_code code = translate_text_encode(&x, &t->setup, request, &t->prefix, err);
    if (!code) {
        translate_lane_add(t, &x);
        while (translate_lane_step(t))
            ;
        code = atomic_load(&t->cancelled) ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "the translation was cancelled")
                                          : translate_text_write(&x, out, err);
    }
    atomic_store(&t->cancelled, false); /* the cancel was for this run, even if it failed before its first batch */
    translate_text_free(&x);
    return code;
}

rapt_code rapt_translator_check(const rapt_translator *t, const rapt_translate_options *options, rapt_error *err)
{
    translate_settings settings;
    prefixes p = {0};
    rapt_code code = translate_settings_init(&settings, &t->setup, options, err);
    const rapt_text prefix = rapt_text_of(code ? NULL : settings.o.prefix);
    if (prefix.data)
        code = prefixes_encode(&p, t->setup.m, &t->setup.lang.policy, &prefix, 1, err);
    prefixes_free(&p);
    translate_settings_free(&settings);
    return code;
}

void rapt_translator_cancel(rapt_translator *t)
{
    atomic_store(&t->cancelled, true);
}

rapt_code rapt_translate(const rapt_model *m, const char *const *lines, size_t count, const rapt_translate_options *options,
                         rapt_translation *out, rapt_error *err)
{
    rapt_error own = {0};
    memset(out, 0, count * sizeof *out);
    rapt_text *texts = texts_of(lines, count, &own);
    rapt_translator *t = texts ? rapt_translator_new(m, options, &own) : NULL;
    rapt_code code = t ? rapt_translator_run(t, NULL, texts, count, out, &own) : own.code;
    rapt_translator_free(t);
    free(texts);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
