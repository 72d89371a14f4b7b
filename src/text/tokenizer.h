/* text/tokenizer.h: the inside of rapt_tokenizer, shared with its file format. */
#ifndef TEXT_TOKENIZER_H
#define TEXT_TOKENIZER_H

#include "rapt/text.h"
#include "text/word_table.h"

struct rapt_tokenizer {
    word_table words; /* by id */
    bool lowercase;
};

extern const char *const tokenizer_specials[RAPT_SPECIALS];

/* An empty one; NULL with `err` set when memory is out. */
rapt_tokenizer *tokenizer_new(bool lowercase, rapt_error *err);

#endif
