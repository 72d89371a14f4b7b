/* text/chat/jinja_access.c: parts of values. */
#include "text/chat/jinja_operations.h"

#include "base/quote.h"
#include "text/chat/jinja_text.h"

#include <stdio.h>
#include <string.h>

/* ---- items ------------------------------------------------------------------------------------------------------ */

static jinja_value list_item(const jinja_list *list, int64_t at)
{
    at += at < 0 ? (int64_t)list->count : 0;
    return at >= 0 && at < (int64_t)list->count ? list->items[at] : JINJA_NOTHING;
}

/* of[key]; false: Python has no such item. */
static bool access_item(jinja_work *w, jinja_value of, jinja_value key, jinja_value *item)
{
    int64_t at;
    *item = JINJA_NOTHING;
    if (of.kind == JINJA_DICT) {
        const jinja_value *found = jinja_dict_find(w, of.dict, key);
        *item = found ? *found : JINJA_NOTHING;
        return found;
    }
    if (jinja_as_integer(key, &at) && of.kind == JINJA_TEXT)
        *item = jinja_text_at(of, at);
    if (jinja_as_integer(key, &at) && of.kind == JINJA_LIST && of.list->shape <= JINJA_IS_RANGE)
        *item = list_item(of.list, at);
    if (of.kind == JINJA_TEXT)
        jinja_step(w, of.size / 64);
    return item->kind != JINJA_UNDEFINED;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static jinja_value loop_neighbour(const jinja_loop *loop, bool next)
{
    size_t at = next ? loop->index + 1 : loop->index - 1;
    return at < loop->items->count ? loop->items->items[at] : JINJA_NOTHING;
}

static jinja_value loop_attribute(const jinja_loop *loop, jinja_value name)
{
    size_t index = loop->index, count = loop->items->count;
    const struct {
        const char *name;
        jinja_value value;
    } all[] = {{"index", jinja_int((int64_t)index + 1)},       {"index0", jinja_int((int64_t)index)},
               {"revindex", jinja_int((int64_t)(count - index))}, {"revindex0", jinja_int((int64_t)(count - index) - 1)},
               {"first", jinja_bool(index == 0)},              {"last", jinja_bool(index + 1 == count)},
               {"length", jinja_int((int64_t)count)},          {"depth", jinja_int(1)}, /* depth of recursion, which is not
                                                                                           implemented */
               {"depth0", jinja_int(0)},                       {"previtem", loop_neighbour(loop, false)},
               {"nextitem", loop_neighbour(loop, true)}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (jinja_is(name, all[i].name))
            return all[i].value;
    return JINJA_NOTHING;
}

static jinja_value access_method(jinja_work *w, jinja_value of, const char *name)
{
    jinja_method *m = jinja_alloc(w, 1, sizeof *m);
    if (!m)
        return JINJA_NOTHING;
    *m = (jinja_method){of, name};
    return (jinja_value){.kind = JINJA_METHOD, .method = m};
}

/* of.name; false: Python has no such attribute. */
static bool access_attribute(jinja_work *w, jinja_value of, jinja_value name, jinja_value *attribute)
{
    *attribute = JINJA_NOTHING;
    if (name.size > 0 && name.text[0] == '_') {
        jinja_fail(w, "access to attributes that begin with _ is not implemented");
        return true;
    }
    if (of.kind == JINJA_NAMESPACE) {
        const jinja_value *found = jinja_dict_find(w, of.dict, name);
        *attribute = found ? *found : JINJA_NOTHING;
        return found;
    }
    const char *method = jinja_method_find(w, of, name);
    if (method)
        *attribute = access_method(w, of, method);
    else if (of.kind == JINJA_LOOP)
        *attribute = loop_attribute(of.loop, name);
    else if (of.kind == JINJA_MACRO || of.kind == JINJA_METHOD || of.kind == JINJA_FUNCTION)
        jinja_fail(w, "attributes of a %s are not implemented", jinja_type(of));
    return attribute->kind != JINJA_UNDEFINED;
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

static bool access_of_nothing(jinja_work *w, jinja_value of, jinja_value key)
{
    char name[60];
    if (of.kind == JINJA_UNDEFINED && !w->code) {
        snprintf(name, sizeof name, "%.*s", key.kind == JINJA_TEXT ? (int)(key.size < 50 ? key.size : 50) : 0,
                 key.kind == JINJA_TEXT ? key.text : "");
        jinja_fail(w, "'%s' is undefined, and so has no '%s'", of.text ? quote(of.text).text : "a value", quote(name).text);
    }
    return w->code;
}

/* An undefined value with the name that was requested, for messages. */
static jinja_value access_missing(jinja_work *w, jinja_value key)
{
    jinja_value v = JINJA_NOTHING;
    char *name = key.kind == JINJA_TEXT ? jinja_alloc(w, key.size + 1, 1) : NULL;
    if (name) {
        memcpy(name, key.text, key.size);
        name[key.size] = '\0';
        v.text = name;
    }
    return v;
}

jinja_value jinja_attribute(jinja_work *w, jinja_value of, jinja_value name)
{
    jinja_value v;
    if (access_of_nothing(w, of, name))
        return JINJA_NOTHING;
    if (access_attribute(w, of, name, &v) || access_item(w, of, name, &v))
        return v;
    return access_missing(w, name);
}

jinja_value jinja_item(jinja_work *w, jinja_value of, jinja_value key)
{
    jinja_value v;
    if (access_of_nothing(w, of, key))
        return JINJA_NOTHING;
    if (access_item(w, of, key, &v) || (key.kind == JINJA_TEXT && access_attribute(w, of, key, &v)))
        return v;
    return access_missing(w, key);
}

/* ---- slices ----------------------------------------------------------------------------------------------------- */

/* An end of a slice. */
static int64_t slice_end(jinja_work *w, jinja_value v, int64_t count, int64_t step, int64_t otherwise)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1, end;
    if (v.kind == JINJA_NONE)
        return otherwise;
    if (!jinja_as_integer(v, &end))
        jinja_fail(w, "slice indices must be integers or None, not %s", jinja_type(v));
    if (end < 0)
        end = end < -count ? low : end + count;
    return end > high ? high : end;
}

static jinja_value slice_list(jinja_work *w, const jinja_list *of, jinja_value from, jinja_value to, int64_t step)
{
    int64_t count = (int64_t)of->count, begin = slice_end(w, from, count, step, step > 0 ? 0 : count - 1),
            end = slice_end(w, to, count, step, step > 0 ? count : -1);
    step = step < -count - 1 ? -count - 1 : step > count + 1 ? count + 1 : step; /* as far, without overflow */
    int64_t items = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
    jinja_list *list = jinja_list_new(w, of->shape, items > 0 ? (size_t)items : 0);
    for (int64_t i = 0; list && i < (int64_t)list->count; i++)
        list->items[i] = of->items[begin + i * step];
    return jinja_row(list);
}

jinja_value jinja_slice(jinja_work *w, jinja_value of, jinja_value from, jinja_value to, jinja_value step)
{
    int64_t by = 1;
    bool row = of.kind == JINJA_LIST && of.list->shape <= JINJA_IS_TUPLE;
    if (access_of_nothing(w, of, JINJA_NOTHING))
        return JINJA_NOTHING;
    if (jinja_is_row(of, JINJA_IS_RANGE))
        jinja_fail(w, "slices of a range are not implemented");
    else if (of.kind != JINJA_TEXT && !row)
        jinja_fail(w, "'%s' object is not subscriptable by a slice", jinja_type(of));
    else if (step.kind != JINJA_NONE && !jinja_as_integer(step, &by))
        jinja_fail(w, "slice indices must be integers or None, not %s", jinja_type(step));
    else if (by == 0)
        jinja_fail(w, "slice step cannot be zero");
    if (w->code || row)
        return w->code ? JINJA_NOTHING : slice_list(w, of.list, from, to, by);
    const jinja_list *letters = jinja_iterate(w, of);
    jinja_value chosen = letters ? slice_list(w, letters, from, to, by) : JINJA_NOTHING;
    return chosen.kind == JINJA_LIST ? jinja_text_join(w, jinja_word(""), chosen.list) : JINJA_NOTHING;
}
