/* text/chat/jinja_value.c: makes, looks up, compares and iterates over values of templates, as Python does. */
#include "text/chat/jinja_value.h"

#include "base/chars.h"
#include "base/quote.h"
#include "text/utf8.h"

#include <math.h>
#include <string.h>

#include <xxhash.h>

enum { DICT_INDEXED = 32 }; /* number of keys from which on a dict has a hash table */

#define EXACT_INTEGERS ((int64_t)1 << 53)

/* ---- made ------------------------------------------------------------------------------------------------------- */

jinja_value jinja_word(const char *text)
{
    return jinja_borrow(text, strlen(text));
}

jinja_value jinja_copy(jinja_work *w, const char *text, size_t size)
{
    char *copy = jinja_step(w, size / 64) ? jinja_alloc(w, size, 1) : NULL;
    if (!copy)
        return JINJA_NOTHING;
    if (size > 0)
        memcpy(copy, text, size);
    return jinja_borrow(copy, size);
}

jinja_value jinja_take(jinja_work *w, buffer *b, bool ok)
{
    if (b->size >= JINJA_MOST_OUTPUT)
        jinja_fail(w, "a text has more than %d MB", JINJA_MOST_OUTPUT >> 20);
    else if (!ok)
        jinja_no_memory(w);
    jinja_value v = jinja_copy(w, b->data, b->size);
    buffer_free(b);
    return v;
}

jinja_list *jinja_list_new(jinja_work *w, jinja_shape shape, size_t count)
{
    jinja_list *list = jinja_step(w, count / 4) ? jinja_alloc(w, 1, sizeof *list) : NULL;
    jinja_value *items = jinja_alloc(w, count, sizeof *items);
    if (!list || !items)
        return NULL;
    *list = (jinja_list){shape, items, count};
    return list;
}

jinja_value jinja_row(jinja_list *list)
{
    return list ? (jinja_value){.kind = JINJA_LIST, .list = list} : JINJA_NOTHING;
}

jinja_dict *jinja_dict_new(jinja_work *w)
{
    jinja_dict *d = jinja_alloc(w, 1, sizeof *d);
    if (d)
        *d = (jinja_dict){0};
    return d;
}

jinja_value jinja_table(jinja_dict *dict)
{
    return dict ? (jinja_value){.kind = JINJA_DICT, .dict = dict} : JINJA_NOTHING;
}

static bool can_be_key(jinja_value v)
{
    if (jinja_is_row(v, JINJA_IS_TUPLE))
        for (size_t i = 0; i < v.list->count; i++)
            if (!can_be_key(v.list->items[i]))
                return false;
    return v.kind != JINJA_DICT && !jinja_is_row(v, JINJA_IS_LIST);
}

/* The slot of a text, or the empty slot where it would be. No text equals a key that is not a text. */
static size_t dict_slot(jinja_work *w, const jinja_dict *d, jinja_value key)
{
    const size_t mask = 2 * d->capacity - 1;
    size_t at = (size_t)XXH3_64bits(key.size > 0 ? key.text : "", key.size) & mask;
    while (d->slots[at] > 0 && jinja_step(w, 1) && !jinja_equal(w, d->keys[d->slots[at] - 1], key))
        at = (at + 1) & mask;
    return at;
}

const jinja_value *jinja_dict_find(jinja_work *w, const jinja_dict *d, jinja_value key)
{
    if (d->slots && key.kind == JINJA_TEXT) {
        const size_t place = jinja_step(w, 1 + key.size / 64) ? d->slots[dict_slot(w, d, key)] : 0;
        return place > 0 && !w->code ? &d->values[place - 1] : NULL;
    }
    for (size_t i = 0; i < d->count && jinja_step(w, 1); i++)
        if (jinja_equal(w, d->keys[i], key))
            return &d->values[i];
    return NULL;
}

static void dict_index(jinja_work *w, jinja_dict *d, size_t place)
{
    if (d->slots && d->keys[place].kind == JINJA_TEXT && !w->code)
        d->slots[dict_slot(w, d, d->keys[place])] = (uint32_t)place + 1;
}

static bool dict_reserve(jinja_work *w, jinja_dict *d)
{
    if (d->count < d->capacity)
        return true;
    size_t capacity = d->capacity ? 2 * d->capacity : 4;
    bool small = capacity < DICT_INDEXED;
    jinja_value *keys = jinja_alloc(w, capacity, sizeof *keys), *values = jinja_alloc(w, capacity, sizeof *values);
    uint32_t *slots = small ? NULL : jinja_alloc(w, 2 * capacity, sizeof *slots);
    if (!keys || !values || (!slots && !small))
        return false;
    if (d->count > 0) {
        memcpy(keys, d->keys, d->count * sizeof *keys);
        memcpy(values, d->values, d->count * sizeof *values);
    }
    if (slots)
        memset(slots, 0, 2 * capacity * sizeof *slots);
    *d = (jinja_dict){keys, values, d->count, capacity, slots};
    for (size_t i = 0; i < d->count; i++)
        dict_index(w, d, i);
    return true;
}

