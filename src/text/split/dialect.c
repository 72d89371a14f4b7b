/* text/split/dialect.c: a first pass over the pattern takes groups, counts, characters and sets (dialect_set.c); a second pass
 * writes the sets as kinds, when all of them are known. */
#include "text/split/dialect.h"

#include "base/buffer.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marks in the draft, each followed by two bytes with the number of a set: its kinds; all bytes except its kinds. */
enum { SET = 1, ALL_BUT_SET = 2 };
enum { MOST_SETS = 1024, MOST_GROUPS = 250 };
enum { MOST_BYTES = 16384 };                           /* bytes of a pattern: its sets take time */

/* A group that is open. */
typedef struct open_group {
    bool fold;    /* the setting outside of it */
    size_t added; /* groups that (?i) opened within it */
} open_group;

typedef struct dialect {
    const char *pattern;
    size_t at;
    bool fold; /* case does not count */
    open_group groups[MOST_GROUPS]; /* the first one is the whole */
    size_t depth;
    buffer draft;
    code_set *sets;
    size_t count, capacity;
    rapt_error *err;
} dialect;

static rapt_code dialect_refuse(dialect *d, const char *reason)
{
    return rapt_fail(d->err, RAPT_ERR_FORMAT, "pattern, byte %zu of %zu: %s", d->at + (d->pattern[d->at] != '\0'),
                     strlen(d->pattern), reason);
}

static rapt_code dialect_no_memory(dialect *d)
{
    return rapt_fail(d->err, RAPT_ERR_MEMORY, "out of memory for a pattern");
}

static rapt_code dialect_put(dialect *d, const char *text, size_t size)
{
    return buffer_append(&d->draft, text, size) ? RAPT_OK : dialect_no_memory(d);
}

static rapt_code dialect_put_text(dialect *d, const char *text)
{
    return dialect_put(d, text, strlen(text));
}

/* Copies the next `size` bytes, which are syntax, not characters to match. */
static rapt_code dialect_copy(dialect *d, size_t size)
{
    rapt_code code = dialect_put(d, d->pattern + d->at, size);
    d->at += size;
    return code;
}

/* Takes over the set. `as`: SET or ALL_BUT_SET. */
static rapt_code dialect_put_set(dialect *d, int as, code_set *set)
{
    size_t i = 0;
    while (i < d->count && !code_set_equal(&d->sets[i], set))
        i++;
    if (i >= MOST_SETS || (i == d->count && !ARRAY_RESERVE(&d->sets, &d->capacity, d->count + 1))) {
        code_set_free(set);
        return i >= MOST_SETS ? dialect_refuse(d, "more sets of characters than fit") : dialect_no_memory(d);
    }
    if (i == d->count)
        d->sets[d->count++] = *set;
    else
        code_set_free(set);
    char mark[3] = {(char)as, (char)(i & 0xFF), (char)(i >> 8)};
    return dialect_put(d, mark, sizeof mark);
}

/* Line feeds, or all bytes except line feeds. */
static rapt_code dialect_put_lines(dialect *d, int as)
{
    code_set set = {0};
    return code_set_add(&set, '\n', '\n' + 1) ? dialect_put_set(d, as, &set) : dialect_no_memory(d);
}

/* All characters except line feeds. */
static rapt_code dialect_put_dot(dialect *d)
{
    code_set set = {0};
    if (code_set_add(&set, '\n', '\n' + 1) && code_set_complement(&set))
        return dialect_put_set(d, SET, &set);
    code_set_free(&set);
    return dialect_no_memory(d);
}

/* ^ or $: before or after the place is a line feed or nothing. */
static rapt_code dialect_put_line_edge(dialect *d, const char *look)
{
    rapt_code code = dialect_put_text(d, look);
    code = code ? code : dialect_put_lines(d, ALL_BUT_SET);
    return code ? code : dialect_put_text(d, ")");
}

static rapt_code dialect_put_word(dialect *d)
{
    code_set set = {0};
    if (dialect_set_word(&set, true))
        return dialect_put_set(d, SET, &set);
    code_set_free(&set);
    return dialect_no_memory(d);
}

