/* decode/schema/schema_pattern.c: a part of the regular expressions of ECMA-262 as automata of bytes: characters, classes,
 * groups, alternatives, repetitions; ^ and $ at the ends of the alternatives of the whole. Characters are written as JSON has
 * them: in UTF-8, or escaped. What engines read differently is narrowed to what they agree on: \D, \W and \S are ASCII, \d and
 * \w too. No lookaround, references, \b or \p. schema_dfa.c makes the automaton deterministic. */
#include "decode/schema/schema_pattern.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "decode/schema/schema_classes.h"
#include "decode/schema/schema_nfa.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 32, MAX_TIMES = 1000 };

typedef struct pattern_reader {
    const char *at, *whole;
    schema_nfa *nfa;
    schema_work *work;
    int nesting;
    rapt_error *err;
} pattern_reader;

/* A part of the automaton: from `begin` to `end`, a state without a way on yet. */
typedef struct nfa_part {
    int32_t begin, end;
} nfa_part;

static bool pattern_fails(pattern_reader *r, const char *what)
{
    rapt_fail(r->err, RAPT_ERR_VALUE, "%s, at byte %zu", what, (size_t)(r->at - r->whole) + 1);
    return false;
}

/* ---- states --------------------------------------------------------------------------------------------------- */

/* -1: too many. */
static int32_t pattern_state(pattern_reader *r, uint8_t low, uint8_t high, int32_t to, int32_t other)
{
    const int32_t state = schema_pay(r->work, 4) ? schema_nfa_add(r->nfa, (schema_nfa_state){low, high, to, other}) : -1;
    if (state < 0)
        pattern_fails(r, "it is too large");
    return state;
}

static bool pattern_empty(pattern_reader *r, nfa_part *out)
{
    out->begin = out->end = pattern_state(r, 1, 0, -1, -1);
    return out->begin >= 0;
}

/* Adds a way from `begin` to `end` through some ranges of bytes. */
static bool add_byte_ranges(pattern_reader *r, nfa_part *p, const uint8_t (*ranges)[2], size_t count)
{
    int32_t to = p->end;
    for (size_t i = count; i-- > 0 && to >= 0;)
        to = pattern_state(r, ranges[i][0], ranges[i][1], to, -1);
    const int32_t fork = to < 0 ? -1 : pattern_state(r, 1, 0, to, p->begin);
    p->begin = fork;
    return fork >= 0;
}

/* A part of an automaton, and its reader. */
typedef struct class_part {
    pattern_reader *r;
    nfa_part *part;
} class_part;

/* A byte_ranges_fn. */
static bool add_class_bytes(void *context, const uint8_t (*ranges)[2], size_t count)
{
    const class_part *c = context;
    return add_byte_ranges(c->r, c->part, ranges, count);
}

static bool pattern_class(pattern_reader *r, const code_class *c, nfa_part *out)
{
    bool some = false;
    class_part part = {r, out};
    if (!pattern_empty(r, out))
        return false;
    out->begin = pattern_state(r, 1, 0, -1, -1); /* no way leads out of it, so it is a dead beginning of the list of ways */
    if (out->begin < 0 || !code_class_bytes(c, add_class_bytes, &part, &some))
        return false;
    return some || pattern_fails(r, "no character of a string in JSON fits");
}

/* ---- classes -------------------------------------------------------------------------------------------------- */

static bool class_add(pattern_reader *r, code_class *c, uint32_t low, uint32_t high)
{
    if (low > high)
        return pattern_fails(r, "a range from a larger to a smaller character");
    return (schema_pay(r->work, 4) && code_class_add(c, low, high)) || pattern_fails(r, "a class of too many ranges");
}

static bool class_negate(pattern_reader *r, code_class *c, uint32_t last)
{
    return (schema_pay(r->work, 16 * (1 + c->count)) && code_class_negate(c, last)) ||
           pattern_fails(r, "a class of too many ranges");
}

