/* serve/module/deepl_glossaries.c: DeepL's interface for glossaries, version 2. */
#define _GNU_SOURCE 1 /* strdup, gmtime_r */
#include "serve/module/endpoints.h"

#include "serve/module/fields.h"
#include "serve/module/glossaries.h"
#include "serve/module/reply.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define GLOSSARIES_PATH "/v2/glossaries/"
#define ENTRIES_PATH "/entries"
enum { TERM_BYTES = 120 }; /* that a term takes besides its text */

static void glossary_refuse(exchange *x, const request_error *error)
{
    reply_json(x, error->status, json_pack("{s:s}", "message", error->message));
}

void glossary_language(const char *code, char out[GLOSSARY_CODE])
{
    size_t i = 0;
    for (; code[i] && code[i] != '-' && i + 1 < GLOSSARY_CODE; i++)
        out[i] = (char)tolower((unsigned char)code[i]);
    out[i] = '\0';
}

static json_t *glossary_json(const kept_glossary *one)
{
    char created[32];
    const time_t at = (time_t)one->created;
    struct tm parts;
    gmtime_r(&at, &parts);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%S.000Z", &parts); /* deepl-python wants the fraction */
    return json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:I}", "glossary_id", one->id, "name", one->name, "ready", 1, "source_lang",
                     one->source, "target_lang", one->target, "creation_time", created, "entry_count",
                     (json_int_t)rapt_glossary_count(one->terms));
}

/* ---- POST /v2/glossaries ------------------------------------------------------------------------------------------------ */

static void glossary_check_pair(app *a, const fields *f, const kept_glossary *one)
{
    served_set *set = app_models(a);
    if (!served_pair(set, one->source, one->target))
        fields_fail(f, "target_lang", "no model translates from %s to %s", one->source, one->target);
    served_release(set);
}

