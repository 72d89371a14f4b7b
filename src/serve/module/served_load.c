/* serve/module/served_load.c: loads models for the server. */
#define _GNU_SOURCE /* strdup, asprintf */
#include "serve/module/served_load.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "decode/languages.h"
#include "io/model_core.h"
#include "nn/weight_types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- languages --------------------------------------------------------------------------------------------------- */

/* "en", "deu", "zh_Hans": two or three letters, and maybe a script or region. */
static bool is_language_code(const char *code, size_t size)
{
    size_t letters = 0;
    while (letters < size && isalpha((unsigned char)code[letters]))
        letters++;
    if (letters < 2 || letters > 3)
        return false;
    if (letters == size)
        return true;
    for (size_t i = letters + 1; i < size; i++)
        if (!isalnum((unsigned char)code[i]))
            return false;
    return code[letters] == '_' && size > letters + 1;
}

/* Sets the languages from the last two parts of a name such as "en-fr" or "opus-mt-en-fr", if both are languages. False: out of
 * memory. */
static bool name_languages(served *s)
{
    const char *last = strrchr(s->name, '-'), *before = last;
    while (before && before > s->name && before[-1] != '-')
        before--;
    if (!last || !is_language_code(last + 1, strlen(last + 1)) || !is_language_code(before, (size_t)(last - before)))
        return true;
    s->source = strndup(before, (size_t)(last - before));
    s->target = strdup(last + 1);
    return s->source && s->target;
}