static bool read_hex(pattern_reader *r, size_t digits, uint32_t *code)
{
    *code = 0;
    for (size_t i = 0; i < digits; i++, r->at++) {
        const char *place = *r->at ? strchr("0123456789abcdef", *r->at | (*r->at >= 'A' ? 0x20 : 0)) : NULL;
        if (!place)
            return pattern_fails(r, "hexadecimal digits are missing");
        *code = *code * 16 + (uint32_t)(place - "0123456789abcdef");
    }
    return true;
}

/* What follows a backslash: a character, or a class. */
static bool read_escape(pattern_reader *r, code_class *c, uint32_t *code, bool *is_class)
{
    static const char letters[] = "t\tn\nv\vf\fr\r";
    const char letter = *r->at;
    *is_class = letter && strchr("dDwWsS", letter);
    const char *place = letter ? strchr("tnvfr", letter) : NULL;
    if (!letter)
        return pattern_fails(r, "nothing follows a backslash");
    r->at++;
    if (*is_class)
        return (schema_pay(r->work, 16) && code_class_shorthand(c, letter)) || pattern_fails(r, "a class of too many ranges");
    if (place) {
        *code = (uint8_t)strchr(letters, letter)[1];
        return true;
    }
    if (letter == 'u' || letter == 'x')
        return read_hex(r, letter == 'u' ? 4 : 2, code);
    *code = (uint8_t)letter;
    if (strchr("^$\\.*+?()[]{}|/-\"'#&,:;<=>@!%`~ _", letter))
        return true;
    r->at--;
    return pattern_fails(r, "this escape is not supported");
}

/* A character that stands for itself: the text is UTF-8, because jansson has read it. */
static uint32_t read_code(pattern_reader *r)
{
    uint32_t c = (uint8_t)*r->at++;
    const int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;
    c = more == 0 ? c : c & (0x3Fu >> more);
    for (int i = 0; i < more; i++)
        c = c << 6 | ((uint8_t)*r->at++ & 0x3F);
    return c;
}

/* One end of a range, or a class. */
static bool read_member(pattern_reader *r, code_class *c, uint32_t *code, bool *is_class)
{
    *is_class = false;
    if (!*r->at)
        return pattern_fails(r, "a class has no end");
    if (*r->at == '\\') {
        r->at++;
        return read_escape(r, c, code, is_class);
    }
    *code = read_code(r);
    return true;
}

static bool read_class(pattern_reader *r, code_class *c)
{
    const bool negated = *r->at == '^';
    uint32_t last = CODE_LAST;
    r->at += negated;
    while (*r->at != ']') {
        uint32_t low, high;
        bool is_class, other = false;
        if (!read_member(r, c, &low, &is_class))
            return false;
        if (is_class) {
            if (negated && strchr("DWS", r->at[-1]))
                return pattern_fails(r, "a negated class of a negated class is not supported");
            last = CODE_LAST_ASCII; /* as in code_class_shorthand */
            continue;
        }
        high = low;
        if (r->at[0] == '-' && r->at[1] != ']') {
            r->at++;
            if (!read_member(r, c, &high, &other))
                return false;
            if (other)
                return pattern_fails(r, "a range that ends with a class is not supported");
        }
        if (!class_add(r, c, low, high))
            return false;
    }
    r->at++;
    return !negated || class_negate(r, c, last);
}

/* ---- expressions ---------------------------------------------------------------------------------------------- */

static bool read_alternatives(pattern_reader *r, bool top, nfa_part *out);

static bool pattern_any(pattern_reader *r, bool lines, nfa_part *out)
{
    code_class c = {{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}, 3};
    if (lines)
        c = (code_class){{{0, CODE_LAST}}, 1};
    else if (!class_negate(r, &c, CODE_LAST))
        return false;
    return pattern_class(r, &c, out);
}

