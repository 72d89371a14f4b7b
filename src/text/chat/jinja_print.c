/* text/chat/jinja_print.c: values of templates as text. */
#include "text/chat/jinja_print.h"

#include "base/number.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct printer {
    jinja_work *w;
    const jinja_json_options *json; /* NULL: repr() */
    buffer b;
    bool ok; /* there was memory */
} printer;

static void print_value(printer *p, jinja_value v, size_t level);

static void print_bytes(printer *p, const char *text, size_t size)
{
    if (p->b.size + size > JINJA_MOST_OUTPUT)
        jinja_fail(p->w, "a text has more than %d MB", JINJA_MOST_OUTPUT >> 20);
    p->ok = p->ok && !p->w->code && buffer_append(&p->b, text, size);
}

static void print_word(printer *p, const char *word)
{
    print_bytes(p, word, strlen(word));
}

/* As Python's repr: the fewest digits; an exponent from 1e16 on and below 1e-4. */
static void print_float(printer *p, double x)
{
    char text[NUMBER_TEXT], digits[NUMBER_TEXT], out[64];
    size_t count = 0;
    int exponent;
    if (isnan(x) || isinf(x)) {
        print_word(p, isnan(x) ? p->json ? "NaN" : "nan" : p->json ? (x > 0 ? "Infinity" : "-Infinity") : x > 0 ? "inf" : "-inf");
        return;
    }
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, fabs(x));
        count = strcspn(text, "eE");
        if (count > 1)
            text[1] = '.'; /* regardless of the locale */
        if (number_read(text, NULL) == fabs(x))
            break;
    }
    exponent = atoi(text + count + 1);
    snprintf(digits, sizeof digits, "%c%.*s", text[0], count > 2 ? (int)count - 2 : 0, text + 2);
    int length = (int)strlen(digits);
    if (exponent >= 16 || exponent < -4)
        snprintf(out, sizeof out, "%c%s%se%c%02d", digits[0], length > 1 ? "." : "", digits + 1, exponent < 0 ? '-' : '+',
                 exponent < 0 ? -exponent : exponent);
    else if (exponent < 0)
        snprintf(out, sizeof out, "0.%.*s%s", -exponent - 1, "0000", digits);
    else if (length <= exponent + 1)
        snprintf(out, sizeof out, "%s%.*s.0", digits, exponent + 1 - length, "0000000000000000");
    else
        snprintf(out, sizeof out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    print_word(p, signbit(x) ? "-" : "");
    print_word(p, out);
}

/* ---- strings ---------------------------------------------------------------------------------------------------- */

/* Whether repr() shows a character unchanged: no controls, formats, surrogates, private or unassigned codes, and no separators
 * except the space. */
static bool is_printable(uint32_t code)
{
    unicode_category c = unicode_category_of(code);
    bool other = c == UNICODE_CC || c == UNICODE_CF || c == UNICODE_CS ||
                 c == UNICODE_CO || c == UNICODE_CN;
    bool separator = c == UNICODE_ZL || c == UNICODE_ZP || c == UNICODE_ZS;
    return code == ' ' || (!other && !separator);
}

static void print_hex(printer *p, uint32_t code)
{
    char out[16];
    snprintf(out, sizeof out, code <= 0xFF ? "\\x%02x" : code <= 0xFFFF ? "\\u%04x" : "\\U%08x", (unsigned)code);
    print_word(p, out);
}

static void print_repr(printer *p, jinja_value v)
{
    static const char named[] = "\\\n\r\t", letters[] = "\\nrt";
    bool apostrophe = v.size > 0 && memchr(v.text, '\'', v.size), quotes = v.size > 0 && memchr(v.text, '"', v.size);
    char mark = apostrophe && !quotes ? '"' : '\'';
    print_word(p, v.safe ? "Markup(" : "");
    print_bytes(p, &mark, 1);
    for (size_t at = 0, used; at < v.size && p->ok; at += used) {
        uint32_t code;
        used = utf8_decode(v.text + at, v.size - at, &code);
        const char *known = code > 0 && code < 0x80 ? strchr(named, (int)code) : NULL;
        if (known || code == (uint32_t)mark) {
            print_bytes(p, "\\", 1);
            print_bytes(p, known ? &letters[known - named] : &mark, 1);
        } else if (is_printable(code)) {
            print_bytes(p, v.text + at, used);
        } else {
            print_hex(p, code);
        }
    }
    print_bytes(p, &mark, 1);
    print_word(p, v.safe ? ")" : "");
}

static void print_unit(printer *p, uint32_t unit)
{
    char out[16];
    snprintf(out, sizeof out, "\\u%04x", (unsigned)unit);
    print_word(p, out);
}

static void print_json_text(printer *p, jinja_value v)
{
    static const char named[] = "\"\\\n\r\t\f\b", letters[] = "\"\\nrtfb";
    print_bytes(p, "\"", 1);
    for (size_t at = 0, used; at < v.size && p->ok; at += used) {
        uint32_t code;
        used = utf8_decode(v.text + at, v.size - at, &code);
        const char *known = code > 0 && code < 0x80 ? strchr(named, (int)code) : NULL;
        if (known) {
            print_bytes(p, "\\", 1);
            print_bytes(p, &letters[known - named], 1);
        } else if (code < ' ' || (p->json->ascii && code >= 0x7F && code < 0x10000)) {
            print_unit(p, code);
        } else if (p->json->ascii && code >= 0x10000) {
            print_unit(p, 0xD800 + ((code - 0x10000) >> 10));
            print_unit(p, 0xDC00 + ((code - 0x10000) & 0x3FF));
        } else {
            print_bytes(p, v.text + at, used);
        }
    }
    print_bytes(p, "\"", 1);
}

