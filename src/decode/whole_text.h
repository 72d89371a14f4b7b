/* decode/whole_text.h: tokens of bytes that are to be whole characters. For translations: a byte-level vocabulary has tokens that
 * end within a character, and a model can put behind them what does not continue it. */
#ifndef DECODE_WHOLE_TEXT_H
#define DECODE_WHOLE_TEXT_H

#include "rapt/tensor.h"
#include "rapt/text.h"

/* Whether the tokens, up to <eos>, are whole characters of UTF-8; those of a tokenizer that is not byte-level always are. */
bool whole_text_is(const rapt_tokenizer *k, const int32_t *tokens, size_t length);

/* Sets the logits [classes] of tokens to -inf that cannot follow tokens[length]: within a character all that does not continue
 * it, <eos> among them, between two characters those that begin with neither. */
void whole_text_ban(const rapt_tokenizer *k, const int32_t *tokens, size_t length, size_t classes, rapt_real *logits);

/* Whether tokens[length] end within a character. */
bool whole_text_is_open(const rapt_tokenizer *k, const int32_t *tokens, size_t length);

/* The text of a translation: as rapt_tokenizer_decode has it, but of other programs' vocabularies as theirs have it: without
 * special tokens, and with U+FFFD for bytes that are no character. The caller frees it; NULL: out of memory. */
char *whole_text_of(const rapt_tokenizer *k, const int32_t *tokens, size_t length);

/* Drops each U+FFFD, which decoding puts for bytes that are no character; not with other programs' vocabularies. */
void whole_text_trim(const rapt_tokenizer *k, char *text);

#endif
