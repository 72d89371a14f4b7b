/* cli/unknown_words.c: warnings of unknown words. Their number is bounded: a text in another language has unknown words without
 * end. */
#include "cli/unknown_words.h"

#include "base/chars.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "decode/known_words.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WARNINGS 10

static bool was_told(const unknown_words *u, const char *word)
{
    for (size_t i = 0; i < u->told_count; i++)
        if (strcmp(u->told[i], word) == 0)
            return true;
    return false;
}

/* Whether one of the words is new. Remembers all of them. */
static bool unknown_words_collect(unknown_words *u, const unknown_list *list)
{
    bool is_new = false;
    for (size_t i = 0; i < list->count && i <= KNOWN_WORDS_LISTED && u->warnings < MAX_WARNINGS; i++) {
        if (was_told(u, list->words[i]))
            continue;
        is_new = true;
        char *copy = u->told_count < sizeof u->told / sizeof *u->told ? chars_copy(list->words[i]) : NULL;
        if (copy)
            u->told[u->told_count++] = copy;
    }
    return is_new;
}

static rapt_code unknown_words_report(unknown_words *u, size_t line, const unknown_list *list, rapt_error *err)
{
    char words[KNOWN_WORDS_TEXT];
    const char *verb = list->unknown == 1 ? "is" : "are";
    known_words_write((const char *const *)list->words, list->count, words);
    if (u->strict)
        return rapt_fail(err, RAPT_ERR_VALUE, "%.60s:%zu: %zu of %zu %ss %s unknown: %s", u->name, line, list->unknown,
                         list->total, list->unit, verb, words);
    if (u->quiet)
        return RAPT_OK;
    if (!unknown_words_collect(u, list)) {
        u->more++;
        return RAPT_OK;
    }
    u->warnings++;
    u->unit = list->unit;
    cli_say("rapt: %s:%zu: warning: %zu of %zu %ss %s unknown: %s\n", u->name, line, list->unknown, list->total, list->unit, verb,
            words);
    return RAPT_OK;
}

rapt_code unknown_words_check(unknown_words *u, size_t line, const char *text, rapt_error *err)
{
    unknown_list list;
    if (u->quiet && !u->strict)
        return RAPT_OK;
    rapt_code code = known_words_find(u->k, rapt_text_of(text), u->specials, &list, err);
    if (!code && list.unknown > 0)
        code = unknown_words_report(u, line, &list, err);
    known_words_free(&list);
    return code;
}

void unknown_words_end(unknown_words *u)
{
    if (u->more > 0)
        cli_say("rapt: %s: warning: %zu more line%s with unknown %ss\n", u->name, u->more, cli_plural(u->more), u->unit);
    for (size_t i = 0; i < u->told_count; i++)
        free(u->told[i]);
    u->told_count = u->more = 0;
}

void unknown_words_warn(const char *what, const char *const *words, size_t count)
{
    char text[KNOWN_WORDS_TEXT];
    known_words_write(words, count, text);
    if (count > 0)
        cli_say("rapt: %s: warning: the model does not know %s, and reads <unk> (--strict refuses)\n", what, text);
}

rapt_code unknown_words_count(const rapt_tokenizer *k, const char *text, bool specials, size_t *unknown, size_t *words,
                              const char **unit, rapt_error *err)
{
    unknown_list list;
    rapt_code code = known_words_find(k, rapt_text_of(text), specials, &list, err);
    if (code)
        return code;
    *unknown = list.unknown;
    *words = list.total;
    *unit = list.unit;
    known_words_free(&list);
    return RAPT_OK;
}
