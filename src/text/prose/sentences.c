/* text/prose/sentences.c: finds ends of sentences, clauses and words. For lines that are too long for a model: a missed cut costs
 * less than a cut within a sentence. Not for tokenizers. */
#include "text/prose/sentences.h"

#include "text/utf8.h"

#include <string.h>

typedef struct span {
    const char *text;
    size_t size;
} span;

static bool is_listed(const uint32_t *list, uint32_t code)
{
    while (*list && *list != code)
        list++;
    return *list != 0;
}

/* Punctuation that ends a sentence: ASCII, ellipsis, doubled, Arabic, Urdu, Devanagari, Armenian, Ethiopic, Burmese, Khmer. */
static bool is_narrow_terminal(uint32_t code)
{
    static const uint32_t codes[] = {'.',   '!',   '?',   0x2026, 0x203C, 0x203D, 0x2047, 0x2048, 0x2049, 0x61F,
                                     0x6D4, 0x964, 0x965, 0x589,  0x1362, 0x1367, 0x104B, 0x17D4, 0};
    return is_listed(codes, code);
}

/* Chinese and Japanese; no space follows them. */
static bool is_wide_terminal(uint32_t code)
{
    static const uint32_t codes[] = {0x3002, 0xFF01, 0xFF1F, 0xFF0E, 0xFF61, 0};
    return is_listed(codes, code);
}

static bool is_terminal(uint32_t code)
{
    return is_narrow_terminal(code) || is_wide_terminal(code);
}

static bool is_narrow_clause(uint32_t code)
{
    static const uint32_t codes[] = {',', ';', ':', 0x2013, 0x2014, 0x60C, 0x61B, 0};
    return is_listed(codes, code);
}

static bool is_wide_clause(uint32_t code)
{
    static const uint32_t codes[] = {0xFF0C, 0x3001, 0xFF1B, 0xFF1A, 0xFF64, 0};
    return is_listed(codes, code);
}

/* Characters that may be between sentence-final punctuation and the space after it. German closes with the sign with which French
 * opens. */
static bool is_closer(uint32_t code)
{
    static const uint32_t closers[] = {'"',    '\'',   ')',    ']',    '}',    0xAB,   0xBB,
                                       0x2018, 0x2019, 0x201C, 0x201D, 0x2039, 0x203A, 0};
    return is_listed(closers, code);
}

static bool is_opener(uint32_t code)
{
    static const uint32_t openers[] = {'"',    '\'',   '(',    '[',    '{',    '-',    '*',    0xAB,   0xBB,   0xA1,
                                       0xBF,   0x2018, 0x201A, 0x201C, 0x201E, 0x2039, 0x203A, 0x2013, 0x2014, 0};
    return is_listed(openers, code);
}

static bool is_wide_closer(uint32_t code)
{
    static const uint32_t closers[] = {0x201D, 0x2019, 0x300D, 0x300F, 0x3009, 0x300B, 0x3011, 0xFF09, 0xFF3D, 0};
    return is_listed(closers, code);
}

static bool is_wide_opener(uint32_t code)
{
    static const uint32_t openers[] = {0x201C, 0x2018, 0x300C, 0x300E, 0x3008, 0x300A, 0x3010, 0xFF08, 0xFF3B, 0};
    return is_listed(openers, code);
}

static bool opens_or_space(uint32_t code)
{
    return is_opener(code) || utf8_is_space(code);
}

/* ---- stepping ----------------------------------------------------------------------------------------------- */

/* The code point at `i`, 0 at the end; *next: after it. Bytes that are not UTF-8 count as U+FFFD. */
static uint32_t sentences_step(const span *s, size_t i, size_t *next)
{
    uint32_t code = 0;
    size_t used = i < s->size ? utf8_decode(s->text + i, s->size - i, &code) : 0;
    *next = used ? i + used : i < s->size ? i + 1 : i;
    return used ? code : i < s->size ? 0xFFFD : 0;
}

