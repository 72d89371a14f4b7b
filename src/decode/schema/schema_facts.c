/* decode/schema/schema_facts.c: folds the keywords of schemas into facts, one alternative of anyOf and oneOf at a time. A keyword
 * that is not in the table is refused. */
#include "decode/schema/schema_facts.h"

#include "base/quote.h"
#include "decode/schema/schema_formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 64 }; /* schemas that are pending at once, and alternatives within each other */

/* What is left to fold: a schema, or one of a list of alternatives. On the stack of the functions below. */
typedef struct pending {
    const json_t *schema, *choice;
    const struct pending *next;
} pending;

typedef struct reading {
    schema_reader *r;
    int depth;
    rapt_error *err;
} reading;

/* ---- keywords ------------------------------------------------------------------------------------------------- */

typedef struct keyword_input {
    reading *in;
    const json_t *schema; /* that has the keyword */
    const char *name;
    const json_t *value;
} keyword_input;

static rapt_code keyword_fails(const keyword_input *k, const char *why)
{
    return schema_refuse(k->in->r->work, k->schema, k->in->err, "\"%s\" %s", quote(k->name).text, why);
}

typedef rapt_code keyword_fn(const keyword_input *k, schema_facts *f);

static rapt_code read_nothing(const keyword_input *k, schema_facts *f)
{
    (void)k, (void)f;
    return RAPT_OK;
}

static rapt_code read_schema_id(const keyword_input *k, schema_facts *f)
{
    (void)f;
    return k->schema == k->in->r->work->root ? RAPT_OK : keyword_fails(k, "is supported only at the top");
}

static unsigned type_named(const char *name)
{
    static const struct { const char *name; unsigned type; } types[] = {
        {"null", TYPE_NULL}, {"boolean", TYPE_BOOLEAN}, {"integer", TYPE_INTEGER}, {"number", TYPE_NUMBER},
        {"string", TYPE_STRING}, {"array", TYPE_ARRAY}, {"object", TYPE_OBJECT}};
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    return 0;
}

static rapt_code read_type(const keyword_input *k, schema_facts *f)
{
    unsigned types = type_named(json_string_value(k->value));
    const json_t *one;
    size_t i;
    json_array_foreach(k->value, i, one) {
        const unsigned type = type_named(json_string_value(one));
        if (!type)
            return keyword_fails(k, "has a type that there is not");
        types |= type;
    }
    f->types &= types;
    f->typed = true;
    return types ? RAPT_OK : keyword_fails(k, "is a type or a list of types");
}

static rapt_code keep_values(const keyword_input *k, schema_facts *f, const json_t *list)
{
    if (f->value_count == sizeof f->values / sizeof *f->values)
        return keyword_fails(k, "comes too often for one value");
    f->values[f->value_count++] = list;
    f->typed = true;
    return RAPT_OK;
}

static rapt_code read_enum(const keyword_input *k, schema_facts *f)
{
    if (json_array_size(k->value) == 0)
        return keyword_fails(k, "is a list of values");
    return keep_values(k, f, k->value);
}

/* Kept as the schema itself, whose "const" is the one value. */
static rapt_code read_const(const keyword_input *k, schema_facts *f)
{
    return keep_values(k, f, k->schema);
}

static rapt_code read_natural(const keyword_input *k, size_t *count)
{
    const double value = json_number_value(k->value);
    if (!json_is_number(k->value) || value < 0 || value != floor(value))
        return keyword_fails(k, "is a whole number of 0 or more");
    *count = value < 1e9 ? (size_t)value : (size_t)1e9;
    return RAPT_OK;
}

/* minLength, maxLength, minItems, maxItems. */
static rapt_code read_limit(const keyword_input *k, schema_facts *f)
{
    size_t count = 0;
    const bool length = strstr(k->name, "Length") != NULL, min = k->name[1] == 'i';
    size_t *const to = length ? (min ? &f->min_length : &f->max_length) : min ? &f->min_items : &f->max_items;
    rapt_code code = read_natural(k, &count);
    *to = code ? *to : min == (count > *to) ? count : *to;
    f->named |= length ? TYPE_STRING : TYPE_ARRAY;
    return code;
}

