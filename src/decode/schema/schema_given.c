/* decode/schema/schema_given.c: writes the lists, equal values as equal texts, and narrows them to what other keywords leave. */
#include "decode/schema/schema_given.h"

#include "base/buffer.h"
#include "text/json_text.h"

#include <math.h>

void given_lists_free(given_lists *g)
{
    free(g->lists);
    free(g->texts);
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

rapt_code schema_json(schema_work *w, const json_t *value, const char *after, schema_text *out, rapt_error *err)
{
    char *text = json_text(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    const size_t skip = *after ? 1 : 0, size = text ? strlen(text) - skip : 0, more = strlen(after);
    *out = (schema_text){.bytes = NULL};
    rapt_code code = text ? schema_charge(w, value, STEPS_TEXT + size, err) : schema_no_memory(err);
    char *bytes = code ? NULL : schema_alloc(w, size + more + 1, 1, err);
    if (bytes) {
        memcpy(bytes, text + skip, size);
        memcpy(bytes + size, after, more + 1);
        *out = (schema_text){bytes, size + more};
    }
    free(text);
    return code ? code : bytes ? RAPT_OK : err->code;
}

int schema_text_order(const schema_text *p, const schema_text *q)
{
    const int order = memcmp(p->bytes, q->bytes, p->size < q->size ? p->size : q->size);
    return order ? order : (p->size > q->size) - (p->size < q->size);
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

static int by_given_text(const void *a, const void *b)
{
    return schema_text_order(&((const given_value *)a)->text, &((const given_value *)b)->text);
}

/* Two of them may be equal and have different texts. */
static bool has_large_number(const json_t *value)
{
    const json_t *part;
    const char *key;
    size_t i;
    bool has = json_is_number(value) && fabs(json_number_value(value)) > (double)SCHEMA_INTEGER;
    json_object_foreach((json_t *)value, key, part)
        has = has || has_large_number(part);
    json_array_foreach(value, i, part)
        has = has || has_large_number(part);
    return has;
}

/* `list` is the value of "enum", or the schema whose "const" is the one value. */
static rapt_code list_fill(given_lists *g, given_list *to, rapt_error *err)
{
    const bool constant = json_is_object(to->list);
    const size_t count = constant ? 1 : json_array_size(to->list);
    rapt_code code = schema_charge(g->work, to->list, count * STEPS_TEXT, err);
    if (code || !(to->values = schema_alloc(g->work, count, sizeof *to->values, err)))
        return err->code;
    for (; to->count < count && !code; to->count++) {
        given_value *v = &to->values[to->count];
        v->value = constant ? json_object_get(to->list, "const") : json_array_get(to->list, to->count);
        if (has_large_number(v->value))
            return schema_refuse(g->work, to->list, err, "a given number beyond 2^53 is not supported");
        code = schema_json(g->work, v->value, "", &v->text, err);
    }
    if (!code && count > 1)
        qsort(to->values, count, sizeof *to->values, by_given_text);
    return code;
}

/* The list as it was written before, or now. */
static rapt_code list_of(given_lists *g, const json_t *list, const given_list **found, rapt_error *err)
{
    rapt_code code = schema_charge(g->work, list, 1 + g->count / 4, err);
    for (size_t i = 0; i < g->count && !code; i++)
        if (g->lists[i].list == list) {
            *found = &g->lists[i];
            return RAPT_OK;
        }
    given_list made = {.list = list};
    code = code ? code : list_fill(g, &made, err);
    if (!code && !ARRAY_RESERVE(&g->lists, &g->capacity, g->count + 1))
        code = schema_no_memory(err);
    if (code)
        return code;
    g->lists[g->count] = made;
    *found = &g->lists[g->count++];
    return RAPT_OK;
}

static bool given_has(const given_list *l, const schema_text *text)
{
    const given_value key = {.text = *text};
    return bsearch(&key, l->values, l->count, sizeof key, by_given_text) != NULL;
}

/* ---- what other keywords leave -------------------------------------------------------------------------------- */

static unsigned value_type(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_NULL: return TYPE_NULL;
    case JSON_TRUE: case JSON_FALSE: return TYPE_BOOLEAN;
    case JSON_INTEGER: return TYPE_INTEGER;
    case JSON_REAL: return json_real_value(value) == floor(json_real_value(value)) ? TYPE_INTEGER : TYPE_FRACTION;
    case JSON_STRING: return TYPE_STRING;
    case JSON_ARRAY: return TYPE_ARRAY;
    default: return TYPE_OBJECT;
    }
}

static bool number_obeys(const schema_facts *f, double x)
{
    if (x < f->low || x > f->high || (f->above && x == f->low) || (f->below && x == f->high))
        return false;
    return f->multiple == 0 || fmod(x, (double)f->multiple) == 0;
}

static bool string_obeys(const schema_facts *f, const char *text)
{
    size_t length = 0;
    for (; *text; text++)
        length += ((uint8_t)*text & 0xC0) != 0x80;
    return length >= f->min_length && length <= f->max_length;
}

static bool value_obeys(const schema_facts *f, const json_t *value)
{
    if (!(value_type(value) & f->types))
        return false;
    if (json_is_number(value))
        return number_obeys(f, json_number_value(value));
    return !json_is_string(value) || string_obeys(f, json_string_value(value));
}

/* Whether a value can be checked against the other keywords. */
static rapt_code value_known(given_lists *g, const schema_facts *f, bool pattern, const json_t *value, rapt_error *err)
{
    if (json_is_string(value) && pattern)
        return schema_refuse(g->work, f->values[0], err, "a given text beside a pattern or format is not supported");
    if ((json_is_object(value) && f->object_count > 0) || (json_is_array(value) && (f->named & TYPE_ARRAY)))
        return schema_refuse(g->work, f->values[0], err, "a given object or list beside other keywords of its type is not "
                                                         "supported");
    return RAPT_OK;
}

static rapt_code given_add_text(given_lists *g, schema_text text, rapt_error *err)
{
    if (!ARRAY_RESERVE(&g->texts, &g->text_capacity, g->text_count + 1))
        return schema_no_memory(err);
    g->texts[g->text_count++] = text;
    return RAPT_OK;
}

rapt_code given_add_values(given_lists *g, const schema_facts *f, bool pattern, rapt_error *err)
{
    const given_list *lists[FACTS_LISTS] = {NULL};
    rapt_code code = RAPT_OK;
    for (int pass = 0; pass < 2; pass++) /* twice, because a list that is added moves the others */
        for (size_t i = 0; i < f->value_count && !code; i++)
            code = list_of(g, f->values[i], &lists[i], err);
    for (size_t i = 0; !code && i < lists[0]->count; i++) {
        const given_value *v = &lists[0]->values[i];
        code = schema_charge(g->work, f->values[0], (STEPS_KEYWORD + v->text.size / 4) * f->value_count, err);
        code = code ? code : value_known(g, f, pattern, v->value, err);
        bool obeys = !code && value_obeys(f, v->value);
        for (size_t k = 1; k < f->value_count && obeys; k++)
            obeys = given_has(lists[k], &v->text);
        if (obeys)
            code = given_add_text(g, v->text, err);
    }
    return code;
}

rapt_code given_add_words(given_lists *g, unsigned types, rapt_error *err)
{
    rapt_code code = types & TYPE_BOOLEAN ? given_add_text(g, (schema_text){"false", 5}, err) : RAPT_OK;
    if (!code && types & TYPE_BOOLEAN)
        code = given_add_text(g, (schema_text){"true", 4}, err);
    return !code && types & TYPE_NULL ? given_add_text(g, (schema_text){"null", 4}, err) : code;
}

static int by_choice_text(const void *a, const void *b)
{
    return schema_text_order(a, b);
}

rapt_code given_take(given_lists *g, schema_shape *out, rapt_error *err)
{
    const size_t count = g->text_count;
    *out = (schema_shape){.kind = SCHEMA_CHOICE};
    g->text_count = 0;
    if (count == 0)
        return RAPT_OK;
    if (schema_charge(g->work, g->work->root, count * STEPS_KEYWORD, err) ||
        !(out->texts = schema_alloc(g->work, count, sizeof *out->texts, err)))
        return err->code;
    qsort(g->texts, count, sizeof *g->texts, by_choice_text);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || schema_text_order(&out->texts[out->count - 1], &g->texts[i]) != 0)
            out->texts[out->count++] = g->texts[i];
    return RAPT_OK;
}
