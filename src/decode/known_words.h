/* decode/known_words.h: out-of-vocabulary words (or characters) of a text; with SentencePiece, words that have an <unk> piece.
 * For translations and explanations, which report the words that the model reads as <unk>, and for warnings. */
#ifndef DECODE_KNOWN_WORDS_H
#define DECODE_KNOWN_WORDS_H

#include "rapt/text.h"

enum { KNOWN_WORDS_LISTED = 8, KNOWN_WORDS_TEXT = 400 /* a message has 512 */ };

/* The words, or characters, of a text that became <unk>. */
typedef struct unknown_list {
    char **words; /* [count] each word once, in order; one block from malloc, with the texts; NULL: none */
    size_t count;
    size_t unknown, total; /* number of unknown words, counting repetitions, and of all words */
    const char *unit; /* "word" or "character"; NULL: the tokenizer has no <unk>, and nothing is unknown */
} unknown_list;

/* The id of unknown words, characters or pieces; -1: the tokenizer has none. */
int32_t known_words_id(const rapt_tokenizer *k);
/* Fills a list, which known_words_free frees; on failure there is nothing to free. `specials`: texts of special tokens become
 * those tokens and are not unknown words, except the text of <unk>. A zero byte of a word is U+FFFD in the list. */
rapt_code known_words_find(const rapt_tokenizer *k, rapt_text text, bool specials, unknown_list *list, rapt_error *err);
void known_words_free(unknown_list *list);
/* The first eight of words[count] as "a", "b": whole words, and "..." for those that do not fit into a message. */
void known_words_write(const char *const *words, size_t count, char text[KNOWN_WORDS_TEXT]);

#endif
