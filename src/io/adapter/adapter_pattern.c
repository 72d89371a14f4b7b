/* io/adapter/adapter_pattern.c: patterns of modules. Python's `re` reads them in PEFT, PCRE2 here: what the two could read
 * differently is refused. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "io/adapter/adapter_pattern.h"

#include "base/quote.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A match takes some steps for each byte of the name. This limit and the limits of patterns and modules (adapter.c) bound the
 * time of all. */
enum { PATTERNS_MAX = 512, PATTERN_BYTES = 256, PATTERN_STEPS = 1000, COUNT_DIGITS = 3 };

typedef struct adapter_pattern {
    const char *key; /* borrowed from the object */
    double value;
    pcre2_code *code;
    const char *kind;
    bool used;
} adapter_pattern;

/* ---- syntax ------------------------------------------------------------------------------------------------------- */

/* The size of a count, {3}, {3,} or {3,4}; 0: other text, which Python reads as characters. */
static size_t pattern_count_size(const char *p)
{
    size_t first = 1 + strspn(p + 1, "0123456789"), end = first;
    if (p[end] == ',')
        end += 1 + strspn(p + end + 1, "0123456789");
    return first > 1 && first <= 1 + COUNT_DIGITS && end - first <= 1 + COUNT_DIGITS && p[end] == '}' ? end + 1 : 0;
}

/* The size of the next unit of a pattern that both libraries read alike, or 0 with a reason. */
static size_t pattern_unit(const char *p, bool *in_set, const char **reason)
{
    *reason = "only letters, digits and . * + ? | ^ $ ( ) [ ] { } \\d \\w _ - , are supported";
    if (*p == '\\')
        return p[1] && strchr("dw.-_[](){}*+?|^$\\", p[1]) ? 2 : 0;
    if (*in_set) {
        *in_set = *p != ']';
        return isalnum((unsigned char)*p) || strchr("_-.^$*+?|(){},]", *p) ? 1 : 0;
    }
    if (*p == '[') {
        *in_set = true;
        return 1 + (p[1] == '^') + (p[1 + (p[1] == '^')] == ']'); /* "]" is a member at the beginning of a set */
    }
    const size_t size = *p == '{' ? pattern_count_size(p) : strchr("*+?", *p) ? 1 : 0;
    if (size > 0 && p[size] == '+') {
        *reason = "possessive repetition is not supported";
        return 0;
    }
    if (*p == '(' && (p[1] == '?' || p[1] == '*')) {
        *reason = "groups with an extension, (?, are not supported";
        return 0;
    }
    return size > 0 ? size : isalnum((unsigned char)*p) || strchr("_-.|^$(),", *p) ? 1 : 0;
}

static const char *pattern_reason(const char *key)
{
    bool in_set = false;
    const char *reason = NULL;
    const size_t length = strlen(key);
    if (length == 0 || length > PATTERN_BYTES)
        return length ? "it is longer than 256 bytes" : "it is empty";
    for (size_t i = 0, size; i < length; i += size)
        if ((size = pattern_unit(key + i, &in_set, &reason)) == 0)
            return reason;
    return NULL;
}

static rapt_code pattern_compile(adapter_pattern *p, rapt_error *err)
{
    char whole[PATTERN_BYTES + 16], text[200];
    int number;
    PCRE2_SIZE at = 0;
    const char *reason = pattern_reason(p->key);
    if (reason)
        return rapt_fail(err, RAPT_ERR_VALUE, "\"%s\" has \"%s\"; %s", p->kind, quote(p->key).text, reason);
    snprintf(whole, sizeof whole, "(.*\\.)?(%s)$", p->key);
    p->code = pcre2_compile((PCRE2_SPTR)whole, PCRE2_ZERO_TERMINATED, PCRE2_ANCHORED, &number, &at, NULL);
    if (p->code)
        return RAPT_OK;
    pcre2_get_error_message(number, (PCRE2_UCHAR *)text, sizeof text);
    return number == PCRE2_ERROR_NOMEMORY || number == PCRE2_ERROR_HEAP_FAILED
               ? rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for \"%s\"", p->kind)
               : rapt_fail(err, RAPT_ERR_VALUE, "\"%s\" has \"%s\", which is no regular expression: %s", p->kind,
                           quote(p->key).text, text);
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static rapt_code pattern_read(adapter_pattern *p, const json_t *value, const adapter_pattern_kind *kind, rapt_error *err)
{
    p->value = json_number_value(value);
    if ((kind->whole ? json_is_integer(value) : json_is_number(value)) && p->value >= kind->min && p->value <= kind->max)
        return pattern_compile(p, err);
    return rapt_fail(err, RAPT_ERR_VALUE, "\"%s\" of \"%s\" must be a %snumber from %g to %g", kind->name, quote(p->key).text,
                     kind->whole ? "whole " : "", kind->min, kind->max);
}

