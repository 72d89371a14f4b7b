/* serve/module/libre.c: LibreTranslate's interface. */
#include "serve/module/endpoints.h"

#include "serve/module/language_names.h"
#include "serve/module/reply.h"
#include "serve/module/translating.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void libre_fail(exchange *x, const request_error *error)
{
    reply_json(x, error->status, json_pack("{s:s}", "error", error->message));
}

/* ---- POST /translate ---------------------------------------------------------------------------------------------------- */

/* The other hypotheses than the best one of a text. NULL: out of memory. */
static json_t *libre_alternatives(const translating *t, const rapt_translation *lines, size_t text)
{
    json_t *list = json_array();
    for (size_t n = 1; n < translating_hypotheses(t, lines, text) && list; n++)
        if (json_array_append_new(list, translating_text(t, lines, text, n)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *libre_best(const translating *t, const rapt_translation *lines, size_t text)
{
    return translating_text(t, lines, text, 0);
}

/* Writes the result of `of` for the text, or a list of them if the request had a list. */
static void libre_put(const translating *t, const rapt_translation *lines, reply_body *to, const char *name,
                      json_t *(*of)(const translating *t, const rapt_translation *lines, size_t text))
{
    reply_put_words(to, name);
    for (size_t i = 0; t->is_list && reply_list(to, i, t->count); i++)
        reply_put(to, of(t, lines, i));
    if (!t->is_list) {
        reply_put(to, of(t, lines, 0));
        reply_count(to);
    }
}

/* The language object for a text whose language was not identified. NULL: out of memory. */
static json_t *libre_unidentified(const char *code)
{
    return json_pack("{s:f, s:s}", "confidence", 0.0, "language", code);
}

static json_t *libre_detected(const translating *t, const rapt_translation *lines, size_t text)
{
    (void)lines;
    (void)text;
    return libre_unidentified(t->source);
}

static void libre_body(const translating *t, const rapt_translation *lines, reply_body *to)
{
    libre_put(t, lines, to, "{\"translatedText\":", libre_best);
    if (t->options.n_best > 1)
        libre_put(t, lines, to, ",\"alternatives\":", libre_alternatives);
    if (t->any_source)
        libre_put(t, lines, to, ",\"detectedLanguage\":", libre_detected);
    reply_put_words(to, "}");
}

static const translating_dialect LIBRE = {.body = libre_body, .fail = libre_fail};

/* Errors in LibreTranslate's words. */
static bool libre_has(fields *f, const char *name)
{
    if (f->error->status == 0 && !fields_value(f, name))
        request_fail(f->error, 400, name, "Invalid request: missing %s parameter", name);
    return f->error->status == 0;
}

static void libre_choose(translating *t, fields *f, request_error *error)
{
    static const char *const formats[] = {"text", "html"};
    const int64_t most = (int64_t)app_limits_of(t->app)->n - 1;
    const char *source = NULL, *target = NULL;
    if (libre_has(f, "source"))
        source = fields_text(f, "source");
    if (libre_has(f, "target"))
        target = fields_text(f, "target");
    marked_texts_format(&t->marked, fields_word(f, "format", formats, 2, 0));
    size_t alternatives = (size_t)fields_integer(f, "alternatives", 0, 0, most > 0 ? most : 0);
    fields_ignore(f, "api_key"); /* the router has checked it */
    if (fields_finish(f))
        translating_choose(t, source, target, error);
    if (!error->status)
        translating_n_best(t, alternatives + 1);
}

void libre_translate(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    size_t count = 0;
    const char **texts = NULL;
    translating *t = translating_new(a, x, &LIBRE, &error);
    fields_read(&f, x, true, &error);
    if (libre_has(&f, "q"))
        texts = fields_texts(&f, "q", 1, app_limits_of(a)->texts, &count, &t->is_list);
    if (!error.status)
        libre_choose(t, &f, &error);
    if (!error.status)
        translating_submit(t, texts, count, &error);
    translating_end(t, x, &LIBRE, &error);
    free(texts);
    fields_free(&f);
}

/* ---- GET /languages ------------------------------------------------------------------------------------------------------- */

/* The entry of a language in a list; NULL: it is not there. */
static json_t *libre_entry(const json_t *list, const char *code)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
        if (strcasecmp(json_string_value(json_object_get(entry, "code")), code) == 0)
            return entry;
    return NULL;
}

/* The targets of a language, which is added to the list if it is missing. NULL: out of memory. */
static json_t *libre_targets(json_t *list, const char *code)
{
    json_t *entry = libre_entry(list, code);
    if (!entry) {
        entry = json_pack("{s:s, s:s, s:[]}", "code", code, "name", language_name(code), "targets");
        if (json_array_append_new(list, entry) != 0)
            return NULL;
    }
    return json_object_get(entry, "targets");
}

static bool has_text(const json_t *list, const char *text)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
        if (strcasecmp(json_string_value(one), text) == 0)
            return true;
    return false;
}

static bool libre_add_pair(json_t *list, const char *source, const char *target)
{
    json_t *targets = libre_targets(list, source);
    return targets && (has_text(targets, target) || json_array_append_new(targets, json_string(target)) == 0) &&
           libre_targets(list, target);
}

void libre_languages(app *a, exchange *x)
{
    reply_json(x, 200, served_list_pairs(app_models(a), libre_add_pair));
}

/* ---- POST /detect --------------------------------------------------------------------------------------------------------- */

/* The only source language of the models; NULL with *error set: there is none, or several. */
static const char *only_source_language(const served_set *set, request_error *error)
{
    const char *code = NULL;
    for (size_t i = 0; i < set->count; i++) {
        const served *m = &set->models[i];
        if (m->task != RAPT_TASK_TRANSLATION || !m->source || (code && strcasecmp(code, m->source) == 0))
            continue;
        if (code) {
            request_fail(error, 400, NULL, "languages are not detected: the models translate from %s and %s", code, m->source);
            return NULL;
        }
        code = m->source;
    }
    if (!code)
        request_fail(error, 400, NULL, "no model translates from a language that is known");
    return code;
}

void libre_detect(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    served_set *set = app_models(a);
    const char *code = NULL;
    fields_read(&f, x, true, &error);
    if (libre_has(&f, "q"))
        fields_text(&f, "q");
    fields_ignore(&f, "api_key");
    if (fields_finish(&f))
        code = only_source_language(set, &error);
    if (code)
        reply_json(x, 200, json_pack("[o]", libre_unidentified(code)));
    else
        libre_fail(x, &error);
    fields_free(&f);
    served_release(set);
}
