/* serve/module/openai_tools.c: reads tools, and makes the schema of calls. */
#define _GNU_SOURCE /* asprintf */
#include "serve/module/openai_tools.h"

#include "io/model_core.h"
#include "serve/module/openai_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOOLS = 128, MAX_NAME = 64, MAX_DEPTH = 64, MAX_CALLS = 16, TREE_OF_BYTE = 100 };

#define CALL_ID "[CALL_ID]call00000" /* the model does not choose it; the response has an id of its own */

/* ---- tools -------------------------------------------------------------------------------------------------------------- */

static bool is_tool_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t size = strlen(name);
    return size > 0 && size <= MAX_NAME && strspn(name, letters) == size;
}

static bool is_deeper(const json_t *value, size_t levels)
{
    const char *key;
    json_t *inner;
    size_t i;
    bool deeper = levels == 0 && (json_is_object(value) || json_is_array(value));
    if (!deeper)
        json_object_foreach((json_t *)value, key, inner)
            deeper = deeper || is_deeper(inner, levels - 1);
    json_array_foreach(value, i, inner)
        deeper = deeper || is_deeper(inner, levels - 1);
    return deeper;
}

static void check_parameters(fields *function)
{
    json_t *schema = fields_value(function, "parameters");
    const json_t *type = json_object_get(schema, "type");
    if (schema && !json_is_object(schema))
        fields_fail(function, "parameters", "a JSON schema is expected, an object");
    else if (type && (!json_is_string(type) || strcmp(json_string_value(type), "object") != 0))
        fields_fail(function, "parameters", "its \"type\" must be \"object\"");
    else if (is_deeper(schema, MAX_DEPTH))
        fields_fail(function, "parameters", "more than %d levels", MAX_DEPTH);
}

/* Checks {"type": "function", "function": {...}}. */
static void tool_check(json_t *tool, size_t i, openai_tools *t, request_error *error)
{
    static const char *const types[] = {"function"};
    char path[32];
    fields f, function;
    snprintf(path, sizeof path, "tools[%zu]", i);
    if (!json_is_object(tool)) {
        request_fail(error, 400, path, "%s: an object is expected", path);
        return;
    }
    fields_open(&f, tool, path, error);
    if (fields_word(&f, "type", types, 1, 1) == 1)
        fields_required_text(&f, "type");
    if (!fields_object(&f, "function", &function))
        fields_fail(&f, "function", "this field is required");
    const char *name = fields_required_text(&function, "name");
    if (!is_tool_name(name))
        fields_fail(&function, "name", "1 to %d letters (a-z, A-Z), digits, _ and - are expected", MAX_NAME);
    for (size_t k = 0; k < t->names.count; k++)
        if (strcmp(t->names.list[k], name) == 0)
            fields_fail(&function, "name", "\"%s\" is the name of tools[%zu] as well", name, k);
    fields_text(&function, "description");
    check_parameters(&function);
    t->strict[i] = fields_flag(&function, "strict", false);
    fields_finish(&function);
    fields_finish(&f);
    fields_free(&function);
    fields_free(&f);
}

/* A copy for the template, without "strict", which is said to the server. */
static void tools_copy(openai_tools *t, const json_t *list, request_error *error)
{
    json_t *tool;
    size_t i;
    t->list = json_deep_copy(list);
    t->owned_names = calloc(json_array_size(list) + 1, sizeof *t->owned_names);
    t->strict = calloc(json_array_size(list) + 1, sizeof *t->strict);
    if (!t->list || !t->owned_names || !t->strict) {
        request_fail(error, 503, NULL, "out of memory for the request");
        return;
    }
    t->names.list = t->owned_names;
    json_array_foreach(t->list, i, tool) {
        tool_check(tool, i, t, error);
        json_t *function = json_object_get(tool, "function");
        const char *name = json_string_value(json_object_get(function, "name"));
        json_object_del(function, "strict");
        t->owned_names[t->names.count++] = name ? name : "";
    }
}

