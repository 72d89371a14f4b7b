/* text/hf/hf_normalizer.c: a normalizer in a Hugging Face tokenizer.json, read and written. For hf_components.c and
 * hf_write.c. */
#include "text/normalizer.h"

#include <string.h>

/* Those without options that matter. */
static const struct {
    const char *type;
    normalizer_kind kind;
} PLAIN[] = {{"NFC", NORMALIZER_NFC}, {"NFKC", NORMALIZER_NFKC}, {"Nmt", NORMALIZER_NMT}, {"Lowercase", NORMALIZER_LOWERCASE}};

#define SEVERAL_SPACES " {2,}"

static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static rapt_code read_replace(normalizer *n, const json_t *part, rapt_error *err)
{
    const json_t *pattern = json_object_get(part, "pattern");
    const char *from = text_of(json_object_get(pattern, "String")), *regex = text_of(json_object_get(pattern, "Regex"));
    const char *to = text_of(json_object_get(part, "content"));
    if (from && *from && to)
        return normalizer_add(n, NORMALIZER_REPLACE, from, to, err);
    bool squeeze = regex && strcmp(regex, SEVERAL_SPACES) == 0 && to && strcmp(to, " ") == 0;
    return squeeze ? normalizer_add(n, NORMALIZER_SQUEEZE, NULL, NULL, err) : RAPT_ERR_FORMAT;
}

static rapt_code read_strip(normalizer *n, const json_t *part, rapt_error *err)
{
    bool both = json_is_true(json_object_get(part, "strip_left")) && json_is_true(json_object_get(part, "strip_right"));
    return both ? normalizer_add(n, NORMALIZER_STRIP, NULL, NULL, err) : RAPT_ERR_FORMAT;
}

static rapt_code hf_normalizer_read_step(normalizer *n, const json_t *part, rapt_error *err)
{
    const char *type = json_string_value(json_object_get(part, "type"));
    if (!type)
        return RAPT_ERR_FORMAT;
    if (strcmp(type, "Replace") == 0)
        return read_replace(n, part, err);
    if (strcmp(type, "Strip") == 0)
        return read_strip(n, part, err);
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        if (strcmp(type, PLAIN[i].type) == 0)
            return normalizer_add(n, PLAIN[i].kind, NULL, NULL, err);
    return RAPT_ERR_FORMAT;
}

rapt_code normalizer_read(normalizer *n, const json_t *part, rapt_error *err)
{
    const char *type = json_string_value(json_object_get(part, "type"));
    const json_t *list = json_object_get(part, "normalizers");
    if (!type || strcmp(type, "Sequence") != 0)
        return hf_normalizer_read_step(n, part, err);
    rapt_code code = json_is_array(list) ? RAPT_OK : RAPT_ERR_FORMAT;
    for (size_t i = 0; i < json_array_size(list) && !code; i++)
        code = hf_normalizer_read_step(n, json_array_get(list, i), err);
    return code;
}

static json_t *step_to_json(const normalizer_step *s)
{
    if (s->kind == NORMALIZER_REPLACE)
        return json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String", s->from, "content", s->to);
    if (s->kind == NORMALIZER_SQUEEZE)
        return json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", SEVERAL_SPACES, "content", " ");
    if (s->kind == NORMALIZER_STRIP)
        return json_pack("{s:s, s:b, s:b}", "type", "Strip", "strip_left", 1, "strip_right", 1);
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        if (s->kind == PLAIN[i].kind)
            return json_pack("{s:s}", "type", PLAIN[i].type);
    return NULL;
}

json_t *normalizer_to_json(const normalizer *n)
{
    if (n->count == 0)
        return json_null();
    if (n->count == 1)
        return step_to_json(&n->steps[0]);
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i < n->count && ok; i++)
        ok = json_array_append_new(list, step_to_json(&n->steps[i])) == 0;
    json_t *whole = ok ? json_pack("{s:s, s:O}", "type", "Sequence", "normalizers", list) : NULL;
    json_decref(list);
    return whole;
}
