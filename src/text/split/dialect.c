/* text/split/dialect.c: see dialect.h. One pass over the pattern: escapes, sets, groups and counts are checked, the rest is
 * copied. For split.c. */
#include "text/split/dialect.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

/* PCRE2's \s has U+180E as well, and its \w has all numbers, but no marks. Oniguruma's \w has some signs of Latin-1 when
 * it stands alone, and not in a set. */
#define SPACES "\\t-\\r \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}"
#define NOT_SPACES                                                                                                     \
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}!-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}"         \
    "\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{10FFFF}"
#define IN_WORD                                                                                                        \
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}"                \
    "\\x{1F170}-\\x{1F189}"
#define WORD IN_WORD "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}"
#define EDGE(before, after) "(?:(?<=[" WORD "])" before "|(?<![" WORD "])" after ")"

typedef struct escape {
    char letter;
    const char *outside, *inside; /* of a set [...]; NULL: refused */
} escape;

static const escape ESCAPES[] = {
    {'s', "[" SPACES "]", SPACES},
    {'S', "[^" SPACES "]", NOT_SPACES},
    {'w', "[" WORD "]", IN_WORD},
    {'W', "[^" WORD "]", NULL},
    {'b', EDGE("(?![" WORD "])", "(?=[" WORD "])"), "\\x{8}"},
    {'B', EDGE("(?=[" WORD "])", "(?![" WORD "])"), NULL},
    {'h', NULL, NULL},
    {'H', NULL, NULL},
    {'K', NULL, NULL},
    {'Q', NULL, NULL},
};

typedef struct dialect {
    const char *pattern;
    size_t at;
    bool in_set;
    buffer out;
    rapt_error *err;
} dialect;

static rapt_code dialect_refuse(dialect *d, const char *reason)
{
    return rapt_fail(d->err, RAPT_ERR_FORMAT, "pattern, byte %zu: %s", d->at + 1, reason);
}

static rapt_code dialect_put(dialect *d, const char *text, size_t size)
{
    bool ok = buffer_append(&d->out, text, size);
    return ok ? RAPT_OK : rapt_fail(d->err, RAPT_ERR_MEMORY, "out of memory for a pattern");
}

/* Copies the next `size` bytes. */
static rapt_code dialect_copy(dialect *d, size_t size)
{
    rapt_code code = dialect_put(d, d->pattern + d->at, size);
    d->at += size;
    return code;
}

/* Bytes of an escape that keeps its meaning: \p{L} and its like with their braces. */
static size_t escape_size(const char *at)
{
    const char *brace = at[1] && strchr("pPxogkN", at[1]) && at[2] == '{' ? strchr(at, '}') : NULL;
    return brace ? (size_t)(brace - at) + 1 : at[1] ? 2 : 1;
}

static rapt_code take_escape(dialect *d)
{
    const char *at = d->pattern + d->at;
    for (size_t i = 0; i < sizeof ESCAPES / sizeof *ESCAPES; i++) {
        if (ESCAPES[i].letter != at[1])
            continue;
        const char *text = d->in_set ? ESCAPES[i].inside : ESCAPES[i].outside;
        if (!text)
            return dialect_refuse(d, "this escape does not mean the same to all who read patterns");
        d->at += 2;
        return dialect_put(d, text, strlen(text));
    }
    return dialect_copy(d, escape_size(at));
}

static rapt_code take_in_set(dialect *d)
{
    const char *at = d->pattern + d->at;
    if (at[0] == '[' && at[1] == ':')
        return dialect_refuse(d, "[: is not supported; write \\p{...}");
    if (at[0] == '[')
        return dialect_refuse(d, "a set within a set; write \\[ for the sign");
    if (at[0] == '&' && at[1] == '&')
        return dialect_refuse(d, "&& in a set is not supported");
    d->in_set = at[0] != ']';
    return dialect_copy(d, 1);
}

/* "[", "[^", and a "]" right after them, which is a sign like others. */
static rapt_code open_set(dialect *d)
{
    const char *at = d->pattern + d->at;
    size_t size = at[1] == '^' ? 2 : 1;
    d->in_set = true;
    return dialect_copy(d, size + (at[size] == ']'));
}

static rapt_code open_group(dialect *d)
{
    const char *at = d->pattern + d->at;
    if (at[1] == '*')
        return dialect_refuse(d, "(* is not supported");
    if (at[1] == '?' && (!at[2] || !strchr(":=!><i-#", at[2])))
        return dialect_refuse(d, "of groups only (...), (?:...), (?i:...), (?>...) and looking around are supported");
    return dialect_copy(d, 1);
}

/* {1,3}+ takes no more than three for PCRE2, and any number for Oniguruma. */
static rapt_code take_count(dialect *d)
{
    const char *at = d->pattern + d->at;
    size_t size = 1 + strspn(at + 1, "0123456789,");
    if (size == 1 || at[size] != '}')
        return dialect_copy(d, 1);
    if (at[size + 1] != '+')
        return dialect_copy(d, size + 1);
    d->at += size + 1;
    return dialect_refuse(d, "+ after {...} does not mean the same to all who read patterns; write (?>...) instead");
}

static rapt_code dialect_take(dialect *d)
{
    char sign = d->pattern[d->at];
    if (sign == '\\')
        return take_escape(d);
    if (d->in_set)
        return take_in_set(d);
    switch (sign) {
    case '[': return open_set(d);
    case '(': return open_group(d);
    case '{': return take_count(d);
    default: return dialect_copy(d, 1);
    }
}

rapt_code dialect_for_pcre2(const char *pattern, char **out, rapt_error *err)
{
    dialect d = {.pattern = pattern, .err = err};
    rapt_code code = dialect_put(&d, "", 0);
    while (code == RAPT_OK && pattern[d.at])
        code = dialect_take(&d);
    if (code)
        buffer_free(&d.out);
    *out = code ? NULL : d.out.data;
    return code;
}
