/* serve/module/openai_format.c: reads schemas, in little time and memory, or takes what an earlier request has read. */
#define _GNU_SOURCE /* strdup, asprintf */
#include "serve/module/openai_format.h"

#include "decode/schema/constraint.h"
#include "io/model_core.h"
#include "serve/module/reply.h"
#include "serve/module/schema_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AUTOMATON = 8 << 20,     /* bytes of the largest automaton */
    SMALL_AUTOMATON = 1 << 20, /* bytes of an automaton whatever the size of its schema */
    AUTOMATON_OF_BYTE = 64,  /* bytes of an automaton for each byte of its schema */
    READING = 2 << 20,       /* bytes while a schema is read: above all, of one pattern */
    TREE_OF_BYTE = 100       /* bytes while a schema is read, for each of its bytes */
};

static size_t automaton_bytes(size_t size)
{
    const size_t bytes = SMALL_AUTOMATON + AUTOMATON_OF_BYTE * size;
    return bytes < AUTOMATON ? bytes : AUTOMATON;
}

/* The schema as text, to be freed; NULL with the error set. */
static char *schema_text_in(fields *f)
{
    char *text = NULL;
    fields_ignore(f, "name");
    fields_ignore(f, "description");
    fields_flag(f, "strict", true); /* every schema is obeyed strictly */
    const json_t *schema = fields_value(f, "schema");
    if (!schema)
        fields_fail(f, "schema", "is required");
    else if (!(text = json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY)))
        request_fail(f->error, 503, NULL, "out of memory for the request");
    return text;
}

/* `flat`: name and schema stand beside the type, not in an object of their own. */
static char *format_schema(fields *format, bool flat, openai_options *o)
{
    fields f;
    if (flat) {
        const char *name = fields_text(format, "name");
        if (name && !(o->schema_name = strdup(name)))
            request_fail(format->error, 503, NULL, "out of memory for the request");
        return schema_text_in(format);
    }
    if (!fields_object(format, "json_schema", &f))
        fields_fail(format, "json_schema", "is required");
    char *text = schema_text_in(&f);
    fields_finish(&f);
    fields_free(&f);
    return text;
}

static void format_fail(fields *f, const char *field, rapt_code code, const rapt_error *err)
{
    request_fail(f->error, reply_status(code), field, "%s: %s", field, err->message);
}

/* `key` is the text, behind the marker if there is one: what schemas are remembered by. */
static rapt_constraint *constraint_of_key(const openai_asked *q, const char *field, const char *key, const char *marker)
{
    fields *f = q->f;
    rapt_error err = {0};
    const char *text = marker ? key + strlen(marker) : key;
    const size_t size = strlen(text), memory = automaton_bytes(size);
    const bool patterns = strstr(text, "\"pattern\":") || strstr(text, "\"format\":");
    const size_t asked = memory + READING + TREE_OF_BYTE * size + (patterns ? SCHEMA_TABLES : 0);
    schema_cache *cache = app_schemas(q->app);
    rapt_constraint *c = schema_cache_find(cache, key, strlen(key));
    if (c)
        return c;
    if (!request_asks(q->x, ADMISSION_MAKING, asked, f->error, "a schema of %zu bytes", size))
        return NULL;
    if (!(c = marker ? constraint_new_after(marker, text, size, memory, &err) : constraint_new(text, size, memory, &err)))
        format_fail(f, field, err.code, &err);
    else
        schema_cache_keep(cache, key, strlen(key), c);
    return c;
}

static rapt_constraint *format_constraint(const openai_asked *q, const char *field, const openai_options *o)
{
    char *key = NULL;
    if (o->marker && asprintf(&key, "%s%s", o->marker, o->schema) < 0) {
        request_fail(q->f->error, 503, NULL, "out of memory for the request");
        return NULL;
    }
    rapt_constraint *c = constraint_of_key(q, field, key ? key : o->schema, o->marker);
    free(key);
    return c;
}

void openai_format_constrain(openai_request *r, const openai_asked *q, const char *field)
{
    rapt_error err = {0};
    fields *f = q->f;
    openai_options *o = &r->options;
    if (o->o.stop_count > 0 && !o->marker)
        fields_fail(f, "stop", "beside %s it would end JSON that is not whole", field);
    if (f->error->status || !(o->constraint = format_constraint(q, field, o)))
        return;
    o->o.constraint = o->constraint;
    const rapt_code code = constraint_check(o->constraint, q->m->language.tokenizer, &err);
    if (code)
        format_fail(f, field, code, &err);
}

/* The field `key` of `outer`, which messages call `field`. */
static void format_read(openai_request *r, const openai_asked *q, fields *outer, const char *key, const char *field)
{
    static const char *const types[] = {"text", "json_object", "json_schema"};
    enum { TEXT, OBJECT, SCHEMA, ABSENT };
    fields format;
    if (fields_object(outer, key, &format)) {
        const size_t type = fields_word(&format, "type", types, ABSENT, ABSENT);
        if (type == ABSENT)
            fields_fail(&format, "type", "is required");
        if (type == OBJECT && !(r->options.schema = strdup(CONSTRAINT_OBJECT)))
            request_fail(q->f->error, 503, NULL, "out of memory for the request");
        if (type == SCHEMA)
            r->options.schema = format_schema(&format, outer != q->f, &r->options);
        fields_finish(&format);
        if (r->options.schema && !q->f->error->status)
            openai_format_constrain(r, q, field);
    }
    fields_free(&format);
}

void openai_format_read(openai_request *r, const openai_asked *q)
{
    format_read(r, q, q->f, "response_format", "response_format");
}

void openai_format_read_text(openai_request *r, const openai_asked *q)
{
    fields text;
    if (fields_object(q->f, "text", &text)) {
        fields_neutral(&text, "verbosity", "[\"medium\"]");
        format_read(r, q, &text, "format", "text.format");
        fields_finish(&text);
    }
    fields_free(&text);
}

json_t *openai_format_text(const openai_request *r)
{
    const char *schema = r->options.schema, *name = r->options.schema_name;
    if (!schema)
        return json_pack("{s:{s:s}}", "format", "type", "text");
    if (!name && strcmp(schema, CONSTRAINT_OBJECT) == 0)
        return json_pack("{s:{s:s}}", "format", "type", "json_object");
    return json_pack("{s:{s:s, s:s, s:b, s:o}}", "format", "type", "json_schema", "name", name ? name : "", "strict", 1, "schema",
                     json_loads(schema, JSON_DECODE_ANY, NULL));
}

void openai_format_replay(const openai_request *r, replay *to)
{
    const char *schema = r->options.schema;
    if (!schema || r->options.marker)
        return;
    if (strcmp(schema, CONSTRAINT_OBJECT) == 0) {
        replay_words(to, " --json-object");
        return;
    }
    replay_text(to, "--json-schema <(printf %s", schema, strlen(schema));
    replay_words(to, ")");
}
