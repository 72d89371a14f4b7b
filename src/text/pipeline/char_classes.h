/* text/pipeline/char_classes.h: the classes of code points that the components of a tokenizer.json tell apart, each as the
 * package `tokenizers` has it: its parts carry tables of several versions of Unicode. For the steps of a pipeline; split patterns
 * have classes of their own (split/classes.h). */
#ifndef TEXT_PIPELINE_CHAR_CLASSES_H
#define TEXT_PIPELINE_CHAR_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CHAR_WORD = 1,        /* \w of its regular expressions, which are not those of split patterns */
    CHAR_PUNCTUATION = 2, /* what Punctuation and BertPreTokenizer cut off */
    CHAR_NUMERIC = 4,     /* what Digits cuts off */
    CHAR_NONSPACING = 8,  /* marks that BertNormalizer strips */
    CHAR_COMBINING = 16,  /* marks that StripAccents strips */
    CHAR_CONTROL = 32,    /* what BertNormalizer cleans away */
    CHAR_ALONE = 64,      /* a grapheme by itself, whatever stands behind it */
    CHAR_ATTACHED = 128   /* belongs to the grapheme of the character before it, wherever it stands */
};

enum { CHAR_CLASSES_SIZE = 0x110000 };

/* All code points. */
void char_classes_fill(uint8_t classes[CHAR_CLASSES_SIZE]);
/* White_Space of Unicode. */
bool char_is_white(uint32_t code);
/* A Chinese character, as BERT has it: those of Unicode 8's blocks. */
bool char_is_chinese(uint32_t code);
/* Whether it belongs to the grapheme of the character behind it. */
bool char_is_prepended(uint32_t code);
/* Lower case of one character, at most 4 bytes to `out`; how many. */
unsigned char_lower(uint32_t code, char *out);

#endif
