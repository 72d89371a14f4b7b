/* text/detokenise.c: which spaces between words go; see detokenise.h. For `rapt translate --detokenize`. No dictionary: what a
 * quotation mark opens, the next one closes. */
#define _GNU_SOURCE
#include "text/detokenise.h"

#include <stdlib.h>
#include <string.h>

typedef struct entity {
    const char *name, *text;
} entity;

static const entity ENTITIES[] = {{"&apos;", "'"}, {"&quot;", "\""}, {"&lt;", "<"},    {"&gt;", ">"},
                                  {"&#124;", "|"}, {"&#91;", "["},   {"&#93;", "]"}, {"&amp;", "&"}};

bool detokenise_knows(const char *language)
{
    static const char *const known[] = {"de", "en", "es", "fr", "it", "nl", "pt"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(language, known[i]) == 0)
            return true;
    return false;
}

static bool is(const char *language, const char *other)
{
    return strcmp(language, other) == 0;
}

/* In place: what entities stand for is shorter. */
static void decode_entities(char *text)
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

static bool begins(const char *word, size_t size, const char *with)
{
    size_t length = strlen(with);
    return size >= length && memcmp(word, with, length) == 0;
}

static bool is_word(const char *word, size_t size, const char *other)
{
    return size == strlen(other) && memcmp(word, other, size) == 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool joins_left(const char *word, size_t size, const char *language)
{
    if (strchr(",.)]}", *word) || begins(word, size, "\xE2\x80\xA6") /* ... as one character */)
        return true;
    if (strchr(";:!?", *word))
        return !is(language, "fr");
    return is(language, "en") && size > 1 && *word == '\'' && is_letter(word[1]);
}

static bool joins_right(const char *word, size_t size, const char *language)
{
    if (is_word(word, size, "(") || is_word(word, size, "[") || is_word(word, size, "{"))
        return true;
    if (is_word(word, size, "\xC2\xBF") || is_word(word, size, "\xC2\xA1")) /* inverted ? and ! */
        return true;
    bool elides = is(language, "fr") || is(language, "it");
    return elides && size > 1 && (word[size - 1] == '\'' || (size > 3 && memcmp(word + size - 3, "\xE2\x80\x99", 3) == 0));
}

char *detokenise(const char *text, const char *language)
{
    char *words = strdup(text), *out = malloc(strlen(text) + 1), *to = out;
    bool joined = true, quoting = false;
    if (words && out)
        decode_entities(words);
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
