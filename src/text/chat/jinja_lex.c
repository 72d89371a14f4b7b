/* text/chat/jinja_lex.c: a template as tokens. White space around tags (jinja.palletsprojects.com, "Whitespace Control"): "-"
 * strips all of it on its side. Otherwise, unless there is a "+", spaces before {% and {# that begin a line are removed, and so
 * is the line feed after %} and #}. */
#include "text/chat/jinja_tree.h"

#include "base/chars.h"
#include "base/number.h"
#include "text/utf8.h"

#include <errno.h>
#include <string.h>

typedef struct lexer {
    jinja_work *w;
    const char *text;
    size_t size, at;
    jinja_token *tokens; /* malloc'd */
    size_t count, capacity;
    char open[JINJA_MOST_NESTED]; /* the open brackets */
    size_t open_count;
} lexer;

static void lex_put(lexer *l, jinja_token_kind kind, jinja_value value)
{
    if (!ARRAY_RESERVE(&l->tokens, &l->capacity, l->count + 1)) {
        jinja_no_memory(l->w);
        return;
    }
    l->tokens[l->count++] = (jinja_token){kind, l->w->line, value};
}

/* Moves on, counting lines. */
static void lex_skip(lexer *l, size_t to)
{
    for (; l->at < to; l->at++)
        l->w->line += l->text[l->at] == '\n';
}

static bool lex_sees(const lexer *l, const char *word)
{
    size_t length = strlen(word);
    return length <= l->size - l->at && memcmp(l->text + l->at, word, length) == 0;
}

static char lex_char(const lexer *l, size_t ahead)
{
    return l->at + ahead < l->size ? l->text[l->at + ahead] : '\0';
}

/* ---- white space ------------------------------------------------------------------------------------------------ */

static size_t spaces_at(const char *text, size_t size)
{
    uint32_t code;
    size_t at = 0, used;
    while ((used = utf8_decode(text + at, size - at, &code)) > 0 && utf8_is_space(code))
        at += used;
    return at;
}

/* Length of a text without the white space at its end. */
static size_t without_spaces(const char *text, size_t size)
{
    size_t kept = 0;
    for (size_t at = 0, used; at < size; at += used) {
        uint32_t code;
        used = utf8_decode(text + at, size - at, &code);
        if (!utf8_is_space(code))
            kept = at + used;
    }
    return kept;
}

/* The length of the text before a tag that begins at `end` and has this sign. */
static size_t lex_text_end(const lexer *l, size_t end, char sign, bool prints)
{
    const char *text = l->text + l->at;
    size_t size = end - l->at, line = size;
    if (sign == '-')
        return without_spaces(text, size);
    while (line > 0 && text[line - 1] != '\n')
        line--;
    bool starts = line > 0 || l->at == 0 || text[-1] == '\n';
    bool blank = spaces_at(text + line, size - line) == size - line;
    return sign != '+' && !prints && starts && blank ? line : size;
}

/* Skips white space after the end of a tag. */
static void lex_space_after(lexer *l, char sign, bool prints)
{
    if (sign == '-')
        lex_skip(l, l->at + spaces_at(l->text + l->at, l->size - l->at));
    else if (sign != '+' && !prints && lex_char(l, 0) == '\n')
        lex_skip(l, l->at + 1);
}

/* ---- within tags ------------------------------------------------------------------------------------------------ */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The code point of `digits` hexadecimal digits. */
static bool lex_hex(const lexer *l, size_t from, size_t end, size_t digits, buffer *b)
{
    uint32_t code = 0;
    char bytes[4];
    for (size_t i = 0; i < digits; i++) {
        int digit = from + i < end ? hex_digit(l->text[from + i]) : -1;
        if (digit < 0)
            return false;
        code = code << 4 | (uint32_t)digit;
    }
    size_t used = utf8_put(code, bytes);
    return used > 0 && buffer_append(b, bytes, used);
}

/* Appends the character of the escape whose letter is at `at`; returns the bytes used after the backslash; 0: not a known
 * escape. */
