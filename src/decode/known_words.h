/* decode/known_words.h: out-of-vocabulary words of a text, or characters; for a tokenizer of pieces, words of which a piece is
 * <unk>. For translations and for what shows one pass, which say which words the model reads as <unk>, and for warnings. */
#ifndef DECODE_KNOWN_WORDS_H
#define DECODE_KNOWN_WORDS_H

#include "rapt/text.h"

enum { KNOWN_WORDS_LISTED = 8, KNOWN_WORDS_TEXT = 400 /* a message has 512 */ };

/* The words, or characters, of a text that became <unk>. */
typedef struct unknown_list {
    char **words; /* [count] each once, in their order; with their text one block from malloc; NULL: none */
    size_t count;
    size_t unknown, total; /* all words that are unknown, of how many */
    const char *unit; /* "word" or "character"; NULL: the tokenizer has no <unk>, and nothing is unknown */
} unknown_list;

/* The id that unknown words, characters or pieces have; -1: the tokenizer has none. */
int32_t known_words_id(const rapt_tokenizer *k);
/* Fills a list, which known_words_free frees; on failure there is nothing to free. `specials`: texts of special tokens are
 * those tokens, and no unknown words, but for that of <unk>. */
rapt_code known_words_find(const rapt_tokenizer *k, const char *text, bool specials, unknown_list *list, rapt_error *err);
void known_words_free(unknown_list *list);
/* The first eight of words[count] as "a", "b": whole words, and "..." for those that do not fit into a message. */
void known_words_write(const char *const *words, size_t count, char text[KNOWN_WORDS_TEXT]);

#endif
