/* text/prose/word_boundary.c: word boundaries by the classes and scripts of characters. Not UAX #29: no dictionaries, and an
 * apostrophe or a full stop within a word is a boundary on both sides. */
#include "text/prose/word_boundary.h"

#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <string.h>

enum { FIRST_UNSPACED = 0x0E00 }; /* no script before Thai is written without spaces */

static bool word_boundary_unspaced(uint32_t code)
{
    static const char *const scripts[] = {"Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar"};
    const char *name = code < FIRST_UNSPACED ? NULL : unicode_script_name(code);
    for (size_t i = 0; name && i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(name, scripts[i]) == 0)
            return true;
    return false;
}

static bool word_boundary_mark(uint32_t code)
{
    const unicode_category c = unicode_category_of(code);
    return c == UNICODE_MN || c == UNICODE_MC || c == UNICODE_ME;
}

bool word_boundary_word(uint32_t code)
{
    return code == '_' || utf8_is_letter(code) || utf8_is_number(code) || word_boundary_mark(code);
}

/* The character before `at`, which is not 0; 0: not UTF-8. */
static uint32_t boundary_before(rapt_text text, size_t at)
{
    uint32_t code = 0;
    size_t from = at - 1;
    while (from > 0 && at - from < 4 && ((unsigned char)text.data[from] & 0xC0) == 0x80)
        from--;
    return utf8_decode(text.data + from, at - from, &code) == at - from ? code : 0;
}

bool word_boundary_is(rapt_text text, size_t at)
{
    uint32_t code = 0;
    if (at == 0 || at == text.size)
        return true;
    utf8_decode(text.data + at, text.size - at, &code);
    const uint32_t before = boundary_before(text, at);
    if (!word_boundary_word(before) || !word_boundary_word(code))
        return true;
    return !word_boundary_mark(code) && (word_boundary_unspaced(before) || word_boundary_unspaced(code));
}