static uint32_t peek(const span *s, size_t i)
{
    size_t next;
    return sentences_step(s, i, &next);
}

static size_t back(const span *s, size_t from, size_t i)
{
    do
        i--;
    while (i > from && ((unsigned char)s->text[i] & 0xC0) == 0x80);
    return i;
}

static size_t skip(const span *s, size_t i, bool (*accepts)(uint32_t code))
{
    size_t next;
    for (uint32_t code; (code = sentences_step(s, i, &next)) != 0 && accepts(code);)
        i = next;
    return i;
}

/* Also French closers after a space: « Viens ! » */
static size_t skip_closers(const span *s, size_t i)
{
    size_t end = skip(s, i, is_closer), quote = skip(s, end, utf8_is_space), next;
    if (quote == end || sentences_step(s, quote, &next) != 0xBB)
        return end;
    return next == s->size || utf8_is_space(peek(s, next)) ? next : end;
}

/* ---- full stops that end no sentence ------------------------------------------------------------------------- */

/* Abbreviations before capitals within a sentence: titles, and abbreviations before German nouns. */
static bool is_abbreviation(const char *word, size_t size)
{
    static const char *const known[] = {
        "Mr",   "Mrs",  "Ms",   "Messrs", "Dr",   "Drs",  "Prof", "St",   "Ste",  "Sts",  "Sr",   "Sra",  "Srta", "Jr",
        "Rev",  "Gen",  "Col",  "Maj",    "Capt", "Cpt",  "Lt",   "Sgt",  "Cpl",  "Cmdr", "Adm",  "Sen",  "Rep",  "Gov",
        "Hon",  "Pres", "Supt", "Mt",     "Ft",   "vs",   "cf",   "Mme",  "Mmes", "Mlle", "MM",   "Mgr",  "Me",   "Sig",
        "Dott", "Hr",   "Hrn",  "Fr",     "Frl",  "Dipl", "Ing",  "Hl",   "hl",   "bzw",  "ca",   "vgl",  "Vgl",  "evtl",
        "ggf",  "inkl", "sog",  "zzgl",   "geb",  "Mio",  "Mrd",  "Nr",   "Nrn",  "Abb",  "Kap",  "Bd",   "Tel",  "dt",
        "engl", "frz",  "max",  "min",    "Ud",   "Uds",  "Vd",   "Vds",  "av",   "boul", NULL};
    const char *const *k = known;
    while (*k && (strlen(*k) != size || memcmp(*k, word, size) != 0))
        k++;
    return *k != NULL;
}

/* "z.B", "U.S.A", "Ph.D": dots with one or two characters between them. */
static bool is_dotted(const char *word, size_t size)
{
    size_t dots = 0, since = 0;
    for (size_t i = 0; i < size && since <= 2; i++) {
        since = word[i] == '.' ? 0 : since + 1;
        dots += word[i] == '.';
    }
    return dots > 0 && since <= 2;
}

static bool sentences_is_made_of(const char *word, size_t size, const char *letters)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(letters, word[i]))
            return false;
    return true;
}

static size_t word_start(const span *s, size_t from, size_t i)
{
    while (i > from) {
        size_t before = back(s, from, i);
        if (opens_or_space(peek(s, before)))
            break;
        i = before;
    }
    return i;
}

/* Whether the sentence continues after the single full stop at `i`. */
static bool is_no_stop(const span *s, size_t from, size_t i)
{
    size_t start = word_start(s, from, i), size = i - start, next;
    const char *word = s->text + start;
    if (size == 0)
        return false;
    bool letter = utf8_is_letter(sentences_step(s, start, &next)) && next == i;
    return letter || is_abbreviation(word, size) || is_dotted(word, size) || sentences_is_made_of(word, size, "IVX") ||
           (size <= 2 && sentences_is_made_of(word, size, "0123456789"));
}

/* ---- ends --------------------------------------------------------------------------------------------------- */

