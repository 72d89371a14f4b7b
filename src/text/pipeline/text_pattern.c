/* text/pipeline/text_pattern.c: searches for a text or a regular expression. */
#include "text/pipeline/text_pattern.h"

#include "base/chars.h"
#include "text/split/split_known.h"

#include <stdlib.h>
#include <string.h>

void text_pattern_free(text_pattern *p)
{
    free(p->text);
    split_free(p->regex);
    *p = (text_pattern){0};
}

static rapt_code read_regex(const hf_reading *r, const char *what, const char *regex, bool may_be_empty, text_pattern *out)
{
    rapt_error why = {0};
    const split_known *known = split_known_find(regex);
    if (known && strcmp(known->portable, regex) != 0)
        return hf_refuse(r, "a pattern of tiktoken's, which tokenizers reads otherwise,", NULL);
    out->regex = split_new(regex, &why);
    if (!out->regex)
        return rapt_fail(r->err, why.code, "%s: %s: %s", r->path, what, why.message);
    if (!may_be_empty && split_may_be_empty(out->regex))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: a pattern that matches no text is not supported", r->path, what);
    return RAPT_OK;
}

rapt_code text_pattern_read(const hf_reading *r, const char *what, const json_t *pattern, bool may_be_empty, text_pattern *out)
{
    const json_t *text = json_object_get(pattern, "String"), *regex = json_object_get(pattern, "Regex");
    const json_t *value = text ? text : regex;
    *out = (text_pattern){0};
    if (!json_is_string(value) || json_object_size(pattern) != 1 || strlen(json_string_value(value)) != json_string_length(value))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: the pattern is no String and no Regex", r->path, what);
    if (regex)
        return read_regex(r, what, json_string_value(regex), may_be_empty, out);
    out->length = json_string_length(text);
    if (out->length == 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: the pattern is empty", r->path, what);
    out->text = chars_copy(json_string_value(text));
    return out->text ? RAPT_OK : rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", r->path);
}

rapt_code text_growth_fail(size_t limit, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "the tokenizer makes more than %zu bytes of a text", limit);
}

rapt_code text_matcher_begin(text_matcher *m, const text_pattern *p, rapt_error *err)
{
    *m = (text_matcher){p, p->regex ? split_walk_new(p->regex, err) : NULL};
    if (p->regex && !m->walk)
        return RAPT_ERR_MEMORY;
    return RAPT_OK;
}

void text_matcher_end(text_matcher *m)
{
    split_walk_free(m->walk);
}

rapt_code text_matcher_next(text_matcher *m, const char *text, size_t size, size_t from, size_t *end, bool *match,
                            rapt_error *err)
{
    if (m->walk)
        return split_next_match(m->walk, text, size, from, end, match, err);
    const char *found = chars_find(text + from, size - from, m->pattern->text, m->pattern->length);
    *match = found == text + from;
    *end = *match ? from + m->pattern->length : found ? (size_t)(found - text) : size;
    return RAPT_OK;
}