static void tools_take(openai_tools *t, fields *f, exchange *x)
{
    const json_t *list = fields_value(f, "tools");
    if (list && !json_is_array(list))
        fields_fail(f, "tools", "a list is expected");
    else if (json_array_size(list) > MAX_TOOLS)
        fields_fail(f, "tools", "%zu tools, where at most %d are taken", json_array_size(list), MAX_TOOLS);
    else if (json_array_size(list) > 0 &&
             request_asks(x, ADMISSION_READING, TREE_OF_BYTE * json_dumpb(list, NULL, 0, JSON_COMPACT), f->error, "%zu tools",
                          json_array_size(list)))
        tools_copy(t, list, f->error);
}

/* ---- which are to be called --------------------------------------------------------------------------------------------- */

static void choose_function(openai_tools *t, fields *f)
{
    static const char *const types[] = {"function"};
    fields choice, function;
    size_t i = 0;
    fields_object(f, "tool_choice", &choice);
    if (fields_word(&choice, "type", types, 1, 1) == 1)
        fields_required_text(&choice, "type");
    if (!fields_object(&choice, "function", &function))
        fields_fail(&choice, "function", "this field is required");
    const char *name = fields_required_text(&function, "name");
    while (i < t->names.count && strcmp(t->names.list[i], name) != 0)
        i++;
    if (i == t->names.count)
        fields_fail(&function, "name", "no tool is called \"%.*s\"", MAX_NAME, name);
    else
        t->only = t->names.list[i];
    t->required = true;
    fields_finish(&function);
    fields_finish(&choice);
    fields_free(&function);
    fields_free(&choice);
}

/* Whether calls are wanted at all. */
static bool tools_choose(openai_tools *t, fields *f)
{
    static const char *const words[] = {"none", "auto", "required"};
    enum { NONE, AUTO, REQUIRED };
    size_t choice = AUTO;
    if (json_is_object(fields_value(f, "tool_choice")))
        choose_function(t, f);
    else
        choice = fields_word(f, "tool_choice", words, 3, AUTO);
    t->required = t->required || choice == REQUIRED;
    t->single = !fields_flag(f, "parallel_tool_calls", true) || t->only;
    if (t->required && t->names.count == 0)
        fields_fail(f, "tool_choice", "there are no \"tools\"");
    return choice != NONE;
}

static void forget_tools(openai_tools *t)
{
    openai_tools_free(t);
    *t = (openai_tools){.list = NULL};
}

void openai_tools_free(openai_tools *t)
{
    json_decref(t->list);
    free(t->owned_names);
    free(t->strict);
}

void openai_tools_read(openai_request *r, const openai_asked *q)
{
    fields *f = q->f;
    openai_tools *t = &r->tools;
    tools_take(t, f, q->x);
    if (!tools_choose(t, f) || t->names.count == 0 || !q->s->chat) {
        forget_tools(t);
        return;
    }
    t->format = q->s->tools;
    if (!t->format.takes_tools)
        fields_fail(f, "tools", "the chat template of \"%s\" takes no tools; \"tool_choice\": \"none\" leaves them out",
                    q->s->name);
    else if (t->format.family == TOOLS_UNKNOWN)
        fields_fail(f, "tools", "the chat template of \"%s\" writes calls in a form that is not known here; known are those of "
                    "Hermes and Qwen, of Llama 3 and of Mistral", q->s->name);
    else if (t->required && t->format.family == TOOLS_MISTRAL_ARGS && !t->only && t->names.count > 1)
        fields_fail(f, "tool_choice", "with the form of calls of \"%s\" only one function can be required: name it", q->s->name);
    if (t->format.family == TOOLS_MISTRAL_ARGS && t->required && !t->only)
        t->only = t->names.list[0];
}

/* ---- the schema of calls ------------------------------------------------------------------------------------------------ */

