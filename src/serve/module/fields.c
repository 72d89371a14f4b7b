/* serve/module/fields.c: values of a request's body by name. */
#define _GNU_SOURCE
#include "serve/module/fields.h"

#include "base/number.h"
#include "base/quote.h"
#include "serve/module/body_kinds.h"
#include "text/json_text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_STEP_MS = 5, WAIT_STEPS = 100 };

/* ---- errors ------------------------------------------------------------------------------------------------------------- */

void request_fail(request_error *e, int status, const char *param, const char *format, ...)
{
    va_list arguments;
    if (e->status)
        return;
    e->status = status;
    snprintf(e->param, sizeof e->param, "%s", param ? param : "");
    va_start(arguments, format);
    vsnprintf(e->message, sizeof e->message, format, arguments);
    va_end(arguments);
    quote_clean(e->param);
    quote_clean(e->message);
}

/* "stream_options.include_usage" */
static void fields_name(const fields *f, const char *name, char out[96])
{
    snprintf(out, 96, "%s%s%s", f->path, *f->path && name ? "." : "", name ? name : "");
}

void fields_fail(const fields *f, const char *name, const char *format, ...)
{
    char text[256], param[96];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fields_name(f, name, param);
    request_fail(f->error, 400, param, "%s%s%s", param, *param ? ": " : "", text);
}

static void fields_no_memory(const fields *f)
{
    request_fail(f->error, 503, NULL, "out of memory for the request");
}

/* A worker waits a moment for memory that other requests hold: a request that was just answered is still being freed. */
static admission_answer ask_or_wait(exchange *x, admission_part part, size_t bytes)
{
    const struct timespec step = {.tv_nsec = WAIT_STEP_MS * 1000000L};
    admission_answer answer = exchange_asks(x, part, bytes);
    for (int i = 0; answer == ADMISSION_LATER && i < WAIT_STEPS && exchange_has_worker(x) && !exchange_gone(x); i++) {
        nanosleep(&step, NULL);
        answer = exchange_asks(x, part, bytes);
    }
    return answer;
}

bool request_asks(exchange *x, admission_part part, size_t bytes, request_error *e, const char *what, ...)
{
    char text[200];
    va_list arguments;
    const admission_answer answer = e->status ? ADMISSION_LATER : ask_or_wait(x, part, bytes);
    if (answer == ADMISSION_GIVEN)
        return true;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    if (answer == ADMISSION_NEVER)
        request_fail(e, 413, NULL, "%s would take about %zu MB of memory, more than a request may; see --request-memory", text,
                     bytes >> 20);
    else
        request_fail(e, 503, NULL, "other requests have the memory that %s would take, about %zu MB", text, (bytes >> 20) + 1);
    return false;
}

