/* text/chat/jinja_filters.c: filters of templates, one function each. As in Jinja, except tojson, which is as in transformers'
 * chat templates. */
#include "text/chat/jinja_operations.h"

#include "base/number.h"
#include "text/chat/jinja_print.h"
#include "text/chat/jinja_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

typedef jinja_value filter_fn(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a);

/* ---- texts ------------------------------------------------------------------------------------------------------ */

static jinja_value filter_trim(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value set = JINJA_NULL, text = jinja_str(w, v);
    if (!jinja_bind(w, name, a, "chars", 0, &set) || (set.kind != JINJA_NONE && !jinja_want_text(w, name, set)))
        return JINJA_NOTHING;
    jinja_step(w, text.size / 64 * (1 + (set.kind == JINJA_TEXT ? set.size : 0)));
    return jinja_text_strip(text, set, true, true);
}

static jinja_value filter_case(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_case to = *name == 'u' ? JINJA_UPPER : *name == 'l' ? JINJA_LOWER : JINJA_CAPITALIZE;
    jinja_value text = jinja_str(w, v);
    return jinja_bind_none(w, name, a) ? jinja_text_case(w, text, to) : JINJA_NOTHING;
}

static jinja_value filter_string(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    return jinja_bind_none(w, name, a) ? jinja_str(w, v) : JINJA_NOTHING;
}

static jinja_value filter_safe(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value text = filter_string(w, v, name, a);
    text.safe = true;
    return text;
}

static jinja_value filter_replace(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    int64_t most = -1;
    jinja_value of = jinja_str(w, v), given[3] = {JINJA_NOTHING, JINJA_NOTHING, JINJA_NULL};
    if (!jinja_bind(w, name, a, "old new count", 2, given) ||
        (given[2].kind != JINJA_NONE && !jinja_want_integer(w, name, given[2], &most)))
        return JINJA_NOTHING;
    if (of.safe || given[0].safe || given[1].safe)
        jinja_fail(w, "replace of a text that went through the filter safe is not implemented");
    jinja_value from = jinja_str(w, given[0]), to = jinja_str(w, given[1]);
    return w->code ? JINJA_NOTHING : jinja_text_replace(w, of, from, to, most);
}

static jinja_value filter_indent(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    int64_t width = 0;
    jinja_value given[3] = {jinja_int(4), jinja_bool(false), jinja_bool(false)}, margin;
    if (!jinja_bind(w, name, a, "width first blank", 0, given) || !jinja_defined(w, v) || !jinja_want_text(w, name, v) ||
        (given[0].kind != JINJA_TEXT && !jinja_want_integer(w, name, given[0], &width)))
        return JINJA_NOTHING;
    margin = given[0];
    if (margin.kind != JINJA_TEXT) {
        char *spaces = jinja_alloc(w, width > 0 ? (size_t)width : 0, 1);
        margin = jinja_borrow(spaces, spaces && width > 0 ? (size_t)width : 0);
        if (spaces)
            memset(spaces, ' ', margin.size);
    }
    buffer b = {0};
    jinja_value end = jinja_word("\n"), lines = jinja_text_lines(w, v);
    bool ends = v.size > 0 && lines.kind == JINJA_LIST && jinja_text_ends(v, end), ok = true;
    for (size_t i = 0; lines.kind == JINJA_LIST && i < lines.list->count + ends && ok && jinja_step(w, 1); i++) {
        jinja_value line = i < lines.list->count ? lines.list->items[i] : jinja_word("");
        bool indented = i == 0 ? jinja_truth(given[1]) : jinja_truth(given[2]) || line.size > 0;
        ok = (i == 0 || buffer_append(&b, "\n", 1)) && (!indented || buffer_append(&b, margin.text, margin.size)) &&
             buffer_append(&b, line.text, line.size) && b.size < JINJA_MOST_OUTPUT;
    }
    if (v.size == 0 && jinja_truth(given[1]))
        ok = buffer_append(&b, margin.text, margin.size);
    return jinja_take(w, &b, ok);
}

/* Jinja's rule, not str.title's: words begin after white space and -({[<. */
static jinja_value filter_title(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value text = jinja_str(w, v);
    const jinja_list *letters = jinja_bind_none(w, name, a) ? jinja_iterate(w, text) : NULL;
    jinja_list *out = letters ? jinja_list_new(w, JINJA_IS_LIST, letters->count) : NULL;
    bool begins = true;
    for (size_t i = 0; out && i < out->count && !w->code; i++) {
        jinja_value letter = letters->items[i];
        bool between = jinja_text_strip(letter, JINJA_NULL, true, true).size == 0 || strchr("-({[<", *letter.text);
        out->items[i] = jinja_text_case(w, letter, begins ? JINJA_UPPER : JINJA_LOWER);
        begins = between;
    }
    return out ? jinja_text_join(w, jinja_word(""), out) : JINJA_NOTHING;
}

