/* text/chat/jinja_methods.c: methods of values, one function each. */
#include "text/chat/jinja_operations.h"

#include "text/chat/jinja_text.h"

#include <string.h>

typedef jinja_value method_fn(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a);

typedef struct method {
    jinja_kind of;
    const char *name;
    method_fn *call; /* NULL: Python has it, but it is not implemented */
} method;

/* ---- str -------------------------------------------------------------------------------------------------------- */

static jinja_value method_strip(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_value set = JINJA_NULL;
    if (!jinja_bind(w, name, a, "chars", 0, &set) || (set.kind != JINJA_NONE && !jinja_want_text(w, name, set)))
        return JINJA_NOTHING;
    jinja_step(w, self.size / 64 * (1 + (set.kind == JINJA_TEXT ? set.size : 0)));
    return jinja_text_strip(self, set, *name != 'r', *name != 'l');
}

static jinja_value method_split(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    int64_t most;
    jinja_value v[2] = {JINJA_NULL, jinja_int(-1)};
    if (!jinja_bind(w, name, a, "sep maxsplit", 0, v) || !jinja_want_integer(w, name, v[1], &most) ||
        (v[0].kind != JINJA_NONE && !jinja_want_text(w, name, v[0])))
        return JINJA_NOTHING;
    if (v[0].kind == JINJA_TEXT && v[0].size == 0)
        jinja_fail(w, "%s: empty separator", name);
    return w->code ? JINJA_NOTHING : jinja_text_split(w, self, v[0], most, *name == 'r');
}

static jinja_value method_splitlines(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    return jinja_bind_none(w, name, a) ? jinja_text_lines(w, self) : JINJA_NOTHING;
}

/* startswith and endswith, with one text or a tuple of texts. */
static jinja_value method_begins(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_value part = JINJA_NOTHING;
    bool found = false;
    if (!jinja_bind(w, name, a, "prefix", 1, &part))
        return JINJA_NOTHING;
    const jinja_list one = {JINJA_IS_TUPLE, &part, 1}, *all = jinja_is_row(part, JINJA_IS_TUPLE) ? part.list : &one;
    for (size_t i = 0; i < all->count && !found && jinja_want_text(w, name, all->items[i]); i++)
        found = *name == 's' ? jinja_text_starts(self, all->items[i]) : jinja_text_ends(self, all->items[i]);
    return jinja_bool(found);
}

static jinja_value method_replace(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    int64_t most;
    jinja_value v[3] = {JINJA_NOTHING, JINJA_NOTHING, jinja_int(-1)};
    if (!jinja_bind(w, name, a, "old new count", 2, v) || !jinja_want_text(w, name, v[0]) || !jinja_want_text(w, name, v[1]) ||
        !jinja_want_integer(w, name, v[2], &most))
        return JINJA_NOTHING;
    return jinja_text_replace(w, self, v[0], v[1], most);
}

static jinja_value method_case(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_case to = *name == 'u' ? JINJA_UPPER : *name == 'l' ? JINJA_LOWER : *name == 't' ? JINJA_TITLE : JINJA_CAPITALIZE;
    return jinja_bind_none(w, name, a) ? jinja_text_case(w, self, to) : JINJA_NOTHING;
}

/* find, rfind, index, rindex: a place in code points. */
static jinja_value method_find(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_value part = JINJA_NOTHING;
    if (!jinja_bind(w, name, a, "sub", 1, &part) || !jinja_want_text(w, name, part) || !jinja_step(w, self.size / 16))
        return JINJA_NOTHING;
    size_t at = jinja_text_find(self, part, *name == 'r');
    if (at == SIZE_MAX && strstr(name, "index"))
        jinja_fail(w, "substring not found");
    return jinja_int(at == SIZE_MAX ? -1 : (int64_t)jinja_text_length(jinja_borrow(self.text, at)));
}

static jinja_value method_count(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_value part = JINJA_NOTHING;
    int64_t count = 0;
    if (!jinja_bind(w, name, a, "sub", 1, &part) || !jinja_want_text(w, name, part))
        return JINJA_NOTHING;
    if (part.size == 0)
        return jinja_int((int64_t)jinja_text_length(self) + 1);
    for (size_t at; jinja_step(w, 1) && (at = jinja_text_find(self, part, false)) != SIZE_MAX; count++)
        self = jinja_borrow(self.text + at + part.size, self.size - at - part.size);
    return jinja_int(count);
}

static jinja_value method_join(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_value of = JINJA_NOTHING;
    const jinja_list *list = jinja_bind(w, name, a, "iterable", 1, &of) && jinja_defined(w, of) ? jinja_iterate(w, of) : NULL;
    return list ? jinja_text_join(w, self, list) : JINJA_NOTHING;
}

static jinja_value method_remove(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_value part = JINJA_NOTHING;
    bool prefix = strcmp(name, "removeprefix") == 0;
    if (!jinja_bind(w, name, a, "part", 1, &part) || !jinja_want_text(w, name, part))
        return JINJA_NOTHING;
    if (part.size == 0 || !(prefix ? jinja_text_starts : jinja_text_ends)(self, part))
        return self;
    return jinja_borrow(self.text + (prefix ? part.size : 0), self.size - part.size);
}

/* ---- dict ------------------------------------------------------------------------------------------------------- */

static jinja_value method_get(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_value v[2] = {JINJA_NOTHING, JINJA_NULL};
    if (!jinja_bind(w, name, a, "key default", 1, v))
        return JINJA_NOTHING;
    const jinja_value *found = jinja_dict_find(w, self.dict, v[0]);
    return found ? *found : v[1];
}