static bool pattern_group(pattern_reader *r, nfa_part *out)
{
    if (*r->at == '?' && r->at[1] != ':')
        return pattern_fails(r, "lookaround and named groups are not supported");
    r->at += *r->at == '?' ? 2 : 0;
    if (++r->nesting > MAX_NESTING)
        return pattern_fails(r, "groups within each other: too deep");
    if (!read_alternatives(r, false, out))
        return false;
    r->nesting--;
    if (*r->at != ')')
        return pattern_fails(r, "a group has no end");
    r->at++;
    return true;
}

static bool read_atom(pattern_reader *r, nfa_part *out)
{
    code_class c = {.count = 0};
    uint32_t code;
    bool is_class = false;
    if (*r->at == '(') {
        r->at++;
        return pattern_group(r, out);
    }
    if (*r->at == '.') {
        r->at++;
        return pattern_any(r, false, out);
    }
    if (*r->at == '[') {
        r->at++;
        return read_class(r, &c) && pattern_class(r, &c, out);
    }
    if (strchr("^$*+?{}])", *r->at))
        return pattern_fails(r, *r->at == '^' || *r->at == '$' ? "^ and $ are supported only at the ends of the whole"
                                                               : "this character needs a backslash");
    if (*r->at == '\\') {
        r->at++;
        if (!read_escape(r, &c, &code, &is_class))
            return false;
    } else {
        code = read_code(r);
    }
    return (is_class || class_add(r, &c, code, code)) && pattern_class(r, &c, out);
}

/* A number of times; -1: none, or more than MAX_TIMES. */
static int read_number_of_times(pattern_reader *r)
{
    int count = *r->at >= '0' && *r->at <= '9' ? 0 : -1;
    for (; *r->at >= '0' && *r->at <= '9' && count >= 0; r->at++) {
        count = 10 * count + (*r->at - '0');
        count = count > MAX_TIMES ? -1 : count;
    }
    return count;
}

/* {m}, {m,}, {m,n}; max -1: no limit. */
static bool read_times(pattern_reader *r, int *min, int *max)
{
    *min = *max = read_number_of_times(r);
    bool ok = *min >= 0;
    if (ok && *r->at == ',') {
        r->at++;
        *max = *r->at == '}' ? -1 : read_number_of_times(r);
        ok = *r->at == '}' && (r->at[-1] == ',' || *max >= *min);
    }
    if (!ok || *r->at != '}')
        return pattern_fails(r, "numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first");
    r->at++;
    return true;
}

/* How often an atom occurs. */
static bool read_repeat(pattern_reader *r, int *min, int *max)
{
    const char c = *r->at;
    *min = c == '+' || !c || !strchr("*+?{", c) ? 1 : 0;
    *max = c == '*' || c == '+' ? -1 : 1;
    if (!c || !strchr("*+?{", c))
        return true;
    r->at++;
    if (c == '{' && !read_times(r, min, max))
        return false;
    r->at += *r->at == '?'; /* which match is preferred does not matter */
    return true;
}

static void nfa_join(pattern_reader *r, nfa_part *to, nfa_part more)
{
    r->nfa->list[to->end].to = more.begin;
    to->end = more.end;
}

/* An atom that may be left out, or `many` times repeated. */
static bool make_optional(pattern_reader *r, nfa_part *p, bool many)
{
    const int32_t end = pattern_state(r, 1, 0, -1, -1), fork = end < 0 ? -1 : pattern_state(r, 1, 0, p->begin, end);
    if (fork < 0)
        return false;
    r->nfa->list[p->end].to = many ? fork : end;
    *p = (nfa_part){fork, end};
    return true;
}

/* The atom is read as often as it occurs, each time into states of its own. The first time tells how often, so that groups within
 * groups are not read twice on each level. */