/* Sets the languages, and in *o the ones that a multilingual model needs. */
static rapt_code set_served_languages(served *s, const serve_model *from, const rapt_model *m, rapt_translate_options *o,
                               rapt_error *err)
{
    languages l;
    bool ok = from->source || from->target || name_languages(s);
    if (from->source)
        ok = ok && (s->source = strdup(from->source));
    if (from->target)
        ok = ok && (s->target = strdup(from->target));
    if (!ok)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    const rapt_translate_options told = {.source_language = s->source, .target_language = s->target};
    if ((s->source || s->target) && languages_set(&l, m, &told, NULL) == RAPT_OK) {
        o->source_language = s->source;
        o->target_language = s->target;
    }
    return RAPT_OK;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Adds " --name value", quoted for a shell if necessary. */
static bool add_words(buffer *b, const char *name, const char *value)
{
    const char *separator = b->size ? " --" : "--";
    bool ok = buffer_append(b, separator, strlen(separator)) && buffer_append(b, name, strlen(name)) && buffer_append(b, " '", 2);
    for (; ok && *value; value++)
        ok = *value == '\'' ? buffer_append(b, "'\\''", 4) : buffer_append(b, value, 1);
    return ok && buffer_append(b, "'", 1);
}

/* A model's options: its own, or the ones for all models. */
static serve_model merge_options(const serve_model *own, const serve_model *all)
{
    serve_model m = *own;
    if (!own->has_precision) {
        m.weights = all->weights;
        m.precision = all->precision;
        m.has_precision = all->has_precision;
    }
    if (!own->has_kv_cache) {
        m.kv_cache = all->kv_cache;
        m.has_kv_cache = all->has_kv_cache;
    }
    m.slots = own->slots ? own->slots : all->slots;
    m.kv_memory = own->kv_memory ? own->kv_memory : all->kv_memory;
    return m;
}

static bool describe_options(served *s, const serve_model *m, const rapt_translate_options *t)
{
    buffer b = {0};
    bool ok = true;
    if (m->weights)
        ok = ok && add_words(&b, "weights", m->weights);
    else if (m->has_precision && m->precision == RAPT_TYPE_BF16)
        ok = ok && add_words(&b, "precision", "bf16");
    if (m->has_kv_cache && m->kv_cache != RAPT_TYPE_FP32)
        ok = ok && add_words(&b, "kv-cache", rapt_type_name(m->kv_cache));
    if (t->source_language)
        ok = ok && add_words(&b, "from", t->source_language);
    if (t->target_language)
        ok = ok && add_words(&b, "to", t->target_language);
    s->options = ok ? strdup(b.data ? b.data : "") : NULL;
    buffer_free(&b);
    return s->options != NULL;
}

/* ---- one model --------------------------------------------------------------------------------------------------- */

static void served_model_free(served *s)
{
    rapt_chat_template_free(s->chat);
    free(s->name);
    free(s->path);
    free(s->source);
    free(s->target);
    free(s->options);
}

static void load_chat(served *s, const served_events *events)
{
    char message[700];
    rapt_error why = {0};
    if (s->task != RAPT_TASK_LANGUAGE_MODEL)
        return;
    s->chat = rapt_chat_template_load(s->path, &why);
    if (s->chat)
        s->tools = tool_format_find(s->chat);
    if (!s->chat && why.code != RAPT_ERR_NOT_FOUND) {
        snprintf(message, sizeof message, "%s: no chat, for its template cannot be used: %s", s->name, why.message);
        events->warn(events->context, message);
    }
}

/* "fp32", "bf16", a list of --weights, or the files' own types if they have fewer bits. */
static const char *number_format(const serve_model *m, const rapt_model *model)
{
    static const char *const stored[] = {"q8_0", "q4_0", "bf16", "fp16"};
    if (m->weights)
        return m->weights;
    if (m->has_precision)
        return rapt_type_name(m->precision);
    for (size_t i = 0; model->stored_type && i < sizeof stored / sizeof *stored; i++)
        if (strcasecmp(stored[i], model->stored_type) == 0)
            return stored[i];
    return "fp32";
}

/* Fills *s, and takes `model` over. */
static rapt_code add_model(served *s, const serve_options *o, const serve_model *m, rapt_engine *engine, rapt_model *model,
                           rapt_error *err)
{
    rapt_translate_options translate = rapt_translate_options_default();
    rapt_engine_model_options e = rapt_engine_model_options_default();
    e.compute = (rapt_compute){.type = m->precision, .weights = m->weights, .kv_cache = m->kv_cache};
    e.slots = m->slots ? m->slots : e.slots;
    e.kv_memory = m->kv_memory;
    e.chunk = o->chunk;
    e.no_prefix_cache = o->no_prefix_cache;
    e.batch = o->batch ? o->batch : e.batch;
    e.translate = &translate;
    e.fault = map_watch_damage;
    e.fault_free = map_watch_free;
    e.fault_context = s->watch;
    rapt_code code = RAPT_OK;
    s->task = model->task;
    s->number_format = number_format(m, model);
    if (s->task == RAPT_TASK_TRANSLATION)
        code = set_served_languages(s, m, model, &translate, err);
    if (!code && !describe_options(s, m, &translate))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    if (!code)
        code = fingerprint_of(s->path, s->number_format, s->options, s->fingerprint, &s->created, err);
    if (code) {
        map_watch_free(s->watch);
        rapt_model_free(model);
        return code;
    }
    s->model = rapt_engine_add(engine, model, &e, err);
    return s->model ? rapt_engine_check(s->model, err) : err->code;
}

static rapt_code load_model(served *s, const serve_options *o, const serve_model *from, rapt_engine *engine,
                            const served_events *events, rapt_error *err)
{
    rapt_load_options load = rapt_load_options_default();
    load.inference = true;
    const serve_model m = merge_options(from, &o->all);
    *s = (served){.name = strdup(from->name), .path = strdup(from->path), .no_replay = o->no_replay};
    if (!s->name || !s->path)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    rapt_model *model = rapt_model_load(from->path, &load, err);
    memory_trim(); /* the JSON of a large vocabulary left free memory */
    s->watch = model ? map_watch_new(model, s->name, events->damaged, events->context, err) : NULL;
    if (s->watch)
        return add_model(s, o, &m, engine, model, err);
    rapt_model_free(model);
    return err->code;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void served_free(served_set *set, bool engine_is_gone)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++) {
        served *s = &set->models[i];
        if (s->model && !engine_is_gone)
            rapt_engine_remove(s->model);
        served_model_free(s);
    }
    free(set->models);
    free(set->owner);
}

served_set *served_load(const serve_options *o, rapt_engine *engine, const served_events *events, rapt_error *err)
{
    rapt_error own = {0}; /* its code counts, whether or not the caller wants one */
    served_set_owner *owner = calloc(1, sizeof *owner);
    served *models = calloc(o->model_count ? o->model_count : 1, sizeof *models);
    if (!owner || !models) {
        free(owner);
        free(models);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
        return NULL;
    }
    owner->set = (served_set){.models = models, .owner = owner};
    owner->retire = events->retire;
    owner->context = events->context;
    atomic_init(&owner->references, 1);
    while (owner->set.count < o->model_count && !own.code) {
        const size_t i = owner->set.count++;
        if (load_model(&models[i], o, &o->models[i], engine, events, &own) == RAPT_OK)
            load_chat(&models[i], events);
    }
    if (!own.code)
        return &owner->set;
    rapt_fail(err, own.code, "%s", own.message);
    served_free(&owner->set, false);
    return NULL;
}