static const char *kind_of(const json_t *value)
{
    static const char *const kinds[] = {[JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a string",
                                        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number", [JSON_TRUE] = "a boolean",
                                        [JSON_FALSE] = "a boolean", [JSON_NULL] = "null"};
    return kinds[json_typeof(value)];
}

static void fields_wrong_kind(const fields *f, const char *name, const char *expected, const json_t *value)
{
    if (f->form && json_is_string(value))
        fields_fail(f, name, "%s is expected, not \"%s\"", expected, quote(json_string_value(value)).text);
    else
        fields_fail(f, name, "%s is expected, not %s", expected, kind_of(value));
}

/* ---- beginning and end ------------------------------------------------------------------------------------------------ */

void fields_open(fields *f, json_t *object, const char *path, request_error *error)
{
    *f = (fields){.object = json_incref(object), .rest = object ? json_copy(object) : NULL, .error = error};
    snprintf(f->path, sizeof f->path, "%.63s", path);
    if (object && !f->rest)
        fields_no_memory(f);
}

/* A media type without its parameters, against another in lower case. */
static bool is_type(const char *header, const char *type)
{
    size_t size = strcspn(header, "; \t");
    return size == strlen(type) && strncasecmp(header, type, size) == 0;
}

/* Checks beforehand: if memory ends while jansson reads, it reports that the text is not JSON, or does worse. */
static bool fields_has_memory(size_t bytes)
{
    void *memory = malloc(bytes);
    free(memory);
    return memory != NULL;
}

static json_t *fields_parse_json(const char *text, size_t size, request_error *error)
{
    json_error_t where;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    if (root || where.text[0] == '\0') /* jansson on out-of-memory */
        return root;
    const enum json_error_code code = json_error_code(&where);
    const bool nul = code == json_error_null_character || code == json_error_null_byte_in_key;
    const char *is_not = code == json_error_invalid_utf8 ? "UTF-8" : "JSON";
    request_fail(error, 400, NULL, "the body is not %s: line %d, column %d: %s", is_not, where.line, where.column,
                 nul ? "a text has the character \\u0000" : where.text);
    return NULL;
}

static json_t *fields_parse_form(const char *text, size_t size, request_error *error)
{
    const char *reason;
    json_t *root = form_read(text, size, &reason);
    if (reason)
        request_fail(error, 400, NULL, "the form is wrong: %s", reason);
    return root;
}

void fields_read(fields *f, exchange *x, bool forms, request_error *error)
{
    size_t size;
    const char *text = exchange_body(x, &size), *type = exchange_header(x, "Content-Type");
    bool says_form = type && is_type(type, "application/x-www-form-urlencoded");
    *f = (fields){.error = error};
    if (type && !says_form && !is_type(type, "application/json"))
        request_fail(error, 415, NULL, "Content-Type: %s is not supported; application/json is%s", quote(type).text,
                     forms ? ", and application/x-www-form-urlencoded" : "");
    if (error->status)
        return;
    bool form = forms && says_form;
    const size_t cost = form ? body_cost_form(text, size) : body_cost_json(text, size);
    if (!request_asks(x, ADMISSION_READING, cost, error, "the body"))
        return;
    json_t *root = NULL;
    if (fields_has_memory(cost))
        root = form ? fields_parse_form(text, size, error) : fields_parse_json(text, size, error);
    if (!root && !error->status)
        fields_no_memory(f);
    else if (root && !json_is_object(root))
        request_fail(error, 400, NULL, "the body is to be a JSON object, not %s", kind_of(root));
    else if (root)
        fields_open(f, root, "", error);
    f->form = form;
    json_decref(root);
}

void fields_read_query(fields *f, const exchange *x, request_error *error)
{
    const char *name, *value;
    json_t *object = json_object();
    *f = (fields){.error = error};
    for (size_t i = 0; object && exchange_query_at(x, i, &name, &value); i++) {
        if (json_object_get(object, name))
            request_fail(error, 400, quote(name).text, "%s: this parameter is there twice", quote(name).text);
        else if (json_object_set_new(object, name, json_string(value)) != 0)
            request_fail(error, 400, NULL, "the query is not UTF-8");
    }
    if (!object)
        fields_no_memory(f);
    else if (!error->status)
        fields_open(f, object, "", error);
    f->form = true;
    json_decref(object);
}

bool fields_finish(fields *f)
{
    void *first = f->rest ? json_object_iter(f->rest) : NULL;
    if (first)
        fields_fail(f, quote(json_object_iter_key(first)).text, "this field is not supported");
    return f->error->status == 0;
}

void fields_free(fields *f)
{
    json_decref(f->object);
    json_decref(f->rest);
    f->object = f->rest = NULL;
}

/* ---- values --------------------------------------------------------------------------------------------------------------- */

json_t *fields_value(fields *f, const char *name)
{
    json_t *value = f->object ? json_object_get(f->object, name) : NULL;
    if (value && f->rest)
        json_object_del(f->rest, name);
    return json_is_null(value) ? NULL : value;
}

const char *fields_text(fields *f, const char *name)
{
    json_t *value = fields_value(f, name);
    if (value && !json_is_string(value))
        fields_wrong_kind(f, name, "a string", value);
    return json_string_value(value);
}

const char *fields_required_text(fields *f, const char *name)
{
    const char *text = fields_text(f, name);
    if (!text)
        fields_fail(f, name, "this field is required");
    return text ? text : "";
}

size_t fields_word(fields *f, const char *name, const char *const *words, size_t count, size_t absent)
{
    char list[160] = "";
    const char *text = fields_text(f, name);
    for (size_t i = 0; text && i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i]);
    }
    if (text)
        fields_fail(f, name, "\"%s\" is not supported; %s is", quote(text).text, list);
    return absent;
}

bool fields_flag(fields *f, const char *name, bool absent)
{
    json_t *value = fields_value(f, name);
    const char *text = f->form ? json_string_value(value) : NULL;
    if (!value || json_is_boolean(value))
        return value ? json_is_true(value) : absent;
    if (text && (strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0))
        return true;
    if (!text || (strcmp(text, "0") != 0 && strcasecmp(text, "false") != 0))
        fields_wrong_kind(f, name, "a boolean", value);
    return false;
}

/* False, with the error kept: it is no number. */
static bool value_as_number(const fields *f, const char *name, const char *expected, const json_t *value, double *number)
{
    const char *text = f->form ? json_string_value(value) : NULL;
    char *end = NULL;
    *number = text ? number_read(text, &end) : json_number_value(value);
    bool fine = text ? *text && *end == '\0' && strspn(text, "+-.0123456789eE") == strlen(text) && isfinite(*number)
                     : json_is_number(value);
    if (!fine)
        fields_wrong_kind(f, name, expected, value);
    return fine;
}