static bool read_repeated(pattern_reader *r, nfa_part *out)
{
    const char *const from = r->at;
    int min, max;
    nfa_part part;
    if (!read_atom(r, &part) || !read_repeat(r, &min, &max))
        return false;
    const char *const after = r->at;
    if (!pattern_empty(r, out))
        return false;
    for (int i = 0; i < min || i < max || (max < 0 && i == min); i++) {
        r->at = from;
        if ((i > 0 && !read_atom(r, &part)) || (i >= min && !make_optional(r, &part, max < 0)))
            return false;
        nfa_join(r, out, part);
    }
    r->at = after;
    return true;
}

static bool read_sequence(pattern_reader *r, bool top, nfa_part *out)
{
    nfa_part part;
    const bool begins = top && *r->at == '^';
    bool ends = false;
    r->at += begins;
    if (!pattern_empty(r, out))
        return false;
    if (top && !begins) {
        if (!pattern_any(r, true, &part) || !make_optional(r, &part, true))
            return false;
        nfa_join(r, out, part);
    }
    while (*r->at && *r->at != '|' && *r->at != ')' && !ends) {
        ends = top && *r->at == '$' && (r->at[1] == '\0' || r->at[1] == '|');
        r->at += ends;
        if (ends)
            break;
        if (!read_repeated(r, &part))
            return false;
        nfa_join(r, out, part);
    }
    if (top && !ends) {
        if (!pattern_any(r, true, &part) || !make_optional(r, &part, true))
            return false;
        nfa_join(r, out, part);
    }
    return true;
}

static bool read_alternatives(pattern_reader *r, bool top, nfa_part *out)
{
    nfa_part part;
    if (!read_sequence(r, top, out))
        return false;
    while (*r->at == '|') {
        r->at++;
        if (!read_sequence(r, top, &part))
            return false;
        const int32_t end = pattern_state(r, 1, 0, -1, -1);
        const int32_t fork = end < 0 ? -1 : pattern_state(r, 1, 0, out->begin, part.begin);
        if (fork < 0)
            return false;
        r->nfa->list[out->end].to = r->nfa->list[part.end].to = end;
        *out = (nfa_part){fork, end};
    }
    return true;
}

/* Errors without the pattern's name. */
static const schema_dfa *pattern_dfa(schema_work *w, const char *pattern, size_t max_states, rapt_error *err)
{
    schema_nfa nfa = {.count = 0};
    nfa_part whole;
    pattern_reader r = {.at = pattern, .whole = pattern, .nfa = &nfa, .work = w, .err = err};
    const schema_dfa *d = NULL;
    if (!schema_nfa_init(&nfa)) {
        schema_no_memory(err);
        return NULL;
    }
    bool ok = read_alternatives(&r, true, &whole);
    if (ok && *r.at)
        ok = pattern_fails(&r, "a parenthesis without its other");
    if (ok)
        d = schema_nfa_determine(&nfa, whole.begin, whole.end, max_states, w, err);
    schema_nfa_free(&nfa);
    return d;
}

const schema_dfa *pattern_list_find(pattern_list *l, const char *pattern, const json_t *at, rapt_error *err)
{
    rapt_error own = {0};
    if (schema_charge(l->work, at, STEPS_KEYWORD + l->count / 4, err))
        return NULL;
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].pattern == pattern)
            return l->list[i].dfa;
    if (schema_charge(l->work, at, l->count * (1 + strlen(pattern) / STEPS_COMPARED), err))
        return NULL;
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->list[i].pattern, pattern) == 0)
            return l->list[i].dfa;
    if (!ARRAY_RESERVE(&l->list, &l->capacity, l->count + 1)) {
        schema_no_memory(err);
        return NULL;
    }
    const schema_dfa *d = pattern_dfa(l->work, pattern, SCHEMA_MAX_STATES - l->states, &own);
    if (d) {
        l->list[l->count++] = (struct made_pattern){pattern, d};
        l->states += d->states;
    } else if (own.code == RAPT_ERR_VALUE) {
        schema_refuse(l->work, at, err, "pattern \"%s\": %s", quote(pattern).text, own.message);
    } else {
        schema_no_memory(err);
    }
    return d;
}