void jinja_dict_put(jinja_work *w, jinja_dict *d, jinja_value key, jinja_value value)
{
    if (w->code || !d)
        return;
    if (!can_be_key(key)) {
        jinja_fail(w, "a value of type %s cannot be the key of a dict", jinja_type(key));
        return;
    }
    const jinja_value *there = jinja_dict_find(w, d, key);
    if (there) {
        d->values[there - d->values] = value;
    } else if (dict_reserve(w, d)) {
        d->keys[d->count] = key;
        d->values[d->count] = value;
        dict_index(w, d, d->count++);
    }
}

/* ---- what they are ---------------------------------------------------------------------------------------------- */

bool jinja_is_row(jinja_value v, jinja_shape shape)
{
    return v.kind == JINJA_LIST && v.list->shape == shape;
}

bool jinja_is(jinja_value v, const char *text)
{
    return v.kind == JINJA_TEXT && v.size == strlen(text) && memcmp(v.text, text, v.size) == 0;
}

const char *jinja_type(jinja_value v)
{
    static const char *const shapes[] = {[JINJA_IS_LIST] = "list", [JINJA_IS_TUPLE] = "tuple", [JINJA_IS_RANGE] = "range",
                                         [JINJA_IS_VIEW] = "dict view", [JINJA_IS_GENERATOR] = "generator"};
    static const char *const kinds[] = {
        [JINJA_UNDEFINED] = "Undefined", [JINJA_NONE] = "NoneType", [JINJA_BOOL] = "bool", [JINJA_INT] = "int",
        [JINJA_FLOAT] = "float", [JINJA_TEXT] = "str", [JINJA_LIST] = "list", [JINJA_DICT] = "dict",
        [JINJA_NAMESPACE] = "Namespace", [JINJA_MACRO] = "Macro", [JINJA_METHOD] = "method",
        [JINJA_FUNCTION] = "function", [JINJA_LOOP] = "LoopContext"};
    return v.kind == JINJA_LIST ? shapes[v.list->shape] : kinds[v.kind];
}

bool jinja_truth(jinja_value v)
{
    switch (v.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE: return false;
    case JINJA_BOOL: return v.truth;
    case JINJA_INT: return v.integer != 0;
    case JINJA_FLOAT: return v.number != 0;
    case JINJA_TEXT: return v.size > 0;
    case JINJA_LIST: return v.list->count > 0 || v.list->shape == JINJA_IS_GENERATOR;
    case JINJA_DICT: return v.dict->count > 0;
    default: return true;
    }
}

bool jinja_is_number(jinja_value v)
{
    return v.kind == JINJA_BOOL || v.kind == JINJA_INT || v.kind == JINJA_FLOAT;
}

bool jinja_as_integer(jinja_value v, int64_t *integer)
{
    *integer = v.kind == JINJA_INT ? v.integer : v.kind == JINJA_BOOL && v.truth;
    return v.kind == JINJA_INT || v.kind == JINJA_BOOL;
}

double jinja_as_double(jinja_work *w, jinja_value v)
{
    int64_t integer;
    if (!jinja_as_integer(v, &integer))
        return v.number;
    if (integer > EXACT_INTEGERS || integer < -EXACT_INTEGERS)
        jinja_fail(w, "the integer %lld is too large to be computed with a float", (long long)integer);
    return (double)integer;
}

bool jinja_defined(jinja_work *w, jinja_value v)
{
    if (v.kind == JINJA_UNDEFINED)
        jinja_fail(w, "'%s' is undefined", v.text ? quote(v.text).text : "a value");
    return v.kind != JINJA_UNDEFINED;
}

/* ---- compared --------------------------------------------------------------------------------------------------- */

static bool equal_lists(jinja_work *w, const jinja_list *a, const jinja_list *b)
{
    if (a == b)
        return true;
    bool equal = a->shape == b->shape && a->count == b->count && a->shape < JINJA_IS_VIEW;
    for (size_t i = 0; i < a->count && equal; i++)
        equal = jinja_equal(w, a->items[i], b->items[i]);
    return equal;
}

static bool equal_dicts(jinja_work *w, const jinja_dict *a, const jinja_dict *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; i < a->count && equal && a != b; i++) {
        const jinja_value *other = jinja_dict_find(w, b, a->keys[i]);
        equal = other && jinja_equal(w, a->values[i], *other);
    }
    return equal;
}

static bool equal_numbers(jinja_work *w, jinja_value a, jinja_value b)
{
    int64_t i, j;
    if (jinja_as_integer(a, &i) && jinja_as_integer(b, &j))
        return i == j;
    return jinja_as_double(w, a) == jinja_as_double(w, b);
}

