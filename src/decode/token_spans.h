/* decode/token_spans.h: where the tokens of a line and of its translations are in their texts. For translate_text.c. */
#ifndef DECODE_TOKEN_SPANS_H
#define DECODE_TOKEN_SPANS_H

#include "decode/translate_text.h"

/* Fills the spans of a line's translation, which has its tokens and final texts, whose segments are the `count` items from
 * `first` on. */
rapt_code token_spans_find(const translate_text *x, size_t first, size_t count, rapt_translation *t, rapt_error *err);

/* Places in text[size] of parts that another text is made of, spans[count]: part i has the bytes ends[i - 1] .. ends[i] - 1 of
 * `from` (from 0 on if i is 0), and parts in `from` follow each other without gaps. The texts are alike but for spaces, letter
 * case and some words. The spans are whole characters, in the order of the parts, without spaces around them. False: out of
 * memory. */
bool token_spans_map(const char *from, const size_t *ends, size_t count, rapt_text text, rapt_span *spans);

#endif
