/* cli/unknown_words.h: warnings about words that a model's vocabulary lacks, and that it reads as <unk>. For commands that read
 * many lines; and for those that show one pass. */
#ifndef CLI_UNKNOWN_WORDS_H
#define CLI_UNKNOWN_WORDS_H

#include "rapt/text.h"

/* Zeroed at first, except for the tokenizer and the name. */
typedef struct unknown_words {
    const rapt_tokenizer *k; /* one without <unk> has no unknown words */
    const char *name;        /* the text's name, for messages */
    bool strict, quiet;
    bool specials;           /* as known_words_find has it */
    char *told[80];          /* words that were warned about */
    size_t told_count, warnings;
    const char *unit; /* the unit of the warnings: "word" or "character" */
    size_t more; /* lines with unknown words that were not warned about */
} unknown_words;

/* Checks one line: 'rapt: NAME:LINE: warning: 1 of 4 words is unknown: "zebras"' to stderr, if one of its words was not reported
 * before; ten warnings at most. RAPT_ERR_VALUE with the same text if `strict` is set. */
rapt_code unknown_words_check(unknown_words *u, size_t line, const char *text, rapt_error *err);
/* Prints how many more lines had unknown words, and frees the remembered words. */
void unknown_words_end(unknown_words *u);

/* Prints 'rapt: the text: warning: the model does not know "bicycle", ...' to stderr for words[count]; nothing if `count` is
 * 0. */
void unknown_words_warn(const char *what, const char *const *words, size_t count);

/* Counts a line's words and the unknown words among them; *unit is "word" or "character", or NULL for a tokenizer without
 * <unk>. */
rapt_code unknown_words_count(const rapt_tokenizer *k, const char *text, bool specials, size_t *unknown, size_t *words,
                              const char **unit, rapt_error *err);

#endif
