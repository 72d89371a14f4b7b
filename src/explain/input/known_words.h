/* explain/input/known_words.h: out-of-vocabulary words of a text, or characters; for a tokenizer of pieces, words of which a
 * piece is <unk>. For the commands that inspect models, where <unk> would be shown in place of a word that was written, and for
 * the warnings of the others. */
#ifndef EXPLAIN_INPUT_KNOWN_WORDS_H
#define EXPLAIN_INPUT_KNOWN_WORDS_H

#include "rapt/text.h"

/* ids[count]: the tokens of `text`. RAPT_ERR_VALUE with the first eight words that became <unk>, each once; other tokenizers know
 * all that they encode. `what` the text is: "the text". */
rapt_code known_words_check(const rapt_tokenizer *k, const char *what, const char *text, bool specials, const int32_t *ids,
                            size_t count, rapt_error *err);

enum { KNOWN_WORDS_LISTED = 8, KNOWN_WORDS_TEXT = 400 /* a message has 512 */ };

/* The words, or characters, of a text that became <unk>. */
typedef struct unknown_list {
    char *words[KNOWN_WORDS_LISTED + 1]; /* the first ones, each once, within `memory` */
    size_t count;
    size_t unknown, total; /* all words that are unknown, of how many */
    const char *unit; /* "word" or "character" */
    char *memory;
} unknown_list;

/* Fills a list, which known_words_free frees; of a tokenizer without <unk> it is empty. `specials`: texts of special tokens are
 * those tokens, and no unknown words, but for that of <unk>. */
rapt_code known_words_find(const rapt_tokenizer *k, const char *text, bool specials, unknown_list *list, rapt_error *err);
void known_words_free(unknown_list *list);
/* "a", "b": whole words, and "..." for those that do not fit into a message. */
void known_words_write(const unknown_list *list, char text[KNOWN_WORDS_TEXT]);

#endif