static size_t lex_escape(const lexer *l, size_t at, size_t end, buffer *b)
{
    static const char letters[] = "\\'\"abfnrtv", meant[] = "\\'\"\a\b\f\n\r\t\v";
    char c = l->text[at];
    const char *known = c ? strchr(letters, c) : NULL;
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (known)
        return buffer_append(b, &meant[known - letters], 1);
    if (digits > 0)
        return lex_hex(l, at + 1, end, digits, b) ? 1 + digits : 0;
    if (c == '\n') /* a line feed that is left out */
        return 1;
    if (c == 'N' || (c >= '0' && c <= '7') || (c & 0x80))
        return 0;
    return buffer_append(b, "\\", 1) && buffer_append(b, &c, 1); /* Python keeps both */
}

static void lex_string(lexer *l)
{
    char quotes = lex_char(l, 0);
    size_t end = l->at + 1;
    buffer b = {0};
    bool ok = buffer_reserve(&b, 0);
    while (end < l->size && l->text[end] != quotes)
        end += 1 + (l->text[end] == '\\');
    if (end >= l->size) {
        jinja_fail(l->w, "a string is not closed");
        end = l->at;
    }
    for (size_t at = l->at + 1; at < end && ok; at++) {
        if (l->text[at] != '\\') {
            ok = buffer_append(&b, l->text + at, 1);
            continue;
        }
        size_t used = lex_escape(l, at + 1, end, &b);
        if (used == 0)
            jinja_fail(l->w, "the escape \\%c of a string is not implemented", l->text[at + 1]);
        at += used;
    }
    jinja_value v = jinja_take(l->w, &b, ok);
    lex_put(l, JINJA_TOKEN_CONSTANT, v);
    lex_skip(l, end + 1 < l->size ? end + 1 : l->size);
}

static size_t digits_at(const lexer *l, size_t ahead)
{
    size_t count = 0;
    while (lex_char(l, ahead + count) >= '0' && lex_char(l, ahead + count) <= '9')
        count++;
    return count;
}