static jinja_value filter_tojson(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value given[4] = {jinja_bool(false), JINJA_NULL, JINJA_NULL, jinja_bool(false)};
    jinja_json_options o = {.indent = -1, .key_mark = jinja_word(": ")};
    if (!jinja_bind(w, name, a, "ensure_ascii indent separators sort_keys", 0, given) ||
        (given[1].kind != JINJA_NONE && !jinja_want_integer(w, name, given[1], &o.indent)))
        return JINJA_NOTHING;
    o.indent = given[1].kind != JINJA_NONE && o.indent < 0 ? 0 : o.indent;
    o.ascii = jinja_truth(given[0]);
    o.sort_keys = jinja_truth(given[3]);
    o.item_mark = jinja_word(o.indent < 0 ? ", " : ",");
    if (given[2].kind == JINJA_LIST && given[2].list->count == 2 && given[2].list->items[0].kind == JINJA_TEXT &&
        given[2].list->items[1].kind == JINJA_TEXT) {
        o.item_mark = given[2].list->items[0];
        o.key_mark = given[2].list->items[1];
    } else if (given[2].kind != JINJA_NONE) {
        jinja_fail(w, "%s: separators are two texts", name);
    }
    return w->code ? JINJA_NOTHING : jinja_json(w, v, &o);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static jinja_value filter_abs(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    int64_t integer = 0;
    if (!jinja_bind_none(w, name, a))
        return JINJA_NOTHING;
    if (v.kind == JINJA_FLOAT)
        return jinja_float(fabs(v.number));
    if (jinja_want_integer(w, name, v, &integer) && integer == INT64_MIN)
        jinja_fail(w, "an integer does not fit into 64 bits");
    return jinja_int(w->code || integer >= 0 ? integer : -integer);
}

/* A number as Python's int() and float() read a text, without "_", infinities and NaN; false: not a number. */
static bool filter_number(jinja_value v, bool real, double *number, int64_t *integer)
{
    char digits[64], *end;
    jinja_value text = jinja_text_strip(v, JINJA_NULL, true, true);
    if (text.size == 0 || text.size >= sizeof digits)
        return false;
    memcpy(digits, text.text, text.size);
    digits[text.size] = '\0';
    if (strspn(digits, real ? "+-.eE0123456789" : "+-0123456789") != text.size)
        return false;
    errno = 0;
    if (real)
        *number = number_read(digits, &end);
    else
        *integer = strtoll(digits, &end, 10);
    return *end == '\0' && (real ? !isinf(*number) : errno == 0);
}

static jinja_value filter_int(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value otherwise = jinja_int(0);
    int64_t integer;
    double number = 0;
    if (!jinja_bind(w, name, a, "default", 0, &otherwise) || !jinja_defined(w, v))
        return JINJA_NOTHING;
    if (jinja_as_integer(v, &integer) || (v.kind == JINJA_TEXT && filter_number(v, false, NULL, &integer)))
        return jinja_int(integer);
    bool ok = v.kind == JINJA_FLOAT || (v.kind == JINJA_TEXT && filter_number(v, true, &number, NULL));
    number = v.kind == JINJA_FLOAT ? v.number : number;
    if (!ok || isnan(number) || isinf(number))
        return otherwise;
    if (fabs(number) >= 0x1p62)
        jinja_fail(w, "%s: an integer does not fit into 64 bits", name);
    return w->code ? JINJA_NOTHING : jinja_int((int64_t)number);
}

static jinja_value filter_float(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value otherwise = jinja_float(0);
    double number;
    if (!jinja_bind(w, name, a, "default", 0, &otherwise) || !jinja_defined(w, v))
        return JINJA_NOTHING;
    if (jinja_is_number(v))
        return jinja_float(jinja_as_double(w, v));
    return v.kind == JINJA_TEXT && filter_number(v, true, &number, NULL) ? jinja_float(number) : otherwise;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static jinja_value filter_default(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value given[2] = {jinja_word(""), jinja_bool(false)};
    if (!jinja_bind(w, name, a, "default_value boolean", 0, given))
        return JINJA_NOTHING;
    return v.kind == JINJA_UNDEFINED || (jinja_truth(given[1]) && !jinja_truth(v)) ? given[0] : v;
}

static jinja_value filter_length(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    if (!jinja_bind_none(w, name, a))
        return JINJA_NOTHING;
    if (v.kind == JINJA_UNDEFINED)
        return jinja_int(0);
    if (v.kind == JINJA_TEXT && jinja_step(w, v.size / 64))
        return jinja_int((int64_t)jinja_text_length(v));
    if (v.kind == JINJA_DICT)
        return jinja_int((int64_t)v.dict->count);
    if (v.kind == JINJA_LIST && v.list->shape != JINJA_IS_GENERATOR)
        return jinja_int((int64_t)v.list->count);
    jinja_fail(w, "object of type '%s' has no len()", jinja_type(v));
    return JINJA_NOTHING;
}

static jinja_value filter_end(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    bool last = *name == 'l';
    if (last && jinja_is_row(v, JINJA_IS_GENERATOR))
        jinja_fail(w, "'generator' object is not reversible");
    const jinja_list *list = jinja_bind_none(w, name, a) ? jinja_iterate(w, v) : NULL;
    return list && list->count > 0 ? list->items[last ? list->count - 1 : 0] : JINJA_NOTHING;
}

static jinja_value filter_list(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    const jinja_list *from = jinja_bind_none(w, name, a) ? jinja_iterate(w, v) : NULL;
    jinja_list *list = from ? jinja_list_new(w, JINJA_IS_LIST, from->count) : NULL;
    if (list && list->count > 0)
        memcpy(list->items, from->items, list->count * sizeof *list->items);
    return jinja_row(list);
}

static jinja_value filter_reverse(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    const jinja_list *from = jinja_bind_none(w, name, a) ? jinja_iterate(w, v) : NULL;
    jinja_list *list = from ? jinja_list_new(w, JINJA_IS_GENERATOR, from->count) : NULL;
    for (size_t i = 0; list && i < list->count; i++)
        list->items[i] = from->items[list->count - 1 - i];
    return list && v.kind == JINJA_TEXT ? jinja_text_join(w, jinja_word(""), list) : jinja_row(list);
}

static jinja_value filter_items(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    if (!jinja_bind_none(w, name, a))
        return JINJA_NOTHING;
    if (v.kind != JINJA_DICT && v.kind != JINJA_UNDEFINED)
        jinja_fail(w, "Can only get item pairs from a mapping.");
    jinja_list *list = jinja_list_new(w, JINJA_IS_GENERATOR, v.kind == JINJA_DICT ? v.dict->count : 0);
    for (size_t i = 0; list && i < list->count; i++) {
        jinja_list *pair = jinja_list_new(w, JINJA_IS_TUPLE, 2);
        if (pair) {
            pair->items[0] = v.dict->keys[i];
            pair->items[1] = v.dict->values[i];
        }
        list->items[i] = jinja_row(pair);
    }
    return jinja_row(list);
}

/* An attribute by a number, or by a name that may have parts: "a.b", "a.0". */
static jinja_value filter_attribute(jinja_work *w, jinja_value v, jinja_value name)
{
    if (name.kind != JINJA_TEXT)
        return jinja_item(w, v, name);
    for (jinja_value rest = name, part; !w->code; rest = jinja_borrow(part.text + part.size + 1, rest.size - part.size - 1)) {
        int64_t index;
        size_t dot = jinja_text_find(rest, jinja_word("."), false);
        part = jinja_borrow(rest.text, dot == SIZE_MAX ? rest.size : dot);
        bool digits = part.size > 0 && part.text[0] != '-' && part.text[0] != '+' && filter_number(part, false, NULL, &index);
        v = jinja_item(w, v, digits ? jinja_int(index) : part);
        if (dot == SIZE_MAX)
            break;
    }
    return v;
}

static jinja_value filter_join(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value given[2] = {jinja_word(""), JINJA_NULL};
    const jinja_list *from = jinja_bind(w, name, a, "d attribute", 0, given) ? jinja_iterate(w, v) : NULL;
    jinja_list *texts = from ? jinja_list_new(w, JINJA_IS_LIST, from->count) : NULL;
    for (size_t i = 0; texts && i < texts->count && !w->code; i++)
        texts->items[i] = jinja_str(w, given[1].kind == JINJA_NONE ? from->items[i]
                                                                   : filter_attribute(w, from->items[i], given[1]));
    jinja_value mark = jinja_str(w, given[0]);
    return texts && !w->code ? jinja_text_join(w, mark, texts) : JINJA_NOTHING;
}

/* The arguments from `from` on. */
static jinja_arguments filter_rest(const jinja_arguments *a, size_t from)
{
    jinja_arguments rest = {.count = a->count - from, .named = a->named};
    memcpy(rest.values, a->values + from, rest.count * sizeof *rest.values);
    memcpy(rest.names, a->names + from, rest.count * sizeof *rest.names);
    return rest;
}

/* The items for select, map and similar filters: none for a false value. */
static const jinja_list *filter_iterate(jinja_work *w, jinja_value v)
{
    return jinja_truth(v) ? jinja_iterate(w, v) : jinja_list_new(w, JINJA_IS_LIST, 0);
}

/* select, reject, selectattr, rejectattr: [attribute,] [test, its arguments] */
static jinja_value filter_select(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    bool of_attribute = strstr(name, "attr") != NULL, wanted = *name == 's';
    size_t placed = a->count - a->named;
    if (of_attribute && placed == 0)
        jinja_fail(w, "%s needs the name of an attribute", name);
    const jinja_list *from = w->code ? NULL : filter_iterate(w, v);
    jinja_list *list = from ? jinja_list_new(w, JINJA_IS_GENERATOR, from->count) : NULL;
    if (!list)
        return JINJA_NOTHING;
    const jinja_arguments rest = filter_rest(a, placed > of_attribute ? of_attribute + 1 : of_attribute);
    list->count = 0;
    for (size_t i = 0; i < from->count && jinja_step(w, 1); i++) {
        jinja_value item = of_attribute ? filter_attribute(w, from->items[i], a->values[0]) : from->items[i];
        bool holds = placed > of_attribute ? jinja_test(w, a->values[of_attribute], item, &rest) : jinja_truth(item);
        if (holds == wanted)
            list->items[list->count++] = from->items[i];
    }
    return jinja_row(list);
}

static jinja_value filter_map(jinja_work *w, jinja_value v, const char *name, const jinja_arguments *a)
{
    jinja_value given[2] = {JINJA_NOTHING, JINJA_NULL};
    bool by_filter = a->count > a->named;
    if (!by_filter && !jinja_bind(w, name, a, "attribute default", 1, given))
        return JINJA_NOTHING;
    const jinja_list *from = filter_iterate(w, v);
    jinja_list *list = from ? jinja_list_new(w, JINJA_IS_GENERATOR, from->count) : NULL;
    if (!list)
        return JINJA_NOTHING;
    const jinja_arguments rest = filter_rest(a, by_filter);
    for (size_t i = 0; i < list->count && jinja_step(w, 1); i++) {
        list->items[i] = by_filter ? jinja_filter(w, a->values[0], from->items[i], &rest)
                                   : filter_attribute(w, from->items[i], given[0]);
        if (!by_filter && list->items[i].kind == JINJA_UNDEFINED && given[1].kind != JINJA_NONE)
            list->items[i] = given[1];
    }
    return jinja_row(list);
}

/* ---- by name ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    filter_fn *apply;
} FILTERS[] = {
    {"abs", filter_abs},         {"capitalize", filter_case},  {"count", filter_length}, {"d", filter_default},
    {"default", filter_default}, {"first", filter_end},        {"float", filter_float},  {"indent", filter_indent},
    {"int", filter_int},         {"items", filter_items},      {"join", filter_join},    {"last", filter_end},
    {"length", filter_length},   {"list", filter_list},        {"lower", filter_case},   {"map", filter_map},
    {"reject", filter_select},   {"rejectattr", filter_select}, {"replace", filter_replace}, {"reverse", filter_reverse},
    {"safe", filter_safe},       {"select", filter_select},    {"selectattr", filter_select}, {"string", filter_string},
    {"title", filter_title},     {"tojson", filter_tojson},    {"trim", filter_trim},    {"upper", filter_case},
};

enum { FILTER_COUNT = sizeof FILTERS / sizeof *FILTERS };

static size_t filter_row(jinja_value name)
{
    size_t i = 0;
    while (i < FILTER_COUNT && !jinja_is(name, FILTERS[i].name))
        i++;
    return i;
}

bool jinja_filter_known(jinja_value name)
{
    return filter_row(name) < FILTER_COUNT;
}

jinja_value jinja_filter(jinja_work *w, jinja_value name, jinja_value v, const jinja_arguments *a)
{
    size_t row = filter_row(name);
    jinja_value result = JINJA_NOTHING;
    if (row == FILTER_COUNT)
        jinja_fail(w, "the filter \"%.*s\" is not implemented", (int)(name.kind == JINJA_TEXT && name.size < 40 ? name.size : 0),
                   name.kind == JINJA_TEXT ? name.text : "");
    else if (jinja_enter(w)) { /* counts the depth: map calls filters, which may be map again */
        result = FILTERS[row].apply(w, v, FILTERS[row].name, a);
        jinja_leave(w);
    } else
        jinja_leave(w);
    return result;
}
