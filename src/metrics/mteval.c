/* metrics/mteval.c: the tokenizers of NIST's mteval scripts, and sacreBLEU's tokenizer for Chinese, as lists of rules that insert
 * spaces. For BLEU. Each rule is one scan over code points, not a regular expression; matches do not overlap. */
#include "metrics/mteval.h"

#include "text/utf8.h"

#include <string.h>

/* A rule finds one code point or a pair, and inserts spaces: around the one (AROUND), around the second of a pair (SECOND), or
 * around the first (FIRST). The scan continues after the match. */
enum spaces { AROUND, SECOND, FIRST };

struct rule {
    bool (*first)(uint32_t code);
    bool (*second)(uint32_t code);
    enum spaces spaces;
};

static bool mteval_is_any(uint32_t code)
{
    (void)code;
    return true;
}

static bool is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

static bool is_not_digit(uint32_t code)
{
    return !is_digit(code);
}

static bool is_dash(uint32_t code)
{
    return code == '-';
}

static bool is_dot_or_comma(uint32_t code)
{
    return code == '.' || code == ',';
}

static bool is_not_number(uint32_t code)
{
    return !utf8_is_number(code);
}

/* ASCII punctuation and symbols, except ' , - and . */
static bool is_ascii_mark(uint32_t code)
{
    return code > ' ' && code < 0x7F && strchr("!\"#$%&()*+/:;<=>?@[\\]^_`{|}~", (int)code) != NULL;
}

/* A punctuation character is a word of its own; so is a dot or comma, unless between digits; so is a dash after a digit. */
static const struct rule rules_13a[] = {
    {is_ascii_mark, NULL, AROUND},
    {is_not_digit, is_dot_or_comma, SECOND},
    {is_dot_or_comma, is_not_digit, FIRST},
    {is_digit, is_dash, SECOND},
};

static const struct rule rules_intl[] = {
    {is_not_number, utf8_is_punctuation, SECOND},
    {utf8_is_punctuation, is_not_number, FIRST},
    {utf8_is_symbol, NULL, AROUND},
};

static const struct rule rules_char[] = {{mteval_is_any, NULL, AROUND}};

/* Characters that sacreBLEU's tokenizer for Chinese separates. Its table also means U+20000 to U+2A6D6 and U+2F800 to U+2FA1D,
 * but writes each as two characters (U+2000 and so on), so that in effect they are U+2001 to U+2A6D and, within the Kangxi
 * radicals, nothing new. Comparable scores have to do the same. */
static bool is_chinese(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x2001, 0x2A6D}, {0x2E80, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
        {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D},
        {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

static const struct rule rules_zh[] = {{is_chinese, NULL, AROUND}};

static void mteval_put(struct codes *to, uint32_t code)
{
    to->at[to->count++] = code;
}

static size_t put_match(struct codes *to, const uint32_t *at, enum spaces spaces)
{
    if (spaces != SECOND)
        mteval_put(to, ' ');
    mteval_put(to, at[0]);
    mteval_put(to, ' ');
    if (spaces == AROUND)
        return 1;
    mteval_put(to, at[1]);
    if (spaces == SECOND)
        mteval_put(to, ' ');
    return 2;
}

static bool matches(const struct rule *rule, const uint32_t *at, size_t left)
{
    return rule->first(at[0]) && (!rule->second || (left > 1 && rule->second(at[1])));
}

static void mteval_apply(const struct rule *rule, const struct codes *from, struct codes *to)
{
    for (size_t i = 0; i < from->count;) {
        const uint32_t *at = from->at + i;
        if (matches(rule, at, from->count - i))
            i += put_match(to, at, rule->spaces);
        else
            mteval_put(to, from->at[i++]);
    }
}

static void swap(struct codes *a, struct codes *b)
{
    struct codes kept = *a;
    *a = *b;
    *b = kept;
}

static rapt_code apply_all(const struct rule *rules, size_t count, struct codes *text, struct codes *scratch,
                           rapt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!codes_reserve(scratch, 3 * text->count)) /* at most " c " for each c */
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the words of a segment");
        mteval_apply(&rules[i], text, scratch);
        swap(text, scratch);
    }
    return RAPT_OK;
}

static bool starts_with(const uint32_t *at, size_t left, const char *what)
{
    size_t i = 0;
    while (what[i] && i < left && at[i] == (unsigned char)what[i])
        i++;
    return what[i] == '\0';
}

/* Replaces each `what` by `by`, which is not longer; occurrences that a replacement creates are left alone. */
static void mteval_replace(struct codes *text, const char *what, const char *by)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->count;) {
        if (starts_with(text->at + i, text->count - i, what)) {
            i += strlen(what);
            if (*by)
                text->at[kept++] = (unsigned char)*by;
        } else {
            text->at[kept++] = text->at[i++];
        }
    }
    text->count = kept;
}

/* The order matters: "&amp;lt;" becomes "<". */
static void mteval_decode_entities(struct codes *text)
{
    mteval_replace(text, "<skipped>", "");
    mteval_replace(text, "-\n", "");
    mteval_replace(text, "\n", " ");
    mteval_replace(text, "&quot;", "\"");
    mteval_replace(text, "&amp;", "&");
    mteval_replace(text, "&lt;", "<");
    mteval_replace(text, "&gt;", ">");
}

/* The rules of 13a need a character that is not a digit before the first and after the last. */
static rapt_code pad(struct codes *text, struct codes *scratch, rapt_error *err)
{
    if (!codes_reserve(scratch, text->count + 2))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the words of a segment");
    mteval_put(scratch, ' ');
    if (text->count > 0)
        memcpy(scratch->at + 1, text->at, text->count * sizeof *text->at);
    scratch->count += text->count;
    mteval_put(scratch, ' ');
    swap(text, scratch);
    return RAPT_OK;
}

static rapt_code apply_13a(struct codes *text, struct codes *scratch, rapt_error *err)
{
    return apply_all(rules_13a, sizeof rules_13a / sizeof *rules_13a, text, scratch, err);
}

static rapt_code tokenize_13a(struct codes *text, struct codes *scratch, rapt_error *err)
{
    mteval_decode_entities(text);
    rapt_code code = pad(text, scratch, err);
    return code ? code : apply_13a(text, scratch, err);
}

/* There is nothing before the first character, so a dot or comma there stays with what follows. */
static rapt_code tokenize_zh(struct codes *text, struct codes *scratch, rapt_error *err)
{
    codes_strip_start(text);
    rapt_code code = apply_all(rules_zh, 1, text, scratch, err);
    return code ? code : apply_13a(text, scratch, err);
}

rapt_code mteval_tokenize(rapt_tokenize kind, struct codes *text, struct codes *scratch, rapt_error *err)
{
    codes_strip_end(text);
    switch (kind) {
    case RAPT_TOKENIZE_13A:
        return tokenize_13a(text, scratch, err);
    case RAPT_TOKENIZE_NONE:
        return RAPT_OK;
    case RAPT_TOKENIZE_INTL:
        return apply_all(rules_intl, sizeof rules_intl / sizeof *rules_intl, text, scratch, err);
    case RAPT_TOKENIZE_CHAR:
        return apply_all(rules_char, 1, text, scratch, err);
    case RAPT_TOKENIZE_ZH:
        return tokenize_zh(text, scratch, err);
    }
    return rapt_fail(err, RAPT_ERR_VALUE, "no tokenizer has number %d", (int)kind);
}
