/* serve/serve_config.c: reads libyaml's events, as for recipes: no anchors, aliases or tags. */
#include "serve/serve_config.h"

#include "base/file.h"
#include "base/quote.h"
#include "serve/serve_keys.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { CONFIG_MAX = 1 << 20, SEEN_MAX = 64, NAME_MAX_BYTES = 65 };

/* The keys of a group so far. Reading ends at the first unknown key, and there are fewer known keys than SEEN_MAX. */
typedef struct seen_keys {
    char names[SEEN_MAX][NAME_MAX_BYTES];
    size_t count;
} seen_keys;

typedef struct config_reader {
    const char *path;
    serve_options *o;
    rapt_error *err;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    seen_keys seen;     /* outside of models */
} config_reader;

RAPT_PRINTF(3, 4)
static rapt_code fail_at(const config_reader *r, size_t line, const char *format, ...)
{
    char reason[400];
    va_list list;
    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    return rapt_fail(r->err, RAPT_ERR_VALUE, "%s:%zu: %s", r->path, line, reason);
}

static size_t config_line(const config_reader *r)
{
    return r->event.start_mark.line + 1;
}

static rapt_code next_config_event(config_reader *r)
{
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event))
        return RAPT_OK;
    const char *problem = r->parser.problem ? r->parser.problem : "unknown problem";
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s:%zu: not YAML: %s", r->path, r->parser.problem_mark.line + 1, problem);
}

/* The text of the current event. */
static rapt_code config_scalar(const config_reader *r, const char **text)
{
    const yaml_event_t *e = &r->event;
    if (e->type != YAML_SCALAR_EVENT || e->data.scalar.anchor || e->data.scalar.tag)
        return fail_at(r, config_line(r), "a plain value is expected here: no list, group, anchor or tag");
    *text = (const char *)e->data.scalar.value;
    return strlen(*text) == e->data.scalar.length ? RAPT_OK : fail_at(r, config_line(r), "a text holds a NUL character");
}

/* The outcome of serve_keys.h as an error of a line. */
static rapt_code tell(const config_reader *r, size_t line, const char *name, rapt_code code, const char *reason)
{
    if (code == RAPT_ERR_MEMORY)
        return rapt_fail(r->err, code, "%s: out of memory", r->path);
    return code ? fail_at(r, line, "%s: %s", quote(name).text, reason) : RAPT_OK;
}

/* The current event, a key, becomes `name`; the next one is its value's first. */
static rapt_code read_key(config_reader *r, char name[NAME_MAX_BYTES], size_t *line)
{
    const char *text = NULL;
    *line = config_line(r);
    if (config_scalar(r, &text))
        return RAPT_ERR_VALUE;
    if (strlen(text) >= NAME_MAX_BYTES)
        return fail_at(r, *line, "unknown key %s", quote(text).text);
    strcpy(name, text);
    return next_config_event(r);
}

static rapt_code meet_config_key(const config_reader *r, seen_keys *seen, const char *key, size_t line)
{
    for (size_t i = 0; i < seen->count; i++)
        if (strcmp(seen->names[i], key) == 0)
            return fail_at(r, line, "%s comes twice", quote(key).text);
    if (seen->count < SEEN_MAX)
        strcpy(seen->names[seen->count++], key);
    return RAPT_OK;
}

static rapt_code read_model(config_reader *r, serve_model *m)
{
    seen_keys seen = {.count = 0};
    char key[NAME_MAX_BYTES], reason[SERVE_REASON];
    const char *text = NULL;
    size_t line;
    rapt_code code;
    while (!(code = next_config_event(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
        if ((code = read_key(r, key, &line)) || (code = meet_config_key(r, &seen, key, line)) ||
            (code = config_scalar(r, &text)))
            return code;
        if ((code = tell(r, line, key, serve_keys_set_model(m, key, text, reason), reason)))
            return code;
    }
    return code;
}

/* "NAME: PATH", or "NAME: {path: ...}". */
static rapt_code read_models(config_reader *r)
{
    char name[NAME_MAX_BYTES], reason[SERVE_REASON];
    const char *path = NULL;
    size_t line;
    serve_model *m;
    rapt_code code;
    if (r->event.type != YAML_MAPPING_START_EVENT)
        return fail_at(r, config_line(r), "models: a group of NAME: PATH is expected here");
    while (!(code = next_config_event(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
        if ((code = read_key(r, name, &line)))
            return code;
        const bool group = r->event.type == YAML_MAPPING_START_EVENT;
        if (!group && (code = config_scalar(r, &path)))
            return code;
        code = tell(r, line, name, serve_keys_add_model(r->o, name, group ? NULL : path, &m, reason), reason);
        if (!code && group)
            code = read_model(r, m);
        if (code)
            return code;
        if (!m->path)
            return fail_at(r, line, "%s: the model has no path", name);
    }
    return code;
}

/* A value, or a list of them for a key that takes several. */
static rapt_code read_config_values(config_reader *r, const char *key, size_t line)
{
    char reason[SERVE_REASON];
    const char *text = NULL;
    rapt_code code = RAPT_OK;
    const bool list = r->event.type == YAML_SEQUENCE_START_EVENT;
    if (list && !serve_keys_is_list(key))
        return fail_at(r, line, "%s takes one value", quote(key).text);
    while (!list || (!(code = next_config_event(r)) && r->event.type != YAML_SEQUENCE_END_EVENT)) {
        if ((code = config_scalar(r, &text)) || (code = tell(r, line, key, serve_keys_set(r->o, key, text, reason), reason)))
            return code;
        if (!list)
            return RAPT_OK;
    }
    return code;
}

static rapt_code read_config_mapping(config_reader *r)
{
    char key[NAME_MAX_BYTES];
    size_t line;
    rapt_code code;
    while (!(code = next_config_event(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
        if ((code = read_key(r, key, &line)) || (code = meet_config_key(r, &r->seen, key, line)))
            return code;
        if ((code = strcmp(key, "models") == 0 ? read_models(r) : read_config_values(r, key, line)))
            return code;
    }
    return code;
}

static rapt_code read_config_document(config_reader *r)
{
    rapt_code code = next_config_event(r); /* the stream's start */
    if (!code)
        code = next_config_event(r);
    if (code || r->event.type == YAML_STREAM_END_EVENT)
        return code;
    if ((code = next_config_event(r)))
        return code;
    if (r->event.type != YAML_MAPPING_START_EVENT)
        return fail_at(r, config_line(r), "keys with values are expected, such as port: 8080");
    code = read_config_mapping(r);
    if (!code && !(code = next_config_event(r)) && !(code = next_config_event(r)) && r->event.type != YAML_STREAM_END_EVENT)
        return fail_at(r, config_line(r), "a second document");
    return code;
}

rapt_code serve_config_read(serve_options *o, const char *path, rapt_error *err)
{
    char *text;
    size_t size;
    config_reader r = {.path = path, .o = o, .err = err};
    rapt_code code = file_read(path, CONFIG_MAX, &text, &size, err);
    if (code)
        return code;
    if (yaml_parser_initialize(&r.parser)) {
        yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
        code = read_config_document(&r);
        yaml_event_delete(&r.event);
        yaml_parser_delete(&r.parser);
    } else
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", path);
    free(text);
    return code;
}