static void lex_number(lexer *l)
{
    char digits[64];
    size_t length = digits_at(l, 0), fraction = lex_char(l, length) == '.' ? digits_at(l, length + 1) : 0;
    if (l->at > 0 && l->text[l->at - 1] == '.') /* in x.0.1 the end is not a fraction */
        fraction = 0;
    bool real = fraction > 0;
    length += fraction > 0 ? 1 + fraction : 0;
    if ((lex_char(l, length) | 32) == 'e') {
        size_t sign = lex_char(l, length + 1) == '-' || lex_char(l, length + 1) == '+';
        size_t exponent = digits_at(l, length + 1 + sign);
        real = real || exponent > 0;
        length += exponent > 0 ? 1 + sign + exponent : 0;
    }
    char next = lex_char(l, length);
    if (length >= sizeof digits || next == '_' || (next | 32) == 'x' || (next | 32) == 'o' || (next | 32) == 'b') {
        jinja_fail(l->w, "a number of this form is not implemented");
        return;
    }
    memcpy(digits, l->text + l->at, length);
    digits[length] = '\0';
    errno = 0;
    lex_put(l, JINJA_TOKEN_CONSTANT, real ? jinja_float(number_read(digits, NULL)) : jinja_int(strtoll(digits, NULL, 10)));
    if (!real && errno)
        jinja_fail(l->w, "the integer %s does not fit into 64 bits", digits);
    lex_skip(l, l->at + length);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void lex_brackets(lexer *l, char c)
{
    static const char opening[] = "([{", closing[] = ")]}";
    const char *end = strchr(closing, c);
    if (!end && l->open_count == sizeof l->open)
        jinja_fail(l->w, "nests deeper than %d brackets", JINJA_MOST_NESTED);
    else if (!end)
        l->open[l->open_count++] = c;
    else if (l->open_count == 0 || l->open[l->open_count - 1] != opening[end - closing])
        jinja_fail(l->w, "unexpected '%c'", c);
    else
        l->open_count--;
}

static void lex_sign(lexer *l)
{
    static const char *const pairs[] = {"//", "**", "==", "!=", ">=", "<="};
    size_t length = 0;
    char c = lex_char(l, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        length = lex_sees(l, pairs[i]) ? 2 : length;
    if (length == 0 && c && strchr("+-/*%~[](){}<>=.:|,", c))
        length = 1;
    if (length == 0) {
        jinja_fail(l->w, (c & 0x80) || c < ' ' ? "unexpected character in a tag" : "unexpected character '%c' in a tag", c);
        return;
    }
    if (strchr("()[]{}", c))
        lex_brackets(l, c);
    lex_put(l, JINJA_TOKEN_SIGN, jinja_borrow(l->text + l->at, length));
    lex_skip(l, l->at + length);
}

static void lex_token(lexer *l)
{
    size_t length = 0;
    char c = lex_char(l, 0);
    if (c == '\'' || c == '"') {
        lex_string(l);
    } else if (c >= '0' && c <= '9') {
        lex_number(l);
    } else if (is_name_char(c)) {
        while (is_name_char(lex_char(l, length)))
            length++;
        lex_put(l, JINJA_TOKEN_NAME, jinja_borrow(l->text + l->at, length));
        lex_skip(l, l->at + length);
    } else {
        lex_sign(l);
    }
}

/* The tokens of a tag, after its beginning, including its end. */
static void lex_tag(lexer *l, bool prints)
{
    const char *end = prints ? "}}" : "%}";
    while (!l->w->code) {
        lex_skip(l, l->at + spaces_at(l->text + l->at, l->size - l->at));
        char sign = lex_char(l, 0);
        bool is_sign = sign == '-' || (sign == '+' && !prints);
        l->at += is_sign;
        bool ends = l->open_count == 0 && lex_sees(l, end);
        if (ends) {
            lex_put(l, prints ? JINJA_TOKEN_PRINT_END : JINJA_TOKEN_BLOCK_END, JINJA_NOTHING);
            lex_skip(l, l->at + 2);
            lex_space_after(l, is_sign ? sign : '\0', prints);
            return;
        }
        l->at -= is_sign;
        if (l->at == l->size)
            jinja_fail(l->w, "a tag is not closed");
        else
            lex_token(l);
    }
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static void lex_comment(lexer *l)
{
    const char *end = chars_find(l->text + l->at, l->size - l->at, "#}", 2);
    if (!end) {
        jinja_fail(l->w, "a comment is not closed");
        return;
    }
    char sign = end > l->text + l->at ? end[-1] : '\0';
    lex_skip(l, (size_t)(end - l->text) + 2);
    lex_space_after(l, sign, false);
}

/* The first of {{, {% and {# from here on, or the end. */
static size_t lex_next_tag(const lexer *l)
{
    size_t at = l->at;
    while (at + 1 < l->size && !(l->text[at] == '{' && l->text[at + 1] && strchr("{%#", l->text[at + 1])))
        at++;
    return at + 1 < l->size ? at : l->size;
}

static void lex_all(lexer *l)
{
    while (!l->w->code && l->at < l->size) {
        size_t tag = lex_next_tag(l);
        char kind = tag < l->size ? l->text[tag + 1] : '\0', sign = tag + 2 < l->size ? l->text[tag + 2] : '\0';
        size_t length = kind ? lex_text_end(l, tag, sign, kind == '{') : tag - l->at;
        if (length > 0)
            lex_put(l, JINJA_TOKEN_DATA, jinja_borrow(l->text + l->at, length));
        lex_skip(l, tag);
        if (!kind)
            return;
        if (kind != '#')
            lex_put(l, kind == '{' ? JINJA_TOKEN_PRINT : JINJA_TOKEN_BLOCK, JINJA_NOTHING);
        lex_skip(l, l->at + 2 + (sign == '-' || sign == '+'));
        if (kind == '#')
            lex_comment(l);
        else
            lex_tag(l, kind == '{');
    }
}

/* With line feeds only, and without one at the end. */
static jinja_value lex_lines(jinja_work *w, const char *text, size_t size)
{
    char *to = jinja_alloc(w, size, 1);
    size_t length = 0;
    for (size_t i = 0; to && i < size; i++)
        if (text[i] != '\n' || i == 0 || text[i - 1] != '\r')
            to[length++] = text[i] == '\r' ? '\n' : text[i];
    return jinja_borrow(to, to && length > 0 && to[length - 1] == '\n' ? length - 1 : length);
}

const jinja_token *jinja_lex(jinja_work *w, const char *text, size_t size)
{
    jinja_value lines = lex_lines(w, text, size);
    lexer l = {.w = w, .text = lines.text, .size = lines.size};
    if (w->code)
        return NULL;
    lex_all(&l);
    lex_put(&l, JINJA_TOKEN_END, JINJA_NOTHING);
    jinja_token *kept = jinja_alloc(w, l.count, sizeof *kept);
    if (kept)
        memcpy(kept, l.tokens, l.count * sizeof *kept);
    free(l.tokens);
    return kept;
}