int64_t fields_integer(fields *f, const char *name, int64_t absent, int64_t min, int64_t max)
{
    double number;
    json_t *value = fields_value(f, name);
    if (!value || !value_as_number(f, name, "an integer", value, &number))
        return absent;
    bool small = number >= -9007199254740992.0 && number <= 9007199254740992.0; /* 2^53: a double is exact up to there */
    int64_t integer = json_is_integer(value) ? json_integer_value(value) : small ? (int64_t)number : 0;
    if (!json_is_integer(value) && (!small || (double)integer != number))
        fields_fail(f, name, "an integer is expected, not %.17g", number);
    else if (integer < min || integer > max)
        fields_fail(f, name, "%lld is not between %lld and %lld", (long long)integer, (long long)min, (long long)max);
    else
        return integer;
    return absent;
}

double fields_number(fields *f, const char *name, double absent, double min, double max)
{
    double number;
    json_t *value = fields_value(f, name);
    if (!value || !value_as_number(f, name, "a number", value, &number))
        return absent;
    if (number >= min && number <= max)
        return number;
    fields_fail(f, name, "%g is not between %g and %g", number, min, max);
    return absent;
}

const char **fields_texts(fields *f, const char *name, size_t min, size_t max, size_t *count, bool *list)
{
    json_t *value = fields_value(f, name);
    bool is_list = json_is_array(value);
    size_t size = is_list ? json_array_size(value) : value != NULL;
    *count = 0;
    if (list)
        *list = is_list;
    if (!value)
        return NULL;
    if (size < min || size > max) {
        fields_fail(f, name, "%zu texts, where %zu to %zu are taken", size, min, max);
        return NULL;
    }
    const char **texts = malloc((size + 1) * sizeof *texts);
    if (!texts)
        fields_no_memory(f);
    for (size_t i = 0; i < size && texts; i++) {
        json_t *text = is_list ? json_array_get(value, i) : value;
        texts[i] = json_string_value(text);
        if (!texts[i]) {
            fields_wrong_kind(f, name, is_list ? "a list of strings" : "a string or a list of strings", text);
            free(texts);
            return NULL;
        }
    }
    *count = texts ? size : 0;
    return texts;
}

bool fields_is_longer(const char *text, size_t characters)
{
    for (; *text && characters > 0; characters--)
        for (text++; ((unsigned char)*text & 0xC0) == 0x80; text++)
            ;
    return *text != '\0';
}

bool fields_is_integer(const json_t *value)
{
    return json_is_number(value) && json_number_value(value) == floor(json_number_value(value));
}

int32_t *fields_ids(fields *f, const char *name, const json_t *list, size_t *count)
{
    const size_t size = json_array_size(list);
    *count = 0;
    if (size == 0) {
        fields_fail(f, name, "a list of no tokens");
        return NULL;
    }
    int32_t *ids = malloc(size * sizeof *ids);
    if (!ids)
        fields_no_memory(f);
    for (size_t i = 0; i < size && ids; i++) {
        const json_t *one = json_array_get(list, i);
        const double id = json_number_value(one);
        const bool fits = id >= 0 && id <= INT32_MAX;
        if (!fields_is_integer(one))
            fields_fail(f, name, "a list of token ids has something else at %zu", i);
        else if (!fits)
            fields_fail(f, name, "token %zu is %.19g, where ids are 0 to %d", i, id, INT32_MAX);
        if (!fields_is_integer(one) || !fits) {
            free(ids);
            return NULL;
        }
        ids[i] = (int32_t)id;
    }
    *count = ids ? size : 0;
    return ids;
}

bool fields_object(fields *f, const char *name, fields *inner)
{
    char path[96];
    json_t *value = fields_value(f, name);
    fields_name(f, name, path);
    if (value && !json_is_object(value))
        fields_wrong_kind(f, name, "an object", value);
    fields_open(inner, json_is_object(value) ? value : NULL, path, f->error);
    return json_is_object(value);
}

/* ---- fields that change nothing ----------------------------------------------------------------------------------------- */

void fields_ignore(fields *f, const char *name)
{
    fields_value(f, name);
}

static bool is_same_value(const json_t *a, const json_t *b)
{
    return json_is_number(a) && json_is_number(b) ? json_number_value(a) == json_number_value(b) : json_equal(a, b) == 1;
}

void fields_neutral(fields *f, const char *name, const char *neutral)
{
    json_t *value = fields_value(f, name), *one;
    json_t *list = value ? json_loads(neutral, 0, NULL) : NULL;
    size_t i;
    bool fine = false;
    json_array_foreach(list, i, one)
        fine = fine || is_same_value(one, value);
    json_decref(list);
    if (!value || fine)
        return;
    char *text = json_text(value, JSON_ENCODE_ANY);
    fields_fail(f, name, "%s is not supported", text ? quote(text).text : "this value");
    free(text);
}
