/* decode/markup/entities.c: character references (HTML standard, section 13.2.5.72 and following). The table has their names. */
#include "decode/markup/entities.h"

#include "decode/markup/entities_table.h"
#include "text/utf8.h"

enum { REPLACEMENT = 0xFFFD };

static bool is_ascii_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- numbers -------------------------------------------------------------------------------------------------------------- */

/* What Windows-1252 has at 80 to 9F, which browsers read such numbers as; 0: nothing. */
static const uint16_t WINDOWS[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
                                     0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                     0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

static bool is_xml_character(uint32_t code)
{
    return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0xD800) || (code >= 0xE000 && code < 0xFFFE) ||
           (code >= 0x10000 && code <= 0x10FFFF);
}

static uint32_t number_of_html(uint32_t code)
{
    if (code >= 0x80 && code < 0xA0 && WINDOWS[code - 0x80])
        return WINDOWS[code - 0x80];
    return code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? REPLACEMENT : code;
}

static int digit_value(char c, unsigned base)
{
    const int lower = c | 0x20, value = is_ascii_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
    return value < (int)base ? value : -1;
}

/* The text begins with &#. */
static bool entity_read_number(const char *text, size_t size, bool xml, entity *e)
{
    const bool hex = size > 2 && (text[2] == 'x' || (text[2] == 'X' && !xml));
    size_t at = hex ? 3 : 2;
    const size_t first = at;
    uint32_t code = 0;
    for (int digit; at < size && (digit = digit_value(text[at], hex ? 16 : 10)) >= 0; at++)
        code = code > 0x10FFFF ? code : code * (hex ? 16 : 10) + (uint32_t)digit;
    const bool ends = at < size && text[at] == ';';
    if (at == first || (xml && (!ends || !is_xml_character(code))))
        return false;
    *e = (entity){at + ends, {xml ? code : number_of_html(code), 0}};
    return true;
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */

/* The longest name that the text behind & begins with: &notin; is not &not and in;. */
static bool entity_read_name(const char *text, size_t size, entity *e)
{
    if (size < 2 || !is_ascii_letter(text[1]))
        return false;
    const unsigned letter = text[1] >= 'a' ? (unsigned)(text[1] - 'a' + 26) : (unsigned)(text[1] - 'A');
    const char *name = ENTITY_NAMES[letter];
    e->size = 0;
    for (size_t i = ENTITY_FIRST[letter]; i < ENTITY_FIRST[letter + 1]; i++) {
        const size_t length = strlen(name);
        if (length + 2 > e->size && length <= size - 2 && memcmp(name, text + 2, length) == 0)
            *e = (entity){length + 2, {ENTITY_CODES[i][0], ENTITY_CODES[i][1]}};
        name += length + 1;
    }
    return e->size > 0;
}

static bool entity_read_xml(const char *text, size_t size, entity *e)
{
    static const struct {
        const char *name;
        char is;
    } known[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t length = strlen(known[i].name);
        if (size >= length && memcmp(text, known[i].name, length) == 0) {
            *e = (entity){length, {(uint32_t)known[i].is, 0}};
            return true;
        }
    }
    return false;
}

bool entity_read(const char *text, size_t size, bool xml, entity *e)
{
    if (size > 1 && text[1] == '#')
        return entity_read_number(text, size, xml, e);
    return xml ? entity_read_xml(text, size, e) : entity_read_name(text, size, e);
}

size_t entity_named(const char *text, size_t size)
{
    enum { LONGEST = 256 };
    size_t at = 1;
    if (at < size && text[at] == '#')
        at++;
    const size_t first = at;
    while (at < size && at < LONGEST && (is_ascii_letter(text[at]) || is_ascii_digit(text[at]) || strchr("_-.:", text[at]) ||
                                         (unsigned char)text[at] >= 0x80) && text[at])
        at++;
    return at > first && at < size && text[at] == ';' ? at + 1 : 0;
}

/* ---- back ----------------------------------------------------------------------------------------------------------------- */

bool entities_append(buffer *to, const char *text, size_t size, bool xml)
{
    bool ok = true;
    for (size_t i = 0, plain = 0; ok && i <= size; i++) {
        const bool is_space = !xml && i + 1 < size && text[i] == '\xC2' && text[i + 1] == '\xA0';
        const char *as = i == size ? "" : text[i] == '&' ? "&amp;" : text[i] == '<' ? "&lt;" : text[i] == '>' ? "&gt;" :
                         is_space ? "&nbsp;" : NULL;
        if (!as)
            continue;
        ok = buffer_append(to, text + plain, i - plain) && buffer_append(to, as, strlen(as));
        i += is_space;
        plain = i + 1;
    }
    return ok;
}