static bool is_among(const char *key, const char *const *list)
{
    while (*list && strcmp(key, *list) != 0)
        list++;
    return *list;
}

/* References within `schema`, which is now at `place` of a larger one. With `of_names` it has schemas by names, which may be
 * keywords, too. False: out of memory. */
static bool move_references(json_t *schema, const char *place, bool of_names)
{
    static const char *const values[] = {"const", "enum", "default", "examples", NULL};
    static const char *const schemas[] = {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions", NULL};
    const char *key;
    json_t *inner;
    void *next;
    size_t i;
    bool fine = true;
    json_object_foreach_safe(schema, next, key, inner) {
        const char *to = json_string_value(inner);
        if (!of_names && strcmp(key, "$ref") == 0 && to && *to == '#') {
            json_t *moved = json_sprintf("#%s%s", place, to + 1);
            fine = fine && moved && json_object_set_new(schema, key, moved) == 0;
        } else if (of_names || !is_among(key, values)) {
            fine = fine && move_references(inner, place, !of_names && is_among(key, schemas));
        }
    }
    json_array_foreach(schema, i, inner)
        fine = fine && move_references(inner, place, false);
    return fine;
}

/* The parameters of tool `i`, at `place` of the whole. NULL: out of memory. */
static json_t *call_parameters(const openai_tools *t, size_t i, const char *place)
{
    const json_t *given = json_object_get(json_object_get(json_array_get(t->list, i), "function"), "parameters");
    const bool any = !t->required && !t->strict[i]; /* object */
    json_t *schema = any                           ? json_object()
                   : json_object_size(given) > 0 ? json_deep_copy(given)
                                                 : json_pack("{s:{}}", "properties");
    json_object_del(schema, "$id");
    if (schema && json_object_set_new(schema, "type", json_string("object")) == 0 && move_references(schema, place, false))
        return schema;
    json_decref(schema);
    return NULL;
}

/* One call of tool `i`. */
static json_t *call_schema(const openai_tools *t, size_t i, const char *above)
{
    char place[64];
    const char *key = tool_format_arguments(t->format.family);
    snprintf(place, sizeof place, "%s/properties/%s", above, key);
    if (t->format.family == TOOLS_MISTRAL_ARGS)
        return call_parameters(t, i, above);
    json_t *parameters = call_parameters(t, i, place);
    return parameters ? json_pack("{s:s, s:{s:{s:s}, s:o}, s:[s, s], s:b}", "type", "object", "properties", "name", "const",
                                  t->names.list[i], key, parameters, "required", "name", key, "additionalProperties", 0)
                      : NULL;
}

/* One call of any tool that may be called. */
static json_t *any_call_schema(const openai_tools *t, const char *above)
{
    char place[64];
    size_t wanted = 0;
    json_t *list = json_array();
    while (t->only && strcmp(t->names.list[wanted], t->only) != 0)
        wanted++;
    if (t->only || t->names.count == 1) {
        json_decref(list);
        return call_schema(t, wanted, above);
    }
    bool fine = list != NULL;
    for (size_t i = 0; i < t->names.count && fine; i++) {
        snprintf(place, sizeof place, "%s/anyOf/%zu", above, i);
        fine = json_array_append_new(list, call_schema(t, i, place)) == 0;
    }
    return json_pack("{s:o}", "anyOf", list);
}

static json_t *reply_schema(const openai_tools *t)
{
    if (t->format.family != TOOLS_MISTRAL)
        return any_call_schema(t, "");
    json_t *call = any_call_schema(t, "/items");
    return call ? json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items", call, "minItems", 1, "maxItems",
                            t->single ? 1 : MAX_CALLS)
                : NULL;
}