/* Between a character of a word and another: \b; or not: \B. */
static rapt_code dialect_put_word_edge(dialect *d, bool edge)
{
    const char *const parts[] = {"(?:(?<=", edge ? ")(?!" : ")(?=", ")|(?<!", edge ? ")(?=" : ")(?!", "))"};
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < 5 && !code; i++) {
        code = dialect_put_text(d, parts[i]);
        if (!code && i < 4)
            code = dialect_put_word(d);
    }
    return code;
}

/* A final line feed may follow: \Z. */
static rapt_code dialect_put_last_end(dialect *d)
{
    rapt_code code = dialect_put_text(d, "(?=");
    code = code ? code : dialect_put_lines(d, SET);
    return code ? code : dialect_put_text(d, "?\\z)");
}

static rapt_code take_escape(dialect *d)
{
    rapt_code code;
    switch (d->pattern[d->at + 1]) {
    case 'b': code = dialect_put_word_edge(d, true); break;
    case 'B': code = dialect_put_word_edge(d, false); break;
    case 'A': code = dialect_put_text(d, "(?<![\\x00-\\xff])"); break; /* the visible text may begin within the whole text */
    case 'z': code = dialect_put_text(d, "\\z"); break;
    case 'Z': code = dialect_put_last_end(d); break;
    case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        return dialect_refuse(d, "a reference to a group is not supported");
    default: return RAPT_ERR_VALUE; /* a character or a set */
    }
    d->at += 2;
    return code;
}

/* "(?i)" applies to the rest of its group, including alternatives: Oniguruma treats the rest as a new group. */
static rapt_code take_flag(dialect *d, bool fold)
{
    d->at += fold ? 4 : 5;
    d->fold = fold;
    d->groups[d->depth - 1].added++;
    return dialect_put_text(d, "(?:");
}

static rapt_code open_group_of(dialect *d, const char *as, size_t size, bool fold)
{
    if (d->depth == MOST_GROUPS)
        return dialect_refuse(d, "groups within groups, too deep");
    d->groups[d->depth++] = (open_group){d->fold, 0};
    d->fold = fold;
    d->at += size;
    return dialect_put_text(d, as);
}

static rapt_code dialect_take_group(dialect *d)
{
    static const char *const kept[] = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"};
    const char *at = d->pattern + d->at;
    if (at[1] == '*')
        return dialect_refuse(d, "(* is not supported");
    if (at[1] != '?')
        return open_group_of(d, "(?:", 1, d->fold);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncmp(at, kept[i], strlen(kept[i])) == 0)
            return open_group_of(d, kept[i], strlen(kept[i]), d->fold);
    if (strncmp(at, "(?#", 3) == 0 && strchr(at, ')')) {
        d->at += (size_t)(strchr(at, ')') - at) + 1;
        return RAPT_OK;
    }
    if (strncmp(at, "(?i:", 4) == 0 || strncmp(at, "(?-i:", 5) == 0)
        return open_group_of(d, "(?:", at[2] == 'i' ? 4 : 5, at[2] == 'i');
    if (strncmp(at, "(?i)", 4) == 0 || strncmp(at, "(?-i)", 5) == 0)
        return take_flag(d, at[2] == 'i');
    return dialect_refuse(d, "of groups only (...), (?:...), (?i:...), (?>...) and looking around are supported");
}

static rapt_code end_group(dialect *d)
{
    rapt_code code = RAPT_OK;
    open_group g = d->groups[--d->depth];
    for (size_t i = 0; i < g.added && !code; i++)
        code = dialect_put_text(d, ")");
    d->fold = g.fold;
    return code;
}

static rapt_code close_group(dialect *d)
{
    if (d->depth == 1)
        return dialect_refuse(d, "unmatched closing parenthesis");
    rapt_code code = end_group(d);
    return code ? code : dialect_copy(d, 1);
}

/* {1,3}+ takes no more than three for PCRE2, and any number for Oniguruma; {3}? is lazy for the one, optional for the other. */
static rapt_code take_count(dialect *d)
{
    const char *at = d->pattern + d->at;
    size_t low = strspn(at + 1, "0123456789"), size = 1 + low;
    bool comma = at[size] == ',';
    size_t high = comma ? strspn(at + size + 1, "0123456789") : 0;
    size += comma + high;
    if (at[size] != '}' || low + high == 0)
        return RAPT_ERR_VALUE; /* an ordinary character */
    if (at[size + 1] == '+' || (!comma && at[size + 1] == '?')) {
        d->at += size + 1;
        return dialect_refuse(d, at[size + 1] == '+'
                                     ? "+ after {...} does not mean the same to all who read patterns; write (?>...) instead"
                                     : "? after {...} does not mean the same to all who read patterns");
    }
    if (low > 0)
        return dialect_copy(d, size + 1);
    rapt_code code = dialect_put_text(d, "{0");
    d->at++;
    return code ? code : dialect_copy(d, size);
}

