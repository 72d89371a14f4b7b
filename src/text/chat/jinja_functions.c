/* text/chat/jinja_functions.c: the functions that transformers and Jinja give to chat templates. */
#include "base/clock.h"
#include "text/chat/jinja_print.h"
#include "text/chat/jinja_run.h"

#include <stdio.h>
#include <string.h>

enum { MOST_RANGE = 100000 }; /* the limit of Jinja's sandbox */

jinja_value jinja_function_find(jinja_value name)
{
    static const char *const names[] = {[JINJA_RANGE] = "range", [JINJA_NEW_NAMESPACE] = "namespace", [JINJA_NEW_DICT] = "dict",
                                        [JINJA_RAISE] = "raise_exception", [JINJA_STRFTIME_NOW] = "strftime_now"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (jinja_is(name, names[i]))
            return (jinja_value){.kind = JINJA_FUNCTION, .function = (jinja_function)i};
    return JINJA_NOTHING;
}

static jinja_value function_range(jinja_work *w, const jinja_arguments *a)
{
    int64_t v[3] = {0, 0, 1};
    if (a->named > 0 || a->count < 1 || a->count > 3)
        jinja_fail(w, "range takes 1 to 3 integers");
    for (size_t i = 0; i < a->count && i < 3; i++)
        if (jinja_want_integer(w, "range", a->values[i], &v[i]) && (v[i] > INT32_MAX || v[i] < INT32_MIN))
            jinja_fail(w, "range: %lld is too large", (long long)v[i]);
    int64_t from = a->count > 1 ? v[0] : 0, to = a->count > 1 ? v[1] : v[0], step = v[2];
    if (step == 0)
        jinja_fail(w, "range() arg 3 must not be zero");
    if (w->code)
        return JINJA_NOTHING;
    int64_t count = step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step;
    count = count > 0 ? count : 0;
    if (count > MOST_RANGE)
        jinja_fail(w, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", MOST_RANGE);
    jinja_list *list = w->code ? NULL : jinja_list_new(w, JINJA_IS_RANGE, (size_t)count);
    for (int64_t i = 0; list && i < count; i++)
        list->items[i] = jinja_int(from + i * step);
    return jinja_row(list);
}

/* dict and namespace, made from another dict and from named arguments. */
static jinja_value function_table(jinja_work *w, const jinja_arguments *a, bool space)
{
    size_t placed = a->count - a->named;
    jinja_dict *d = jinja_dict_new(w);
    if (placed > 1 || (placed == 1 && a->values[0].kind != JINJA_DICT))
        jinja_fail(w, "%s of other than a dict and names is not implemented", space ? "namespace" : "dict");
    for (size_t i = 0; d && !w->code && placed == 1 && i < a->values[0].dict->count; i++)
        jinja_dict_put(w, d, a->values[0].dict->keys[i], a->values[0].dict->values[i]);
    for (size_t i = placed; d && i < a->count; i++)
        jinja_dict_put(w, d, a->names[i], a->values[i]);
    for (size_t i = 0; d && space && i < d->count; i++)
        if (d->keys[i].kind == JINJA_TEXT && d->keys[i].size > 0 && d->keys[i].text[0] == '_')
            jinja_fail(w, "a namespace cannot store attributes that begin with _");
    jinja_value v = jinja_table(d);
    if (space && d)
        v.kind = JINJA_NAMESPACE;
    return v;
}

static jinja_value function_raise(jinja_work *w, const jinja_arguments *a)
{
    jinja_value message = JINJA_NOTHING;
    if (!jinja_bind(w, "raise_exception", a, "message", 1, &message))
        return JINJA_NOTHING;
    message = jinja_str(w, message);
    jinja_fail(w, "the template refuses the messages: %.*s", (int)(message.size < 300 ? message.size : 300), message.text);
    return JINJA_NOTHING;
}

/* strftime in the C locale, regardless of the program's. */
static bool format_date(char letter, const struct tm *t, char *out, size_t size)
{
    static const char *const days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
                      *const months[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September",
                                         "October", "November", "December"};
    const int hour = t->tm_hour % 12 ? t->tm_hour % 12 : 12;
    switch (letter) {
    case 'd': snprintf(out, size, "%02d", t->tm_mday); return true;
    case 'e': snprintf(out, size, "%2d", t->tm_mday); return true;
    case 'm': snprintf(out, size, "%02d", t->tm_mon + 1); return true;
    case 'y': snprintf(out, size, "%02d", t->tm_year % 100); return true;
    case 'Y': snprintf(out, size, "%d", t->tm_year + 1900); return true;
    case 'H': snprintf(out, size, "%02d", t->tm_hour); return true;
    case 'I': snprintf(out, size, "%02d", hour); return true;
    case 'M': snprintf(out, size, "%02d", t->tm_min); return true;
    case 'S': snprintf(out, size, "%02d", t->tm_sec); return true;
    case 'j': snprintf(out, size, "%03d", t->tm_yday + 1); return true;
    case 'p': snprintf(out, size, "%s", t->tm_hour < 12 ? "AM" : "PM"); return true;
    case 'a': snprintf(out, size, "%.3s", days[t->tm_wday]); return true;
    case 'A': snprintf(out, size, "%s", days[t->tm_wday]); return true;
    case 'b': snprintf(out, size, "%.3s", months[t->tm_mon]); return true;
    case 'B': snprintf(out, size, "%s", months[t->tm_mon]); return true;
    case '%': snprintf(out, size, "%%"); return true;
    default: return false;
    }
}

static jinja_value function_now(jinja_run *r, const jinja_arguments *a)
{
    jinja_value format = JINJA_NOTHING;
    struct tm t;
    buffer b = {0};
    bool ok = true;
    if (!jinja_bind(r->w, "strftime_now", a, "format", 1, &format) || !jinja_want_text(r->w, "strftime_now", format))
        return JINJA_NOTHING;
    if (!clock_local(r->now, &t))
        jinja_fail(r->w, "strftime_now: there is no such time");
    for (size_t i = 0; i < format.size && ok && !r->w->code; i++) {
        char out[32];
        bool directive = format.text[i] == '%' && i + 1 < format.size;
        if (directive && !format_date(format.text[++i], &t, out, sizeof out))
            jinja_fail(r->w, "strftime_now: %%%c is not implemented", format.text[i]);
        ok = r->w->code || (directive ? buffer_append(&b, out, strlen(out)) : buffer_append(&b, &format.text[i], 1));
    }
    return jinja_take(r->w, &b, ok);
}

jinja_value jinja_function_call(jinja_run *r, jinja_function f, const jinja_arguments *a)
{
    switch (f) {
    case JINJA_RANGE: return function_range(r->w, a);
    case JINJA_NEW_NAMESPACE: return function_table(r->w, a, true);
    case JINJA_NEW_DICT: return function_table(r->w, a, false);
    case JINJA_RAISE: return function_raise(r->w, a);
    default: return function_now(r, a);
    }
}
