/* text/hf/byte_letters.h: bytes as visible letters, as GPT-2's vocabularies (and so Hugging Face's tokenizer.json) write tokens:
 * printable bytes of Latin-1 stand for themselves, the other bytes are U+0100 on, in order. */
#ifndef TEXT_HF_BYTE_LETTERS_H
#define TEXT_HF_BYTE_LETTERS_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes to letters in UTF-8, at most two bytes each; no NUL is added. How many bytes. */
size_t byte_letters_write(const char *bytes, size_t size, char *letters);
/* Turns letters into bytes, at most `size`; false if a character is not such a letter. */
bool byte_letters_read(const char *letters, size_t size, char *bytes, size_t *length);

#endif