static rapt_code read_pattern(const keyword_input *k, schema_facts *f)
{
    const bool format = strcmp(k->name, "format") == 0;
    const char *text = json_string_value(k->value), *pattern = text && format ? schema_format(text) : text;
    if (!pattern)
        return keyword_fails(k, format ? "has a value that is not supported: there are " SCHEMA_FORMATS : "is a text");
    const bool other = f->pattern && f->pattern != pattern;
    if (other && schema_charge(k->in->r->work, k->schema, strlen(pattern) / STEPS_COMPARED, k->in->err))
        return RAPT_ERR_VALUE;
    if (other && strcmp(f->pattern, pattern) != 0)
        return keyword_fails(k, "beside another pattern or format is not supported");
    f->pattern = pattern;
    f->pattern_of = k->schema;
    f->named |= TYPE_STRING;
    return RAPT_OK;
}

/* minimum, maximum, exclusiveMinimum, exclusiveMaximum. */
static rapt_code read_bound(const keyword_input *k, schema_facts *f)
{
    const double value = json_number_value(k->value);
    const bool open = *k->name == 'e', low = strstr(k->name, "inimum") != NULL;
    if (!json_is_number(k->value))
        return keyword_fails(k, "is a number");
    if (low && (value > f->low || (value == f->low && open))) {
        f->low = value;
        f->above = open;
    } else if (!low && (value < f->high || (value == f->high && open))) {
        f->high = value;
        f->below = open;
    }
    f->named |= TYPE_NUMBER;
    f->number_of = k->schema;
    return RAPT_OK;
}

static rapt_code read_multiple(const keyword_input *k, schema_facts *f)
{
    const double value = json_number_value(k->value);
    if (!json_is_number(k->value) || value <= 0 || value != floor(value) || value > (double)SCHEMA_INTEGER)
        return keyword_fails(k, "is supported for whole numbers only");
    if (f->multiple && f->multiple != (int64_t)value)
        return keyword_fails(k, "beside another one is not supported");
    f->multiple = (int64_t)value;
    f->named |= TYPE_NUMBER;
    return RAPT_OK;
}

static bool is_schema(const json_t *value)
{
    return json_is_object(value) || json_is_boolean(value);
}

static rapt_code keep_schema(const keyword_input *k, const json_t **list, size_t *count)
{
    if (*count > 0 && list[*count - 1] == k->schema)
        return RAPT_OK;
    if (*count == FACTS_SCHEMAS)
        return keyword_fails(k, "comes too often for one value");
    list[(*count)++] = k->schema;
    return RAPT_OK;
}

/* Their schemas are read when their objects are made. */
static rapt_code read_object(const keyword_input *k, schema_facts *f)
{
    const json_t *one;
    const char *key;
    size_t i;
    const bool list = strcmp(k->name, "required") == 0, map = strcmp(k->name, "properties") == 0;
    if (list ? !json_is_array(k->value) : map ? !json_is_object(k->value) : !is_schema(k->value))
        return keyword_fails(k, list ? "is a list of keys" : map ? "is an object of schemas" : "is a schema");
    if (list)
        json_array_foreach(k->value, i, one)
            if (!json_is_string(one))
                return keyword_fails(k, "is a list of keys");
    if (map)
        json_object_foreach((json_t *)k->value, key, one)
            if (!is_schema(one))
                return keyword_fails(k, "is an object of schemas");
    f->named |= TYPE_OBJECT;
    return keep_schema(k, f->objects, &f->object_count);
}

static rapt_code read_array(const keyword_input *k, schema_facts *f)
{
    const json_t *one;
    size_t i;
    const bool list = json_is_array(k->value) && strcmp(k->name, "additionalItems") != 0; /* a list of "items" is 2019's */
    if (!list && (!is_schema(k->value) || strcmp(k->name, "prefixItems") == 0))
        return keyword_fails(k, "is a schema or a list of schemas");
    if (list)
        json_array_foreach(k->value, i, one)
            if (!is_schema(one))
                return keyword_fails(k, "is a list of schemas");
    f->named |= TYPE_ARRAY;
    return keep_schema(k, f->arrays, &f->array_count);
}

