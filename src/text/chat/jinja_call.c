/* text/chat/jinja_call.c: binds the arguments of calls to the names of parameters. */
#include "text/chat/jinja_call.h"

#include <string.h>

/* The place of a name in a list with spaces between them; SIZE_MAX: not there. */
static size_t bind_find(const char *parameters, jinja_value name)
{
    size_t index = 0;
    for (const char *at = parameters; *at; index++) {
        size_t length = strcspn(at, " ");
        if (length == name.size && memcmp(at, name.text, length) == 0)
            return index;
        at += length + (at[length] == ' ');
    }
    return SIZE_MAX;
}

static size_t bind_count(const char *parameters)
{
    size_t count = *parameters != '\0';
    for (; *parameters; parameters++)
        count += *parameters == ' ';
    return count;
}

bool jinja_bind(jinja_work *w, const char *what, const jinja_arguments *a, const char *parameters, size_t required,
                jinja_value *values)
{
    bool given[JINJA_MOST_PARAMETERS] = {false};
    size_t count = bind_count(parameters), placed = a->count - a->named;
    if (placed > count)
        jinja_fail(w, "%s takes at most %zu arguments, not %zu", what, count, placed);
    for (size_t i = 0; i < a->count && !w->code; i++) {
        size_t at = i < placed ? i : bind_find(parameters, a->names[i]);
        if (at == SIZE_MAX || given[at]) {
            jinja_fail(w, "%s: the argument \"%.*s\" is given twice or not implemented", what,
                       (int)(a->names[i].size < 40 ? a->names[i].size : 40), a->names[i].text);
            break;
        }
        given[at] = true;
        values[at] = a->values[i];
    }
    for (size_t i = 0; i < required && !w->code; i++)
        if (!given[i])
            jinja_fail(w, "%s needs %zu argument%s", what, required, required == 1 ? "" : "s");
    return !w->code;
}

bool jinja_bind_none(jinja_work *w, const char *what, const jinja_arguments *a)
{
    return jinja_bind(w, what, a, "", 0, NULL);
}

bool jinja_want_text(jinja_work *w, const char *what, jinja_value v)
{
    if (v.kind != JINJA_TEXT)
        jinja_fail(w, "%s: must be str, not %s", what, jinja_type(v));
    return !w->code;
}

bool jinja_want_integer(jinja_work *w, const char *what, jinja_value v, int64_t *integer)
{
    if (!jinja_as_integer(v, integer))
        jinja_fail(w, "%s: must be int, not %s", what, jinja_type(v));
    return !w->code;
}
