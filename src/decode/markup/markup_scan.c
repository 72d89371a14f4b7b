/* decode/markup/markup_scan.c: the tokens of HTML and XML. What a browser would make of the tree is not asked, but what is a tag,
 * a comment or a text is the same to it. Not a validator: nothing is refused. */
#include "decode/markup/markup_scan.h"

#include "decode/markup/markup_names.h"

#include <string.h>

bool markup_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* The byte at a place; NUL behind the end. */
static char scan_byte(const markup_scan *s, size_t at)
{
    return at < s->size ? s->text[at] : '\0';
}

static bool scan_has(const markup_scan *s, size_t at, const char *what)
{
    const size_t size = strlen(what);
    return at <= s->size && size <= s->size - at && memcmp(s->text + at, what, size) == 0;
}

static char ascii_lower(char c)
{
    return (char)(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
}

/* scan_has in any letter case. */
static bool scan_has_word(const markup_scan *s, size_t at, const char *word, size_t size)
{
    bool same = at <= s->size && size <= s->size - at;
    for (size_t i = 0; i < size && same; i++)
        same = ascii_lower(s->text[at + i]) == ascii_lower(word[i]);
    return same;
}

static bool is_called(const markup_scan *s, size_t from, size_t to, const char *name)
{
    return to - from == strlen(name) && scan_has_word(s, from, name, to - from);
}

/* The end of what ends in `mark`, which begins at `from` or later; the end of the text if there is none. */
static size_t scan_past(const markup_scan *s, size_t from, const char *mark)
{
    const size_t size = strlen(mark);
    for (size_t at = from; at < s->size; at++) {
        const char *found = memchr(s->text + at, *mark, s->size - at);
        if (!found)
            break;
        at = (size_t)(found - s->text);
        if (scan_has(s, at, mark))
            return at + size;
    }
    return s->size;
}

static bool begins_name(const markup_scan *s, size_t at)
{
    const char c = scan_byte(s, at);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (s->xml && (c == '_' || c == ':' || (unsigned char)c >= 0x80));
}

/* Whether < at a place begins something other than text. */
static bool begins_markup(const markup_scan *s, size_t at)
{
    const char next = scan_byte(s, at + 1);
    return begins_name(s, at + 1) || next == '!' || next == '?' || (next == '/' && at + 2 < s->size);
}

/* ---- comments and declarations -------------------------------------------------------------------------------------------- */

static size_t comment_end(const markup_scan *s, size_t at)
{
    at += 4;
    if (s->xml)
        return scan_past(s, at, "-->");
    if (scan_byte(s, at) == '>' || scan_has(s, at, "->"))
        return at + 1 + (s->text[at] == '-');
    for (size_t end = at; (end = scan_past(s, end, "--")) < s->size; end--)
        if (s->text[end] == '>' || scan_has(s, end, "!>"))
            return end + 1 + (s->text[end] == '!');
    return s->size;
}

/* <!DOCTYPE of XML may have declarations in brackets, and quotes. */
static size_t doctype_end(const markup_scan *s, size_t at)
{
    bool brackets = false;
    for (at += 2; at < s->size; at++) {
        const char c = s->text[at];
        if (scan_has(s, at, "<!--"))
            at = scan_past(s, at + 4, "-->") - 1;
        else if (c == '"' || c == '\'')
            at = scan_past(s, at + 1, c == '"' ? "\"" : "'") - 1;
        else if (c == '[' || c == ']')
            brackets = c == '[';
        else if (c == '>' && !brackets)
            return at + 1;
    }
    return s->size;
}

static void scan_declaration(markup_scan *s, markup_token *t)
{
    const size_t at = t->begin;
    t->kind = MARKUP_OPAQUE;
    if (scan_has(s, at, "<!--"))
        t->end = comment_end(s, at);
    else if (s->xml && scan_has(s, at, "<![CDATA[")) {
        t->kind = MARKUP_TEXT;
        t->literal = true;
        t->end = scan_past(s, at + 9, "]]>");
        t->from = at + 9;
        t->to = t->end >= at + 12 && scan_has(s, t->end - 3, "]]>") ? t->end - 3 : t->end;
    } else if (s->foreign && scan_has(s, at, "<![CDATA["))
        t->end = scan_past(s, at + 9, "]]>");
    else if (s->xml && scan_byte(s, at + 1) == '!')
        t->end = doctype_end(s, at);
    else
        t->end = scan_past(s, at + 2, s->xml && scan_byte(s, at + 1) == '?' ? "?>" : ">");
    t->splits = !s->xml && scan_has_word(s, at, "<!doctype", 9);
}

/* ---- tags ----------------------------------------------------------------------------------------------------------------- */

static bool lists_word(rapt_text list, const char *word)
{
    const size_t size = strlen(word);
    for (size_t at = 0, end; at < list.size; at = end + 1) {
        for (end = at; end < list.size && !markup_is_space(list.data[end]);)
            end++;
        if (end - at == size && memcmp(list.data + at, word, size) == 0)
            return true;
    }
    return false;
}

static bool attribute_ends(char c)
{
    return markup_is_space(c) || c == '/' || c == '>';
}

/* Passes the value of an attribute behind "=" and spaces. */
static size_t pass_value(const markup_scan *s, size_t at, rapt_text *value)
{
    const char quote = scan_byte(s, at);
    const bool quoted = quote == '"' || quote == '\'';
    size_t end = at + quoted;
    if (quoted) {
        const char *found = at + 1 < s->size ? memchr(s->text + at + 1, quote, s->size - at - 1) : NULL;
        end = found ? (size_t)(found - s->text) : s->size;
    } else
        while (end < s->size && !markup_is_space(s->text[end]) && s->text[end] != '>')
            end++;
    *value = (rapt_text){s->text + at + quoted, end > at + quoted ? end - at - quoted : 0};
    return end < s->size ? end + quoted : s->size;
}

/* Whether an attribute has this name, and is the first that has it, which alone counts. */
static bool is_first_called(const markup_scan *s, size_t from, size_t to, const char *name, bool *seen)
{
    const bool called = !*seen && is_called(s, from, to, name);
    *seen = *seen || called;
    return called;
}

/* The attributes of a tag that have been seen. */
typedef struct attributes_seen {
    bool translate, class;
} attributes_seen;

/* Passes an attribute. Two of them say that an element is not translated. */
static size_t pass_attribute(const markup_scan *s, size_t at, markup_token *t, attributes_seen *seen)
{
    const size_t from = at++; /* a first = is of the name */
    rapt_text value = {0};
    while (at < s->size && !attribute_ends(s->text[at]) && s->text[at] != '=')
        at++;
    const bool translate = !s->xml && is_first_called(s, from, at, "translate", &seen->translate);
    const bool class = !s->xml && is_first_called(s, from, at, "class", &seen->class);
    while (markup_is_space(scan_byte(s, at)))
        at++;
    if (scan_byte(s, at) != '=')
        return at;
    for (at++; markup_is_space(scan_byte(s, at));)
        at++;
    at = pass_value(s, at, &value);
    const bool no = translate && value.size == 2 && scan_has_word(s, (size_t)(value.data - s->text), "no", 2);
    t->untranslated = t->untranslated || no || (class && lists_word(value, "notranslate"));
    return at;
}

static void scan_tag(markup_scan *s, markup_token *t)
{
    const bool end_tag = s->text[t->begin + 1] == '/';
    attributes_seen seen = {0};
    bool slash = false;
    size_t at = t->from = t->begin + 1 + end_tag;
    while (at < s->size && !attribute_ends(s->text[at]))
        at++;
    t->to = at;
    while (at < s->size && s->text[at] != '>') {
        slash = s->text[at] == '/';
        at = slash || markup_is_space(s->text[at]) ? at + 1 : pass_attribute(s, at, t, &seen);
    }
    t->end = at < s->size ? at + 1 : s->size;
    t->kind = at == s->size ? MARKUP_OPAQUE : end_tag ? MARKUP_END : slash && s->xml ? MARKUP_EMPTY : MARKUP_START;
    if (s->xml || t->kind == MARKUP_OPAQUE)
        return;
    char name[32] = "";
    const size_t size = t->to - t->from;
    for (size_t i = 0; i < size && size < sizeof name; i++)
        name[i] = ascii_lower(s->text[t->from + i]);
    const unsigned bits = markup_name_bits(name, size);
    if (bits & NAME_VOID)
        t->kind = MARKUP_EMPTY;
    else if (t->kind == MARKUP_START && bits & (NAME_RAW | NAME_RCDATA | NAME_REST))
        s->raw = t->from, s->raw_size = size, s->raw_bits = bits;
}

/* ---- texts ---------------------------------------------------------------------------------------------------------------- */

/* Whether the tag `mark` and a name begins at a place. */
static bool is_tag_of(const markup_scan *s, size_t at, const char *mark, rapt_text name)
{
    const size_t end = at + strlen(mark) + name.size;
    return scan_has(s, at, mark) && end < s->size && scan_has_word(s, at + strlen(mark), name.data, name.size) &&
           attribute_ends(s->text[end]);
}

/* The end tag of an element whose content is text. A script within <!-- may have whole scripts. */
static size_t raw_end(const markup_scan *s, size_t at)
{
    const rapt_text name = {s->text + s->raw, s->raw_size};
    const bool script = is_called(s, s->raw, s->raw + s->raw_size, "script");
    bool escaped = false, inner = false;
    for (; at < s->size; at++) {
        if (script && scan_has(s, at, "-->"))
            escaped = inner = false;
        if (s->text[at] != '<')
            continue;
        if (script && scan_has(s, at, "<!--"))
            escaped = true;
        else if (escaped && is_tag_of(s, at, "<", name))
            inner = true;
        else if (is_tag_of(s, at, "</", name)) {
            if (!inner)
                return at;
            inner = false;
        }
    }
    return s->size;
}

static void scan_plain(markup_scan *s, markup_token *t)
{
    size_t at = t->begin;
    if (s->raw_size > 0) {
        at = s->raw_bits & NAME_REST ? s->size : raw_end(s, at);
        t->literal = !(s->raw_bits & NAME_RCDATA);
        s->raw_size = 0;
    } else
        for (at++; at < s->size; at++) {
            const char *found = memchr(s->text + at, '<', s->size - at);
            at = found ? (size_t)(found - s->text) : s->size;
            if (at == s->size || begins_markup(s, at))
                break;
        }
    t->kind = MARKUP_TEXT;
    t->from = t->begin;
    t->to = t->end = at;
}

bool markup_scan_next(markup_scan *s, markup_token *t)
{
    if (s->raw_size > 0 && !(s->raw_bits & NAME_REST) && raw_end(s, s->at) == s->at)
        s->raw_size = 0; /* no content */
    if (s->at == s->size)
        return false;
    *t = (markup_token){.begin = s->at, .partner = MARKUP_NONE, .parent = MARKUP_NONE, .name = -1};
    const char next = scan_byte(s, s->at + 1);
    if (s->raw_size > 0 || s->text[s->at] != '<' || !begins_markup(s, s->at))
        scan_plain(s, t);
    else if (begins_name(s, s->at + 1) || (next == '/' && begins_name(s, s->at + 2)))
        scan_tag(s, t);
    else
        scan_declaration(s, t);
    s->at = t->end;
    return true;
}