static bool equal_values(jinja_work *w, jinja_value a, jinja_value b)
{
    if (jinja_is_number(a) && jinja_is_number(b))
        return equal_numbers(w, a, b);
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case JINJA_TEXT: return a.size == b.size && (a.size == 0 || memcmp(a.text, b.text, a.size) == 0);
    case JINJA_LIST: return equal_lists(w, a.list, b.list);
    case JINJA_DICT: return equal_dicts(w, a.dict, b.dict);
    case JINJA_UNDEFINED:
    case JINJA_NONE: return true;
    case JINJA_FUNCTION: return a.function == b.function;
    case JINJA_METHOD: return false;
    default: return a.dict == b.dict; /* identity of objects */
    }
}

bool jinja_equal(jinja_work *w, jinja_value a, jinja_value b)
{
    bool equal = jinja_enter(w) && equal_values(w, a, b);
    jinja_leave(w);
    return equal;
}

static int compare_texts(jinja_value a, jinja_value b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.text, b.text, size) : 0; /* UTF-8 has the order of its code points */
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static bool less_values(jinja_work *w, jinja_value a, jinja_value b, const char *op)
{
    int64_t i, j;
    if (!jinja_defined(w, a) || !jinja_defined(w, b))
        return false;
    if (jinja_as_integer(a, &i) && jinja_as_integer(b, &j))
        return i < j;
    if (jinja_is_number(a) && jinja_is_number(b))
        return jinja_as_double(w, a) < jinja_as_double(w, b);
    if (a.kind == JINJA_TEXT && b.kind == JINJA_TEXT)
        return compare_texts(a, b) < 0;
    if (a.kind == JINJA_LIST && b.kind == JINJA_LIST && a.list->shape == b.list->shape && a.list->shape <= JINJA_IS_TUPLE) {
        for (size_t k = 0; k < a.list->count && k < b.list->count; k++)
            if (!jinja_equal(w, a.list->items[k], b.list->items[k]))
                return jinja_less(w, a.list->items[k], b.list->items[k], op);
        return a.list->count < b.list->count;
    }
    jinja_fail(w, "'%s' not supported between instances of '%s' and '%s'", op, jinja_type(a), jinja_type(b));
    return false;
}

bool jinja_less(jinja_work *w, jinja_value a, jinja_value b, const char *op)
{
    bool less = jinja_enter(w) && less_values(w, a, b, op);
    jinja_leave(w);
    return less;
}

/* ---- iterated over ---------------------------------------------------------------------------------------------- */

static jinja_list *iterate_text(jinja_work *w, jinja_value v)
{
    uint32_t code;
    size_t count = 0, used;
    for (size_t at = 0; at < v.size; at += utf8_decode(v.text + at, v.size - at, &code))
        count++;
    jinja_list *list = jinja_list_new(w, JINJA_IS_LIST, count);
    for (size_t at = 0, i = 0; list && at < v.size; at += used) {
        used = utf8_decode(v.text + at, v.size - at, &code);
        list->items[i++] = jinja_borrow(v.text + at, used);
    }
    return list;
}

static jinja_list *iterate_generator(jinja_work *w, jinja_list *given)
{
    jinja_list *list = jinja_alloc(w, 1, sizeof *list);
    if (list)
        *list = *given;
    given->count = 0;
    return list;
}

const jinja_list *jinja_iterate(jinja_work *w, jinja_value v)
{
    jinja_list *list = NULL;
    switch (v.kind) {
    case JINJA_UNDEFINED: return jinja_list_new(w, JINJA_IS_LIST, 0);
    case JINJA_TEXT: return iterate_text(w, v);
    case JINJA_LIST: return v.list->shape == JINJA_IS_GENERATOR ? iterate_generator(w, v.list) : v.list;
    case JINJA_DICT:
        list = jinja_list_new(w, JINJA_IS_LIST, v.dict->count);
        if (list && v.dict->count > 0)
            memcpy(list->items, v.dict->keys, v.dict->count * sizeof *list->items);
        return list;
    default: jinja_fail(w, "'%s' object is not iterable", jinja_type(v)); return NULL;
    }
}

static bool contains_text(jinja_work *w, jinja_value container, jinja_value v)
{
    if (v.kind != JINJA_TEXT)
        jinja_fail(w, "'in <string>' requires string as left operand, not %s", jinja_type(v));
    else if (v.size <= container.size && jinja_step(w, container.size / 64))
        return v.size == 0 || chars_find(container.text, container.size, v.text, v.size);
    return false;
}

bool jinja_contains(jinja_work *w, jinja_value container, jinja_value v)
{
    if (container.kind == JINJA_TEXT)
        return contains_text(w, container, v);
    if (container.kind == JINJA_DICT) {
        if (!can_be_key(v))
            jinja_fail(w, "unhashable type: '%s'", jinja_type(v));
        return jinja_dict_find(w, container.dict, v) != NULL;
    }
    const jinja_list *list = jinja_iterate(w, container);
    for (size_t i = 0; list && i < list->count && jinja_step(w, 1); i++)
        if (jinja_equal(w, list->items[i], v))
            return true;
    return false;
}