/* Where the parameters of tool `i` are in the schema of a reply, of `several` tools. */
static void parameters_place(const openai_tools *t, size_t i, bool several, char *place, size_t size)
{
    char choice[32] = "";
    const bool args = t->format.family == TOOLS_MISTRAL_ARGS;
    if (several)
        snprintf(choice, sizeof choice, "/anyOf/%zu", i);
    snprintf(place, size, "#%s%s%s%s", t->format.family == TOOLS_MISTRAL ? "/items" : "", choice, args ? "" : "/properties/",
             args ? "" : tool_format_arguments(t->format.family));
}

/* Writes `text` with # for each `place`. */
static void write_without_place(const char *text, const char *place, char *out, size_t size)
{
    size_t used = 0;
    while (*text && used + 1 < size) {
        const size_t skipped = strncmp(text, place, strlen(place)) == 0 ? strlen(place) : 1;
        out[used++] = skipped > 1 ? '#' : *text;
        text += skipped;
    }
    out[used] = '\0';
}

/* Names the tool whose parameters are at fault: the only one, or the one that has the place of the error. No schema is made for
 * that: many tools would take many times what one may. */
static void blame_tool(const openai_tools *t, fields *f)
{
    const bool several = !t->only && t->names.count > 1;
    for (size_t i = 0; i < t->names.count; i++) {
        char place[64], path[48], text[sizeof f->error->message];
        parameters_place(t, i, several, place, sizeof place);
        const char *why = strstr(f->error->message, ": "), *at = strchr(f->error->message, '#');
        const bool here = at && strncmp(at, place, strlen(place)) == 0 && strchr("/:", at[strlen(place)]);
        if (!why || (several ? !here : t->only && t->names.list[i] != t->only))
            continue;
        write_without_place(why + 2, place, text, sizeof text);
        snprintf(path, sizeof path, "tools[%zu].function.parameters", i);
        *f->error = (request_error){.status = 0};
        request_fail(f->error, 400, path, "%s: %s", path, text);
        return;
    }
}

bool openai_tools_opening(const openai_tools *t, char **text, fields *f)
{
    const bool args = t->format.family == TOOLS_MISTRAL_ARGS;
    *text = NULL;
    if (!t->required)
        return true;
    if (asprintf(text, "%s%s%s%s", t->format.opening, args ? t->only : "", args && t->format.call_ids ? CALL_ID : "",
                 args ? "[ARGS]" : "") >= 0)
        return true;
    *text = NULL;
    request_fail(f->error, 503, NULL, "out of memory for the request");
    return false;
}

/* Whether a tool is strict, and a marker that is one token begins each call, so that its arguments can be made to obey. */
static bool keeps_strict(const openai_tools *t, const rapt_model *m)
{
    const tool_family family = t->format.family;
    bool strict = false;
    for (size_t i = 0; i < t->names.count; i++)
        strict = strict || t->strict[i];
    return strict && (family == TOOLS_HERMES || family == TOOLS_MISTRAL) &&
           rapt_tokenizer_special(m->language.tokenizer, tool_format_marker(family)) >= 0;
}

void openai_tools_constrain(openai_request *r, const openai_asked *q)
{
    fields *f = q->f;
    const openai_tools *t = &r->tools;
    if (t->list && r->options.schema)
        fields_fail(f, "response_format", "beside \"tools\" only text is taken");
    const bool strict = !t->required && keeps_strict(t, q->m);
    if ((!t->required && !strict) || f->error->status)
        return;
    if (strict)
        r->options.marker = tool_format_marker(t->format.family);
    json_t *schema = reply_schema(t);
    r->options.schema = schema ? json_dumps(schema, JSON_COMPACT) : NULL;
    json_decref(schema);
    if (!r->options.schema) {
        request_fail(f->error, 503, NULL, "out of memory for the request");
        return;
    }
    const char *field = strict ? "tools" : "tool_choice";
    openai_format_constrain(r, q, field);
    if (f->error->status == 400 && strcmp(f->error->param, field) == 0)
        blame_tool(t, f);
}
