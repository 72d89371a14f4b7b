/* serve/module/deepl.c: DeepL's interface. */
#include "serve/module/endpoints.h"

#include "serve/module/glossaries.h"
#include "serve/module/language_names.h"
#include "serve/module/reply.h"
#include "serve/module/translating.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPL_TEXTS = 50, DEEPL_CODE = 32 };

/* The limit that DeepL reports for accounts without a limit. */
static const json_int_t NO_LIMIT = 1000000000000;

static void deepl_fail(exchange *x, const request_error *error)
{
    reply_json(x, error->status, json_pack("{s:s}", "message", error->message));
}

/* Codes of languages are upper case in responses. */
static void upper_code(const char *code, char out[DEEPL_CODE])
{
    size_t i = 0;
    for (; code[i] && i + 1 < DEEPL_CODE; i++)
        out[i] = (char)toupper((unsigned char)code[i]);
    out[i] = '\0';
}

/* ---- POST /v2/translate --------------------------------------------------------------------------------------------------- */

static json_t *deepl_translation(const translating *t, const rapt_translation *lines, size_t text)
{
    char code[DEEPL_CODE];
    upper_code(t->source ? t->source : "", code);
    json_t *one = json_pack("{s:s, s:o}", "detected_source_language", code, "text", translating_text(t, lines, text, 0));
    if (!one || !t->has_characters ||
        json_object_set_new(one, "billed_characters", json_integer((json_int_t)t->characters[text])) == 0)
        return one;
    json_decref(one);
    return NULL;
}

static void deepl_body(const translating *t, const rapt_translation *lines, reply_body *to)
{
    reply_put_words(to, "{\"translations\":");
    for (size_t i = 0; reply_list(to, i, t->count); i++)
        reply_put(to, deepl_translation(t, lines, i));
    reply_put_words(to, "}");
}

static const translating_dialect DEEPL = {.source_field = "source_lang", .target_field = "target_lang", .body = deepl_body,
                                          .fail = deepl_fail};

/* Options besides the translation: rapt accepts only their defaults. DeepL documents that "prefer" of formality and of models has
 * no effect where these do not exist. Lists have a value for JSON and one for forms. */
static void deepl_options(fields *f, bool marked)
{
    static const char no[] = "[false, \"0\", \"false\"]";
    fields_neutral(f, "formality", "[\"default\", \"prefer_more\", \"prefer_less\"]");
    fields_neutral(f, "split_sentences", marked ? "[\"1\", \"nonewlines\"]" : "[\"1\"]"); /* lines of markup end at tags */
    fields_neutral(f, "tag_handling_version", "[\"v1\", \"v2\"]"); /* there is one */
    fields_neutral(f, "model_type", "[\"latency_optimized\", \"prefer_quality_optimized\"]");
    fields_neutral(f, "context", "[\"\"]");
    fields_neutral(f, "preserve_formatting", no);
    fields_neutral(f, "enable_beta_languages", no);
}

static void deepl_markup(translating *t, fields *f)
{
    static const char *const kinds[] = {"html", "xml"};
    enum { NO = 2 };
    const size_t kind = fields_word(f, "tag_handling", kinds, NO, NO);
    marked_texts_format(&t->marked, kind == NO ? 0 : kind + 1);
    marked_texts_fields(&t->marked, f, "tag_handling");
}

/* A glossary is for its languages alone, so the source must be given, as DeepL wants it. */
static void deepl_take_glossary(translating *t, const char *id, const char *source, request_error *error)
{
    char from[GLOSSARY_CODE] = "", to[GLOSSARY_CODE] = "";
    if (error->status || !id)
        return;
    t->glossary = glossaries_find(app_glossaries(t->app), exchange_owner(t->x), id);
    glossary_language(t->source ? t->source : "", from);
    glossary_language(t->target ? t->target : "", to);
    if (!t->glossary)
        request_fail(error, 404, "glossary_id", "glossary_id: there is no such glossary; they are lost when the server ends");
    else if (!source)
        request_fail(error, 400, "source_lang", "source_lang: a glossary needs the language of the text");
    else if (strcmp(t->glossary->source, from) != 0 || strcmp(t->glossary->target, to) != 0)
        request_fail(error, 400, "glossary_id", "glossary_id: the glossary translates from %s to %s, and the request from %s to "
                     "%s", t->glossary->source, t->glossary->target, from, to);
    else
        t->options.glossary = t->glossary->terms;
}

