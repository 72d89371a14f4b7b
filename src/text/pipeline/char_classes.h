/* text/pipeline/char_classes.h: the classes of code points that the components of a tokenizer.json tell apart, each as in the
 * package `tokenizers`, whose parts have tables of several versions of Unicode. For the steps of a pipeline; split patterns have
 * their own classes (split/classes.h). */
#ifndef TEXT_PIPELINE_CHAR_CLASSES_H
#define TEXT_PIPELINE_CHAR_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CHAR_WORD = 1,        /* \w of its regular expressions, which differ from split patterns */
    CHAR_PUNCTUATION = 2, /* Punctuation and BertPreTokenizer cut it off */
    CHAR_NUMERIC = 4,     /* Digits cuts it off */
    CHAR_NONSPACING = 8,  /* marks that BertNormalizer strips */
    CHAR_COMBINING = 16,  /* marks that StripAccents strips */
    CHAR_CONTROL = 32,    /* BertNormalizer removes it */
    CHAR_ALONE = 64,      /* a grapheme by itself, regardless of the next character */
    CHAR_ATTACHED = 128   /* always belongs to the grapheme of the character before it */
};

enum { CHAR_CLASSES_SIZE = 0x110000 };

/* All code points. */
void char_classes_fill(uint8_t classes[CHAR_CLASSES_SIZE]);
/* White_Space of Unicode. */
bool char_is_white(uint32_t code);
/* Whether it is a Chinese character for BERT: one in Unicode 8's blocks. */
bool char_is_chinese(uint32_t code);
/* Whether it belongs to the grapheme of the next character. */
bool char_is_prepended(uint32_t code);
/* Lower case of one character, at most 4 bytes to `out`; how many. */
unsigned char_lower(uint32_t code, char *out);

#endif