/* A quotation is often part of a sentence that continues: 「行きます。」と言った。 */
static size_t end_behind_wide(const span *s, size_t terminal_end)
{
    size_t end = skip(s, terminal_end, is_wide_closer);
    return end == terminal_end || is_wide_opener(peek(s, end)) || utf8_is_space(peek(s, end)) ? end : 0;
}

/* Where the sentence ends whose final punctuation begins at `i`, or 0: it continues. `small`: all letters are lower case. */
static size_t sentence_end(const span *s, size_t from, size_t i, bool small)
{
    size_t terminal_end = skip(s, i, is_terminal), end = skip_closers(s, terminal_end);
    if (is_wide_terminal(peek(s, back(s, i, terminal_end))))
        return end_behind_wide(s, terminal_end);
    if (!utf8_is_space(peek(s, end)))
        return 0;
    bool stop = s->text[i] == '.' && terminal_end == i + 1;
    bool apart = stop && i > from && utf8_is_space(peek(s, back(s, from, i)));
    uint32_t next = peek(s, skip(s, end, opens_or_space));
    bool begins = !utf8_is_lower(next) || apart || (small && end == terminal_end && next == peek(s, skip(s, end, utf8_is_space)));
    if (!utf8_is_letter(next) || !begins)
        return 0;
    return stop && is_no_stop(s, from, i) ? 0 : end;
}

/* Where a clause ends with the punctuation `code` before `next`; 0: it does not end there. */
static size_t clause_end(const span *s, uint32_t code, size_t next)
{
    if (is_wide_clause(code))
        return next;
    if (code == '.' || !(is_narrow_clause(code) || is_narrow_terminal(code)))
        return 0;
    size_t end = skip_closers(s, skip(s, next, is_terminal));
    return utf8_is_space(peek(s, end)) ? end : 0;
}

static bool is_breaking_space(uint32_t code)
{
    return utf8_is_space(code) && code != 0xA0 && code != 0x202F;
}

size_t sentences_end(const char *text, size_t size, size_t from, sentences_cut kind)
{
    span s = {text, size};
    size_t end = 0, next;
    for (size_t i = from; i < size && !end; i = next) {
        uint32_t code = sentences_step(&s, i, &next);
        if (kind == CUT_SPACE)
            end = i > from && is_breaking_space(code) ? i : 0;
        else if (is_terminal(code))
            end = sentence_end(&s, from, i, kind == CUT_SMALL);
        if (kind == CUT_CLAUSE && !end)
            end = clause_end(&s, code, next);
        if (kind != CUT_SPACE && !end && is_terminal(code))
            next = skip(&s, next, is_terminal);
    }
    return end ? end : size;
}

size_t sentences_skip_spaces(const char *text, size_t size, size_t from)
{
    return skip(&(span){text, size}, from, utf8_is_space);
}

bool sentences_are_several(const char *text, size_t size)
{
    return sentences_skip_spaces(text, size, sentences_end(text, size, 0, CUT_SENTENCE)) < size;
}

/* Punctuation at the end of a sentence that Chinese has as well as English: quotes, ellipsis, dash. */
static bool is_beside_both(uint32_t code)
{
    return code == 0x2019 || code == 0x201D || code == 0x2026 || code == 0x2014;
}

/* Kana, ideographs and the punctuation of both, full-width forms; Korean has spaces. */
bool sentences_want_space(const char *text, size_t size)
{
    static const uint32_t ranges[][2] = {{0x3000, 0x30FF}, {0x31F0, 0x31FF}, {0x3400, 0x9FFF}, {0xF900, 0xFAFF},
                                         {0xFF00, 0xFFEF}, {0x20000, 0x3FFFF}};
    span s = {text, size};
    uint32_t last = 0;
    while (size > 0 && (last == 0 || is_beside_both(last))) {
        size = back(&s, 0, size);
        last = peek(&s, size);
    }
    if (last == 0)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (last >= ranges[i][0] && last <= ranges[i][1])
            return false;
    return true;
}