static rapt_code read_unique(const keyword_input *k, schema_facts *f)
{
    (void)f;
    return json_is_false(k->value) ? RAPT_OK : keyword_fails(k, "is not supported");
}

static rapt_code read_min_properties(const keyword_input *k, schema_facts *f)
{
    (void)f;
    return json_is_number(k->value) && json_number_value(k->value) == 0 ? RAPT_OK : keyword_fails(k, "is supported only as 0");
}

/* OpenAPI's, which says nothing that the alternatives beside it do not. */
static rapt_code read_discriminator(const keyword_input *k, schema_facts *f)
{
    (void)f;
    const bool beside = json_object_get(k->schema, "oneOf") || json_object_get(k->schema, "anyOf");
    return beside ? RAPT_OK : keyword_fails(k, "is supported only beside \"oneOf\" or \"anyOf\"");
}

static rapt_code read_definitions(const keyword_input *k, schema_facts *f)
{
    (void)f;
    return json_is_object(k->value) ? RAPT_OK : keyword_fails(k, "is an object of schemas");
}

static const struct keyword {
    const char *name;
    keyword_fn *read; /* NULL: read by fold_schema */
} KEYWORDS[] = {
    {"$comment", read_nothing}, {"$schema", read_nothing}, {"default", read_nothing}, {"deprecated", read_nothing},
    {"description", read_nothing}, {"examples", read_nothing}, {"readOnly", read_nothing}, {"title", read_nothing},
    {"writeOnly", read_nothing}, {"$id", read_schema_id}, {"discriminator", read_discriminator},
    {"minProperties", read_min_properties}, {"$defs", read_definitions}, {"definitions", read_definitions},
    {"type", read_type}, {"enum", read_enum}, {"const", read_const}, {"minLength", read_limit}, {"maxLength", read_limit},
    {"minItems", read_limit}, {"maxItems", read_limit}, {"uniqueItems", read_unique}, {"pattern", read_pattern},
    {"format", read_pattern}, {"minimum", read_bound}, {"maximum", read_bound}, {"exclusiveMinimum", read_bound},
    {"exclusiveMaximum", read_bound}, {"multipleOf", read_multiple}, {"properties", read_object}, {"required", read_object},
    {"additionalProperties", read_object}, {"items", read_array}, {"prefixItems", read_array}, {"additionalItems", read_array},
    {"$ref", NULL}, {"allOf", NULL}, {"anyOf", NULL}, {"oneOf", NULL}};

static rapt_code fold_keyword(const keyword_input *k, schema_facts *f)
{
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++)
        if (strcmp(KEYWORDS[i].name, k->name) == 0)
            return KEYWORDS[i].read ? KEYWORDS[i].read(k, f) : RAPT_OK;
    return keyword_fails(k, "is not supported");
}

/* ---- schemas -------------------------------------------------------------------------------------------------- */

static rapt_code fold(reading *in, const pending *list, schema_facts f);

static rapt_code schema_list_check(reading *in, const json_t *schema, const char *name, const json_t *list)
{
    const json_t *one;
    size_t i;
    const keyword_input k = {in, schema, name, list};
    if (json_array_size(list) == 0)
        return keyword_fails(&k, "is a list of schemas");
    json_array_foreach(list, i, one)
        if (!is_schema(one))
            return keyword_fails(&k, "is a list of schemas");
    return RAPT_OK;
}

