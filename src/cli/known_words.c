/* cli/known_words.c: see known_words.h. */
#define _GNU_SOURCE /* strtok_r, asprintf */
#include "cli/known_words.h"

#include "base/quote.h"
#include "text/normalise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACES " \t\r\n\v\f"

static bool is_among(const char *word, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Fills words[count] with those of a sentence that became <unk>; the tokenizer cuts it into the same words. */
static size_t find_unknown(char *sentence, const int32_t *ids, size_t count, char **words)
{
    size_t found = 0;
    char *rest = sentence;
    for (size_t i = 0; i < count; i++) {
        char *word = strtok_r(rest, SPACES, &rest);
        if (word && ids[i] == RAPT_UNK && !is_among(word, words, found))
            words[found++] = word;
    }
    return found;
}

/* "a", "b": NULL where memory is out. */
static char *listed(char *const *words, size_t count)
{
    char *list = NULL;
    for (size_t i = 0; i < count; i++) {
        char *longer;
        int length = asprintf(&longer, "%s%s\"%s\"", list ? list : "", list ? ", " : "", quote(words[i]).text);
        free(list);
        if (length < 0)
            return NULL;
        list = longer;
    }
    return list;
}

rapt_code known_words_check(const rapt_tokenizer *k, const char *what, const char *text, const int32_t *ids, size_t count,
                            rapt_error *err)
{
    if (rapt_tokenizer_kind_of(k) != RAPT_WORDS)
        return RAPT_OK;
    char *sentence = normalise_sentence(text, false), **words = malloc((count + 1) * sizeof *words), *list = NULL;
    size_t found = sentence && words ? find_unknown(sentence, ids, count, words) : 0;
    rapt_code code = sentence && words ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for the words of %s", what);
    if (found > 0 && !(list = listed(words, found)))
        code = rapt_fail(err, RAPT_NO_MEMORY, "no memory for the words of %s", what);
    else if (found > 0)
        code = rapt_fail(err, RAPT_VALUE, "%s: the model does not know %s", what, list);
    free(list);
    free(sentence);
    free(words);
    return code;
}
