/* data/check/check_unspaced.c: decides by script and mean length: a separated Chinese word has one or two characters, a separated
 * Thai word four or five. */
#include "data/check/check_unspaced.h"

#include "base/texts.h"
#include "rapt/metrics.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define IDEOGRAPHS 3.5 /* words with more characters on average are phrases, in texts of ideographs and kana */
#define LETTERS 7.5    /* likewise in Thai, Lao, Khmer, Burmese */

static double check_unspaced_mean(double characters, double words, double most)
{
    return words > 0 && characters > most * words ? characters / words : 0;
}

/* Stops at bytes that are not UTF-8, which the reader of the file reports. */
static void check_unspaced_count(const char *line, size_t *characters, size_t *words)
{
    const size_t size = strlen(line);
    bool in_word = false;
    uint32_t code;
    for (size_t at = 0, used; at < size && (used = utf8_decode(line + at, size - at, &code)) > 0; at += used) {
        const bool space = utf8_is_space(code);
        *words += !space && !in_word;
        *characters += !space;
        in_word = !space;
    }
}

double check_unspaced_lines(const char *const *lines, size_t count)
{
    size_t characters = 0, words = 0;
    rapt_text *texts = texts_of(lines, count, NULL);
    const rapt_tokenize script = texts ? rapt_bleu_tokenize_for(texts, count) : RAPT_TOKENIZE_13A; /* out of memory: no warning */
    free(texts);
    if (script == RAPT_TOKENIZE_13A)
        return 0;
    for (size_t i = 0; i < count; i++)
        check_unspaced_count(lines[i], &characters, &words);
    return check_unspaced_mean((double)characters, (double)words, script == RAPT_TOKENIZE_ZH ? IDEOGRAPHS : LETTERS);
}

double check_unspaced_side(const check_side *side)
{
    static const char *const others[] = {"Thai", "Lao", "Khmer", "Myanmar"};
    if (!side->script)
        return 0;
    if (strcmp(side->script, "Han and kana") == 0)
        return check_unspaced_mean(side->characters.mean, side->words.mean, IDEOGRAPHS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(side->script, others[i]) == 0)
            return check_unspaced_mean(side->characters.mean, side->words.mean, LETTERS);
    return 0;
}
