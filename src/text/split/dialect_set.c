/* text/split/dialect_set.c: reads a set. Properties come from text/unicode, by their names in Unicode. */
#include "text/split/dialect.h"

#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 };

typedef struct set_reader {
    const char *pattern;
    size_t at;
    bool fold;
    rapt_error *err;
} set_reader;

static rapt_code set_refuse(set_reader *r, const char *reason)
{
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "pattern, byte %zu of %zu: %s", r->at + (r->pattern[r->at] != '\0'),
                     strlen(r->pattern), reason);
}

static rapt_code set_no_memory(set_reader *r)
{
    return rapt_fail(r->err, RAPT_ERR_MEMORY, "out of memory for a pattern");
}

static rapt_code set_done(set_reader *r, bool ok)
{
    return ok ? RAPT_OK : set_no_memory(r);
}

/* ---- named sets --------------------------------------------------------------------------------------------- */

/* All of the categories in the mask. */
static bool add_categories(code_set *s, uint32_t mask)
{
    bool ok = true;
    for (uint32_t code = 0, end; ok && code < UNICODE_END; code = end) {
        unicode_category category = unicode_category_run(code, &end);
        ok = !(mask >> category & 1) || code_set_add(s, code, end);
    }
    code_set_tidy(s);
    return ok;
}

static bool add_script(code_set *s, unsigned script)
{
    bool ok = true;
    for (uint32_t code = 0, end; ok && code < UNICODE_END; code = end)
        ok = unicode_script_run(code, &end) != script || code_set_add(s, code, end);
    code_set_tidy(s);
    return ok;
}

static bool add_ranges(code_set *s, const code_range *ranges, size_t count)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = code_set_add(s, ranges[i].first, ranges[i].end);
    code_set_tidy(s);
    return ok;
}

#define BIT(category) (UINT32_C(1) << UNICODE_##category)
#define LETTERS (BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO))
#define MARKS (BIT(MN) | BIT(MC) | BIT(ME))

/* Adds marks, which are no letters; outside of a set, Oniguruma's \w also has numbers of Latin-1. */
bool dialect_set_word(code_set *s, bool alone)
{
    static const code_range signs[] = {{0x24B6, 0x24EA}, {0x1F130, 0x1F14A}, {0x1F150, 0x1F16A}, {0x1F170, 0x1F18A},
                                       {0xB2, 0xB4}, {0xB9, 0xBA}, {0xBC, 0xBF}};
    return add_categories(s, LETTERS | MARKS | BIT(ND) | BIT(NL) | BIT(PC)) && add_ranges(s, signs, alone ? 7 : 4);
}

static bool add_spaces(code_set *s)
{
    static const code_range controls[] = {{'\t', '\r' + 1}, {0x85, 0x86}};
    return add_categories(s, BIT(ZS) | BIT(ZL) | BIT(ZP)) && add_ranges(s, controls, 2);
}

/* Names of categories, in the order of their numbers; one letter names a group of them. */
static const char NAMES[] = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co ";

static uint32_t categories_named(const char *name, size_t length)
{
    uint32_t mask = 0;
    for (unsigned i = 0; NAMES[3 * i]; i++)
        if (length >= 1 && length <= 2 && memcmp(NAMES + 3 * i, name, length) == 0)
            mask |= UINT32_C(1) << i;
    return mask;
}

/* \p{Name}, \P{Name}, \p{^Name}. */
static rapt_code set_take_property(set_reader *r, code_set *s)
{
    const char *at = r->pattern + r->at, *end = at[2] == '{' ? strchr(at, '}') : NULL;
    bool negated = at[1] == 'P';
    if (!end)
        return set_refuse(r, "a property has a name in braces");
    const char *name = at + 3;
    if (*name == '^') {
        negated = !negated;
        name++;
    }
    uint32_t mask = categories_named(name, (size_t)(end - name));
    unsigned script = unicode_script_named(name, (size_t)(end - name));
    if (!mask && !script)
        return set_refuse(r, "of properties only general categories and scripts of many letters are supported");
    bool ok = (mask ? add_categories(s, mask) : add_script(s, script)) && (!negated || code_set_complement(s));
    r->at += (size_t)(end - at) + 1;
    return set_done(r, ok);
}

/* ---- characters --------------------------------------------------------------------------------------------- */

/* The number of \x41, \x{1F600}, \u0041: digits in base 16. */
static rapt_code set_take_hexadecimal(set_reader *r, uint32_t *code)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = r->pattern + r->at + 2;
    const size_t most = at[-1] == 'u' ? 4 : 2;
    bool braces = *at == '{' && most == 2;
    size_t count = strspn(at + braces, digits);
    count = braces || count <= most ? count : most;
    char text[16] = "";
    if (count == 0 || count > 8 || (braces && at[1 + count] != '}') || (most == 4 && count < 4))
        return set_refuse(r, "no hexadecimal number");
    memcpy(text, at + braces, count);
    *code = (uint32_t)strtoul(text, NULL, 16);
    if (*code >= UNICODE_END)
        return set_refuse(r, "no character has this number");
    r->at += 2 + count + (braces ? 2 : 0);
    return RAPT_OK;
}

