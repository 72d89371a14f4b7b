/* cli/known_words.c: see known_words.h. */
#define _GNU_SOURCE /* strtok_r */
#include "cli/known_words.h"

#include "base/quote.h"
#include "text/normalise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACES " \t\r\n\v\f"

#define LISTED 8
#define LIST_ROOM 400 /* a message has 512 */

static bool is_among(const char *word, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Fills words[LISTED + 1] with the first of a sentence that became <unk>; the tokenizer cuts it into the same words. */
static size_t find_unknown(char *sentence, const int32_t *ids, size_t count, char **words)
{
    size_t found = 0;
    char *rest = sentence;
    for (size_t i = 0; i < count && found <= LISTED; i++) {
        char *word = strtok_r(rest, SPACES, &rest);
        if (word && ids[i] == RAPT_UNK && !is_among(word, words, found))
            words[found++] = word;
    }
    return found;
}

/* "a", "b": whole words, and "..." for those that a message has no room for. */
static void write_list(char *const *words, size_t count, char list[LIST_ROOM])
{
    size_t used = 0, i = 0;
    for (; i < count && i < LISTED; i++) {
        quoted word = quote(words[i]);
        if (used + strlen(word.text) + sizeof ", \"\", ..." > LIST_ROOM)
            break;
        used += (size_t)snprintf(list + used, LIST_ROOM - used, "%s\"%s\"", i ? ", " : "", word.text);
    }
    if (i < count)
        snprintf(list + used, LIST_ROOM - used, ", ...");
}

rapt_code known_words_check(const rapt_tokenizer *k, const char *what, const char *text, const int32_t *ids, size_t count,
                            rapt_error *err)
{
    if (rapt_tokenizer_kind_of(k) != RAPT_WORDS)
        return RAPT_OK;
    char *words[LISTED + 1], list[LIST_ROOM] = "", *sentence = normalise_sentence(text, false);
    if (!sentence)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for the words of %s", what);
    size_t found = find_unknown(sentence, ids, count, words);
    write_list(words, found, list);
    free(sentence);
    return found ? rapt_fail(err, RAPT_VALUE, "%s: the model does not know %s", what, list) : RAPT_OK;
}