rapt_code adapter_patterns_take(adapter_patterns *out, json_t *object, const adapter_pattern_kind *kind, rapt_error *err)
{
    const char *key;
    json_t *value;
    rapt_code code = RAPT_OK;
    *out = (adapter_patterns){NULL, NULL, 0};
    if (!object || json_is_null(object))
        return RAPT_OK;
    if (!json_is_object(object) || json_object_size(object) > PATTERNS_MAX)
        return rapt_fail(err, RAPT_ERR_FORMAT, "\"%s\" must be an object of at most %d members", kind->name, PATTERNS_MAX);
    out->list = calloc(json_object_size(object) + 1, sizeof *out->list);
    if (!out->list)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for \"%s\"", kind->name);
    out->object = json_incref(object);
    json_object_foreach(object, key, value)
    {
        if (code)
            continue;
        out->list[out->count] = (adapter_pattern){.key = key, .kind = kind->name};
        code = pattern_read(&out->list[out->count++], value, kind, err);
    }
    return code;
}

/* Adds "PATTERN=number", `size` bytes. */
static rapt_code pattern_add_text(json_t *object, const char *text, size_t size, const adapter_pattern_kind *kind,
                                  rapt_error *err)
{
    char key[PATTERN_BYTES + 1], *end = NULL;
    size_t equals = size;
    while (equals > 0 && text[equals - 1] != '=')
        equals--;
    errno = 0;
    const double value = equals > 1 && equals < size ? strtod(text + equals, &end) : 0;
    if (equals < 2 || equals - 1 > PATTERN_BYTES || end != text + size || errno || !isfinite(value))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: \"%.*s\" is not NAME=NUMBER", kind->name,
                         (int)(size < PATTERN_BYTES ? size : PATTERN_BYTES), text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - 1), text);
    if (json_object_get(object, key))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: \"%s\" comes twice", kind->name, key);
    const bool whole = value == floor(value) && fabs(value) < 1e9;
    return json_object_set_new(object, key, whole ? json_integer((json_int_t)value) : json_real(value)) == 0
               ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %s", kind->name);
}

rapt_code adapter_patterns_parse(adapter_patterns *out, const char *text, const adapter_pattern_kind *kind, rapt_error *err)
{
    *out = (adapter_patterns){NULL, NULL, 0};
    if (!text || !*text)
        return RAPT_OK;
    json_t *object = json_object();
    rapt_code code = object ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %s", kind->name);
    for (const char *p = text; !code; p++) {
        const size_t size = strcspn(p, ",");
        code = pattern_add_text(object, p, size, kind, err);
        p += size;
        if (!*p)
            break;
    }
    code = code ? code : adapter_patterns_take(out, object, kind, err);
    json_decref(object);
    return code;
}

void adapter_patterns_free(adapter_patterns *p)
{
    for (size_t i = 0; i < p->count; i++)
        pcre2_code_free(p->list[i].code);
    free(p->list);
    json_decref(p->object);
    *p = (adapter_patterns){NULL, NULL, 0};
}

/* ---- matching ----------------------------------------------------------------------------------------------------- */

static rapt_code pattern_match(const adapter_patterns *p, const char *module, pcre2_match_data *match,
                               pcre2_match_context *context, double *value, rapt_error *err)
{
    for (size_t i = 0; i < p->count; i++) {
        adapter_pattern *one = &p->list[i];
        const int number = pcre2_match(one->code, (PCRE2_SPTR)module, strlen(module), 0, 0, match, context);
        if (number == PCRE2_ERROR_NOMEMORY)
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for \"%s\"", one->kind);
        if (number < 0 && number != PCRE2_ERROR_NOMATCH)
            return rapt_fail(err, RAPT_ERR_VALUE, "\"%s\" has \"%s\", which takes too many steps to match \"%s\"", one->kind,
                             quote(one->key).text, quote(module).text);
        if (number < 0)
            continue;
        one->used = true;
        *value = one->value;
        break;
    }
    return RAPT_OK;
}

rapt_code adapter_patterns_find(const adapter_patterns *p, const char *module, double *value, rapt_error *err)
{
    if (p->count == 0)
        return RAPT_OK;
    for (const char *byte = module; *byte; byte++)
        if ((unsigned char)*byte >= 0x80) /* a dot is a character in Python, and a byte here */
            return rapt_fail(err, RAPT_ERR_VALUE, "\"%s\" is for modules whose names are ASCII, not \"%s\"", p->list[0].kind,
                             quote(module).text);
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    if (context)
        pcre2_set_match_limit(context, PATTERN_STEPS);
    rapt_code code = match && context ? pattern_match(p, module, match, context, value, err)
                                      : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for \"%s\"", p->list[0].kind);
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
    return code;
}

const char *adapter_patterns_unused(const adapter_patterns *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->list[i].used)
            return p->list[i].key;
    return NULL;
}
