/* rapt/text.h: from text to token ids and back.
 *
 * The words tokenizer is the book's (Zhang et al., "Dive into Deep Learning", section 10.5): no-break spaces become
 * spaces, letters become small where asked for, a space goes before , . ! ? and tokens are what lies between spaces.
 */
#ifndef RAPT_TEXT_H
#define RAPT_TEXT_H

#include "rapt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ids of the special tokens of every vocabulary of words. */
enum { RAPT_UNK = 0, RAPT_PAD = 1, RAPT_BOS = 2, RAPT_EOS = 3, RAPT_SPECIALS = 4 };

typedef struct rapt_tokenizer rapt_tokenizer;

typedef struct rapt_words_options {
    bool lowercase;
    size_t min_freq; /* rarer words are <unk>; 0 counts as 1 */
    size_t max_size; /* entries at most, specials included; 0: no limit */
} rapt_words_options;

/* Builds a vocabulary from `count` lines of valid UTF-8: `<unk> <pad> <bos> <eos>`, then words by falling frequency,
 * equal ones in order of first appearance. NULL with `err` set on failure. */
rapt_tokenizer *rapt_tokenizer_train_words(const char *const *lines, size_t count, const rapt_words_options *options,
                                           rapt_error *err);
void rapt_tokenizer_free(rapt_tokenizer *k);

/* One JSON file. */
rapt_code rapt_tokenizer_save(const rapt_tokenizer *k, const char *path, rapt_error *err);
rapt_tokenizer *rapt_tokenizer_load(const char *path, rapt_error *err);

size_t rapt_tokenizer_size(const rapt_tokenizer *k); /* entries, specials included */
const char *rapt_tokenizer_token(const rapt_tokenizer *k, int32_t id); /* NULL outside the vocabulary */

/* A number that stands for all that the tokenizer does: equal for equal ones, and hardly ever otherwise. */
uint64_t rapt_tokenizer_hash(const rapt_tokenizer *k);

/* Ids of one line, without <bos> and <eos>; unknown words are RAPT_UNK. The caller frees *ids. */
rapt_code rapt_tokenizer_encode(const rapt_tokenizer *k, const char *text, int32_t **ids, size_t *count, rapt_error *err);
/* Tokens joined by spaces, up to the first <eos>, without <bos> and <pad>. The caller frees it; NULL when memory is
 * out. */
char *rapt_tokenizer_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count);

#ifdef __cplusplus
}
#endif

#endif
