/* text/chat/jinja_arithmetic.c: arithmetic of templates. */
#include "text/chat/jinja_operations.h"

#include <math.h>
#include <string.h>

static jinja_value integer_result(jinja_work *w, int64_t v, bool overflows)
{
    if (overflows)
        jinja_fail(w, "an integer does not fit into 64 bits");
    return jinja_int(v);
}

/* Floor division, as Python's. */
static jinja_value divide_integers(jinja_work *w, int64_t a, int64_t b, bool remainder)
{
    if (b == 0) {
        jinja_fail(w, "integer division or modulo by zero");
        return JINJA_NOTHING;
    }
    if (b == -1)
        return remainder ? jinja_int(0) : integer_result(w, a == INT64_MIN ? 0 : -a, a == INT64_MIN);
    int64_t quotient = a / b, rest = a % b;
    bool below = rest != 0 && (rest < 0) != (b < 0);
    return jinja_int(remainder ? rest + (below ? b : 0) : quotient - below);
}

static jinja_value divide_floats(jinja_work *w, double a, double b, char op)
{
    if (b == 0) {
        jinja_fail(w, op == '/' ? "division by zero" : "float floor division or modulo by zero");
        return JINJA_NOTHING;
    }
    if (op == '/')
        return jinja_float(a / b);
    double rest = fmod(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) {
        rest += b;
        quotient -= 1;
    }
    double whole = floor(quotient);
    return jinja_float(op == '%' ? rest != 0 ? rest : copysign(0, b)
                                 : quotient == 0 ? copysign(0, a / b) : whole + (quotient - whole > 0.5));
}

static jinja_value compute_integers(jinja_work *w, jinja_value op, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool overflows = false;
    if (jinja_is(op, "+"))
        overflows = __builtin_add_overflow(a, b, &v);
    else if (jinja_is(op, "-"))
        overflows = __builtin_sub_overflow(a, b, &v);
    else if (jinja_is(op, "*"))
        overflows = __builtin_mul_overflow(a, b, &v);
    else if (jinja_is(op, "/"))
        return divide_floats(w, jinja_as_double(w, jinja_int(a)), jinja_as_double(w, jinja_int(b)), '/');
    else
        return divide_integers(w, a, b, jinja_is(op, "%"));
    return integer_result(w, v, overflows);
}

static jinja_value compute_numbers(jinja_work *w, jinja_value op, jinja_value a, jinja_value b)
{
    int64_t i, j;
    if (jinja_as_integer(a, &i) && jinja_as_integer(b, &j))
        return compute_integers(w, op, i, j);
    double x = jinja_as_double(w, a), y = jinja_as_double(w, b);
    if (jinja_is(op, "+"))
        return jinja_float(x + y);
    if (jinja_is(op, "-"))
        return jinja_float(x - y);
    if (jinja_is(op, "*"))
        return jinja_float(x * y);
    return divide_floats(w, x, y, jinja_is(op, "/") ? '/' : jinja_is(op, "%") ? '%' : 'f');
}

static jinja_value join_texts(jinja_work *w, jinja_value a, jinja_value b)
{
    buffer both = {0};
    if (a.size + b.size > JINJA_MOST_OUTPUT)
        jinja_fail(w, "a text has more than %d MB", JINJA_MOST_OUTPUT >> 20);
    bool ok = w->code || (buffer_append(&both, a.text, a.size) && buffer_append(&both, b.text, b.size));
    return jinja_take(w, &both, ok);
}

static jinja_value join_lists(jinja_work *w, const jinja_list *a, const jinja_list *b)
{
    jinja_list *both = jinja_list_new(w, a->shape, a->count + b->count);
    if (both) {
        memcpy(both->items, a->items, a->count * sizeof *a->items);
        memcpy(both->items + a->count, b->items, b->count * sizeof *b->items);
    }
    return jinja_row(both);
}

static jinja_value repeat_text(jinja_work *w, jinja_value text, int64_t times)
{
    size_t count = times > 0 && text.size > 0 ? (size_t)times : 0;
    if (count > 0 && count > JINJA_MOST_OUTPUT / text.size)
        jinja_fail(w, "a text has more than %d MB", JINJA_MOST_OUTPUT >> 20);
    char *all = jinja_step(w, count) ? jinja_alloc(w, count * text.size, 1) : NULL;
    for (size_t i = 0; all && i < count; i++)
        memcpy(all + i * text.size, text.text, text.size);
    return all ? jinja_borrow(all, count * text.size) : JINJA_NOTHING;
}