/* What follows a schema's own keywords, from item i of its allOf on. */
static rapt_code fold_rest(reading *in, const json_t *schema, size_t i, const pending *list, schema_facts *f)
{
    const json_t *all = json_object_get(schema, "allOf"), *any = json_object_get(schema, "anyOf"),
                 *one = json_object_get(schema, "oneOf"), *ref = json_object_get(schema, "$ref");
    const pending of_all = {json_array_get(all, i), NULL, list};
    if (i < json_array_size(all)) {
        if (i >= FACTS_SCHEMAS)
            return schema_refuse(in->r->work, schema, in->err, "\"allOf\" has more than %d schemas", FACTS_SCHEMAS);
        return fold_rest(in, schema, i + 1, &of_all, f);
    }
    const pending of_any = {NULL, any, list}, of_one = {NULL, one, any ? &of_any : list};
    const pending *rest = one ? &of_one : any ? &of_any : list;
    if (!ref)
        return fold(in, rest, *f);
    if (!json_is_string(ref))
        return schema_refuse(in->r->work, schema, in->err, "\"$ref\" is a text");
    const json_t *target = schema_pointer(in->r->work, schema, json_string_value(ref), in->err);
    if (target && !is_schema(target))
        return schema_refuse(in->r->work, schema, in->err, "\"$ref\" does not name a schema");
    const pending of_ref = {target, NULL, rest};
    return target ? fold(in, &of_ref, *f) : in->err->code;
}

static rapt_code fold_schema(reading *in, const json_t *schema, const pending *list, schema_facts *f)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    keyword_input k = {in, schema, NULL, NULL};
    json_t *value;
    json_object_foreach((json_t *)schema, k.name, value) {
        k.value = value;
        const size_t parts = json_array_size(value) + json_object_size(value);
        if (schema_charge(in->r->work, schema, STEPS_KEYWORD + parts, in->err) || fold_keyword(&k, f))
            return RAPT_ERR_VALUE;
    }
    for (size_t i = 0; i < 3; i++) {
        const json_t *alternatives = json_object_get(schema, lists[i]);
        if (alternatives && schema_list_check(in, schema, lists[i], alternatives))
            return RAPT_ERR_VALUE;
    }
    const json_t *one = json_object_get(schema, "oneOf");
    rapt_code code = json_array_size(one) > 1 ? in->r->exclusive(in->r->context, schema, one, in->err) : RAPT_OK;
    return code ? code : fold_rest(in, schema, 0, list, f);
}

static rapt_code fold_choice(reading *in, const json_t *choice, const pending *list, const schema_facts *f)
{
    const json_t *one;
    size_t i;
    json_array_foreach(choice, i, one) {
        const pending own = {one, NULL, list};
        rapt_code code = fold(in, &own, *f);
        if (code)
            return code;
    }
    return RAPT_OK;
}

/* Ends with a call of `each` when nothing is pending. References that lead to themselves end at the depth. */
static rapt_code fold(reading *in, const pending *list, schema_facts f)
{
    rapt_code code;
    if (!list)
        return in->r->each(in->r->context, &f, in->err);
    const json_t *at = list->choice ? list->choice : list->schema;
    if (in->depth == MAX_NESTING)
        return schema_refuse(in->r->work, at, in->err, "references and alternatives within each other: too deep, or endless");
    if (schema_charge(in->r->work, at, STEPS_FOLD, in->err))
        return RAPT_ERR_VALUE;
    in->depth++;
    if (list->choice)
        code = fold_choice(in, list->choice, list->next, &f);
    else if (json_is_object(list->schema))
        code = fold_schema(in, list->schema, list->next, &f);
    else
        code = json_is_true(list->schema) ? fold(in, list->next, f) : RAPT_OK; /* false: no value */
    in->depth--;
    return code;
}

rapt_code schema_facts_read(schema_reader *r, const json_t *const *list, size_t count, rapt_error *err)
{
    pending all[FACTS_SCHEMAS] = {{0}};
    reading in = {r, 0, err};
    const schema_facts nothing = {.types = TYPE_ALL, .max_length = SIZE_MAX, .max_items = SIZE_MAX, .low = -INFINITY,
                                  .high = INFINITY};
    for (size_t i = 0; i < count; i++)
        all[i] = (pending){list[i], NULL, i + 1 < count ? &all[i + 1] : NULL};
    return fold(&in, count > 0 ? all : NULL, nothing);
}
