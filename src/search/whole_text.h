/* search/whole_text.h: keeps byte-level tokens to whole characters. For translations: a byte-level vocabulary has tokens that end
 * within a character, and a model may put a token after them that does not continue the character. */
#ifndef SEARCH_WHOLE_TEXT_H
#define SEARCH_WHOLE_TEXT_H

#include "rapt/tensor.h"
#include "rapt/text.h"

/* Whether the tokens, up to <eos>, form whole characters of UTF-8; always true unless the tokenizer is byte-level. */
bool whole_text_is(const rapt_tokenizer *k, const int32_t *tokens, size_t length);

/* Sets the logits [classes] to -inf for tokens that cannot follow tokens[length]: within a character, every token that does not
 * continue it, including <eos>; between characters, every token that does not begin one. */
void whole_text_ban(const rapt_tokenizer *k, const int32_t *tokens, size_t length, size_t classes, rapt_real *logits);

/* Whether tokens[length] end within a character. */
bool whole_text_is_open(const rapt_tokenizer *k, const int32_t *tokens, size_t length);

/* The text of a translation, as rapt_tokenizer_decode gives it. For vocabularies of other programs, as those programs give it:
 * without special tokens, and with U+FFFD for bytes that are not a character. The caller frees it; NULL: out of memory. */
char *whole_text_of(const rapt_tokenizer *k, const int32_t *tokens, size_t length);

/* The bytes of a token that whole_text_of writes, *size of them; NULL: it leaves the token out. */
const char *whole_text_bytes(const rapt_tokenizer *k, int32_t id, size_t *size);

/* Drops each U+FFFD, which decoding writes for bytes that are not a character; does nothing for vocabularies of other
 * programs. */
void whole_text_trim(const rapt_tokenizer *k, char *text);

#endif