/* One character, plain or escaped. RAPT_ERR_VALUE, without a message: an escape that is no character. */
static rapt_code set_character(set_reader *r, bool in_set, uint32_t *code)
{
    static const char letters[] = "tnrfae", meant[] = "\t\n\r\f\a\x1B";
    const char *at = r->pattern + r->at;
    if (*at != '\\') {
        size_t used = utf8_decode(at, strlen(at), code);
        if (used == 0)
            return set_refuse(r, "not UTF-8");
        r->at += used;
        return RAPT_OK;
    }
    if (!at[1])
        return set_refuse(r, "\\ at the end");
    const char *letter = strchr(letters, at[1]);
    if (at[1] == 'x' || at[1] == 'u')
        return set_take_hexadecimal(r, code);
    bool plain = (unsigned char)at[1] < 0x80 && !((at[1] >= 'a' && at[1] <= 'z') || (at[1] >= 'A' && at[1] <= 'Z') ||
                                                          (at[1] >= '0' && at[1] <= '9'));
    if (letter)
        *code = (unsigned char)meant[letter - letters];
    else if (in_set && at[1] == 'b')
        *code = '\b';
    else if (plain)
        *code = (unsigned char)at[1];
    else
        return RAPT_ERR_VALUE;
    r->at += 2;
    return RAPT_OK;
}

/* \s, \d, \w and their opposites, \p{...}. */
static rapt_code set_take_class(set_reader *r, bool in_set, code_set *s)
{
    char letter = r->pattern[r->at] == '\\' ? r->pattern[r->at + 1] : '\0';
    bool ok;
    switch (letter) {
    case 'p':
    case 'P': return set_take_property(r, s);
    case 's':
    case 'S': ok = add_spaces(s); break;
    case 'd':
    case 'D': ok = add_categories(s, BIT(ND)); break;
    case 'w':
    case 'W':
        if (!in_set || letter == 'w') {
            ok = dialect_set_word(s, !in_set);
            break;
        }
        /* fall through */
    default: return set_refuse(r, "this escape does not mean the same to all who read patterns, or is not supported");
    }
    ok = ok && ((letter >= 'a' && letter <= 'z') || code_set_complement(s));
    r->at += 2;
    return set_done(r, ok);
}

/* ---- [...] -------------------------------------------------------------------------------------------------- */

static rapt_code take_whole_set(set_reader *r, code_set *s, int depth);

/* A range, or a character alone. A class within a set comes back as RAPT_ERR_VALUE. */
static rapt_code set_take_range(set_reader *r, code_set *s)
{
    uint32_t first, last;
    rapt_code code = set_character(r, true, &first);
    const char *at = r->pattern + r->at;
    if (code)
        return code;
    last = first;
    if (at[0] == '-' && at[1] && at[1] != ']' && at[1] != '[' && !(at[1] == '&' && at[2] == '&')) {
        r->at++;
        code = set_character(r, true, &last);
        if (code)
            return code == RAPT_ERR_VALUE ? set_refuse(r, "a range that ends in a class") : code;
        if (last < first)
            return set_refuse(r, "a range out of order");
    }
    return set_done(r, code_set_add(s, first, last + 1));
}

static rapt_code set_take_member(set_reader *r, code_set *s, int depth)
{
    const char *at = r->pattern + r->at;
    code_set part = {0};
    if (!*at)
        return set_refuse(r, "missing terminating ] for character class");
    rapt_code code = RAPT_ERR_VALUE;
    if (at[0] == '[' && at[1] == ':')
        return set_refuse(r, "[: is not supported; write \\p{...}");
    if (at[0] == '[')
        code = take_whole_set(r, &part, depth + 1);
    else if ((code = set_take_range(r, &part)) == RAPT_ERR_VALUE)
        code = set_take_class(r, true, &part);
    code = code ? code : set_done(r, code_set_add_all(s, &part));
    code_set_free(&part);
    return code;
}

/* Takes the members up to && or the end. */
static rapt_code set_take_members(set_reader *r, code_set *s, int depth)
{
    rapt_code code = RAPT_OK;
    const char *at = r->pattern + r->at;
    if (*at == ']') /* "]" as the first character of a set is an ordinary one */
        code = set_take_range(r, s);
    while (!code && (at = r->pattern + r->at, *at != ']') && !(at[0] == '&' && at[1] == '&'))
        code = set_take_member(r, s, depth);
    code_set_tidy(s);
    return code;
}

static rapt_code take_whole_set(set_reader *r, code_set *s, int depth)
{
    if (depth == DEEPEST)
        return set_refuse(r, "sets within sets, too deep");
    bool negated = r->pattern[++r->at] == '^', ok = true;
    r->at += negated;
    rapt_code code = set_take_members(r, s, depth);
    while (!code && r->pattern[r->at] == '&') {
        code_set other = {0};
        r->at += 2;
        code = set_take_members(r, &other, depth);
        ok = code || code_set_intersect(s, &other);
        code_set_free(&other);
        code = code ? code : set_done(r, ok);
    }
    if (code)
        return code;
    r->at++;
    return set_done(r, (!r->fold || code_set_add_folded(s)) && (!negated || code_set_complement(s)));
}

rapt_code dialect_set_take(const char *pattern, size_t *at, bool fold, code_set *out, rapt_error *err)
{
    set_reader r = {pattern, *at, fold, err};
    uint32_t character;
    rapt_code code = RAPT_ERR_VALUE;
    if (pattern[r.at] == '[')
        code = take_whole_set(&r, out, 0);
    else if ((code = set_character(&r, false, &character)) == RAPT_OK)
        code = set_done(&r, code_set_add(out, character, character + 1) && (!fold || code_set_add_folded(out)));
    else if (code == RAPT_ERR_VALUE)
        code = set_take_class(&r, false, out);
    code_set_tidy(out);
    *at = r.at;
    return code;
}