static jinja_value repeat_list(jinja_work *w, const jinja_list *list, int64_t times)
{
    size_t count = times > 0 && list->count > 0 ? (size_t)times : 0;
    if (count > 0 && count > JINJA_MOST_STEPS / list->count)
        jinja_fail(w, "a list has too many items");
    jinja_list *all = w->code ? NULL : jinja_list_new(w, list->shape, count * list->count);
    for (size_t i = 0; all && i < count; i++)
        memcpy(all->items + i * list->count, list->items, list->count * sizeof *list->items);
    return jinja_row(all);
}

static bool is_list_or_tuple(jinja_value v)
{
    return v.kind == JINJA_LIST && v.list->shape <= JINJA_IS_TUPLE;
}

/* markupsafe.escape of a text that did not go through `safe`. */
static jinja_value as_markup(jinja_work *w, jinja_value v)
{
    static const char letters[] = "&<>'\"";
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    buffer b = {0};
    if (v.safe)
        return v;
    bool ok = jinja_step(w, v.size / 64 + 1) && buffer_reserve(&b, v.size);
    for (size_t i = 0; i < v.size && ok; i++) {
        const char *found = v.text[i] ? strchr(letters, v.text[i]) : NULL;
        const char *put = found ? escapes[found - letters] : v.text + i;
        ok = buffer_append(&b, put, found ? strlen(put) : 1) && b.size < JINJA_MOST_OUTPUT;
    }
    return jinja_take(w, &b, ok);
}

jinja_value jinja_binary(jinja_work *w, jinja_value op, jinja_value a, jinja_value b)
{
    int64_t times;
    if (!jinja_defined(w, a) || !jinja_defined(w, b))
        return JINJA_NOTHING;
    if ((a.safe || b.safe) && jinja_is(op, "+") && a.kind == JINJA_TEXT && b.kind == JINJA_TEXT) {
        jinja_value both = join_texts(w, as_markup(w, a), as_markup(w, b));
        both.safe = both.kind == JINJA_TEXT;
        return both;
    }
    if (a.safe || b.safe || (a.kind == JINJA_TEXT && jinja_is(op, "%")))
        jinja_fail(w, a.safe || b.safe ? "operators of a text that went through the filter safe are not implemented"
                                       : "formatting a str with %% is not implemented");
    if (w->code)
        return JINJA_NOTHING;
    if (jinja_is_number(a) && jinja_is_number(b))
        return compute_numbers(w, op, a, b);
    if (jinja_is(op, "+") && a.kind == JINJA_TEXT && b.kind == JINJA_TEXT)
        return join_texts(w, a, b);
    if (jinja_is(op, "+") && is_list_or_tuple(a) && is_list_or_tuple(b) && a.list->shape == b.list->shape)
        return join_lists(w, a.list, b.list);
    if (jinja_is(op, "*") && jinja_as_integer(a, &times) && (b.kind == JINJA_TEXT || is_list_or_tuple(b)))
        return b.kind == JINJA_TEXT ? repeat_text(w, b, times) : repeat_list(w, b.list, times);
    if (jinja_is(op, "*") && jinja_as_integer(b, &times) && (a.kind == JINJA_TEXT || is_list_or_tuple(a)))
        return a.kind == JINJA_TEXT ? repeat_text(w, a, times) : repeat_list(w, a.list, times);
    jinja_fail(w, "unsupported operand types for %.*s: '%s' and '%s'", (int)op.size, op.text, jinja_type(a), jinja_type(b));
    return JINJA_NOTHING;
}

jinja_value jinja_signed(jinja_work *w, jinja_value v, bool negative)
{
    int64_t integer;
    if (!jinja_defined(w, v))
        return JINJA_NOTHING;
    if (v.kind == JINJA_FLOAT)
        return jinja_float(negative ? -v.number : v.number);
    if (!jinja_as_integer(v, &integer))
        jinja_fail(w, "bad operand type for unary %c: '%s'", negative ? '-' : '+', jinja_type(v));
    return integer_result(w, negative && integer != INT64_MIN ? -integer : integer, negative && integer == INT64_MIN);
}