/* A character, an escape for one or for several, or a set. */
static rapt_code take_characters(dialect *d)
{
    code_set set = {0};
    rapt_code code = dialect_set_take(d->pattern, &d->at, d->fold, &set, d->err);
    if (code == RAPT_OK)
        return dialect_put_set(d, SET, &set);
    code_set_free(&set);
    return code;
}

static rapt_code dialect_take(dialect *d)
{
    rapt_code code = RAPT_ERR_VALUE;
    switch (d->pattern[d->at]) {
    case '\\': code = take_escape(d); break;
    case '(': return dialect_take_group(d);
    case ')': return close_group(d);
    case '{': code = take_count(d); break;
    case '|':
    case '*':
    case '+':
    case '?': return dialect_copy(d, 1);
    case '.': d->at++; return dialect_put_dot(d);
    case '^': d->at++; return dialect_put_line_edge(d, "(?<!");
    case '$': d->at++; return dialect_put_line_edge(d, "(?!");
    default: break;
    }
    return code == RAPT_ERR_VALUE ? take_characters(d) : code;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* As a set of bytes, in ranges; PCRE2 has no empty one. */
static bool write_set(buffer *out, const kinds *k, const code_set *set, bool all_but)
{
    bool has[KINDS_MAX + 1], any = false, ok = buffer_append(out, "[^", all_but ? 2 : 1);
    kinds_of_set(k, set, has);
    for (unsigned i = 0; ok && i <= KINDS_MAX; i++) {
        char range[16];
        unsigned end = i;
        while (end <= KINDS_MAX && has[end])
            end++;
        if (end == i)
            continue;
        int size = snprintf(range, sizeof range, end - i > 1 ? "\\x%02x-\\x%02x" : "\\x%02x", i, end - 1);
        ok = buffer_append(out, range, (size_t)size);
        any = true;
        i = end;
    }
    return ok && buffer_append(out, any ? "]" : "^\\x00-\\xff]", any ? 1 : 11);
}

static rapt_code write_pattern(dialect *d, const kinds *k, buffer *out)
{
    bool ok = buffer_append(out, "", 0);
    for (size_t i = 0; ok && i < d->draft.size; i++) {
        const unsigned char *at = (const unsigned char *)d->draft.data + i;
        if (*at != SET && *at != ALL_BUT_SET) {
            ok = buffer_append(out, at, 1);
            continue;
        }
        ok = write_set(out, k, &d->sets[at[1] | (size_t)at[2] << 8], *at == ALL_BUT_SET);
        i += 2;
    }
    return ok ? RAPT_OK : dialect_no_memory(d);
}

rapt_code dialect_for_pcre2(const char *pattern, char **out, kinds **kinds_out, rapt_error *err)
{
    dialect d = {.pattern = pattern, .depth = 1, .err = err};
    buffer written = {0};
    kinds *k = NULL;
    rapt_code code = strlen(pattern) > MOST_BYTES ? dialect_refuse(&d, "longer than 16384 bytes") : dialect_put(&d, "", 0);
    while (code == RAPT_OK && pattern[d.at])
        code = dialect_take(&d);
    if (code == RAPT_OK)
        code = d.depth > 1 ? dialect_refuse(&d, "missing closing parenthesis") : end_group(&d);
    if (code == RAPT_OK && !(k = kinds_new(d.sets, d.count, err)))
        code = err ? err->code : RAPT_ERR_MEMORY;
    code = code ? code : write_pattern(&d, k, &written);
    for (size_t i = 0; i < d.count; i++)
        code_set_free(&d.sets[i]);
    free(d.sets);
    buffer_free(&d.draft);
    if (code) {
        buffer_free(&written);
        kinds_free(k);
    }
    *out = code ? NULL : written.data;
    *kinds_out = code ? NULL : k;
    return code;
}
