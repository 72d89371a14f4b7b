/* text/prose/detokenize.c: removes spaces between words of translations. No dictionary: a quotation mark opens, the next one
 * closes. */
#include "text/prose/detokenize.h"

#include "base/chars.h"
#include "text/prose/capitalize.h"

#include <stdlib.h>
#include <string.h>

typedef struct entity {
    const char *name, *text;
} entity;

const char *const detokenize_codes[] = {"none", "de", "en", "es", "fr", "it", "nl", "pt", NULL};

static const entity ENTITIES[] = {{"&apos;", "'"}, {"&quot;", "\""}, {"&lt;", "<"},    {"&gt;", ">"},
                                  {"&#124;", "|"}, {"&#91;", "["},   {"&#93;", "]"}, {"&amp;", "&"}};

bool detokenize_language(const char *code, rapt_language *language)
{
    for (int i = 0; detokenize_codes[i]; i++)
        if (strcmp(code, detokenize_codes[i]) == 0) {
            *language = (rapt_language)i;
            return true;
        }
    return false;
}

/* In place: a character is shorter than its entity. */
static void detokenize_decode_entities(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        const entity *e = ENTITIES, *end = ENTITIES + sizeof ENTITIES / sizeof *ENTITIES;
        while (e < end && strncmp(from, e->name, strlen(e->name)) != 0)
            e++;
        *to++ = e < end ? *e->text : *from;
        from += e < end ? strlen(e->name) : 1;
    }
    *to = '\0';
}

static bool is_word(const char *word, size_t size, const char *other)
{
    return size == strlen(other) && memcmp(word, other, size) == 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool detokenize_is_made_of(const char *word, size_t size, const char *marks)
{
    size_t length = strspn(word, marks);
    return length >= size;
}

/* Punctuation, and the rest of a number that the words tokenizer has cut: 1 ,000. */
static bool joins_left(const char *word, size_t size, rapt_language language)
{
    bool within_number = strchr(",.", *word) && size > 1 && detokenize_is_made_of(word + 1, 1, "0123456789");
    if (detokenize_is_made_of(word, size, language == RAPT_LANGUAGE_FRENCH ? ",.)]}" : ",.)]};:!?%") || within_number)
        return true;
    if (size >= 3 && memcmp(word, "\xE2\x80\xA6", 3) == 0) /* ... as one character */
        return true;
    return language == RAPT_LANGUAGE_ENGLISH && size > 1 && *word == '\'' && is_letter(word[1]);
}

static bool joins_right(const char *word, size_t size, rapt_language language)
{
    if (is_word(word, size, "(") || is_word(word, size, "[") || is_word(word, size, "{"))
        return true;
    if (is_word(word, size, "\xC2\xBF") || is_word(word, size, "\xC2\xA1")) /* inverted ? and ! */
        return true;
    bool elides = language == RAPT_LANGUAGE_FRENCH || language == RAPT_LANGUAGE_ITALIAN;
    return elides && size > 1 && (word[size - 1] == '\'' || (size > 3 && memcmp(word + size - 3, "\xE2\x80\x99", 3) == 0));
}

/* Sentences are found before punctuation is joined to words. */
static char *detokenize_prepare(const char *text, bool capitals)
{
    char *words = chars_copy(text);
    if (!words)
        return NULL;
    detokenize_decode_entities(words);
    char *raised = capitals ? capitalize(words) : words;
    if (raised != words)
        free(words);
    return raised;
}

char *detokenize(const char *text, rapt_language language, bool capitals)
{
    char *words = detokenize_prepare(text, capitals), *out = words ? malloc(strlen(words) + 1) : NULL, *to = out;
    bool joined = true, quoting = false;
    for (const char *at = words; words && out && *(at += strspn(at, " "));) {
        size_t size = strcspn(at, " ");
        bool quote = is_word(at, size, "\""), hyphen = is_word(at, size, "@-@");
        if (!joined && !hyphen && !(quote ? quoting : joins_left(at, size, language)))
            *to++ = ' ';
        memcpy(to, hyphen ? "-" : at, hyphen ? 1 : size);
        to += hyphen ? 1 : size;
        quoting = quoting != quote;
        joined = hyphen || (quote ? quoting : joins_right(at, size, language));
        at += size;
    }
    free(words);
    if (out)
        *to = '\0';
    if (words)
        return out;
    free(out);
    return NULL;
}
