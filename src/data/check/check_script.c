/* data/check/check_script.c: scripts of letters, by a pattern with an alternative for each. For check.c. */
#include "data/check/check_script.h"

#include "text/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 0x110000, NOT_ASKED = 255, PATTERN_BYTES = 4096 };

struct script_finder {
    pcre2_code *code;
    pcre2_match_data *match;
    uint8_t known[CODES];
};

typedef struct known_script {
    const char *name, *properties; /* the latter as PCRE2 has them */
} known_script;

#define OF(name) {#name, "\\p{" #name "}"}
static const known_script SCRIPTS[SCRIPT_COUNT] = {
    {NULL, NULL}, OF(Latin), OF(Greek), OF(Cyrillic), OF(Armenian), OF(Hebrew), OF(Arabic), OF(Syriac), OF(Thaana),
    OF(Devanagari), OF(Bengali), OF(Gurmukhi), OF(Gujarati), OF(Oriya), OF(Tamil), OF(Telugu), OF(Kannada), OF(Malayalam),
    OF(Sinhala), OF(Thai), OF(Lao), OF(Tibetan), OF(Myanmar), OF(Georgian), OF(Hangul), OF(Ethiopic), OF(Cherokee), OF(Khmer),
    OF(Mongolian), {"Han and kana", "\\p{Han}\\p{Hiragana}\\p{Katakana}\\p{Bopomofo}"}, OF(Yi), OF(Tifinagh), OF(Nko),
    OF(Javanese), OF(Balinese), {"another", "^\\p{Common}\\p{Inherited}"}};
#undef OF

/* Each alternative leaves its number as the mark. */
static void write_pattern(char pattern[PATTERN_BYTES])
{
    size_t used = (size_t)snprintf(pattern, PATTERN_BYTES, "(?=\\p{L})(?:");
    for (unsigned i = 1; i < SCRIPT_COUNT; i++)
        used += (size_t)snprintf(pattern + used, PATTERN_BYTES - used, "%s(*MARK:%u)[%s]", i > 1 ? "|" : "", i,
                                 SCRIPTS[i].properties);
    snprintf(pattern + used, PATTERN_BYTES - used, ")");
}

static bool check_script_prepare(script_finder *f)
{
    int number;
    PCRE2_SIZE at;
    char pattern[PATTERN_BYTES];
    write_pattern(pattern);
    memset(f->known, NOT_ASKED, sizeof f->known);
    f->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_ANCHORED, &number, &at, NULL);
    f->match = f->code ? pcre2_match_data_create_from_pattern(f->code, NULL) : NULL;
    return f->match;
}

script_finder *script_finder_new(rapt_error *err)
{
    script_finder *f = calloc(1, sizeof *f);
    if (f && check_script_prepare(f))
        return f;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the scripts of letters");
    script_finder_free(f);
    return NULL;
}

void script_finder_free(script_finder *f)
{
    if (!f)
        return;
    pcre2_match_data_free(f->match);
    pcre2_code_free(f->code);
    free(f);
}

static unsigned look_up_script(script_finder *f, uint32_t code)
{
    char bytes[4];
    size_t size = utf8_put(code, bytes);
    if (size == 0 || pcre2_match(f->code, (PCRE2_SPTR)bytes, size, 0, 0, f->match, NULL) < 0)
        return SCRIPT_NONE;
    PCRE2_SPTR mark = pcre2_get_mark(f->match);
    return mark ? (unsigned)strtoul((const char *)mark, NULL, 10) : SCRIPT_NONE;
}

unsigned script_of(script_finder *f, uint32_t code)
{
    if (code >= CODES)
        return SCRIPT_NONE;
    if (f->known[code] == NOT_ASKED)
        f->known[code] = (uint8_t)look_up_script(f, code);
    return f->known[code];
}

const char *script_name(unsigned script)
{
    return script < SCRIPT_COUNT ? SCRIPTS[script].name : NULL;
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
