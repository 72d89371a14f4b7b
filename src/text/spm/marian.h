/* text/spm/marian.h: the inside of a Marian tokenizer, as Hugging Face's folders have it: one side's SentencePiece model cuts
 * a text into pieces, and a vocabulary gives them ids. For translators. What it does is what transformers' MarianTokenizer
 * does. */
#ifndef TEXT_SPM_MARIAN_H
#define TEXT_SPM_MARIAN_H

#include "text/spm/spm.h"

typedef struct marian {
    rapt_tokenizer base;
    spm *pieces;        /* owned; its ids are not ours */
    token_list vocab;   /* pieces by id, as the vocabulary has them */
    token_list tokens;  /* the same, as they stand in a text: spaces are spaces */
    int32_t *ids;       /* of the pieces of `pieces` */
    int32_t unknown, end; /* <unk> and </s>, which goes behind a text */
} marian;

/* Takes ownership of `pieces` and copies the ids of a JSON object. RAPT_ERR_FORMAT, RAPT_ERR_MEMORY with the reason alone. */
rapt_tokenizer *marian_new(spm *pieces, const json_t *vocab, rapt_error *err);

#endif