/* Reads the fields into *one, whose `name` and `terms` belong to the caller. */
static void glossary_read(app *a, exchange *x, fields *f, kept_glossary *one, request_error *error)
{
    static const char *const formats[] = {"tsv"};
    rapt_error why = {0};
    const char *name = fields_required_text(f, "name"), *entries = fields_required_text(f, "entries");
    glossary_language(fields_required_text(f, "source_lang"), one->source);
    glossary_language(fields_required_text(f, "target_lang"), one->target);
    fields_word(f, "entries_format", formats, 1, 0);
    const rapt_text text = rapt_text_of(entries);
    if (!fields_finish(f))
        return;
    if (!*name || strlen(name) > RAPT_GLOSSARY_TERM_BYTES)
        fields_fail(f, "name", "1 to %d bytes are expected", RAPT_GLOSSARY_TERM_BYTES);
    glossary_check_pair(a, f, one);
    size_t lines = 1;
    for (size_t i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    one->bytes = text.size + lines * TERM_BYTES;
    if (error->status || !request_asks(x, ADMISSION_MAKING, one->bytes, error, "a glossary of %zu lines", lines))
        return;
    snprintf(one->owner, sizeof one->owner, "%s", exchange_owner(x));
    one->name = strdup(name);
    one->terms = rapt_glossary_parse("entries", text, &why);
    if (!one->name || why.code)
        request_fail(error, one->name ? reply_status(why.code) : 503, "entries", "%s",
                     one->name ? why.message : "out of memory for the request");
}

void deepl_glossary_add(app *a, exchange *x)
{
    request_error error = {0};
    kept_glossary one = {.created = 0};
    const char *why = NULL;
    const kept_glossary *kept = NULL;
    fields f;
    fields_read(&f, x, true, &error);
    glossary_read(a, x, &f, &one, &error);
    if (!error.status && !(kept = glossaries_add(app_glossaries(a), &one, &why)))
        request_fail(&error, why ? 413 : 503, NULL, "%s", why ? why : "out of memory for the request");
    if (kept)
        reply_json(x, 201, glossary_json(kept));
    else {
        glossary_refuse(x, &error);
        free(one.name);
        rapt_glossary_free(one.terms);
    }
    glossaries_release(kept);
    fields_free(&f);
}

/* ---- GET and DELETE ----------------------------------------------------------------------------------------------------- */

typedef struct glossary_listing {
    json_t *list;
    bool failed;
} glossary_listing;

static void glossary_list_one(void *context, const kept_glossary *one)
{
    glossary_listing *l = context;
    l->failed = l->failed || json_array_append_new(l->list, glossary_json(one)) != 0;
}

void deepl_glossary_list(app *a, exchange *x)
{
    glossary_listing l = {.list = json_array()};
    if (l.list)
        glossaries_each(app_glossaries(a), exchange_owner(x), glossary_list_one, &l);
    json_t *all = l.list && !l.failed ? json_pack("{s:O}", "glossaries", l.list) : NULL;
    json_decref(l.list);
    reply_json(x, 200, all);
}

static void glossary_not_found(exchange *x)
{
    reply_json(x, 404, json_pack("{s:s}", "message", "there is no such glossary; they are lost when the server ends"));
}

static void glossary_reply_entries(exchange *x, const kept_glossary *one)
{
    buffer_writer w = {0};
    for (size_t i = 0; i < rapt_glossary_count(one->terms); i++) {
        const rapt_glossary_term t = rapt_glossary_get(one->terms, i);
        buffer_put(&w, t.source.data, t.source.size);
        buffer_put(&w, "\t", 1);
        buffer_put(&w, t.target.data, t.target.size);
        buffer_put(&w, "\n", 1);
    }
    if (w.failed) {
        buffer_free(&w.bytes);
        reply_json(x, 503, NULL);
    } else
        exchange_reply_with(x, 200, "text/tab-separated-values; charset=utf-8", w.bytes.data, w.bytes.size);
}

/* The id in a path, and whether "/entries" follows it. */
static bool glossary_of_path(const exchange *x, char id[GLOSSARY_ID], bool *entries)
{
    const char *at = exchange_path(x) + strlen(GLOSSARIES_PATH);
    const size_t size = strcspn(at, "/");
    *entries = strcmp(at + size, ENTRIES_PATH) == 0;
    if (size + 1 != GLOSSARY_ID || (at[size] && !*entries))
        return false;
    memcpy(id, at, size);
    id[size] = '\0';
    return true;
}

void deepl_glossary_get(app *a, exchange *x)
{
    char id[GLOSSARY_ID];
    bool entries;
    request_error error = {0};
    const bool named = glossary_of_path(x, id, &entries);
    const kept_glossary *one = named ? glossaries_find(app_glossaries(a), exchange_owner(x), id) : NULL;
    if (!one)
        glossary_not_found(x);
    else if (!entries)
        reply_json(x, 200, glossary_json(one));
    else if (request_asks(x, ADMISSION_MAKING, 2 * one->bytes, &error, "the entries of a glossary"))
        glossary_reply_entries(x, one);
    else
        glossary_refuse(x, &error);
    glossaries_release(one);
}

void deepl_glossary_delete(app *a, exchange *x)
{
    char id[GLOSSARY_ID];
    bool entries;
    if (glossary_of_path(x, id, &entries) && !entries && glossaries_remove(app_glossaries(a), exchange_owner(x), id))
        exchange_reply(x, 204, "", "", 0);
    else
        glossary_not_found(x);
}

/* ---- GET /v2/glossary-language-pairs -------------------------------------------------------------------------------------- */

/* Adds a pair unless it is there. False: out of memory. */
static bool glossary_add_pair(json_t *list, const char *source, const char *target)
{
    char from[GLOSSARY_CODE], to[GLOSSARY_CODE];
    size_t i;
    json_t *one;
    glossary_language(source, from);
    glossary_language(target, to);
    json_array_foreach(list, i, one)
        if (strcmp(json_string_value(json_object_get(one, "source_lang")), from) == 0 &&
            strcmp(json_string_value(json_object_get(one, "target_lang")), to) == 0)
            return true;
    return json_array_append_new(list, json_pack("{s:s, s:s}", "source_lang", from, "target_lang", to)) == 0;
}

void deepl_glossary_pairs(app *a, exchange *x)
{
    reply_json(x, 200, json_pack("{s:o}", "supported_languages", served_list_pairs(app_models(a), glossary_add_pair)));
}
