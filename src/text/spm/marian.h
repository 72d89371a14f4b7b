/* text/spm/marian.h: the inside of a Marian tokenizer, as Hugging Face's folders have it: one side's SentencePiece model cuts a
 * text into pieces, and a vocabulary gives them ids. For translators. It does the same as transformers' MarianTokenizer, or, if
 * the vocabulary ends with languages, M2M100Tokenizer. */
#ifndef TEXT_SPM_MARIAN_H
#define TEXT_SPM_MARIAN_H

#include "text/spm/spm.h"

typedef struct marian {
    rapt_tokenizer base;
    spm *pieces;        /* owned; its ids are not ours */
    token_list vocab;   /* pieces by id, as the vocabulary has them */
    token_list tokens;  /* the same as in a text: spaces are spaces */
    int32_t *ids;       /* ids of the pieces of `pieces` */
    int32_t unknown, end; /* <unk>, and </s>, which ends a text */
    size_t languages;     /* the number of last ids that are languages: only for M2M100 */
    int32_t source;       /* the language token before a text, which then has no code; -1: none */
} marian;

/* Takes ownership of `pieces` and copies the ids of a JSON object. With `source`, the token of a language, the last `languages`
 * ids are languages. RAPT_ERR_FORMAT, RAPT_ERR_MEMORY with the reason alone. */
rapt_tokenizer *marian_new(spm *pieces, const json_t *vocab, const char *source, size_t languages, rapt_error *err);

/* marian_file.c: the object of a vocab.json, to be freed; NULL with `err` set. */
json_t *marian_read_vocabulary(const char *path, rapt_error *err);

#endif