void deepl_translate(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    size_t count = 0;
    translating *t = translating_new(a, x, &DEEPL, &error);
    fields_read(&f, x, true, &error);
    const char **texts = fields_texts(&f, "text", 1, DEEPL_TEXTS, &count, NULL);
    if (!texts)
        fields_fail(&f, "text", "this field is required");
    const char *source = fields_text(&f, "source_lang"), *target = fields_required_text(&f, "target_lang");
    const char *glossary = fields_text(&f, "glossary_id");
    if (t)
        deepl_markup(t, &f);
    deepl_options(&f, t && t->marked.is_on);
    bool has_characters = fields_flag(&f, "show_billed_characters", false);
    if (fields_finish(&f))
        translating_choose(t, source, target, &error);
    deepl_take_glossary(t, glossary, source, &error);
    if (!error.status) {
        t->has_characters = has_characters;
        translating_submit(t, texts, count, &error);
    }
    translating_end(t, x, &DEEPL, &error);
    free(texts);
    fields_free(&f);
}

/* ---- GET /v2/languages ---------------------------------------------------------------------------------------------------- */

static bool deepl_has(const json_t *list, const char *code)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
        if (strcmp(json_string_value(json_object_get(one, "language")), code) == 0)
            return true;
    return false;
}

/* Adds a language to the list unless it is there. `variant`, or NULL: the country of a target. False: out of memory. */
static bool deepl_add(json_t *list, const char *language, const char *variant, bool target)
{
    char code[DEEPL_CODE], name[96];
    snprintf(code, sizeof code, "%.20s%s%s", language, variant ? "-" : "", variant ? variant : "");
    upper_code(code, code);
    snprintf(name, sizeof name, variant ? "%s (%s)" : "%s", language_name(language), variant);
    if (deepl_has(list, code))
        return true;
    json_t *one = json_pack("{s:s, s:s}", "language", code, "name", name);
    if (target && (!one || json_object_set_new(one, "supports_formality", json_false()) != 0)) {
        json_decref(one);
        return false;
    }
    return json_array_append_new(list, one) == 0;
}

/* DeepL's clients refuse English and Portuguese without a country as targets; a model has one kind, whichever it is. */
static bool deepl_add_target(json_t *list, const char *language)
{
    static const char *const variants[][3] = {{"en", "GB", "US"}, {"pt", "BR", "PT"}};
    char code[DEEPL_CODE], known[DEEPL_CODE];
    upper_code(language, code);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        upper_code(variants[i][0], known);
        if (strcmp(code, known) == 0)
            return deepl_add(list, language, variants[i][1], true) && deepl_add(list, language, variants[i][2], true);
    }
    return deepl_add(list, language, NULL, true);
}

static bool add_pair_source(json_t *list, const char *source, const char *target)
{
    (void)target;
    return deepl_add(list, source, NULL, false);
}

static bool add_pair_target(json_t *list, const char *source, const char *target)
{
    (void)source;
    return deepl_add_target(list, target);
}

/* Clients send the type in the query, and in a form that is the body of a GET. False with *error set. */
static bool asks_for_targets(exchange *x, request_error *error)
{
    static const char *const types[] = {"source", "target"};
    size_t size, type = 0;
    const char *query = exchange_query(x, "type");
    exchange_body(x, &size);
    if (query && strcmp(query, types[0]) != 0 && strcmp(query, types[1]) != 0)
        request_fail(error, 400, "type", "type: source or target is expected");
    if (query || size == 0)
        return query && strcmp(query, types[1]) == 0;
    fields f;
    fields_read(&f, x, true, error);
    type = fields_word(&f, "type", types, 2, 0);
    fields_finish(&f);
    fields_free(&f);
    return type == 1;
}

void deepl_languages(app *a, exchange *x)
{
    request_error error = {0};
    bool targets = asks_for_targets(x, &error);
    if (error.status) {
        deepl_fail(x, &error);
        return;
    }
    reply_json(x, 200, served_list_pairs(app_models(a), targets ? add_pair_target : add_pair_source));
}

/* ---- GET /v2/usage -------------------------------------------------------------------------------------------------------- */

void deepl_usage(app *a, exchange *x)
{
    const json_int_t count = (json_int_t)metrics_translated_characters(app_metrics(a));
    reply_json(x, 200, json_pack("{s:I, s:I}", "character_count", count, "character_limit", NO_LIMIT));
}
