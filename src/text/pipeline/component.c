/* text/pipeline/component.c: reads parts of components. */
#include "text/pipeline/component.h"

#include "base/chars.h"
#include "base/quote.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rapt_code component_no_memory(const hf_reading *r)
{
    return rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", r->path);
}

static bool is_named(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

rapt_code component_check_keys(const hf_reading *r, const char *what, const json_t *part, const char *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)part, key, value)
    {
        if (!hf_is_off(value) && !is_named(known, key))
            return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: %s is not supported", r->path, what, quote(key).text);
    }
    return RAPT_OK;
}

rapt_code component_text(const hf_reading *r, const char *what, const json_t *part, const char *key, char **out)
{
    const json_t *value = json_object_get(part, key);
    const char *text = json_string_value(value);
    if (!text || strlen(text) != json_string_length(value))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: %s is no text", r->path, what, key);
    *out = chars_copy(text);
    return *out ? RAPT_OK : component_no_memory(r);
}

rapt_code component_character(const hf_reading *r, const char *what, const json_t *part, const char *key, char out[5])
{
    const json_t *value = json_object_get(part, key);
    size_t size = json_string_length(value);
    uint32_t code;
    if (size == 0 || utf8_decode(json_string_value(value), size, &code) != size || code == 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: %s is not one character", r->path, what, key);
    memcpy(out, json_string_value(value), size + 1);
    return RAPT_OK;
}

rapt_code component_bool(const hf_reading *r, const char *what, const json_t *part, const char *key, bool missing, bool *out)
{
    const json_t *value = json_object_get(part, key);
    *out = value && !json_is_null(value) ? json_is_true(value) : missing;
    if (value && !json_is_null(value) && !json_is_boolean(value))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: %s is neither true nor false", r->path, what, key);
    return RAPT_OK;
}

typedef struct component_reading {
    const hf_reading *r;
    const char *what, *list;
    const component_type *types;
    size_t count;
    void *out;
} component_reading;

static rapt_code read_one_component(const component_reading *c, const json_t *part)
{
    char what[64], keys[256];
    for (size_t i = 0; i < c->count; i++) {
        const component_type *t = &c->types[i];
        if (strcmp(hf_type(part), t->type) != 0)
            continue;
        snprintf(what, sizeof what, "%s %s", c->what, t->type);
        snprintf(keys, sizeof keys, "type %s", t->keys);
        rapt_code code = component_check_keys(c->r, what, part, keys);
        return code ? code : t->read(c->r, part, c->out);
    }
    return hf_refuse(c->r, c->what, part);
}

static rapt_code component_walk(const component_reading *c, const json_t *part, int depth)
{
    const json_t *list = json_object_get(part, c->list);
    if (strcmp(hf_type(part), "Sequence") != 0)
        return read_one_component(c, part);
    if (!json_is_array(list) || depth == COMPONENT_DEPTH)
        return hf_refuse(c->r, c->what, part);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < json_array_size(list) && !code; i++)
        code = component_walk(c, json_array_get(list, i), depth + 1);
    return code;
}

rapt_code component_read(const hf_reading *r, const char *what, const char *list, const json_t *part, const component_type *types,
                         size_t count, void *out)
{
    const component_reading c = {r, what, list, types, count, out};
    return !part || json_is_null(part) ? RAPT_OK : component_walk(&c, part, 0);
}
