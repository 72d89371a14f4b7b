/* data/check/check_script.c: scripts of letters. For check.c. */
#include "data/check/check_lines.h"

#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <string.h>

enum { LATIN = 1, OTHER_SCRIPT = SCRIPT_COUNT - 1, KANA_MARK = 0x30FC, NARROW_KANA_MARK = 0xFF70 };

/* Unicode's names, in the order of their numbers, except two that stand for several or for all other scripts. */
static const char HAN_AND_KANA[] = "Han and kana";
static const char *const NAMES[SCRIPT_COUNT] = {
    NULL,        "Latin",     "Greek",     "Cyrillic",   "Armenian", "Hebrew",  "Arabic",   "Syriac",     "Thaana",
    "Devanagari", "Bengali",  "Gurmukhi",  "Gujarati",   "Oriya",    "Tamil",   "Telugu",   "Kannada",    "Malayalam",
    "Sinhala",   "Thai",      "Lao",       "Tibetan",    "Myanmar",  "Georgian", "Hangul",  "Ethiopic",   "Cherokee",
    "Khmer",     "Mongolian", HAN_AND_KANA, "Yi",        "Tifinagh", "Nko",     "Javanese", "Balinese",   "another"};

static unsigned script_number(const char *name)
{
    static const char *const japanese[] = {"Han", "Hiragana", "Katakana", "Bopomofo"};
    for (size_t i = 0; i < sizeof japanese / sizeof *japanese; i++)
        name = strcmp(name, japanese[i]) == 0 ? HAN_AND_KANA : name;
    for (unsigned i = LATIN; i < OTHER_SCRIPT; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return i;
    return SCRIPT_NONE; /* Common, Inherited */
}

unsigned script_of(uint32_t code)
{
    if (!utf8_is_letter(code))
        return SCRIPT_NONE;
    if (code < 0x80)
        return LATIN;
    if (code == KANA_MARK || code == NARROW_KANA_MARK) /* the mark of a long vowel is common to hiragana and katakana */
        return script_number(HAN_AND_KANA);
    const char *name = unicode_script_name(code);
    return name ? script_number(name) : OTHER_SCRIPT;
}

const char *script_name(unsigned script)
{
    return script < SCRIPT_COUNT ? NAMES[script] : NULL;
}

unsigned script_max(const size_t counts[SCRIPT_COUNT])
{
    unsigned max = SCRIPT_NONE;
    bool alone = true;
    for (unsigned i = 1; i < SCRIPT_COUNT; i++)
        if (counts[i] > 0 && (max == SCRIPT_NONE || counts[i] >= counts[max])) {
            alone = max == SCRIPT_NONE || counts[i] > counts[max];
            max = i;
        }
    return alone ? max : SCRIPT_NONE;
}
