/* view/draw/missing.c: letters that no font here has. */
#include "view/draw/missing.h"

#include <string.h>

static bool missing_is_letter(gunichar letter)
{
    GUnicodeScript script = g_unichar_get_script(letter);
    return script != G_UNICODE_SCRIPT_COMMON && script != G_UNICODE_SCRIPT_INHERITED && script != G_UNICODE_SCRIPT_UNKNOWN &&
           script != G_UNICODE_SCRIPT_INVALID_CODE;
}

/* Sets the letter alone, to see whether it is the one. */
static bool missing_alone(PangoLayout *layout, const char *letter, size_t size)
{
    pango_layout_set_text(layout, letter, (int)size);
    return pango_layout_get_unknown_glyphs_count(layout) > 0;
}

uint32_t missing_letter(PangoLayout *layout)
{
    uint32_t missing = 0;
    if (pango_layout_get_unknown_glyphs_count(layout) == 0)
        return 0;
    char *line = g_strdup(pango_layout_get_text(layout));
    for (const char *p = line, *next; *p && !missing; p = next) {
        gunichar letter = g_utf8_get_char(p);
        next = g_utf8_next_char(p);
        missing = missing_is_letter(letter) && missing_alone(layout, p, (size_t)(next - p)) ? letter : 0;
    }
    pango_layout_set_text(layout, line, -1);
    g_free(line);
    return missing;
}

static const char *package_of(gunichar letter)
{
    switch (g_unichar_get_script(letter)) {
    case G_UNICODE_SCRIPT_HAN:
    case G_UNICODE_SCRIPT_HIRAGANA:
    case G_UNICODE_SCRIPT_KATAKANA:
    case G_UNICODE_SCRIPT_HANGUL:
    case G_UNICODE_SCRIPT_BOPOMOFO: return "fonts-noto-cjk";
    default: return "fonts-noto-core";
    }
}

rapt_code missing_fail(uint32_t letter, rapt_error *err)
{
    char text[8] = "";
    g_unichar_to_utf8(letter, text);
    return rapt_fail(err, RAPT_ERR_NOT_FOUND, "no font here has \"%s\" (U+%04X); a font is in Debian's package %s, and an "
                     "SVG leaves fonts to its viewer", text, letter, package_of(letter));
}