/* ---- rows and dicts --------------------------------------------------------------------------------------------- */

static void print_new_line(printer *p, size_t level)
{
    if (!p->json || p->json->indent < 0)
        return;
    print_bytes(p, "\n", 1);
    for (size_t i = 0; i < level * (size_t)p->json->indent && p->ok; i++)
        print_bytes(p, " ", 1);
}

static void print_separator(printer *p, size_t index, size_t level)
{
    if (index > 0 && p->json)
        print_bytes(p, p->json->item_mark.text, p->json->item_mark.size);
    else if (index > 0)
        print_word(p, ", ");
    print_new_line(p, level);
}

static void print_items(printer *p, jinja_list *list, size_t level)
{
    bool tuple = list->shape == JINJA_IS_TUPLE && !p->json;
    if (list->shape > JINJA_IS_TUPLE) {
        jinja_fail(p->w, "printing a %s is not implemented", jinja_type(jinja_row(list)));
        return;
    }
    print_word(p, tuple ? "(" : "[");
    for (size_t i = 0; i < list->count && p->ok && !p->w->code; i++) {
        print_separator(p, i, level + 1);
        print_value(p, list->items[i], level + 1);
    }
    if (list->count > 0)
        print_new_line(p, level);
    print_word(p, tuple ? list->count == 1 ? ",)" : ")" : "]");
}

/* JSON has keys that are texts. */
static void print_key(printer *p, jinja_value key, size_t level)
{
    bool other = p->json && (key.kind == JINJA_NONE || jinja_is_number(key));
    if (p->json && key.kind != JINJA_TEXT && !other)
        jinja_fail(p->w, "keys must be str, int, float, bool or None, not %s", jinja_type(key));
    print_word(p, other ? "\"" : "");
    print_value(p, key, level);
    print_word(p, other ? "\"" : "");
}

/* Merges the two sorted halves of from[count] into to[count]; equal keys keep their order. */
static void merge_keys(printer *p, const jinja_dict *d, const size_t *from, size_t half, size_t count, size_t *to)
{
    for (size_t i = 0, j = half, at = 0; at < count; at++) {
        bool second = i == half || (j < count && jinja_less(p->w, d->keys[from[j]], d->keys[from[i]], "<"));
        to[at] = from[second ? j++ : i++];
    }
}

/* The places of the keys, sorted if JSON requires it. */
static size_t *print_order(printer *p, const jinja_dict *d)
{
    size_t *order = jinja_alloc(p->w, d->count, sizeof *order), *other = jinja_alloc(p->w, d->count, sizeof *other);
    if (!order || !other)
        return NULL;
    for (size_t i = 0; i < d->count; i++)
        order[i] = i;
    for (size_t run = 1; p->json && p->json->sort_keys && run < d->count; run *= 2) {
        for (size_t at = 0; at < d->count; at += 2 * run) {
            const size_t left = d->count - at;
            merge_keys(p, d, order + at, left < run ? left : run, left < 2 * run ? left : 2 * run, other + at);
        }
        size_t *sorted = other;
        other = order;
        order = sorted;
    }
    return order;
}

static void print_dict(printer *p, const jinja_dict *d, size_t level)
{
    const size_t *order = print_order(p, d);
    print_word(p, "{");
    for (size_t i = 0; order && i < d->count && p->ok && !p->w->code; i++) {
        print_separator(p, i, level + 1);
        print_key(p, d->keys[order[i]], level + 1);
        if (p->json)
            print_bytes(p, p->json->key_mark.text, p->json->key_mark.size);
        else
            print_word(p, ": ");
        print_value(p, d->values[order[i]], level + 1);
    }
    if (d->count > 0)
        print_new_line(p, level);
    print_word(p, "}");
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static void print_undefined(printer *p)
{
    if (p->json)
        jinja_fail(p->w, "Object of type Undefined is not JSON serializable");
    else
        print_word(p, "Undefined");
}

static void print_any(printer *p, jinja_value v, size_t level)
{
    char number[32];
    switch (v.kind) {
    case JINJA_UNDEFINED: print_undefined(p); return;
    case JINJA_NONE: print_word(p, p->json ? "null" : "None"); return;
    case JINJA_BOOL: print_word(p, p->json ? v.truth ? "true" : "false" : v.truth ? "True" : "False"); return;
    case JINJA_INT:
        snprintf(number, sizeof number, "%lld", (long long)v.integer);
        print_word(p, number);
        return;
    case JINJA_FLOAT: print_float(p, v.number); return;
    case JINJA_TEXT: (p->json ? print_json_text : print_repr)(p, v); return;
    case JINJA_LIST: print_items(p, v.list, level); return;
    case JINJA_DICT: print_dict(p, v.dict, level); return;
    default: jinja_fail(p->w, "printing a value of type %s is not implemented", jinja_type(v));
    }
}

static void print_value(printer *p, jinja_value v, size_t level)
{
    if (jinja_enter(p->w))
        print_any(p, v, level);
    jinja_leave(p->w);
}

static jinja_value print_whole(jinja_work *w, jinja_value v, const jinja_json_options *json)
{
    printer p = {.w = w, .json = json, .ok = true};
    print_value(&p, v, 0);
    return jinja_take(w, &p.b, p.ok || w->code);
}

jinja_value jinja_str(jinja_work *w, jinja_value v)
{
    if (v.kind == JINJA_TEXT)
        return v;
    return v.kind == JINJA_UNDEFINED ? jinja_word("") : print_whole(w, v, NULL);
}

jinja_value jinja_json(jinja_work *w, jinja_value v, const jinja_json_options *o)
{
    return print_whole(w, v, o);
}