static jinja_value dict_pair(jinja_work *w, const jinja_dict *d, size_t i)
{
    jinja_list *pair = jinja_list_new(w, JINJA_IS_TUPLE, 2);
    if (pair) {
        pair->items[0] = d->keys[i];
        pair->items[1] = d->values[i];
    }
    return jinja_row(pair);
}

/* keys, values, items */
static jinja_value method_view(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    const jinja_dict *d = self.dict;
    jinja_list *list = jinja_bind_none(w, name, a) ? jinja_list_new(w, JINJA_IS_VIEW, d->count) : NULL;
    for (size_t i = 0; list && i < d->count; i++)
        list->items[i] = *name == 'k' ? d->keys[i] : *name == 'v' ? d->values[i] : dict_pair(w, d, i);
    return jinja_row(list);
}

/* ---- loop ------------------------------------------------------------------------------------------------------- */

static jinja_value method_cycle(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    if (a->named > 0 || a->count == 0)
        jinja_fail(w, "%s takes values, at least one", name);
    return w->code ? JINJA_NOTHING : a->values[self.loop->index % a->count];
}

static jinja_value method_changed(jinja_work *w, jinja_value self, const char *name, const jinja_arguments *a)
{
    jinja_list *now = jinja_list_new(w, JINJA_IS_TUPLE, a->count);
    if (a->named > 0)
        jinja_fail(w, "%s takes values without names", name);
    if (!now || w->code)
        return JINJA_NOTHING;
    memcpy(now->items, a->values, a->count * sizeof *now->items);
    bool changed = !jinja_equal(w, self.loop->changed, jinja_row(now));
    self.loop->changed = jinja_row(now);
    return jinja_bool(changed);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static const method METHODS[] = {
    {JINJA_TEXT, "strip", method_strip}, {JINJA_TEXT, "lstrip", method_strip}, {JINJA_TEXT, "rstrip", method_strip},
    {JINJA_TEXT, "split", method_split}, {JINJA_TEXT, "rsplit", method_split}, {JINJA_TEXT, "splitlines", method_splitlines},
    {JINJA_TEXT, "startswith", method_begins}, {JINJA_TEXT, "endswith", method_begins}, {JINJA_TEXT, "replace", method_replace},
    {JINJA_TEXT, "upper", method_case}, {JINJA_TEXT, "lower", method_case}, {JINJA_TEXT, "title", method_case},
    {JINJA_TEXT, "capitalize", method_case}, {JINJA_TEXT, "find", method_find}, {JINJA_TEXT, "rfind", method_find},
    {JINJA_TEXT, "index", method_find}, {JINJA_TEXT, "rindex", method_find}, {JINJA_TEXT, "count", method_count},
    {JINJA_TEXT, "join", method_join}, {JINJA_TEXT, "removeprefix", method_remove}, {JINJA_TEXT, "removesuffix", method_remove},
    {JINJA_DICT, "get", method_get}, {JINJA_DICT, "keys", method_view}, {JINJA_DICT, "values", method_view},
    {JINJA_DICT, "items", method_view}, {JINJA_LOOP, "cycle", method_cycle}, {JINJA_LOOP, "changed", method_changed},
};

#define INTEGER_METHODS \
    " as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer numerator real to_bytes "

/* Other attributes of these types in Python 3.13: without this list they would silently be undefined. */
static const struct {
    jinja_kind of;
    const char *names;
} OTHERS[] = {
    {JINJA_TEXT, " casefold center encode expandtabs format format_map isalnum isalpha isascii isdecimal isdigit isidentifier "
                 "islower isnumeric isprintable isspace istitle isupper ljust maketrans partition rjust rpartition swapcase "
                 "translate zfill "},
    {JINJA_DICT, " clear copy fromkeys pop popitem setdefault update "},
    {JINJA_LIST, " append clear copy count extend index insert pop remove reverse sort start stop step mapping isdisjoint close "
                 "send throw gi_code gi_frame gi_running gi_suspended gi_yieldfrom "},
    {JINJA_INT, INTEGER_METHODS},
    {JINJA_BOOL, INTEGER_METHODS},
    {JINJA_FLOAT, " as_integer_ratio conjugate fromhex from_number hex imag is_integer real "},
};

static const method *method_row(jinja_kind of, jinja_value name)
{
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
        if (METHODS[i].of == of && jinja_is(name, METHODS[i].name))
            return &METHODS[i];
    return NULL;
}

const char *jinja_method_find(jinja_work *w, jinja_value self, jinja_value name)
{
    const method *found = method_row(self.kind, name);
    char word[32];
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS && !found && name.size > 0 && name.size < sizeof word - 2; i++) {
        word[0] = word[name.size + 1] = ' ';
        memcpy(word + 1, name.text, name.size);
        word[name.size + 2] = '\0';
        if (OTHERS[i].of == self.kind && strstr(OTHERS[i].names, word))
            jinja_fail(w, "%s.%.*s is not implemented", jinja_type(self), (int)name.size, name.text);
    }
    if (found && self.safe)
        jinja_fail(w, "methods of a text that went through the filter safe are not implemented");
    return found ? found->name : NULL;
}

jinja_value jinja_method_call(jinja_work *w, const jinja_method *m, const jinja_arguments *a)
{
    return method_row(m->self.kind, jinja_word(m->name))->call(w, m->self, m->name, a);
}
